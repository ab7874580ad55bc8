"""The kernel: the records of one operator with keyed count windows, and the cost of a crash.

Rule of this file: settings, tables and results; sim.experiments.sebepou.kernel_loops processes the
tuples.

Time.  The operator has one thread.  It is busy for `tuple_s` with each tuple, and for `check_s`
with each G_open or G_check on top.  Every `period_s`, from begin to begin, it makes G_checks of the
windows with the oldest footprints, for at most `busy_s` and while a target is exceeded
(model.protocols.cec.policy.due).  Its log is written by other threads.

An instant checkpoint (CRB) has all open windows as of one moment.  Stopping, the operator makes
and writes one after the other, `check_s + write_s` each, and does nothing else meanwhile.  With
copy on write another thread does so, in `write_s` each; the operator goes on, and is busy for
`copy_s` with the first tuple for each window that the checkpoint has.  The next checkpoint begins
when it is due and this one is complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.errors import Invalid
from sim.experiments.sebepou import kernel_loops as loops
from sim.experiments.sebepou.kernel_loops import ExtentSettingCompiled, ExtentTables

SECOND = 10**12
"""The number of picoseconds in a second."""


class ExtentStudyCosts(NamedTuple):
    """Seconds: of a tuple, of making a G_open or G_check, of writing a window to a checkpoint, of
    copying one, of reading a record or a saved window in a recovery."""

    tuple_s: float
    check_s: float
    write_s: float
    copy_s: float
    read_s: float


class Estimate(Enum):
    """The values that the operator uses as q and u; model.protocols.cec.policy has both."""

    POSITIONS = "absolute positions"
    DIFFERENCES = "differences, as published"


class CheckpointWay(Enum):
    """How state survives a crash."""

    NATIVE = "not at all"
    CONTINUOUS = "CEC"
    STOPPING = "CRB, stopping"
    COPYING = "CRB, copy on write"


@dataclass(frozen=True, slots=True)
class ExtentSetting:
    """A run.

    keys: items are 0 to keys - 1.  size: tuples in a window.  q_target, u_target: None for none.
    period_s, busy_s: CP and CI; without a period there are no G_checks.  save_s: from the begin of
    an instant checkpoint to the next.  warm: the tuple from which means and maxima are taken.
    crash: the tuple before which the crash comes, whose costs are reported.
    """

    costs: ExtentStudyCosts
    keys: int
    size: int
    way: CheckpointWay = CheckpointWay.CONTINUOUS
    q_target: int | None = None
    u_target: int | None = None
    estimate: Estimate = Estimate.POSITIONS
    period_s: float | None = None
    busy_s: float = 0.0
    save_s: float | None = None
    warm: int = 0
    crash: int = 0

    def __post_init__(self) -> None:
        if self.keys < 1 or self.size < 1:
            raise Invalid(f"{self.keys} keys, windows of {self.size}: give at least 1 of each")
        if (self.save_s is not None) != (
            self.way in (CheckpointWay.STOPPING, CheckpointWay.COPYING)
        ):
            raise Invalid(f"{self.way.value}: an interval of checkpoints belongs to CRB alone")


class ExtentRun(NamedTuple):
    """The outcome of a run.

    clock_s: when it ended; steady_s: how long it lasted since the warm-up.  records: in the log.
    opens, results, checks: windows opened and closed, G_checks.
    extent, replay, windows: at the crash; estimated: the published estimates of the first two.
    most_extent, most_replay, most_windows: the largest since the warm-up.
    mean_extent, mean_replay, mean_windows, mean_loaded: over time since the warm-up; the last one:
    windows in the newest complete checkpoint.
    saves, saved, copies: complete checkpoints, windows in them, windows copied.
    open_s: by second of the run, the mean time for which the windows that closed were open; if
    checkpoints took more than half of the time, the last second has the later ones, too.
    """

    clock_s: float
    steady_s: float
    records: int
    opens: int
    results: int
    checks: int
    extent: int
    replay: int
    windows: int
    estimated: tuple[int, int]
    most_extent: int
    most_replay: int
    most_windows: int
    mean_extent: float
    mean_replay: float
    mean_windows: float
    mean_loaded: float
    saves: int
    saved: int
    copies: int
    open_s: NDArray[np.float64]


def run(items: NDArray[np.int32], setting: ExtentSetting) -> ExtentRun:
    """Run the operator over the items.  Raises Invalid for an item that is no key."""
    if len(items) and not (items.min() >= 0 and items.max() < setting.keys):
        raise Invalid(
            f"items from {items.min()} to {items.max()}: keys are 0 to {setting.keys - 1}"
        )
    tables = _tables(setting, len(items))
    loops.simulate(_rules(setting), tables, items)
    totals, areas = tables.totals.tolist(), tables.areas.tolist()
    time = areas[loops.TIME] or 1.0
    seconds = -(-totals[loops.CLOCK] // SECOND)
    with np.errstate(invalid="ignore"):
        open_s = tables.sums[:seconds] / tables.counts[:seconds] / SECOND
    return ExtentRun(
        clock_s=totals[loops.CLOCK] / SECOND,
        steady_s=areas[loops.TIME] / SECOND,
        records=totals[loops.HEAD],
        opens=totals[loops.OPENS],
        results=totals[loops.RESULTS],
        checks=totals[loops.CHECKS],
        extent=totals[loops.EXTENT],
        replay=totals[loops.REPLAY],
        windows=totals[loops.WINDOWS],
        estimated=(totals[loops.ESTIMATE], totals[loops.ESTIMATED_REPLAY]),
        most_extent=totals[loops.MOST_EXTENT],
        most_replay=totals[loops.MOST_REPLAY],
        most_windows=totals[loops.MOST_WINDOWS],
        mean_extent=areas[loops.EXTENT_AREA] / time,
        mean_replay=areas[loops.REPLAY_AREA] / time,
        mean_windows=areas[loops.WINDOWS_AREA] / time,
        mean_loaded=areas[loops.LOADED_AREA] / time,
        saves=totals[loops.SAVES],
        saved=totals[loops.SAVED],
        copies=totals[loops.COPIES],
        open_s=open_s,
    )


def _rules(setting: ExtentSetting) -> ExtentSettingCompiled:
    costs = setting.costs
    return ExtentSettingCompiled(
        size=setting.size,
        control=setting.way is CheckpointWay.CONTINUOUS,
        q_target=setting.q_target or 0,
        u_target=setting.u_target or 0,
        differences=setting.estimate is Estimate.DIFFERENCES,
        period=_ps(setting.period_s or 0),
        busy=_ps(setting.busy_s),
        save_period=_ps(setting.save_s or 0),
        copies=setting.way is CheckpointWay.COPYING,
        tuple_=_ps(costs.tuple_s),
        check=_ps(costs.check_s),
        write=_ps(costs.write_s + (costs.check_s if setting.way is CheckpointWay.STOPPING else 0)),
        copy=_ps(costs.copy_s),
        second=SECOND,
        warm=setting.warm,
        crash=setting.crash,
    )


def _tables(setting: ExtentSetting, items: int) -> ExtentTables:
    keys, costs = setting.keys, setting.costs
    each = costs.tuple_s + costs.check_s + costs.copy_s
    seconds = 2 + int(2 * items * each)  # later ones count with the last
    return ExtentTables(
        held=np.zeros(keys, np.int32),
        record=np.zeros(keys, np.int64),
        input=np.zeros(keys, np.int64),
        opened=np.zeros(keys, np.int64),
        previous=np.zeros(keys + 1, np.int32),
        following=np.zeros(keys + 1, np.int32),
        records=np.zeros(keys, np.int64),
        inputs=np.zeros(keys, np.int64),
        copied=np.zeros(keys, np.int32),
        sums=np.zeros(seconds, np.int64),
        counts=np.zeros(seconds, np.int64),
        totals=np.zeros(loops.TOTALS, np.int64),
        areas=np.zeros(loops.AREAS),
    )


def _ps(seconds: float) -> int:
    return round(seconds * SECOND)
