"""Sebepou and Magoutis, Section IV.B: the cost of a recovery over Q (Figure 6) and U (Figure 7).

Rule of this file: which runs are made, and the numbers of the paper in terms of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from model.results.experiment import ExperimentPanel, Parameter, Series, Summary
from model.results.table import Row
from sim.experiments import published
from sim.experiments.experiment import Experiment
from sim.experiments.sebepou.extent import (
    age_at_extent,
    age_at_rate,
    age_unchecked,
    expected_extent,
)
from sim.experiments.sebepou.kernel import Estimate
from sim.experiments.sebepou.paper import (
    BUSY_S,
    EVENTS,
    KEYS,
    OPEN,
    PERIOD_S,
    SEEDS,
    SETTING,
    SIZE,
    SOURCE,
    TUPLE_BYTES,
    checks_an_input,
    costs,
    means,
    measure,
    probabilities,
    setting,
    uniform,
)

FACTORS = (1, 2, 3, 4, 6, 8)
"""Q in open windows; the paper names 1, 2, 4 and 8."""
TARGETS = (125_000, 250_000, 500_000, 750_000, 1_000_000)
"""U in tuples; the paper names the first and the last."""
SHARED = (*SETTING, Parameter("CI, CP", "5 ms, 100 ms", "IV.B"))


# --- formulas ------------------------------------------------------------------------------------
def age_limits() -> tuple[float, float]:
    """The age of the oldest footprint when all of CI is used, and without G_checks."""
    return (
        age_at_rate(probabilities(), SIZE, checks_an_input(PERIOD_S, BUSY_S)),
        age_unchecked(probabilities(), SIZE),
    )


def panels(
    cells: Sequence[Row], x: str, unit: float, ages: Sequence[float]
) -> list[ExperimentPanel]:
    """The four panels of Figures 6 and 7.  x: the target's name; unit: of the axis.
    ages: by the places of `grid`, the expected age of the oldest footprint."""
    title = {"factor": "Q, in open windows", "target": "U, in million tuples"}[x]
    shown = [cell for cell in cells if cell["estimate"] == Estimate.POSITIONS.name]
    places = [cell[x] / unit for cell in shown]
    extents = [expected_extent(probabilities(), SIZE, age) for age in ages]
    formulas = {
        "check_rate": [e / age - 2 / SIZE for e, age in zip(extents, ages, strict=True)],
        "extent": [extent / 1e3 for extent in extents],
        "load_s": [extent * costs().read_s for extent in extents],
        "replay_mb": [age * TUPLE_BYTES / 1e6 for age in ages],
    }
    ends = [value / unit for value in grid(x)]
    scales = {"check_rate": 1, "extent": 1e3, "load_s": 1, "replay_mb": 1}
    titles = {
        "check_rate": ("G_checks produced", "a tuple"),
        "extent": ("extent", "thousand records"),
        "load_s": ("EC-load time", "s"),
        "replay_mb": ("bytes replayed", "MB"),
    }
    return [
        ExperimentPanel(
            titles[name][0],
            title,
            titles[name][1],
            [
                Series("simulated", places, [cell[name] / scales[name] for cell in shown]),
                Series("formula", ends, formulas[name], "formula"),
                *_estimated(cells, x, unit, name, scales[name]),
                *_published(x, unit, name, scales[name]),
            ],
        )
        for name in titles
    ]


def _estimated(cells: Sequence[Row], x: str, unit: float, name: str, scale: float) -> list[Series]:
    those = [cell for cell in cells if cell["estimate"] == Estimate.DIFFERENCES.name]
    if not those:
        return []
    places, values = [c[x] / unit for c in those], [c[name] / scale for c in those]
    return [Series("simulated, published estimate of q", places, values)]


PUBLISHED = {
    ("factor", "extent"): {1: "extent-q1", 2: "extent-q2", 4: "extent-q4", 8: "extent-q8"},
    ("factor", "load_s"): {1: "load-q1", 2: "load-q2", 4: "load-q4", 8: "load-q8"},
    ("factor", "replay_mb"): {1: "replay-q1", 2: "replay-q2"},
    ("target", "extent"): {125_000: "u-extent-smallest", 1_000_000: "u-extent-largest"},
    ("target", "load_s"): {125_000: "u-load-smallest", 1_000_000: "u-load-largest"},
    ("target", "replay_mb"): {125_000: "u-bytes-smallest", 1_000_000: "u-bytes-largest"},
}


def _published(x: str, unit: float, name: str, scale: float) -> list[Series]:
    stated = PUBLISHED.get((x, name), {})
    places = {place / unit: id_ for place, id_ in stated.items()}
    return published.points("stated in the text", places, scale)


def grid(x: str) -> list[float]:
    """The places at which formulas are drawn."""
    values = FACTORS if x == "factor" else TARGETS
    return [float(place) for place in np.linspace(values[0], values[-1], 29)]


# --- Figure 6 ------------------------------------------------------------------------------------
def rows_q(seed: int, events: int) -> Sequence[Row]:
    """A run for each Q and each estimate of it."""
    items = uniform(seed, events)
    return [
        {
            "factor": factor,
            "estimate": estimate.name,
            **measure(
                items,
                setting(
                    events,
                    q_target=factor * OPEN,
                    estimate=estimate,
                    period_s=PERIOD_S,
                    busy_s=BUSY_S,
                ),
            ),
        }
        for estimate in Estimate
        for factor in FACTORS
    ]


def summary_q(found: Sequence[Row]) -> Summary:
    """The four panels over Q."""
    cells = means(found, ["factor", "estimate"])
    by = {cell["factor"]: cell for cell in cells if cell["estimate"] == Estimate.POSITIONS.name}
    other = {cell["factor"]: cell for cell in cells if cell["estimate"] != Estimate.POSITIONS.name}
    busy, unchecked = age_limits()
    ages = [
        min(max(busy, age_at_extent(probabilities(), SIZE, factor * OPEN * 1.0001)), unchecked)
        for factor in grid("factor")
    ]
    values = {
        "open_windows": by[1]["open_windows"],
        "q1_not_reached": float(by[1]["extent"] > by[1]["open_windows"]),
        "q8": 8 * by[8]["open_windows"],
        "extent_unchecked": expected_extent(probabilities(), SIZE, unchecked),
        "extent_opens_only": by[8]["extent"],
        "extent_at_least_windows": float(
            all(cell["extent"] >= cell["open_windows"] * 0.99 for cell in cells)
        ),
        "checks_drop_sharply": float(by[4]["checks"] <= 0.1 * by[2]["checks"]),
        **{f"extent.{factor}": by[factor]["extent"] for factor in (2, 4, 8)},
        **{f"extent.{factor}.published": other[factor]["extent"] for factor in (2, 4)},
        **{f"load_s.{factor}": by[factor]["load_s"] for factor in (2, 4, 8)},
        **{f"replay_mb.{factor}": by[factor]["replay_mb"] for factor in (1, 2)},
        **{f"replay_above_200.{f}": float(by[f]["replay_mb"] > 200) for f in (4, 8)},
    }
    drawn = panels(cells, "factor", 1, ages)
    return Summary(
        cells=cells,
        values=values,
        notes=[*_notes_q(by, other)],
        panels=[*drawn],
    )


def _notes_q(by: Mapping[int, Row], other: Mapping[int, Row]) -> Iterator[str]:
    each = {
        id_: published.value(id_) / extent * 1e6
        for id_, extent in (
            ("load-q1", published.value("extent-q1")),
            ("load-q2", published.value("extent-q2")),
            ("load-q4", published.value("extent-q4")),
            ("load-q8", published.value("extent-q8")),
        )
    }
    yield (
        "the published EC-load times are not proportional to the extent, as II.B says they are: "
        f"{', '.join(f'{cost:.0f}' for cost in each.values())} µs a record at Q = 1, 2, 4, 8 x "
        "openwins"
    )
    yield (
        f"Q = 8 x openwins makes {by[8]['checks']:.0f} G_checks, so its extent is that of G_open "
        f"records alone: {by[8]['extent']:,.0f} records, "
        f"{by[8]['extent'] / by[8]['open_windows']:.1f} x openwins, and not 1 x, as IV.B says; "
        "no bound either, but the expected age of the oldest of 90,000 windows"
    )
    reach = 200e6 / TUPLE_BYTES * 2 / SIZE
    yield (
        "more than 200 MB replayed do not fit Q = 4 x openwins: the G_open records and results "
        f"of 200 MB of tuples alone are {reach:,.0f} records, and the target is {4 * OPEN:,}"
    )
    yield (
        "if q is estimated from differences that a closing window takes with it (III.A, one "
        f"reading), targets are missed: {other[2]['extent']:,.0f} records at a target of "
        f"{2 * OPEN:,}, and {other[4]['checks']:.0f} G_checks at 4 x; the published extents rule "
        "this reading out"
    )


# --- Figure 7 ------------------------------------------------------------------------------------
def rows_u(seed: int, events: int) -> Sequence[Row]:
    """A run for each U."""
    items = uniform(seed, events)
    return [
        {
            "target": target,
            "estimate": Estimate.POSITIONS.name,
            **measure(items, setting(events, u_target=target, period_s=PERIOD_S, busy_s=BUSY_S)),
        }
        for target in TARGETS
    ]


def summary_u(found: Sequence[Row]) -> Summary:
    """The four panels over U."""
    cells = means(found, ["target", "estimate"])
    ends = {"smallest": cells[0], "largest": cells[-1]}
    busy, unchecked = age_limits()
    ages = [min(max(busy, target), unchecked) for target in grid("target")]
    checks = [cell["checks"] for cell in cells]
    values = {
        **{f"replay.{end}": cell["replay"] for end, cell in ends.items()},
        **{f"replay_mb.{end}": cell["replay_mb"] for end, cell in ends.items()},
        **{f"u_load_s.{end}": cell["load_s"] for end, cell in ends.items()},
        "u_extent.largest": cells[-1]["extent"],
        "u_extent_formula.largest": expected_extent(
            probabilities(), SIZE, published.value("u-replay-largest")
        ),
        "u_checks_fall": float(all(one > other for one, other in pairwise(checks))),
        "u_checks_left": float(checks[-1] > 0),
    }
    drawn = panels(cells, "target", 1e6, ages)
    return Summary(
        cells=cells,
        values=values,
        notes=[*_notes_u()],
        panels=[*drawn],
    )


def _notes_u() -> Iterator[str]:
    one, other = published.value("load-q1"), published.value("u-load-smallest")
    yield (
        f"the text gives two EC-load times for an extent of {published.value('extent-q1'):,.0f}: "
        f"{one} s over Q and {other} s over U, {one / other - 1:.0%} apart, and calls them in "
        "agreement"
    )
    q, u = published.value("replay-q1"), published.value("u-bytes-smallest")
    yield f"the same extent goes with {q:.0f} MB of replay over Q and {u:.0f} MB over U"
    busy, _ = age_limits()
    yield (
        f"U = {TARGETS[0]:,} is not reached: with all of CI used, a footprint is {busy:,.0f} "
        f"tuples old before its window's turn comes, for {KEYS:,} keys"
    )


FIG6 = Experiment(
    name="cec-fig6",
    title="CEC recovery over Q: G_checks, extent, EC-load time, bytes replayed (Fig. 6)",
    source=SOURCE,
    parameters=(
        *SHARED,
        Parameter("Q", list(FACTORS), "IV.B names 1, 2, 4, 8; in open windows, 90,000"),
    ),
    seeds=SEEDS,
    events=EVENTS,
    rows=rows_q,
    summary=summary_q,
)
FIG7 = Experiment(
    name="cec-fig7",
    title="CEC recovery over U: G_checks, extent, EC-load time, bytes replayed (Fig. 7)",
    source=SOURCE,
    parameters=(*SHARED, Parameter("U", list(TARGETS), "IV.B names the first and the last")),
    seeds=SEEDS,
    events=EVENTS,
    rows=rows_u,
    summary=summary_u,
)
EXPERIMENTS = (FIG6, FIG7)
