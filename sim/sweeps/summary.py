"""The summary of a sweep's table: means over seeds, with their confidence intervals.

Rule of this file: it reads a table as it was written, so that any user's pandas can do the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import NormalDist, fmean, stdev
from typing import Any

from model.errors import Invalid, nearest
from model.results.interval import Interval
from model.results.sweep import SweepGroup, SweepSummary
from sim.scenarios.scenario import settled
from sim.sweeps.grid import Axis, Sweep
from sim.sweeps.results import cell, parameter_types

CONFIDENCE = 0.95
SUMMARIZED = (
    "recovery_s",
    "latency_p50_s",
    "latency_p99_s",
    "peak_backup_events",
    "peak_memory_bytes",
    "events_again",
    "link_bytes",
    "overhead_protection_link_bytes_share",
    "overhead_protection_stream_bytes_share",
    "overhead_protection_busy_share",
    "overhead_failures_link_bytes_share",
)
"""Columns with a mean and its confidence interval."""

# Student's t for a two-sided interval of 95 %, from 1 degree of freedom: any table of it.
T_95 = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)


def summarize(sweep: Sweep, path: Path, metrics: Iterable[str] = ()) -> SweepSummary:
    """Summarize a sweep: a group for each combination of varied keys except the seed.

    metrics: columns beside those of SUMMARIZED.  Of a group, metrics: by column, the mean and the
    95 % confidence interval of the mean over the runs that have a value (a failed run has none);
    None where there are too few.  chosen: the scenario has these values without the sweep.
    Raises Invalid if a metric is no column with numbers.
    """
    import pandas as pd  # most commands need no pandas

    frame = pd.read_parquet(path)
    numbers = [name for name in frame.columns if pd.api.types.is_numeric_dtype(frame[name])]
    for name in metrics:
        if name not in numbers:
            raise Invalid(f"{path}: no column {name!r} with numbers{nearest(name, numbers)}")
    wanted = tuple(dict.fromkeys((*SUMMARIZED, *metrics)))
    by = [axis.name for axis in sweep.axes if axis.name != "seed" and len(axis.values) > 1]
    own = [_own(sweep, axis) for axis in sweep.axes if axis.name in by]
    groups = []
    parts = frame.groupby(by, sort=False, dropna=False) if by else [((), frame)]
    for values, part in parts:
        groups.append(
            SweepGroup(
                parameters=dict(zip(by, map(_plain, values), strict=True)),
                chosen=bool(by) and [_plain(value) for value in values] == own,
                runs=len(part),
                failed=int(part["error"].notna().sum()),
                cut_off=int((part["cut_off"] == True).sum()),  # noqa: E712
                same=int((part["same"] == True).sum()),  # noqa: E712 - there may be none
                metrics={name: interval(part[name].dropna().tolist()) for name in wanted},
            )
        )
    return SweepSummary(sweep.name, sweep.base.path.name, tuple(by), CONFIDENCE, tuple(groups))


def interval(values: Sequence[float]) -> Interval:
    """Student's interval of the mean; runs with other seeds are independent of each other."""
    if not values:
        return Interval(0, None, None, None)
    mean = fmean(values)
    if len(values) < 2:
        return Interval(1, mean, None, None)
    freedom = len(values) - 1
    t = T_95[freedom - 1] if freedom <= len(T_95) else _t_95(freedom)
    half = t * stdev(values) / len(values) ** 0.5
    return Interval(len(values), mean, mean - half, mean + half)


def _t_95(freedom: int) -> float:
    """From the normal distribution, with the first two terms of Cornish and Fisher's expansion:
    for more than 30 degrees of freedom within 0.0002."""
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def _own(sweep: Sweep, axis: Axis) -> Any:
    """The value that the scenario has without the sweep, as the table has it; None if the grid has
    another one only."""
    base = settled(sweep.base)
    types = parameter_types(sweep)
    for override in axis.values:
        try:
            if settled(sweep.base.override([override])) == base:
                return cell(override.value, types[axis.name])
        except Invalid:  # with this value alone; a run with others, too, may be possible
            continue
    return None


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
