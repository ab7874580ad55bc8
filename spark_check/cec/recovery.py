"""Recovery from the log beside recovery from Spark's own checkpoint: time and overhead.

Rule of this file: it runs, measures and predicts; checks/crash_points.py checks what is correct.

Both queries process the same tuples in the same session and fail in the same batch: its results are
with the driver, and nothing of it is written.  Then they are started again.  Nothing is killed, so
that what is measured is the recovery and not the start of processes, which is the same for both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any, NamedTuple

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from engine_check.breakpoints import Breakpoints
from engine_check.check import CheckSetting, engine_case
from model.boxes.aggregate import Aggregate
from model.results.engine import EngineCase
from sim.predictions.cec import ExtentCosts, cuts
from sim.predictions.linear import LinearCost, fit_line
from spark_check.cec.calibration import ExtentParts, RivalRestart, calibrate
from spark_check.cec.crashes import expected
from spark_check.cec.job import start_query, start_restored
from spark_check.cec.keyed_node import InputRow, KeyedQuery
from spark_check.cec.loop import find_in, go_on
from spark_check.cec.operator import CONF
from spark_check.cec.stops import CecPoint, CecStops
from spark_check.cec.world import CecWorld
from spark_check.runtime.planned_failures import FailingBreakpoints, await_failure
from spark_check.runtime.session import BRIEF, session

TUPLES, BATCHES = 300, 4
"""Tuples of each batch but the first, which opens all windows; batches of the stream."""
FAILING = 2
"""The batch that fails, from 0."""
WINDOW = 8


class WindowsSize(NamedTuple):
    """windows: open ones.  seed: of the keys of all tuples after those that open them."""

    windows: int
    seed: int = 0

    def world(self, folder: Path) -> CecWorld:
        random = Random(f"{self.windows} {self.seed}")
        keys = [f"k{n}" for n in range(self.windows)]
        ends = (*accumulate((self.windows, *[TUPLES] * (BATCHES - 1))),)
        keys += random.choices(keys, k=ends[-1] - self.windows)
        rows = (InputRow(place, place, key) for place, key in enumerate(keys, 1))
        box = Aggregate("sum", WINDOW, WINDOW, of="time", group="type")
        return CecWorld(str(folder), KeyedQuery(box, max(1, self.windows // 2)), (*rows,), ends)


# --- what is predicted -----------------------------------------------------------------------
class Sought(NamedTuple):
    """The findings of a restart.  read: records in the log, all of whose files are read.  loaded:
    windows, and tuples that are replayed up to the newest record's batch."""

    windows: int
    start: int
    scanned: int
    read: int
    loaded: int


def seek(world: CecWorld) -> Sought:
    """The findings of the restart after the failure, before anything has run."""
    ends = world.ends[:FAILING]
    log = go_on(world.query, world.rows[: ends[-1]], ends, [])
    found = find_in(world.query, log)
    assert found.start is not None  # the design replays
    windows = len(found.windows)
    replayed = cuts(world.ends, found.start, found.newest)[0] - found.start
    return Sought(windows, found.start, found.scanned, len(log), windows + replayed)


# --- what is measured ------------------------------------------------------------------------
class WarmBatch(NamedTuple):
    """Means of batches that are not the first after a start; seconds.  checkpoint_s: Spark's two
    logs and the versions of the state.  log_s: the write of our log.  records: in it, or results.
    """

    total_s: float
    checkpoint_s: float
    log_s: float
    records: float


class MeasuredExtent(NamedTuple):
    sought: Sought
    recovery: ExtentParts
    restart: RivalRestart
    logged: WarmBatch
    rival: WarmBatch
    same: bool


def measure(spark: SparkSession, work: Path, size: WindowsSize) -> MeasuredExtent:
    """Run, fail and restart the query under CEC, then the same under CRB."""
    world, rival = size.world(work / "cec"), size.world(work / "rival")
    world.create()
    rival.create()
    first = _fail(lambda stops: start_query(spark, world, stops, 0), world)
    second = start_query(spark, world, Breakpoints(""), 1)
    second.awaitTermination()
    connection = rival.serve(0, 0, 0)
    third = _fail(lambda stops: start_restored(spark, rival, connection, stops), rival)
    fourth = start_restored(spark, rival, connection, Breakpoints(""))
    fourth.awaitTermination()
    begun = [note for note in world.notes() if "start" in note][-1]
    sought = Sought(
        begun["windows"],
        begun["start"],
        begun["scanned"],
        begun["read"],
        begun["windows"] + cuts(world.ends, begun["start"], begun["newest"])[0] - begun["start"],
    )
    replayed, again, *_ = _sent(world)
    scanned = begun["began"] + begun["seconds"]
    recovery = ExtentParts(
        sought.read, sought.loaded, begun["seconds"], replayed - scanned, again - replayed
    )
    restarted = [note["began"] for note in rival.notes() if "began" in note][-1]
    return MeasuredExtent(
        sought,
        recovery,
        RivalRestart(size.windows, _sent(rival)[0] - restarted),
        _warm((first, second), world),
        _warm((third, fourth), rival),
        world.taken() == rival.taken() == [*expected(world)],
    )


def _fail(start: Callable[[Breakpoints], StreamingQuery], world: CecWorld) -> StreamingQuery:
    """Run a query until it fails, its results in the driver and none of them written."""
    place = CecStops(Breakpoints(""), world.name).place(CecPoint.MADE)
    return await_failure(start(FailingBreakpoints("", {place: FAILING})))


def _sent(world: CecWorld) -> list[float]:
    """When the sink had each batch of the last incarnation."""
    notes = world.notes()
    last = max(number for number, note in enumerate(notes) if "began" in note)
    return [note["sent"] for note in notes[last:] if "sent" in note]


def _warm(queries: Sequence[StreamingQuery], world: CecWorld) -> WarmBatch:
    """The means of the batch before the one that fails, and of the last one."""
    progress = [query.recentProgress for query in queries]
    reports = [progress[0][FAILING - 1], progress[1][-1]]
    notes = [note for note in world.notes() if "sent" in note]
    written = [notes[FAILING - 1], notes[-1]]
    return WarmBatch(
        total_s=fmean(report.durationMs["triggerExecution"] for report in reports) / 1000,
        checkpoint_s=fmean(map(_checkpoint_ms, reports)) / 1000,
        log_s=fmean(note.get("log_s", 0.0) for note in written),
        records=fmean(note["records"] for note in written),
    )


def _checkpoint_ms(report: Any) -> float:
    took = report.durationMs
    (state,) = report.stateOperators
    tasks = state.numShufflePartitions
    return float(took["walCommit"] + took["commitOffsets"] + state.commitTimeMs / tasks)


# --- all sizes -------------------------------------------------------------------------------
WARM_UP = WindowsSize(10)
"""The first queries of a session are slow."""
CALIBRATING = (WindowsSize(250), WindowsSize(4_000), WindowsSize(1_000))
PREDICTED = tuple(
    WindowsSize(windows, seed) for seed in (1, 2) for windows in (500, 1_000, 2_000, 4_000)
)


def measure_sizes(setting: CheckSetting) -> Iterator[EngineCase]:
    """A case for each size.  Each of the later ones is predicted, from the first three, before it
    is run."""
    sizes = (*CALIBRATING, *PREDICTED)
    measured: list[MeasuredExtent] = []
    with session(setting.work / "session", conf={**BRIEF, **CONF}) as spark:
        measure(spark, setting.work / "warm-up", WARM_UP)
        for number, size in enumerate(sizes):
            setting.report(f"{size.windows} windows", number, len(sizes))
            sought = seek(size.world(setting.work))
            costs = None if size in CALIBRATING else costs_of(measured[: len(CALIBRATING)])
            measured.append(measure(spark, setting.work / f"run-{number}", size))
            yield compare(size, sought, measured[-1], costs)


def costs_of(runs: Sequence[MeasuredExtent]) -> tuple[ExtentCosts, LinearCost]:
    """The costs of a recovery under CEC, and of one under CRB, by windows."""
    restarts = [one.restart for one in runs]
    rival = fit_line([one.windows for one in restarts], [one.total_s for one in restarts])
    return calibrate([one.recovery for one in runs]), rival


def compare(
    size: WindowsSize,
    sought: Sought,
    found: MeasuredExtent,
    costs: tuple[ExtentCosts, LinearCost] | None,
) -> EngineCase:
    seconds = {}
    if costs is not None:
        mine, rival = costs
        seconds = {
            "recovery under CEC": (
                mine.recovery_s(sought.read, sought.loaded),
                found.recovery.total_s,
            ),
            "recovery under CRB": (rival.at(size.windows), found.restart.total_s),
        }
    recovery, logged, crb = found.recovery, found.logged, found.rival
    return engine_case(
        f"{size.windows} windows, seed {size.seed}",
        predicted={**sought._asdict(), "same output": True},
        seen={**found.sought._asdict(), "same output": found.same},
        details={
            "CEC: recovery_s": round(recovery.total_s, 2),
            "CEC: scan_s": round(recovery.scan_s, 2),
            "CEC: load_s": round(recovery.load_s, 2),
            "CEC: rest_s": round(recovery.rest_s, 2),
            "CRB: recovery_s": round(found.restart.total_s, 2),
            **{f"CEC batch: {name}": round(value, 3) for name, value in logged._asdict().items()},
            **{f"CRB batch: {name}": round(value, 3) for name, value in crb._asdict().items()},
        },
        seconds=seconds,
    )
