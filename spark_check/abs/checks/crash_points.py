"""Spark's own checkpoint with an idempotent and with a plain sink, killed around the sink's write.

Rule of this file: the cases, run and compared.  The model is run to find the expected results.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import NamedTuple

from engine_check.breakpoints import Breakpoints
from engine_check.check import Check, CheckSetting, engine_case
from engine_check.victim import start
from model.events import Body
from model.recovery import classify
from model.results.engine import EngineCase, EngineOutage, Facts
from sim.predictions.abs.batches import EpochPoint, EpochSink, expected, predict
from sim.predictions.crashes import BatchCrash
from spark_check.abs.job import ALL_STARTED, CheckpointedQuery, start_query
from spark_check.abs.recovery import measure_sizes
from spark_check.log_io.external import open_book, text
from spark_check.log_io.stream import write_stream
from spark_check.runtime.crash_kinds import CrashKind
from spark_check.runtime.session import BRIEF, session

JOB = "spark_check.abs.job:run"
TYPES, ENDS = "aababbabba", (4, 7, 10)
"""As in the check log-io."""


class EpochCase(NamedTuple):
    sink: EpochSink
    crashes: tuple[BatchCrash[EpochPoint], ...]

    @property
    def name(self) -> str:
        return f"{self.sink} sink, killed {', then '.join(map(str, self.crashes))}"


MADE, WRITTEN = (BatchCrash(point, 1) for point in EpochPoint)
QUICK = tuple(EpochCase(sink, (WRITTEN,)) for sink in EpochSink)
FULL = tuple(
    EpochCase(sink, crashes)
    for sink in EpochSink
    for crashes in (
        (WRITTEN,),
        (MADE,),
        (BatchCrash(EpochPoint.WRITTEN, 2),),
        (WRITTEN, WRITTEN),
        (WRITTEN, BatchCrash(EpochPoint.MADE, 2)),
    )
)


def run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    if setting.profile == "quick":
        return run_cases(setting, QUICK)
    measured = measure_sizes(setting._replace(work=setting.work / "sizes"))
    return (*run_cases(setting, FULL), *measured)


def run_cases(setting: CheckSetting, cases: Sequence[EpochCase]) -> tuple[EngineCase, ...]:
    """Crash all cases, incarnation by incarnation, let them end, and compare."""
    pipelines = []
    for number, case in enumerate(cases):
        folder = setting.work / f"pipeline-{number}"
        one = CheckpointedQuery(str(folder), TYPES, ENDS, str(folder / "book.db"), case.sink)
        write_stream(one.stream, TYPES, ENDS)
        pipelines.append(one)
    rounds = [*zip_longest(*(case.crashes for case in cases))]
    for number, plans in enumerate(rounds):
        setting.report("crashes", number, len(rounds) + 1)
        planned = [pair for pair in zip(pipelines, plans, strict=True) if pair[1] is not None]
        crash(setting.work / f"crash-{number}", planned)
    setting.report("restarts", len(rounds), len(rounds) + 1)
    with session(setting.work / "end", conf=BRIEF, jvm=setting.shared) as spark:
        for one in pipelines:
            start_query(spark, one, Breakpoints(one.folder)).awaitTermination()
    return tuple(compare(*pair) for pair in zip(cases, pipelines, strict=True))


def crash(work: Path, planned: Sequence[tuple[CheckpointedQuery, BatchCrash[EpochPoint]]]) -> None:
    """Start each pipeline; kill all processes at once when each has come to its point."""
    places = {one: one.place(plan.point, plan.batch) for one, plan in planned}
    stop_at = dict.fromkeys((ALL_STARTED, *(one.begin for one in places), *places.values()), 0)
    settings = {"pipelines": [*places]}
    with start(JOB, work, settings, stop_at=stop_at) as victim:
        for one, place in places.items():
            victim.go(one.begin)
            victim.stopped(place)
        victim.kill()


# --- predicted and seen ----------------------------------------------------------------------
def compare(case: EpochCase, pipeline: CheckpointedQuery) -> EngineCase:
    found = predict(pipeline.types, pipeline.ends, case.crashes, case.sink)
    with open_book(pipeline.book) as book:
        rows = [pair.body() for _, pair in book.rows()]
    return engine_case(
        case.name,
        predicted=_facts(pipeline.types, found.rows, found.replayed),
        seen=_facts(pipeline.types, rows, _replayed(pipeline)),
        crashed=tuple(EngineOutage(CrashKind.TREE.value, str(plan.point)) for plan in case.crashes),
    )


def _facts(types: str, rows: Sequence[Body], replayed: int) -> Facts:
    return {
        "output": classify(expected(types), rows).name.lower(),
        "rows": text(rows),
        "events processed again": replayed,
    }


def _replayed(pipeline: CheckpointedQuery) -> int:
    """The events of the batches that the sink was handed again."""
    sizes = [end - begin for begin, end in pairwise((0, *pipeline.ends))]
    handed: list[int] = [note["batch"] for note in pipeline.notes() if "batch" in note]
    return sum(sizes[batch] for batch in handed) - sum(sizes)


CHECK = Check(
    "abs",
    "Spark's own checkpoint with an idempotent and with a plain sink: ABS, and its gap",
    run,
    notes=(
        "A batch is an epoch; the state of a query is its snapshot.  The sink writes a batch in "
        "one transaction, before Spark commits the batch: the plain one writes it again after a "
        "crash in between, the idempotent one knows its id.",
        "Predicted by the model's nodes (abs:transactional, abs:checked), crashed at the same "
        "point of the same epoch.",
        "The full profile also measures recovery beside that under LOG.io.  Nothing is killed for "
        "that: both queries fail in the same batch of one session.  Predicted from the runs "
        "before, and from the steps that the model takes.",
    ),
)
