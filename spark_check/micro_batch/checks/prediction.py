"""How well does the simulator predict?  Recovery and total time of runs that are really crashed.

Rule of this file: runs are made and timed here.  Each is predicted from the last run before it that
had no failures, and from what was decided before it began: where its batches end, which processes
are killed, and at which point of which batch.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from sim.predictions.micro_batch import micro_batches
from spark_check.check import Case, Check, Setting
from spark_check.micro_batch.calibration import (
    RUNNING,
    Calibration,
    armed,
    calibrated,
    lived,
    passed,
)
from spark_check.micro_batch.external_store import Outside, Sink
from spark_check.micro_batch.job import Settings
from spark_check.micro_batch.stream import Point, place
from spark_check.micro_batch.verdict import bodies, expected
from spark_check.runtime.victim import Kind, Victim, start, wait_ended

JOB = "spark_check.micro_batch.job:run"
TYPES = "abcd"

SMALL, LARGE, STEP = 200, {"quick": 4_000, "full": 20_000}, 200
"""Events of the smallest and the largest batches, by profile; sizes are drawn in steps."""
EFFORT = 400
"""So that the largest take seconds."""
FREE, CRASHED = 4, 5
"""Pairs of batches, a small and a large one, of a run without failures, so that what a batch costs
can be told from what an event costs; batches of a run that is crashed."""

DRIVERS = (Point.PLAN, Point.READ, Point.COUNT, Point.PROCESSED, Point.WRITTEN)
WORKERS = (Point.READ, Point.COUNT)
"""Points at which a task is running."""
AGAIN = 10
"""So many crashed runs after a run without failures comes the next one."""
END_S = 120.0
"""How long what a crash has left of a job may take to end."""


class Plan(NamedTuple):
    """A run to be crashed.  sizes: of its batches.  batch: 0, 1, ..."""

    sizes: tuple[int, ...]
    kind: Kind
    point: Point
    batch: int

    @property
    def title(self) -> str:
        return f"{self.kind} at {self.point}, batch {self.batch + 1} of {len(self.sizes)}"


class Crashed(NamedTuple):
    """Measured, in seconds.  crash: from the start.  away: from the crash until the job had ended.
    again: did the batch run again, without being planned again?"""

    crash_s: float
    away_s: float
    recovery_s: float
    total_s: float
    again: bool


def plans(profile: str) -> list[Plan]:
    """Quick: two.  Full: ten of each kind, in an order in which all see the same machine."""
    random = Random(profile)
    if profile == "quick":
        wanted = [(Kind.TREE, Point.COUNT), (Kind.TREE, Point.WRITTEN)]
    else:
        wanted = [
            (kind, points[turn % len(points)])
            for kind in (Kind.TREE, Kind.DRIVER, Kind.JVM, Kind.WORKER)
            for points in (WORKERS if kind is Kind.WORKER else DRIVERS,)
            for turn in range(10)
        ]
        random.shuffle(wanted)
    # Not in the first batch: what that takes longer is, in the simulator, over before it begins.
    return [
        Plan(
            tuple(random.randrange(SMALL, LARGE[profile] + 1, STEP) for _ in range(CRASHED)),
            kind,
            point,
            random.randrange(1, CRASHED),
        )
        for kind, point in wanted
    ]


def _run(setting: Setting) -> tuple[Case, ...]:
    return tuple(_cases(setting, plans(setting.profile)))


def _cases(setting: Setting, wanted: list[Plan]) -> Iterator[Case]:
    runs: list[Plan | None] = []
    for at in range(0, len(wanted), AGAIN):
        runs += [None, *wanted[at : at + AGAIN]]  # None: a failure-free run
    if setting.profile == "full":
        runs.append(None)
    known: Calibration | None = None
    for number, plan in enumerate(runs, 1):
        setting.tell("runs", number - 1, len(runs))
        work = setting.work / f"run-{number}"
        if plan is None:
            known, case = _free(setting, work, known)
            yield case
        else:
            assert known is not None
            yield _case(setting, work, plan, known)


def _free(setting: Setting, work: Path, known: Calibration | None) -> tuple[Calibration, Case]:
    """A run without failures, predicted from the one before it: so much is the machine's doing."""
    large = LARGE[setting.profile]
    stream = Stream(work, (large, *(SMALL, large) * FREE))  # the first one is cold
    stream.create()
    began = time.time()
    with start(JOB, stream.work, stream.settings(), stop_at=armed(stream.starts)) as victim:
        _finished(victim)
    ended = time.time()
    run = lived(stream.work / "run-0", stream.outside.checkpoint, stream.ends, began, ended)
    found = calibrated(run)
    seconds = {}
    if known is not None:
        predicted = micro_batches(stream.ends, known.costs)
        seconds = {"total, no failures": (predicted.total_s, ended - began)}
    costs = {key: round(value, 6) for key, value in found.costs.items()}
    shares = {f"{point} at": round(found.share(point, large), 3) for point in RUNNING}
    case = Case(
        "no failures",
        {"same": True},
        {"same": stream.same()},
        told={**costs, **shares, "spread": round(found.spread, 3), "load": _load()},
        seconds=seconds,
    )
    return found, case


def _case(setting: Setting, work: Path, plan: Plan, known: Calibration) -> Case:
    stream = Stream(work, plan.sizes)
    hit = where(plan, known)
    predicted = micro_batches(stream.ends, known.costs, hit)
    assert predicted.recovery_s is not None  # there is a crash
    seen = crashed(stream, plan)
    return Case(
        plan.title,
        {"same": predicted.same, "again": predicted.again},
        {"same": stream.same(), "again": seen.again},
        told={
            "crash_s": round(seen.crash_s, 3),
            "away_s": round(seen.away_s, 3),
            "away_s, predicted": round(hit["away_s"], 3),
            "load": _load(),
        },
        crashed=(f"{plan.kind}: {plan.point}",),
        seconds={
            "recovery": (predicted.recovery_s, seen.recovery_s),
            "total": (predicted.total_s, seen.total_s),
        },
    )


def _load() -> float:
    """Of the machine, over the last minute: processes that run or want to."""
    return round(os.getloadavg()[0], 1)


def where(plan: Plan, known: Calibration) -> dict[str, Any]:
    """The crash as the simulator is told it (sim.predictions.micro_batch.Hit).

    What a crash leaves of a job ends by itself, as a job does that has finished.
    """
    phase, share = {
        Point.PLAN: ("planning", 0.0),
        Point.WRITTEN: ("committing", 0.0),
    }.get(plan.point) or ("running", known.share(plan.point, plan.sizes[plan.batch]))
    away = 0.0 if plan.kind is Kind.TREE else known.costs["stop_s"]
    return {"batch": plan.batch, "phase": phase, "share": share, "away_s": away}


# --- runs ------------------------------------------------------------------------------------
class Stream(NamedTuple):
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
    def outside(self) -> Outside:
        return Outside(str(self.work))

    def settings(self) -> Mapping[str, Any]:
        return Settings(str(self.work), self.ends, effort=EFFORT)._asdict()

    def create(self) -> None:
        self.work.mkdir(parents=True)
        random = Random(self.ends[-1])
        self.outside.arrive([random.choice(TYPES) for _ in range(self.ends[-1])])

    def same(self) -> bool:
        """Has the sink what it would have if nothing had failed?"""
        rows = self.outside.output(Sink.BY_BATCH)
        return bodies(rows) == expected(self.outside.events())


def crashed(stream: Stream, plan: Plan) -> Crashed:
    """Run it, crash it, and start it again as soon as it has ended."""
    stream.create()
    first = stream.starts[plan.batch]
    stop = place(plan.point, first)
    marks = armed(stream.starts)
    began = time.time()
    with start(JOB, stream.work, stream.settings(), stop_at={**marks, stop: 0}) as victim:
        stopped = victim.stopped(stop)
        family = victim.family()
        job = [p for p in family if p.pid == victim.process.pid or p.name() == "java"]
        struck = victim.kill(plan.kind, stopped)
        wait_ended(job, END_S)
        if stopped != victim.process.pid:
            victim.go(stop)  # or who stopped there would outlive the job
        wait_ended(family, END_S)
    back = time.time()
    with start(JOB, stream.work, stream.settings(), stop_at=marks) as victim:
        _finished(victim)
    ended = time.time()
    later = passed(stream.work / "run-1")
    return Crashed(
        crash_s=struck - began,
        away_s=back - struck,
        recovery_s=later[place(Point.WRITTEN, first)] - struck,
        total_s=ended - began,
        again=place(Point.PLAN, first) not in later,
    )


def _finished(victim: Victim) -> None:
    if victim.join() != 0:
        raise RuntimeError(f"the job failed: {victim.said()}")


CHECK = Check(
    "prediction",
    "How well the simulator predicts recovery and total time",
    _run,
)
