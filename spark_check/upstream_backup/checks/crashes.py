"""Upstream backup with savepoints, run by Spark and crashed.

Rule of this file: how the cases of upstream_backup/cases.py are run, and what is compared with
what. That the output is as if nothing had failed is told by the oracle; how many events are
replayed and how full the buffer gets, by the simulator, which is given the batches and crashes of
the run.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import psutil

from model.events import Body
from model.oracle import classify, oracle
from model.registry import protocols
from sim.predictions.upstream_backup import run as predicted
from spark_check.check import Case, Check, Setting
from spark_check.runtime.victim import Kind, start
from spark_check.upstream_backup.buffer import Life
from spark_check.upstream_backup.cases import OUTLIVED, PLACES, QUICK, Stop, Story, full
from spark_check.upstream_backup.job import Pipeline

JOB = "spark_check.upstream_backup.job:job"
SHOWN = 5
"""Complex events that are listed, of those that a run lost or gave too often."""
NONE = "nothing"


def _run(setting: Setting) -> tuple[Case, ...]:
    groups = (QUICK,) if setting.profile == "quick" else full()
    done, rounds = count(), sum(_crashes(stories) + 1 for stories in groups)

    def begin() -> None:
        setting.tell("Spark, crashed or not", next(done), rounds)

    cases: list[Case] = []
    for number, stories in enumerate(groups):
        cases += _told(setting, setting.work / f"group-{number}", stories, begin)
    if setting.profile == "full":
        cases.append(outlived(setting, setting.work / "outlived"))
    return tuple(cases)


def _crashes(stories: Sequence[Story]) -> int:
    return max(len(story.crashes) for story in stories)


def _told(
    setting: Setting, work: Path, stories: Sequence[Story], begin: Callable[[], None]
) -> tuple[Case, ...]:
    """Run the stories on one Spark, which is crashed when each has come to its next crash.

    A story with fewer crashes than others begins when there are as many to come.
    """
    pipelines = created(work, stories)
    kinds: list[Kind] = []
    for left in range(_crashes(stories), 0, -1):
        begin()
        stops = {
            pipeline: story.crashes[-left]
            for story, pipeline in zip(stories, pipelines, strict=True)
            if left <= len(story.crashes)
        }
        kinds.append(_crash(work, stops))
    begin()
    with start(JOB, work, _settings(pipelines, crashed=False)) as victim:
        if victim.join() != 0:
            raise RuntimeError(f"upstream backup failed without a crash: {victim.said()}")
    return tuple(
        judged(setting, story, pipeline, kinds[len(kinds) - len(story.crashes) :])
        for story, pipeline in zip(stories, pipelines, strict=True)
    )


def created(work: Path, stories: Sequence[Story]) -> tuple[Pipeline, ...]:
    pipelines = tuple(
        Pipeline(str(work / f"p{number}"), story.protocol, story.graph, story.rows)
        for number, story in enumerate(stories)
    )
    for story, pipeline in zip(stories, pipelines, strict=True):
        pipeline.create(story.arrivals)
    return pipelines


def _crash(work: Path, stops: Mapping[Pipeline, Stop]) -> Kind:
    """Let each pipeline come to its stop; then crash them all: the driver alone where they all
    stop in the driver (others might go on for a while), else the whole tree."""
    armed = {"all begun": 0}
    for pipeline, stop in stops.items():
        armed |= {f"begin {pipeline.name}": 0, _place(pipeline, stop): _passed(stop)}
    kind = Kind.DRIVER if all(PLACES[stop.place].driver for stop in stops.values()) else Kind.TREE
    with start(JOB, work, _settings([*stops], crashed=True), stop_at=armed) as victim:
        for pipeline, stop in stops.items():
            victim.go(f"begin {pipeline.name}")
            victim.stopped(_place(pipeline, stop))
        victim.kill(kind)
        victim.join()
    return kind


def _place(pipeline: Pipeline, stop: Stop) -> str:
    return f"{pipeline.name} {stop.place}"


def _passed(stop: Stop) -> int:
    """How often an incarnation comes there before."""
    return stop.batch - PLACES[stop.place].first


def _settings(pipelines: Sequence[Pipeline], crashed: bool) -> dict[str, Any]:
    """A task that stops keeps its slot, and a batch has two."""
    return {
        "pipelines": [pipeline.folder for pipeline in pipelines],
        "crashed": crashed,
        "master": f"local[{len(pipelines) + 1}]",
    }


def outlived(setting: Setting, work: Path) -> Case:
    """The process of a source outlives its query, and acknowledges while the next incarnation
    replays what would be trimmed: it must be refused."""
    story = OUTLIVED
    (pipeline,) = created(work, [story])
    (stop,) = story.crashes
    late, replay = _place(pipeline, stop), _place(pipeline, Stop("read", 1))
    armed = {late: _passed(stop), "all begun": 0}
    settings = _settings([pipeline], crashed=True)
    with start(JOB, work / "first", settings, stop_at=armed) as first:
        left_over = psutil.Process(first.stopped(late))
        first.kill(Kind.JVM)
        settings = _settings([pipeline], crashed=False)
        with start(JOB, work / "second", settings, stop_at={replay: 0}) as second:
            second.stopped(replay)
            first.go(late)
            left_over.wait()
            second.go(replay)
            if second.join() != 0:
                raise RuntimeError(f"upstream backup failed without a crash: {second.said()}")
    case = judged(setting, story, pipeline, [Kind.JVM])
    return case._replace(
        predicted={**case.predicted, "refused": 1},
        seen={**case.seen, "refused": pipeline.buffer.lives()[0].refused},
    )


# --- what came of it -------------------------------------------------------------------------
def judged(setting: Setting, story: Story, pipeline: Pipeline, kinds: Sequence[Kind]) -> Case:
    """kinds: of its crashes."""
    lives = pipeline.buffer.lives()
    struck = [PLACES[stop.place].struck for stop in story.crashes]
    run = predicted(
        protocols()[story.protocol],
        story.graph,
        story.arrivals,
        [(life.ends, how) for life, how in zip(lives, (*struck, None), strict=True)],
    )
    ((expected,),) = oracle(story.graph, {"source": story.arrivals}).values()
    outputs = tuple(body for _, body in pipeline.sink.outputs())
    left = pipeline.buffer.left()
    return Case(
        story.name,
        predicted={
            "guarantee": story.expected.name.lower(),
            **_compared(expected, run.outputs),
            "replayed": list(run.replayed),
            "given to the operator": list(run.handed),
            "duplicates discarded": run.discarded,
            "peak buffer": run.peak,
            "left in the buffer": run.left,
            "trimmed up to": run.trimmed,
            "batches": [*map(_logged, story.crashes), len(lives[-1].ends)],
        },
        seen={
            "guarantee": classify(expected, outputs).name.lower(),
            **_compared(expected, outputs),
            "replayed": [life.replayed for life in lives[1:]],
            "given to the operator": [life.handed for life in lives],
            "duplicates discarded": pipeline.sink.discarded(),
            "peak buffer": left.peak,
            "left in the buffer": left.events,
            "trimmed up to": left.trimmed,
            "batches": [
                _in_log(pipeline.checkpoint(epoch), life) for epoch, life in enumerate(lives, 1)
            ],
        },
        told={"events": len(story.arrivals), "complex events": len(expected)},
        crashed=tuple(
            f"{kind}: {PLACES[stop.place].title} (batch {stop.batch})"
            for kind, stop in zip(kinds, story.crashes, strict=True)
        ),
    )


def _compared(expected: Sequence[Body], outputs: Sequence[Body]) -> dict[str, Any]:
    """The output by a digest, and where it is not as if nothing had failed."""
    lost, surplus = Counter(expected) - Counter(outputs), Counter(outputs) - Counter(expected)
    return {
        "output": sha256(repr(tuple(outputs)).encode()).hexdigest()[:12],
        "lost": _listed(lost),
        "surplus": _listed(surplus),
    }


def _listed(bodies: Counter[Body]) -> str:
    texts = [
        f"{' '.join(f'{event.type}{event.time}' for event in body.data)} at {body.time}"
        for body in bodies.elements()
    ]
    more = len(texts) - SHOWN
    return "; ".join([*texts[:SHOWN], f"and {more} more"] if more > 0 else texts) or NONE


def _logged(stop: Stop) -> int:
    """Batches that Spark has logged when a crash comes."""
    return stop.batch - (stop.place == "planned")


def _in_log(checkpoint: Path, life: Life) -> int:
    """Batches in Spark's offset log; -1 if they are not those that the source has planned."""
    files = [file for file in (checkpoint / "offsets").iterdir() if file.name.isdecimal()]
    files.sort(key=lambda file: int(file.name))
    ends = [json.loads(file.read_text().splitlines()[-1])["sn"] for file in files]
    return len(ends) if tuple(ends) == life.ends[: len(ends)] else -1


CHECK = Check(
    "upstream-backup",
    "Upstream backup with savepoints, run by Spark and crashed",
    _run,
    (
        "Spark plans, logs, orders, reads and acknowledges the batches; the operator's state is "
        "in no checkpoint and comes back by replay alone.",
        "Several pipelines run on one Spark and are crashed together, each at its own place.",
        "replayed: events in the buffer at each restart.  Lists have an entry an incarnation.",
    ),
)
