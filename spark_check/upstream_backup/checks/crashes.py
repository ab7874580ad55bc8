"""Upstream backup with savepoints, run by Spark and crashed.

Rule of this file: how the cases of upstream_backup/cases.py are run, and what is compared.  The
oracle gives the output of a run without failures.  The simulator receives the batches and crashes
of the run, and predicts how many events are replayed and how full the buffer gets.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from itertools import count
from pathlib import Path

import psutil

from engine_check.breakpoints import Breakpoints, JsonSettings
from engine_check.check import Check, CheckSetting, engine_case
from engine_check.victim import start
from model.events import Body
from model.oracle import oracle
from model.recovery import classify
from model.registry import protocols
from model.results.engine import EngineCase, EngineOutage, Facts
from sim.predictions.upstream_backup import Incarnation, predict
from spark_check.runtime.crash_kinds import CrashKind, kill_kind
from spark_check.runtime.session import BRIEF, session
from spark_check.upstream_backup.buffer import IncarnationCounts
from spark_check.upstream_backup.cases import FACTS, OUTLIVED, QUICK, BackupCase, BackupCrash, full
from spark_check.upstream_backup.job import ALL_STARTED, ChainPipeline, run_pipelines
from spark_check.upstream_backup.source import BackupStop, breakpoint_at

JOB = "spark_check.upstream_backup.job:run"
SHOWN = 5
"""Complex events that are listed, of those that a run lost or produced too often."""
NONE = "nothing"


def _run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    groups = (QUICK,) if setting.profile == "quick" else full()
    done, rounds = count(), sum(_most_crashes(group) + 1 for group in groups)

    def begin() -> None:
        setting.report("Spark, crashed or not", next(done), rounds)

    cases: list[EngineCase] = []
    for number, group in enumerate(groups):
        cases += _run_group(setting._replace(work=setting.work / f"group-{number}"), group, begin)
    if setting.profile == "full":
        cases.append(outlive(setting.work / "outlived"))
    return tuple(cases)


def _most_crashes(group: Sequence[BackupCase]) -> int:
    return max(len(planned.crashes) for planned in group)


def _run_group(
    setting: CheckSetting, group: Sequence[BackupCase], begin: Callable[[], None]
) -> tuple[EngineCase, ...]:
    """Run the cases on one Spark, which is crashed when each has come to its next crash.

    A case with fewer crashes than others begins when there are as many to come.
    """
    work = setting.work
    pipelines = create(work, group)
    kinds: list[CrashKind] = []
    for left in range(_most_crashes(group), 0, -1):
        begin()
        plans = {
            pipeline: planned.crashes[-left]
            for planned, pipeline in zip(group, pipelines, strict=True)
            if left <= len(planned.crashes)
        }
        kinds.append(_crash(work, plans))
    begin()
    end, master = work / "end", _master(pipelines)
    with session(end, master=master, conf=BRIEF, jvm=setting.shared) as spark:
        run_pipelines(spark, pipelines, Breakpoints(str(end)), crashed=False)
    return tuple(
        judge(planned, pipeline, kinds[len(kinds) - len(planned.crashes) :])
        for planned, pipeline in zip(group, pipelines, strict=True)
    )


def create(work: Path, group: Sequence[BackupCase]) -> tuple[ChainPipeline, ...]:
    """Make the files of a pipeline for each case."""
    pipelines = tuple(
        ChainPipeline(str(work / f"p{number}"), planned.protocol, planned.graph, planned.rows)
        for number, planned in enumerate(group)
    )
    for planned, pipeline in zip(group, pipelines, strict=True):
        pipeline.create(planned.arrivals)
    return pipelines


def _crash(work: Path, plans: Mapping[ChainPipeline, BackupCrash]) -> CrashKind:
    """Let each pipeline come to its crash point; then crash them all: the driver alone where they
    all stop in the driver (others might go on for a while), else the whole tree."""
    armed = {ALL_STARTED: 0}
    for pipeline, plan in plans.items():
        armed |= {
            pipeline.begin: 0,
            breakpoint_at(pipeline.name, plan.point): plan.passed,
        }
    in_driver = all(FACTS[plan.point].driver for plan in plans.values())
    kind = CrashKind.DRIVER if in_driver else CrashKind.TREE
    with start(JOB, work, _settings([*plans], crashed=True), stop_at=armed) as victim:
        for pipeline, plan in plans.items():
            victim.go(pipeline.begin)
            victim.stopped(breakpoint_at(pipeline.name, plan.point))
        kill_kind(victim, kind)
        victim.join()
    return kind


def _settings(pipelines: Sequence[ChainPipeline], crashed: bool) -> JsonSettings:
    return {
        "pipelines": [pipeline.folder for pipeline in pipelines],
        "crashed": crashed,
        "master": _master(pipelines),
    }


def _master(pipelines: Sequence[ChainPipeline]) -> str:
    """A task that stops keeps its slot, and a batch has two."""
    return f"local[{len(pipelines) + 1}]"


def outlive(work: Path) -> EngineCase:
    """Let the process of a source outlive its query: it acknowledges while the next incarnation
    replays what would be trimmed, and must be refused."""
    (pipeline,) = create(work, [OUTLIVED])
    (plan,) = OUTLIVED.crashes
    late, replay = (breakpoint_at(pipeline.name, point) for point in (plan.point, BackupStop.READ))
    armed = {late: plan.passed, ALL_STARTED: 0}
    settings = _settings([pipeline], crashed=True)
    with start(JOB, work / "first", settings, stop_at=armed) as first:
        left_over = psutil.Process(first.stopped(late))
        kill_kind(first, CrashKind.JVM)
        settings = _settings([pipeline], crashed=False)
        with start(JOB, work / "second", settings, stop_at={replay: 0}) as second:
            second.stopped(replay)
            first.go(late)
            left_over.wait()
            second.go(replay)
            second.finish()
    case = judge(OUTLIVED, pipeline, [CrashKind.JVM])
    predicted = {**case.predicted, "refused": 1}
    seen = {**case.seen, "refused": pipeline.buffer.incarnations()[0].refused}
    return replace(case, predicted=predicted, seen=seen, agrees=predicted == seen)


# --- the outcome -----------------------------------------------------------------------------
def judge(planned: BackupCase, pipeline: ChainPipeline, kinds: Sequence[CrashKind]) -> EngineCase:
    """The case, when all its crashes are over.  kinds: of its crashes."""
    lives = pipeline.buffer.incarnations()
    crashes = (*(FACTS[plan.point].predicted for plan in planned.crashes), None)
    run = predict(
        protocols()[planned.protocol],
        planned.graph,
        planned.arrivals,
        [Incarnation(life.ends, crash) for life, crash in zip(lives, crashes, strict=True)],
    )
    ((expected,),) = oracle(planned.graph, {"source": planned.arrivals}).values()
    outputs = tuple(body for _, body in pipeline.sink.outputs())
    usage = pipeline.buffer.usage()
    return engine_case(
        planned.name,
        predicted={
            "guarantee": planned.expected.name.lower(),
            **_compare_output(expected, run.outputs),
            "replayed": list(run.replayed),
            "given to the operator": list(run.handed),
            "duplicates discarded": run.discarded,
            "peak buffer": run.peak,
            "left in the buffer": run.left,
            "trimmed up to": run.trimmed,
            "batches": [*(plan.logged for plan in planned.crashes), len(lives[-1].ends)],
        },
        seen={
            "guarantee": classify(expected, outputs).name.lower(),
            **_compare_output(expected, outputs),
            "replayed": [life.replayed for life in lives[1:]],
            "given to the operator": [life.handed for life in lives],
            "duplicates discarded": pipeline.sink.discarded(),
            "peak buffer": usage.peak,
            "left in the buffer": usage.events,
            "trimmed up to": usage.trimmed,
            "batches": [
                _in_log(pipeline.checkpoint(epoch), life) for epoch, life in enumerate(lives, 1)
            ],
        },
        details={"events": len(planned.arrivals), "complex events": len(expected)},
        crashed=tuple(
            EngineOutage(kind.value, plan.place)
            for kind, plan in zip(kinds, planned.crashes, strict=True)
        ),
    )


def _compare_output(expected: Sequence[Body], outputs: Sequence[Body]) -> Facts:
    """The output by a digest, and how it differs from that of a run without failures."""
    lost, surplus = Counter(expected) - Counter(outputs), Counter(outputs) - Counter(expected)
    return {
        "output": sha256(repr(tuple(outputs)).encode()).hexdigest()[:12],
        "lost": _list_bodies(lost),
        "surplus": _list_bodies(surplus),
    }


def _list_bodies(bodies: Counter[Body]) -> str:
    texts = [
        f"{' '.join(f'{event.type}{event.time}' for event in body.data)} at {body.time}"
        for body in bodies.elements()
    ]
    more = len(texts) - SHOWN
    return "; ".join([*texts[:SHOWN], f"and {more} more"] if more > 0 else texts) or NONE


def _in_log(checkpoint: Path, life: IncarnationCounts) -> int:
    """The number of batches in Spark's offset log; -1 if the source has planned others."""
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
