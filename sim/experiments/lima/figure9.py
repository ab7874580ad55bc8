"""Lima et al., Section IV: the savings by skipping in a failure-recovery cycle (Figure 9).

Rule of this file: which cycles are run, and the numbers of the paper in terms of them.
sim.experiments.lima.cycle defines a cycle, sim.experiments.lima.kernel runs it fast, and
campaign.py runs campaigns.

Recovery time is found in two ways.  Counted: events replayed times the service time of one, which
is the same for all, so only ratios mean something.  Measured: processor time of the kernel, medians
over the seeds; the kernel feeds windows in the same state together, which libgem does not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from model.cep.numbering import PAIRS, TRIGGERED
from model.results.experiment import Parameter, Summary
from model.results.table import Row
from sim.experiments.experiment import Experiment
from sim.experiments.lima.cycle import CycleSetting, EventArrays, Theta
from sim.experiments.lima.kernel import BackupRun, run
from sim.experiments.lima.kernel_loops import PLACE

TYPES, PATTERN, SIZE = 10, (0, 1, 2, 3, 4), 1000
SLIDES = (50, 800)
INTERVALS = (8, 16, 32, 64, 128)
NEVER = 2**40
"""A save interval that no run reaches."""
NOTICE_EVERY = 64
ROUNDS = 50


class Figure9Mode(NamedTuple):
    """A mode of skipping, numbering (published: pairs) and saving; title: for people."""

    name: str
    title: str
    skip: bool
    notice_every: int | None = None
    corrected: bool = False
    theta: Theta = Theta.FIRST


MODES = (
    Figure9Mode("off", "skip off", False),
    Figure9Mode("on", "skip on", True),
    Figure9Mode("notices", "skip notices of their own", True, notice_every=NOTICE_EVERY),
    Figure9Mode("corrected", "skip on, corrected numbers", True, corrected=True),
    Figure9Mode("off, last", "skip off, saving for the last", False, theta=Theta.LAST),
    Figure9Mode("on, last", "skip on, saving for the last", True, theta=Theta.LAST),
)

PARAMETERS = (
    Parameter("events", 1_000_000, "IV"),
    Parameter("seeds", 50, "IV"),
    Parameter("types", TYPES, "IV: a to j"),
    Parameter("pattern", "abcde, skip-till-next-match", "IV"),
    Parameter("window size", SIZE, "IV, in time units"),
    Parameter("window slides", list(SLIDES), "IV, in time units"),
    Parameter("save intervals", list(INTERVALS), "IV"),
    Parameter(
        "failure",
        "when half of the events have been processed",
        "IV; here that is always just before a window opens",
    ),
    Parameter("time between events", 1, "not given; with it 20 and 2 windows are open (IV: 21, 2)"),
    Parameter("after a match", "the window searches anew", "not given"),
    Parameter("distribution of types", "uniform", 'not given beyond "random"'),
    Parameter(
        "theta",
        "the first of the S_i acknowledged; in two more modes the last",
        'IV says the first; its "almost constant" gain is seen with the last (found by looking)',
    ),
    Parameter("skip notices", f"every {NOTICE_EVERY} skipped events", "future work in the paper"),
)


# --- one seed --------------------------------------------------------------------------------
def stream(seed: int, events: int) -> EventArrays:
    """The random stream of a seed: types uniform, one event a time unit."""
    rng = np.random.default_rng(seed)
    return EventArrays(
        rng.integers(0, TYPES, events).astype(np.uint8), np.arange(events, dtype=np.int64)
    )


def rows(seed: int, events: int) -> Sequence[Row]:
    """All cycles over one random stream, a row each; and two runs for each slide and mode that show
    the cost of a savepoint (interval 1, and never)."""
    input_ = stream(seed, events)
    return [row for slide in SLIDES for mode in MODES for row in _cycles(input_, slide, mode)]


def _cycles(input_: EventArrays, slide: int, mode: Figure9Mode) -> Iterator[Row]:
    events = len(input_.types)
    free = run(input_, _setting(slide, mode, NEVER, None))
    for interval in (*INTERVALS, 1, NEVER):
        fail_after = events // 2 if interval in INTERVALS else None
        ran = run(input_, _setting(slide, mode, interval, fail_after), rounds=ROUNDS)
        yield {
            "slide": slide,
            "mode": mode.name,
            "interval": interval,
            "replayed": len(ran.replayed),
            "peak": ran.peak,
            "windows": ran.windows,
            "saves": ran.saves,
            "fed": _fed(input_.times, slide),
            "recovery_s": ran.recovery_s,
            "normal_s": ran.before_s + ran.after_s,
            "wrong": _wrong(ran, free),
        }


def _setting(slide: int, mode: Figure9Mode, interval: int, fail_after: int | None) -> CycleSetting:
    numbering = TRIGGERED if mode.corrected else PAIRS
    return CycleSetting(
        PATTERN,
        SIZE,
        slide,
        interval,
        fail_after,
        mode.skip,
        mode.notice_every,
        numbering,
        mode.theta,
    )


def _fed(times: NDArray[np.int64], slide: int) -> int:
    """How often an event is fed to a window, in total."""
    starts = np.arange(times[0], times[-1] + 1, slide)
    ends = np.searchsorted(times, starts + SIZE)
    return int((ends - np.searchsorted(times, starts)).sum())


def _wrong(ran: BackupRun, free: BackupRun) -> int:
    """The number of complex events passed on too often or not at all, counted by their triggers."""
    count = len(ran.times) + 1
    times = [
        np.bincount(one.triggers[:, PLACE], one.passed_by_trigger, minlength=count)
        for one in (ran, free)
    ]
    return int(np.abs(times[0] - times[1]).sum())


# --- all seeds -------------------------------------------------------------------------------
def summary(found: Sequence[Row]) -> Summary:
    """cells: a row each slide, mode and interval, with means and deviations over the seeds (and
    medians and quartiles of measured times); values: our values for the paper's numbers."""
    frame = pd.DataFrame(found)
    cells = [_cell(key, part) for key, part in frame.groupby(["slide", "mode", "interval"])]
    by_key = {(c["slide"], c["mode"], c["interval"]): c for c in cells}
    shared = {
        key: {**cell, "save_share": _save_share(by_key, cell)} for key, cell in by_key.items()
    }
    kept = {key: cell for key, cell in shared.items() if cell["interval"] in INTERVALS}
    values = _values(kept)
    return Summary([*kept.values()], values, [*_notes(frame)])


def _notes(frame: pd.DataFrame) -> Iterator[str]:
    """A line for each mode: how many outputs were wrong."""
    for mode in MODES:
        runs = frame[(frame["mode"] == mode.name) & frame["interval"].isin(INTERVALS)]
        wrong = runs[runs["wrong"] > 0]
        numbers = "corrected" if mode.corrected else "published"
        yield (
            f"{mode.title} ({numbers} numbers): the output of {len(wrong)} of {len(runs)} cycles "
            f"is not as if nothing had failed, {int(wrong['wrong'].sum())} complex events in all"
        )


def _cell(key: Any, part: pd.DataFrame) -> Row:
    slide, mode, interval = key
    low, middle, high = part["recovery_s"].quantile([0.25, 0.5, 0.75])
    return {
        "slide": int(slide),
        "mode": str(mode),
        "interval": int(interval),
        "runs": len(part),
        "wrong": int(part["wrong"].sum()),
        **{
            f"{name}_{what}": float(getattr(part[name], what)())
            for name in ("replayed", "peak", "saves")
            for what in ("mean", "std")
        },
        "windows": float(part["windows"].mean()),
        "fed": float(part["fed"].mean()),
        "recovery_s_low": float(low),
        "recovery_s": float(middle),
        "recovery_s_high": float(high),
        "normal_s": float(part["normal_s"].median()),
    }


_Cells = Mapping[tuple[int, str, int], Row]


def _save_share(cells: _Cells, cell: Row) -> float:
    """The share of savepoints in the time of normal processing.  The cost of one comes from a run
    with a savepoint at every acknowledgement and a run with none: the difference is measurable."""
    often, never = (cells[cell["slide"], cell["mode"], interval] for interval in (1, NEVER))
    cost = max(0.0, often["normal_s"] - never["normal_s"]) / often["saves_mean"]
    return float(cost * cell["saves_mean"] / cell["normal_s"])


def _values(cells: _Cells) -> dict[str, float]:
    first = INTERVALS[0]
    values: dict[str, float] = {}
    for slide in SLIDES:
        for way, name in (("counted", "replayed_mean"), ("measured", "recovery_s")):
            off, on = (cells[slide, mode, first][name] for mode in ("off", "on"))
            values[f"recovery_reduction_{way}.{slide}"] = 1 - on / off
        values[f"open_windows.{slide}"] = cells[slide, "off", first]["windows"]
        for theta, after in ((Theta.FIRST, ""), (Theta.LAST, ", last")):
            gains = [_gain(cells, slide, s, after) for s in INTERVALS]
            absolute, relative = zip(*gains, strict=True)
            key = f"{theta.name.lower()}.{slide}"
            values[f"absolute_gain_constant.{key}"] = min(absolute) / max(absolute)
            values[f"relative_gain_shrinks.{key}"] = float(shrinks(relative))
    peaks = [
        cells[slide, "on", s]["peak_mean"] < cells[slide, "off", s]["peak_mean"]
        for slide in SLIDES
        for s in INTERVALS
    ]
    for way, name in (("counted", "fed"), ("measured", "normal_s")):
        wide, narrow = (cells[slide, "off", first][name] for slide in SLIDES)
        values[f"total_ratio_{way}"] = wide / narrow
    return values | {
        "save_share": max(c["save_share"] for c in cells.values() if c["mode"] in ("off", "on")),
        "backup_smaller": float(all(peaks)),
    }


def shrinks(gains: Sequence[float]) -> bool:
    """Do the gains shrink from first to last, and grow nowhere by a percentage point?"""
    return gains[-1] < gains[0] and all(b - a < 0.01 for a, b in pairwise(gains))


def _gain(cells: _Cells, slide: int, interval: int, after: str) -> tuple[float, float]:
    """Events that need not be replayed: the number and the share.  after: the end of the modes'
    names."""
    off, on = (cells[slide, mode + after, interval]["replayed_mean"] for mode in ("off", "on"))
    return off - on, 1 - on / off


FIG9 = Experiment(
    name="lima-fig9",
    title="Skipping unused events: recovery time, savepoints, replay and backup (Fig. 9)",
    source="Lima et al., Section IV",
    parameters=PARAMETERS,
    seeds=50,
    events=1_000_000,
    rows=rows,
    summary=summary,
)
EXPERIMENTS = (FIG9,)
