"""What the parts of a run cost, from the times at which the run passed its crash points.

Rule of this file: it reads the times of a run without failures, and averages; nothing is crashed or
predicted here.

The times are those of files: a breakpoint that lets a job pass leaves one, and so do Spark's two
logs.  So nothing is added to the job for the measurement, and a crash loses no times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from model.errors import Invalid
from sim.predictions.linear import LinearCost, fit_line
from sim.predictions.micro_batch import BatchCosts
from spark_check.micro_batch.stream import JobPoint, breakpoint_at

OFTEN = 1_000_000
"""More often than a job passes a breakpoint in any run: armed so, it never stops the job."""
RUNNING = (JobPoint.READ, JobPoint.COUNT, JobPoint.PROCESSED)
"""The points between the offset log and the sink."""


class BatchTimes(NamedTuple):
    """The times of a batch, in seconds since the epoch.  reached: when the batch came to each of
    the points in RUNNING for the first time."""

    events: int
    planned: float
    logged: float
    reached: Mapping[JobPoint, float]
    written: float
    committed: float


class CleanRun(NamedTuple):
    """A run without failures, from the start of its process to its end; times as in BatchTimes."""

    started: float
    batches: tuple[BatchTimes, ...]
    ended: float


class BatchCalibration(NamedTuple):
    """costs: what the parts of a run cost.  reached: by point, when a batch comes there, in
    seconds since it entered the offset log, by its events.  written: when the sink has the batch,
    likewise.  spread: how far the times of the batches lie from those computed,
    as a share of their mean."""

    costs: BatchCosts
    reached: Mapping[JobPoint, LinearCost]
    written: LinearCost
    spread: float

    def share(self, point: JobPoint, events: int) -> float:
        """The share of the time from the offset log to the sink that is over when a batch with this
        number of events comes to the point."""
        return min(self.reached[point].at(events) / self.written.at(events), 1.0)


def arm(starts: Sequence[int]) -> dict[str, int]:
    """Breakpoints that make all batches with these starts leave their times, and stop none."""
    return {breakpoint_at(point, start): OFTEN for point in JobPoint for start in starts}


def read_times(folder: Path) -> dict[str, float]:
    """By breakpoint, when the run of this folder first passed it."""
    times: dict[str, float] = {}
    for file in folder.glob("*.[0-9]*"):
        at = file.stat().st_mtime
        times[file.stem] = min(at, times.get(file.stem, at))
    return times


def read_run(
    folder: Path, checkpoint: Path, ends: Sequence[int], started: float, ended: float
) -> CleanRun:
    """Read the times of a run without failures, whose batches end with these events.

    Raises Invalid if a batch left no time.
    """
    times = read_times(folder)
    batches = []
    for number, (start, end) in enumerate(pairwise((0, *ends))):
        try:
            reached = {point: times[breakpoint_at(point, start)] for point in RUNNING}
            batches.append(
                BatchTimes(
                    end - start,
                    times[breakpoint_at(JobPoint.PLAN, start)],
                    (checkpoint / "offsets" / str(number)).stat().st_mtime,
                    reached,
                    times[breakpoint_at(JobPoint.WRITTEN, start)],
                    (checkpoint / "commits" / str(number)).stat().st_mtime,
                )
            )
        except (KeyError, OSError) as error:
            raise Invalid(f"{folder}: batch {number} left no time: {error}") from None
    return CleanRun(started, tuple(batches), ended)


def calibrate(run: CleanRun) -> BatchCalibration:
    """The costs of the parts of a run.

    What the first batch takes longer than the others is part of the start.  The others have the
    parts of the model: the trigger; the offset log (a save); the run of the batch, which ends with
    a version of the state (a save); the commit log (a save).  All saves cost the same.  The run of
    a batch is a line over its events.
    Raises Invalid unless there are two batches of different sizes after the first.
    """
    first, *warm = run.batches
    sizes = [batch.events for batch in warm]
    if len(set(sizes)) < 2:
        raise Invalid(
            f"batches after the first have {sizes} events: the cost of a batch and the cost of an "
            "event can only be separated with two sizes"
        )
    pairs = list(pairwise(run.batches))
    trigger = fmean(after.planned - before.committed for before, after in pairs)
    save = fmean(
        (batch.logged - batch.planned + batch.committed - batch.written) / 2 for batch in warm
    )
    ran = [batch.written - batch.logged for batch in warm]
    fixed, event = written = fit_line(sizes, ran)
    batch_s = max(fixed - save, 0.0)
    off = [abs(took - fixed - event * size) for took, size in zip(ran, sizes, strict=True)]
    costs = BatchCosts(
        start_s=0.0,
        trigger_s=trigger,
        save_s=save,
        batch_s=batch_s,
        event_s=event,
        stop_s=run.ended - run.batches[-1].committed,
    )
    costs = costs._replace(start_s=start_cost(first.committed - run.started, first.events, costs))
    reached = {
        point: fit_line(sizes, [batch.reached[point] - batch.logged for batch in warm])
        for point in RUNNING
    }
    return BatchCalibration(costs, reached, written, fmean(off) / fmean(ran))


def start_cost(first_s: float, events: int, costs: BatchCosts) -> float:
    """What a start costs, if the first batch, of so many events, was committed first_s after it."""
    usual = 3 * costs.save_s + costs.batch_s + costs.event_s * events
    return first_s - usual - costs.trigger_s
