"""Recovery time and total time of real crashed runs, compared with the simulator's predictions.

Rule of this file: runs are made and timed here.  Each is predicted from the last run before it that
had no failures, from the last starts before it, and from what was decided before it began: where
its batches end, which processes are killed, and at which point of which batch.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from random import Random
from statistics import median
from typing import NamedTuple

from engine_check.breakpoints import JsonSettings
from engine_check.check import Check, CheckSetting, engine_case
from engine_check.machine import load
from engine_check.victim import start
from model.machine.children import wait_ended
from model.results.engine import EngineCase, EngineOutage
from sim.predictions import micro_batch as predictions
from sim.predictions.micro_batch import BatchPhase
from spark_check.micro_batch.calibration import (
    RUNNING,
    BatchCalibration,
    CleanRun,
    arm,
    calibrate,
    read_run,
    read_times,
    start_cost,
)
from spark_check.micro_batch.crashes import JOB, JobCrash
from spark_check.micro_batch.external_store import ExternalStore, StoreSink
from spark_check.micro_batch.job import JobSettings
from spark_check.micro_batch.stream import JobPoint, breakpoint_at
from spark_check.micro_batch.verdict import bodies, expected_bodies
from spark_check.runtime.crash_kinds import CrashKind, kill_kind

TYPES = "abcd"

SMALL, LARGE, STEP = 200, {"quick": 4_000, "full": 20_000}, 200
"""Events of the smallest and the largest batches, by profile; sizes are multiples of STEP."""
EFFORT = 400
"""Rounds of a hash for each event, so that the largest batches take seconds."""
FREE, CRASHED = 4, 5
"""Pairs of batches, a small and a large one, of a run without failures, so that the cost of a batch
and the cost of an event can be separated; batches of a run that is crashed."""

DRIVERS = (
    JobPoint.PLAN,
    JobPoint.READ,
    JobPoint.COUNT,
    JobPoint.PROCESSED,
    JobPoint.WRITTEN,
)
WORKERS = (JobPoint.READ, JobPoint.COUNT)
"""Points at which a task is running."""
BETWEEN_PHASES = {
    JobPoint.PLAN: (BatchPhase.PLANNING, 0.0),
    JobPoint.WRITTEN: (BatchPhase.COMMITTING, 0.0),
}
"""Points at which a phase of the simulator begins."""
STARTS = 5
"""A start is predicted to cost the median of so many before it, as one alone varies by a tenth."""
AGAIN = 10
"""Crashed runs between two runs without failures."""
END_S = 120.0
"""Seconds that the processes left by a crash may take to end."""


class PlannedRun(NamedTuple):
    """A run to be crashed.  sizes: of its batches."""

    sizes: tuple[int, ...]
    crash: JobCrash

    @property
    def title(self) -> str:
        kind, point, batch = self.crash
        return f"{kind} at {point}, batch {batch + 1} of {len(self.sizes)}"


class MeasuredRun(NamedTuple):
    """A run that was crashed; seconds.  first_s: from the start until the first batch was in the
    commit log.  crash_s: from the start to the crash.  away_s: from the crash until the job had
    ended.  recovery_s: from the crash until the sink has the batch.  again: did the batch run
    again, without being planned again?"""

    first_s: float
    crash_s: float
    away_s: float
    recovery_s: float
    total_s: float
    again: bool


def plan_runs(profile: str) -> list[PlannedRun]:
    """The runs of a profile: one, or ten of each kind, shuffled so that the machine's slow drift
    affects all kinds alike."""
    random = Random(profile)
    if profile == "quick":
        wanted = [(CrashKind.TREE, JobPoint.COUNT)]
    else:
        wanted = [
            (kind, points[turn % len(points)])
            for kind in (CrashKind.TREE, CrashKind.DRIVER, CrashKind.JVM, CrashKind.WORKER)
            for points in (WORKERS if kind is CrashKind.WORKER else DRIVERS,)
            for turn in range(10)
        ]
        random.shuffle(wanted)
    # Not in the first batch: in the simulator, what that takes longer is over before it begins.
    return [
        PlannedRun(
            tuple(random.randrange(SMALL, LARGE[profile] + 1, STEP) for _ in range(CRASHED)),
            JobCrash(kind, point, random.randrange(1, CRASHED)),
        )
        for kind, point in wanted
    ]


def _run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    return tuple(_cases(setting, plan_runs(setting.profile)))


def _cases(setting: CheckSetting, wanted: list[PlannedRun]) -> Iterator[EngineCase]:
    runs: list[PlannedRun | None] = []
    for at in range(0, len(wanted), AGAIN):
        runs += [None, *wanted[at : at + AGAIN]]  # None: a failure-free run
    if setting.profile == "full":
        runs.append(None)
    known: BatchCalibration | None = None
    starts: deque[float] = deque(maxlen=STARTS)
    for number, plan in enumerate(runs, 1):
        setting.report("runs", number - 1, len(runs))
        work = setting.work / f"run-{number}"
        if known is not None:
            known = known._replace(costs=known.costs._replace(start_s=median(starts)))
        if plan is None:
            known, case = _free(setting, work, known)
            starts.append(known.costs.start_s)
        else:
            assert known is not None
            start_s, case = _crash(setting, work, plan, known)
            starts.append(start_s)
        yield case


def _free(
    setting: CheckSetting, work: Path, known: BatchCalibration | None
) -> tuple[BatchCalibration, EngineCase]:
    """A run without failures, predicted from the one before it: the error shows the machine's
    noise."""
    large = LARGE[setting.profile]
    stream, run = run_free(work, large)
    found = calibrate(run)
    seconds = {}
    if known is not None:
        predicted = predictions.predict(stream.ends, known.costs)
        seconds = {"total, no failures": (predicted.total_s, run.ended - run.started)}
    costs = {key: round(value, 6) for key, value in found.costs._asdict().items()}
    shares = {f"{point} at": round(found.share(point, large), 3) for point in RUNNING}
    case = engine_case(
        "no failures",
        {"same": True},
        {"same": stream.same()},
        details={**costs, **shares, "spread": round(found.spread, 3), "load": load()},
        seconds=seconds,
        events=dict.fromkeys(seconds, stream.ends[-1]),
    )
    return found, case


def _crash(
    setting: CheckSetting, work: Path, plan: PlannedRun, known: BatchCalibration
) -> tuple[float, EngineCase]:
    """What the first start of a run that is crashed cost, and the case."""
    stream = TimedStream(work, plan.sizes)
    crash = predict_crash(plan, known)
    predicted = predictions.predict(stream.ends, known.costs, crash)
    assert predicted.recovery_s is not None  # there is a crash
    seen = crash_and_restart(stream, plan.crash)
    start_s = start_cost(seen.first_s, plan.sizes[0], known.costs)
    return start_s, engine_case(
        plan.title,
        {"same": predicted.same, "again": predicted.again},
        {"same": stream.same(), "again": seen.again},
        details={
            "start_s": round(start_s, 3),
            "start_s, predicted": round(known.costs.start_s, 3),
            "crash_s": round(seen.crash_s, 3),
            "away_s": round(seen.away_s, 3),
            "away_s, predicted": round(crash.away_s, 3),
            "load": load(),
        },
        crashed=(EngineOutage(plan.crash.kind.value, plan.crash.point.value),),
        seconds={
            "recovery": (predicted.recovery_s, seen.recovery_s),
            "total": (predicted.total_s, seen.total_s),
        },
        events={"recovery": plan.sizes[plan.crash.batch], "total": stream.ends[-1]},
    )


def predict_crash(plan: PlannedRun, known: BatchCalibration) -> predictions.PhaseCrash:
    """The same crash for the simulator, which knows phases and no crash points of Spark.

    What a crash leaves of a job ends by itself, as a job does that has finished.
    """
    kind, point, batch = plan.crash
    phase, share = BETWEEN_PHASES.get(point) or (
        BatchPhase.RUNNING,
        known.share(point, plan.sizes[batch]),
    )
    away_s = 0.0 if kind is CrashKind.TREE else known.costs.stop_s
    return predictions.PhaseCrash(batch, phase, share, away_s)


# --- runs ------------------------------------------------------------------------------------
class TimedStream(NamedTuple):
    """work: the folder of the run, and of all that is outside of Spark.  sizes: of batches."""

    work: Path
    sizes: tuple[int, ...]

    @property
    def ends(self) -> list[int]:
        return list(accumulate(self.sizes))

    @property
    def starts(self) -> list[int]:
        return [0, *self.ends[:-1]]

    @property
    def store(self) -> ExternalStore:
        return ExternalStore(str(self.work))

    def settings(self) -> JsonSettings:
        return JobSettings(str(self.work), self.ends, effort=EFFORT)._asdict()

    def create(self) -> None:
        self.work.mkdir(parents=True)
        random = Random(self.ends[-1])
        self.store.arrive([random.choice(TYPES) for _ in range(self.ends[-1])])

    def same(self) -> bool:
        """Has the sink what it would have if nothing had failed?"""
        rows = self.store.output(StoreSink.BY_BATCH)
        return bodies(rows) == expected_bodies(self.store.events())


def run_free(work: Path, large: int) -> tuple[TimedStream, CleanRun]:
    """Run the job without failures, in pairs of a small and a large batch."""
    stream = TimedStream(work, (large, *(SMALL, large) * FREE))  # the first one is cold
    stream.create()
    began = time.time()
    with start(JOB, stream.work, stream.settings(), stop_at=arm(stream.starts)) as victim:
        victim.finish()
    ended = time.time()
    folder = stream.work / "run-0"
    return stream, read_run(folder, stream.store.checkpoint, stream.ends, began, ended)


def crash_and_restart(stream: TimedStream, plan: JobCrash) -> MeasuredRun:
    """Run the job, crash it, and start it again as soon as it has ended."""
    stream.create()
    first = stream.starts[plan.batch]
    stop = breakpoint_at(plan.point, first)
    marks = arm(stream.starts)
    began = time.time()
    with start(JOB, stream.work, stream.settings(), stop_at={**marks, stop: 0}) as victim:
        stopped = victim.stopped(stop)
        family = victim.family()
        job = [p for p in family if p.pid == victim.process.pid or p.name() == "java"]
        crashed = kill_kind(victim, plan.kind, stopped)
        wait_ended(job, END_S)
        if stopped != victim.process.pid:
            victim.go(stop)  # else the process that stopped there would outlive the job
        wait_ended(family, END_S)
    first_s = (stream.store.checkpoint / "commits" / "0").stat().st_mtime - began
    back = time.time()
    with start(JOB, stream.work, stream.settings(), stop_at=marks) as victim:
        victim.finish()
    ended = time.time()
    later = read_times(stream.work / "run-1")
    return MeasuredRun(
        first_s=first_s,
        crash_s=crashed - began,
        away_s=back - crashed,
        recovery_s=later[breakpoint_at(JobPoint.WRITTEN, first)] - crashed,
        total_s=ended - began,
        again=breakpoint_at(JobPoint.PLAN, first) not in later,
    )


CHECK = Check(
    "prediction",
    "How well the simulator predicts recovery and total time",
    _run,
    campaign="full",
)
