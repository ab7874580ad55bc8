"""Recovery under LOG.io beside recovery from Spark's own checkpoint: how long each takes.

Rule of this file: it runs, measures and predicts; the checks of crashes say what is correct.

Both queries pair the events of the same stream in the same session.  The first batch opens an Input
Set for each type; the second one fails half-way, and is run again.  Nothing is killed for this, so
that what is measured is the recovery and not the start of processes, which is the same for both.
Times are predicted from those of other runs, and from how many steps the model takes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from engine_check.breakpoints import Breakpoints
from engine_check.check import CheckSetting, engine_case
from engine_check.notes import read_notes
from model.recovery import classify
from model.results.engine import EngineCase, Facts
from sim.predictions.abs import batches as epochs
from sim.predictions.abs.batches import EpochSink, RestartParts
from sim.predictions.log_io.points import MIDDLE, StepCrash, StepPoint
from sim.predictions.log_io.recovery import ReplayParts, calibrate
from sim.predictions.log_io.replay import TaskWork, expected, predict
from spark_check.abs import timed_task
from spark_check.abs.job import CheckpointedQuery
from spark_check.abs.job import start_query as start_checkpointed
from spark_check.log_io.external import open_book
from spark_check.log_io.job import start_query as start_logged
from spark_check.log_io.operators import PipelineStops
from spark_check.log_io.stream import write_stream
from spark_check.log_io.world import LogIoWorld
from spark_check.runtime.planned_failures import FailingBreakpoints, await_failure
from spark_check.runtime.session import BRIEF, session

FIRST_LETTER = 0x4E00
"""Types are letters; from here on, thousands follow each other."""
NONE = Breakpoints("")


class PairsSize(NamedTuple):
    """waiting: events that wait for another one at the crash, at most.  events: of the batch that
    fails.  seed: of their types."""

    waiting: int
    events: int
    seed: int = 0

    @property
    def types(self) -> str:
        letters = [chr(FIRST_LETTER + number) for number in range(self.waiting)]
        random = Random(f"{self.waiting} {self.events} {self.seed}")
        return "".join(letters + random.choices(letters, k=self.events))

    @property
    def ends(self) -> tuple[int, int]:
        return self.waiting, self.waiting + self.events

    @property
    def pairs(self) -> int:
        """All of them are in the batch that fails."""
        return len(expected(self.types))

    @property
    def crash(self) -> StepCrash:
        """Under LOG.io: half of the pairs are logged, and none is written."""
        return StepCrash(MIDDLE, StepPoint.GENERATED, self.pairs // 2)

    def work(self) -> TaskWork:
        """The steps of the model after the crash."""
        return predict(self.types, self.ends, [self.crash]).work[-1]


# --- what is measured ------------------------------------------------------------------------
class MeasuredPairs(NamedTuple):
    """transaction_s: of LOG.io, in the batch before the one that failed.  logged: the recovery
    under LOG.io.  restarted: that from Spark's checkpoint.  outputs: of both, as guarantees."""

    transaction_s: float
    logged: ReplayParts
    restarted: RestartParts
    outputs: tuple[str, str]


def measure(spark: SparkSession, work: Path, size: PairsSize) -> MeasuredPairs:
    """Run, fail and restart the query under LOG.io, then the same with Spark's checkpoint."""
    logged, checkpointed = work / "logged", work / "checkpointed"
    places = str(logged / "log.db"), str(logged / "book.db")
    world = LogIoWorld(str(logged), size.types, size.ends, *places)
    rival = CheckpointedQuery(
        str(checkpointed),
        size.types,
        size.ends,
        str(checkpointed / "book.db"),
        EpochSink.IDEMPOTENT,
    )
    place = PipelineStops(NONE, world.name).place(size.crash.operator, size.crash.point)
    began = fail_and_restart(
        size,
        world.stream,
        lambda stops: start_logged(spark, world, stops, timed_task.process),
        {place: size.crash.passed},
    )
    before, last = read_notes(world.folder)
    parts = ReplayParts(
        TaskWork(last["transactions"], last["replayed"], last["writes"]),
        last["ended"] - began - last["restored_s"] - last["rest_s"],
        last["restored_s"],
        last["rest_s"],
    )
    began = fail_and_restart(
        size,
        rival.stream,
        lambda stops: start_checkpointed(spark, rival, stops),
        {rival.place(epochs.EpochPoint.MADE, 1): 0},
    )
    notes = rival.notes()
    made = [note["made"] for note in notes if "made" in note][-1]
    written = [note["written"] for note in notes if "written" in note][-1]
    return MeasuredPairs(
        before["rest_s"] / before["transactions"],  # it writes nothing
        parts,
        RestartParts(size.pairs, made - began, written - made),
        (output(size, world.book), output(size, rival.book)),
    )


def fail_and_restart(
    size: PairsSize,
    stream: Path,
    start: Callable[[Breakpoints], StreamingQuery],
    armed: dict[str, int],
) -> float:
    """Run the first batch; let the second one come, and fail; run it again: when that began."""
    drafts = stream.parent / "drafts"
    write_stream(drafts, size.types, size.ends)
    stream.mkdir()
    first, second = sorted(drafts.iterdir())
    first.rename(stream / first.name)
    start(NONE).awaitTermination()
    second.rename(stream / second.name)
    await_failure(start(FailingBreakpoints("", armed)))
    began = time.time()
    start(NONE).awaitTermination()
    return began


def output(size: PairsSize, place: str) -> str:
    with open_book(place) as book:
        rows = [pair.body() for _, pair in book.rows()]
    return classify(expected(size.types), rows).name.lower()


# --- all sizes -------------------------------------------------------------------------------
WARM_UP = tuple(PairsSize(20, 20, seed) for seed in range(3))
"""The first queries of a session are slow."""
LAST = 5
"""Costs are those of this number of runs before the predicted one: Java gets faster meanwhile.  The
cost of a transaction is that of the same run, before the failure."""
CALIBRATING = (PairsSize(50, 20), PairsSize(300, 160), PairsSize(150, 80))
PREDICTED = tuple(
    PairsSize(waiting, events, seed)
    for seed in (1, 2)
    for waiting, events in (
        *((waiting, events) for waiting in (100, 200, 300) for events in (40, 120)),
        (50, 160),
        (200, 80),
    )
)


def measure_sizes(setting: CheckSetting) -> Iterator[EngineCase]:
    """A case for each size.  After the first three, each recovery is predicted from the ones before
    it."""
    sizes = (*CALIBRATING, *PREDICTED)
    measured: list[MeasuredPairs] = []
    with session(setting.work / "session", conf=BRIEF) as spark:
        for size in WARM_UP:
            measure(spark, setting.work / f"warm-up-{size.seed}", size)
        for number, size in enumerate(sizes):
            setting.report(f"{size.waiting} waiting, {size.events} come", number, len(sizes))
            known = [] if size in CALIBRATING else measured[-LAST:]
            work = size.work()
            measured.append(measure(spark, setting.work / f"run-{number}", size))
            yield compare(size, work, measured[-1], known)


def compare(
    size: PairsSize, work: TaskWork, found: MeasuredPairs, known: Sequence[MeasuredPairs]
) -> EngineCase:
    """The case.  known: the runs that its times are predicted from."""
    logged, restarted = found.logged, found.restarted
    seconds = {}
    if known:
        mine = calibrate([run.logged for run in known], found.transaction_s)
        rival = epochs.calibrate([run.restarted for run in known])
        seconds = {
            "recovery under LOG.io": (mine.recovery_s(work), logged.total_s),
            "recovery from Spark's checkpoint": (
                rival.recovery_s(size.pairs),
                restarted.total_s,
            ),
        }
    return engine_case(
        f"{size.waiting} events wait, {size.events} come, seed {size.seed}",
        predicted=_facts(work, ("precise", "precise")),
        seen=_facts(logged.work, found.outputs),
        details={
            "LOG.io: start_s": round(logged.start_s, 2),
            "LOG.io: restore_s": round(logged.restore_s, 3),
            "LOG.io: rest_s": round(logged.rest_s, 2),
            "LOG.io: transaction_ms before": round(1000 * found.transaction_s, 2),
            "LOG.io: transaction_ms": round(1000 * logged.rest_s / work.commits, 2),
            "checkpoint: made_s": round(restarted.made_s, 2),
            "checkpoint: write_s": round(restarted.write_s, 3),
        },
        seconds=seconds,
        events=dict.fromkeys(seconds, size.events),
    )


def _facts(work: TaskWork, outputs: Sequence[str]) -> Facts:
    return {
        "inputs replayed": work.replayed,
        "transactions": work.transactions,
        "writes": work.writes,
        "output under LOG.io": outputs[0],
        "output from the checkpoint": outputs[1],
    }
