"""The experiments of Hwang et al., Section 7: Figures 6 and 7, Tables 6, 7 and 8.

Rule of this file: which points are run, and the numbers of the paper in terms of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import pandas as pd

from model.results.experiment import ComparedNumber, ExperimentPanel, Parameter, Series, Summary
from model.results.interval import Interval
from model.results.table import Row
from sim.experiments.experiment import Experiment
from sim.experiments.hwang.formulas import duplicates, overhead, recovery_ms
from sim.experiments.hwang.node import run
from sim.experiments.hwang.setting import (
    AGGREGATE,
    FILTER,
    INTERVALS_MS,
    MINUTE,
    PARAMETERS,
    READINGS,
    RUNS,
    SOURCE,
    UNION,
    HwangSetting,
    QueryNetwork,
    StudiedProtocol,
)
from sim.experiments.hwang.trends import trends
from sim.experiments.published import judge, points
from sim.sweeps.summary import interval

PASSIVE, ACTIVE, UPSTREAM = (
    StudiedProtocol.PASSIVE,
    StudiedProtocol.ACTIVE,
    StudiedProtocol.UPSTREAM,
)
COMPARED = (UPSTREAM, ACTIVE, PASSIVE)
FIRST = next(iter(READINGS))
CURVES = {
    "passive standby": (PASSIVE, False),
    "passive standby (precise)": (PASSIVE, True),
    "active standby (rollback)": (ACTIVE, False),
    "active standby (precise)": (ACTIVE, True),
    "upstream backup (rollback)": (UPSTREAM, False),
    "upstream backup (precise)": (UPSTREAM, True),
}
MEASURES = ("recovery_ms", "overhead", "duplicates", "reprocessed", "processing")


# --- the points ------------------------------------------------------------------------------
def _curves(points: Sequence[tuple[str, HwangSetting]]) -> dict[str, HwangSetting]:
    return {
        f"{curve}, {name}": replace(setting, protocol=protocol, precise=precise)
        for curve, (protocol, precise) in CURVES.items()
        for name, setting in points
    }


def _networks(
    networks: Mapping[str, QueryNetwork], protocols: Sequence[StudiedProtocol]
) -> dict[str, HwangSetting]:
    return {
        f"{protocol.value}, {name}": HwangSetting(protocol, network)
        for name, network in networks.items()
        for protocol in protocols
    }


BASE = HwangSetting(PASSIVE, AGGREGATE)
FIG6 = _curves([(f"{ms:.0f} ms", replace(BASE, interval_ms=ms)) for ms in INTERVALS_MS])
FIG7 = _curves(
    [
        (f"{n} operators", replace(BASE, network=replace(AGGREGATE, aggregates=n)))
        for n in range(1, 6)
    ]
)
TABLE6 = _networks({one.name: one for one in (FILTER, AGGREGATE, UNION)}, COMPARED)
SIZES, ADVANCES = (100, 200, 300, 400, 500), (100, 50, 25, 10, 5)
TABLE7 = _networks(
    {f"window {n}": replace(AGGREGATE, window=n) for n in SIZES}, (PASSIVE, UPSTREAM)
)
TABLE8 = _networks(
    {f"advance {n}": replace(AGGREGATE, advance=n) for n in ADVANCES}, (PASSIVE, UPSTREAM)
)


def rows(points: Mapping[str, HwangSetting], seed: int, events: int) -> Sequence[Row]:
    """A run of each point in each reading."""
    return [
        {"point": name, "reading": reading, **run(change(setting), seed, events).row()}
        for name, setting in points.items()
        for reading, change in READINGS.items()
    ]


# --- the summary -----------------------------------------------------------------------------
def summary(
    key: str,
    points: Mapping[str, HwangSetting],
    draw: Callable[[Sequence[Row]], list[ExperimentPanel]],
    found: Sequence[Row],
) -> Summary:
    """The means of each point with their confidence intervals, beside the formulas of Table 3."""
    frame = pd.DataFrame(found)
    by = {reading: frame[frame["reading"] == reading] for reading in READINGS}
    first = by[FIRST]
    cells = [_cell(name, one, first[first["point"] == name]) for name, one in points.items()]
    values = {reading: _values(key, part, reading) for reading, part in by.items()}
    formula = {
        f"{key}.{name}.recovery_ms.formula": recovery_ms(one) for name, one in points.items()
    }
    return Summary(
        cells=cells,
        values={
            **{k: v for part in values.values() for k, v in part.items()},
            **formula,
            **trends(key, {cell["point"]: cell for cell in cells}),
        },
        notes=[*_notes(values, cells)],
        panels=[*draw(cells)],
        intervals=_intervals(key, first),
    )


def _intervals(key: str, part: pd.DataFrame) -> dict[str, Interval]:
    """The confidence interval of each value of the first reading."""
    return {
        f"{key}.{point}.{measure}": interval([scale * float(one) for one in runs[measure]])
        for point, runs in part.groupby("point", sort=False)
        for measure, scale in (("recovery_ms", 1), ("overhead", 100))
    }


def _values(key: str, part: pd.DataFrame, reading: str) -> dict[str, float]:
    end = "" if reading == FIRST else f".{reading}"
    means = part.groupby("point", sort=False)[["recovery_ms", "overhead"]].mean()
    return {
        f"{key}.{point}.{measure}{end}": float(mean) * (100 if measure == "overhead" else 1)
        for measure in means.columns
        for point, mean in means[measure].items()
    }


def _cell(name: str, setting: HwangSetting, part: pd.DataFrame) -> Row:
    measured: dict[str, float | None] = {}
    for measure in MEASURES:
        found = interval(part[measure].tolist())
        measured |= {measure: found.mean, f"{measure} low": found.low}
        measured[f"{measure} high"] = found.high
    kinds = [column for column in part.columns if column.startswith("bytes ")]
    return {
        "point": name,
        **measured,
        **{kind: float(part[kind].mean()) for kind in kinds if part[kind].notna().any()},
        "recovery_ms by Table 3": recovery_ms(setting),
        "duplicates by Table 3": duplicates(setting),
        "overhead by the text": overhead(setting),
    }


def _notes(values: Mapping[str, Mapping[str, float]], cells: Sequence[Row]) -> Iterator[str]:
    for reading, found in values.items():
        plain = {name.removesuffix(f".{reading}"): number for name, number in found.items()}
        near = [row for row in _judged(plain) if row.verdict == "within 10 %"]
        if every := _judged(plain):
            yield f"{reading}: {len(near)} of {len(every)} scored numbers within 10 %"
    for cell in cells:
        ours, theirs = cell["recovery_ms"], cell["recovery_ms by Table 3"]
        if abs(ours - theirs) > 0.05 * theirs:
            yield (
                f"{cell['point']}: {ours:.2f} ms to recover, {theirs:.2f} ms by Table 3; "
                f"{cell['duplicates']:.1f} duplicates, {cell['duplicates by Table 3']:.1f} by "
                f"Table 3; processing overhead {cell['processing']:.1%}"
            )


def _judged(plain: Mapping[str, float]) -> Sequence[ComparedNumber]:
    """The published numbers beside the values of one reading."""
    formula = {f"{name}.formula": 0.0 for name in plain if name.endswith("recovery_ms")}
    return [
        row
        for row in judge({**plain, **formula})
        if row.way == FIRST and row.kind == "value" and row.scored
    ]


# --- the figures -----------------------------------------------------------------------------


def _tradeoff(title: str, cells: Sequence[Row]) -> list[ExperimentPanel]:
    """Recovery time over bandwidth overhead, a curve for each protocol; its ends are named."""
    series = []
    for curve in CURVES:
        if curve == "passive standby (precise)":  # the paper has one curve for both
            continue
        mine = [cell for cell in cells if cell["point"].startswith(f"{curve}, ")]
        ends = {0: mine[0], len(mine) - 1: mine[-1]} if "active" not in curve else {}
        series.append(
            Series(
                curve,
                [100 * cell["overhead"] for cell in mine],
                [cell["recovery_ms"] for cell in mine],
                names=[
                    ends[at]["point"].removeprefix(f"{curve}, ") if at in ends else ""
                    for at in range(len(mine))
                ],
            )
        )
    return [ExperimentPanel(title, "bandwidth overhead, %", "recovery time, ms", series)]


def _by_network(cells: Sequence[Row]) -> list[ExperimentPanel]:
    """Recovery times by class of the network, a panel for each protocol."""
    panels = []
    for protocol, short in zip(COMPARED, ("ub", "as", "ps"), strict=True):
        mine = [cell for cell in cells if cell["point"].startswith(protocol.value)]
        places = [float(at) for at in range(len(mine))]
        paper = {float(at): f"hwang-t6-{one[:3]}-{short}-rec" for at, one in enumerate(CLASSES)}
        series = [
            Series(
                "simulated",
                places,
                [cell["recovery_ms"] for cell in mine],
                "bars",
                low=_ends("low", mine),
                high=_ends("high", mine),
            ),
            Series("Table 3", places, [cell["recovery_ms by Table 3"] for cell in mine], "bars"),
            *points("published", paper),
        ]
        panels.append(ExperimentPanel(protocol.value, "", "ms", series, categories=CLASSES))
    return panels


def _ends(which: str, cells: Sequence[Row]) -> list[float]:
    """The ends of the intervals of the recovery times; none if one run has no interval."""
    found = [cell[f"recovery_ms {which}"] for cell in cells]
    return [] if None in found else found


CLASSES = ("repeatable", "convergent", "non-deterministic")


def _by_number(
    table: str, x: str, numbers: Sequence[int], cells: Sequence[Row]
) -> list[ExperimentPanel]:
    """Recovery times by window or advance, a panel for each protocol."""
    panels = []
    for protocol, short in ((PASSIVE, "ps"), (UPSTREAM, "ub")):
        mine = [cell for cell in cells if cell["point"].startswith(protocol.value)]
        places = [float(number) for number in numbers]
        paper = {float(number): f"hwang-{table}-{number}-{short}-rec" for number in numbers}
        series = [
            Series(
                "simulated",
                places,
                [cell["recovery_ms"] for cell in mine],
                "line",
                low=_ends("low", mine),
                high=_ends("high", mine),
            ),
            Series("Table 3", places, [c["recovery_ms by Table 3"] for c in mine], "formula"),
            *points("published", paper),
        ]
        panels.append(ExperimentPanel(protocol.value, x, "recovery time, ms", series))
    return panels


def _experiment(
    key: str,
    title: str,
    points: Mapping[str, HwangSetting],
    draw: Callable[[Sequence[Row]], list[ExperimentPanel]],
    *more: Parameter,
) -> Experiment:
    return Experiment(
        name=f"hwang-{key}",
        title=title,
        source=SOURCE,
        parameters=(*more, *PARAMETERS),
        seeds=RUNS,
        events=MINUTE,
        rows=partial(rows, points),
        summary=partial(summary, key, points, draw),
    )


EXPERIMENTS = (
    _experiment(
        "fig6",
        "Recovery time and bandwidth overhead by interval (Fig. 6)",
        FIG6,
        partial(_tradeoff, "intervals of 25 to 200 ms"),
        Parameter("intervals", list(INTERVALS_MS), "7.1, in ms"),
    ),
    _experiment(
        "fig7",
        "Recovery time and bandwidth overhead by operators (Fig. 7)",
        FIG7,
        partial(_tradeoff, "1 to 5 aggregates"),
        Parameter("aggregates", [1, 2, 3, 4, 5], "7.4, one after the other"),
    ),
    _experiment("table6", "Recovery by class of the query network (Table 6)", TABLE6, _by_network),
    _experiment(
        "table7",
        "Recovery by size of the state (Table 7)",
        TABLE7,
        partial(_by_number, "t7", "window, tuples", SIZES),
    ),
    _experiment(
        "table8",
        "Recovery by rate of change of the state (Table 8)",
        TABLE8,
        partial(_by_number, "t8", "advance, tuples", ADVANCES),
    ),
)
