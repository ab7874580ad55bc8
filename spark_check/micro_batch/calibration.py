"""What the parts of a run cost, from the times at which it passed its points.

Rule of this file: it reads times off a run that had no failures, and averages; nobody is crashed
here and nothing is predicted.  The names of the costs are those of sim.predictions.micro_batch.

The times are those of files: a breakpoint that lets a job pass leaves one, and so do Spark's two
logs.  So nothing is added to the job for the sake of being timed, and a crash takes no times along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean, linear_regression
from typing import NamedTuple

from model.errors import Invalid
from spark_check.micro_batch.stream import Point, place

OFTEN = 1_000_000
"""More often than a place is passed in any run: armed so, it never stops."""
RUNNING = (Point.READ, Point.COUNT, Point.PROCESSED)
"""The points between the offset log and the sink."""


class Times(NamedTuple):
    """Of a batch, in seconds since the epoch.  reached: when its points were, the first time."""

    events: int
    planned: float
    logged: float
    reached: Mapping[str, float]
    written: float
    committed: float


class Lived(NamedTuple):
    """A run, from the start of its process to its end, in seconds since the epoch."""

    started: float
    batches: tuple[Times, ...]
    ended: float


class Line(NamedTuple):
    """Seconds from a batch's entry in the offset log: fixed, and what each event adds."""

    fixed: float
    event: float

    def at(self, events: float) -> float:
        return self.fixed + self.event * events


class Calibration(NamedTuple):
    """costs: seconds, as sim.predictions.micro_batch.BatchCosts has them.  reached: by point, when
    a batch comes to it.  written: when the sink has it.  spread: of the costs of the batches about
    those
    computed, as a share of their mean."""

    costs: Mapping[str, float]
    reached: Mapping[str, Line]
    written: Line
    spread: float

    def share(self, point: Point, events: int) -> float:
        """Of the time from the offset log to the sink: how much is over when a batch of so many
        events comes to the point."""
        return min(self.reached[point].at(events) / self.written.at(events), 1.0)


def armed(starts: Sequence[int]) -> dict[str, int]:
    """What to stop at so that all batches that begin there leave their times, and none stops."""
    return {place(point, start): OFTEN for point in Point for start in starts}


def passed(folder: Path) -> dict[str, float]:
    """When each place was first passed in the run of this folder."""
    times: dict[str, float] = {}
    for file in folder.glob("*.[0-9]*"):
        at = file.stat().st_mtime
        times[file.stem] = min(at, times.get(file.stem, at))
    return times


def lived(
    folder: Path, checkpoint: Path, ends: Sequence[int], started: float, ended: float
) -> Lived:
    """A run without failures, of batches that end with these events."""
    times = passed(folder)
    batches = []
    for number, (start, end) in enumerate(pairwise((0, *ends))):
        try:
            reached = {point.value: times[place(point, start)] for point in RUNNING}
            batches.append(
                Times(
                    end - start,
                    times[place(Point.PLAN, start)],
                    (checkpoint / "offsets" / str(number)).stat().st_mtime,
                    reached,
                    times[place(Point.WRITTEN, start)],
                    (checkpoint / "commits" / str(number)).stat().st_mtime,
                )
            )
        except (KeyError, OSError) as error:
            raise Invalid(f"{folder}: batch {number} left no time: {error}") from None
    return Lived(started, tuple(batches), ended)


def calibrated(run: Lived) -> Calibration:
    """The first batch is part of the start: what it takes longer than the others is the start's.

    The others are taken apart as the model has them: the trigger; the offset log (a save); the run
    of the batch, which ends with a version of the state (a save); the commit log (a save).  Saves
    are alike.  The run of a batch is a line over its events.
    Raises Invalid if there are less than two batches of different sizes after the first.
    """
    first, *warm = run.batches
    sizes = [batch.events for batch in warm]
    if len(set(sizes)) < 2:
        raise Invalid(
            f"batches after the first have {sizes} events: a fixed cost and one an event can only "
            "be told apart with two sizes"
        )
    pairs = list(pairwise(run.batches))
    trigger = fmean(after.planned - before.committed for before, after in pairs)
    save = fmean(
        (batch.logged - batch.planned + batch.committed - batch.written) / 2 for batch in warm
    )
    ran = [batch.written - batch.logged for batch in warm]
    fixed, event = written = _line(sizes, ran)
    batch_s = max(fixed - save, 0.0)
    usual = 3 * save + batch_s + event * first.events
    off = [abs(took - fixed - event * size) for took, size in zip(ran, sizes, strict=True)]
    costs = {
        "start_s": first.committed - run.started - usual - trigger,
        "trigger_s": trigger,
        "save_s": save,
        "batch_s": batch_s,
        "event_s": event,
        "stop_s": run.ended - run.batches[-1].committed,
    }
    reached = {
        point.value: _line(sizes, [batch.reached[point] - batch.logged for batch in warm])
        for point in RUNNING
    }
    return Calibration(costs, reached, written, fmean(off) / fmean(ran))


def _line(sizes: Sequence[int], seconds: Sequence[float]) -> Line:
    """Through the mean; no part is negative, though by chance small batches may take longer."""
    event = max(linear_regression(sizes, seconds).slope, 0.0)
    event = min(event, fmean(seconds) / fmean(sizes))
    return Line(fmean(seconds) - event * fmean(sizes), event)
