"""Sebepou and Magoutis, Section IV.C: the checkpoint period CP (Figures 8 and 9).

Rule of this file: which runs are made, and the numbers of the paper in terms of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from model.errors import Invalid
from model.results.experiment import ExperimentPanel, Parameter, Series, Summary
from model.results.table import Row
from sim.experiments import published
from sim.experiments.experiment import Experiment
from sim.experiments.sebepou.extent import age_at_extent, age_at_rate, expected_extent
from sim.experiments.sebepou.kernel import CheckpointWay, run
from sim.experiments.sebepou.paper import (
    EVENTS,
    KEYS,
    OPEN,
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

BUSY_S = 0.01
PERIODS = (25, 50, 100, 250)
"""CP in milliseconds."""
NONE = 0
"""The run without CEC."""
LINK_BYTES = 1e9 / 8
SHARED = (
    *SETTING,
    Parameter("CI", "10 ms", "IV.C"),
    Parameter("Q", OPEN, "IV.C: the number of open windows"),
)


# --- Figure 8 ------------------------------------------------------------------------------------
def rows_response(seed: int, events: int) -> Sequence[Row]:
    """A run for each CP, with the mean time for which windows were open, second by second."""
    items = uniform(seed, events)
    found = []
    for period in (NONE, *PERIODS):
        if period == NONE:
            how = setting(events, way=CheckpointWay.NATIVE)
        else:
            how = setting(events, q_target=OPEN, period_s=period / 1000, busy_s=BUSY_S)
        ran = run(items, how)
        open_s = np.nan_to_num(ran.open_s[:-1])  # at first no window closes
        found.append({"period": period, "open_s": np.round(open_s, 4).tolist()})
    return found


def summary_response(found: Sequence[Row]) -> Summary:
    """Response times over time."""
    series, cells = [], []
    for period in (NONE, *PERIODS):
        runs = [row["open_s"] for row in found if row["period"] == period]
        length = min(map(len, runs))
        if not any(map(any, runs)):
            raise Invalid("cec-fig8: no window closed within these events; give a million or more")
        means_ = np.mean([one[:length] for one in runs], axis=0)
        label = "without CEC" if period == NONE else f"CP {period} ms"
        series.append(Series(label, [*range(1, length + 1)], means_.tolist(), "line"))
        cells.append({"period": period, "response_s": float(means_[length // 2 :].mean())})
    by = {cell["period"]: cell["response_s"] for cell in cells}
    values = {
        **{f"response.{period}": by[period] for period in (25, 50, 100)},
        "response_ratio.250": by[250] / by[NONE],
    }
    shares = [0.0, *(BUSY_S / (period / 1000) for period in (250, 100, 50, 25))]
    order = (NONE, 250, 100, 50, 25)
    # A G_open comes with each tenth tuple, G_checks take CI of each CP.
    slower = 1 + costs().check_s / SIZE / costs().tuple_s
    formula = [by[NONE] * slower / (1 - share) for share in shares]
    panels = [
        ExperimentPanel("response time", "seconds since the beginning", "s", series),
        ExperimentPanel(
            "in a steady state",
            "CI / CP",
            "s",
            [
                Series("simulated", shares, [by[period] for period in order]),
                Series("native / (1 - CI / CP)", shares, formula, "formula"),
                *published.points(
                    "stated in the text",
                    {BUSY_S * 1000 / ms: f"response-{ms}" for ms in (100, 50, 25)},
                ),
            ],
        ),
    ]
    return Summary(
        cells=cells,
        values=values,
        notes=[*_notes_response(by)],
        panels=[*panels],
    )


def _notes_response(by: Mapping[float, float]) -> Iterator[str]:
    stated = published.value("response-100")
    arrivals = KEYS * (SIZE - 1)
    rate = arrivals / (stated / 1000)
    yield (
        f"IV.C gives {stated} ms and {published.value('response-50')} ms where it must mean "
        f"seconds: a window is open for {arrivals:,} tuples, which in {stated} ms are "
        f"{rate * TUPLE_BYTES / 1e9:.1f} GB/s, {rate * TUPLE_BYTES / LINK_BYTES:.0f} times the 1 "
        "Gbit/s link"
    )
    native = published.value("response-none")
    implied = []
    for period in (100, 50, 25):
        share = 1 - native / published.value(f"response-{period}")
        implied.append(f"{share * period:.1f}")
    yield (
        f"the published times are those of intervals of {', '.join(implied)} ms in CP = 100, 50, "
        "25 ms, where CI is 10 ms"
    )
    yield (
        f"with CP = 250 ms the response time is {by[250] / by[NONE] - 1:.0%} above that without CEC"
    )
    yield (
        "response times that grow with the time of the operator need an operator that is the "
        "limit; IV.A says that the source is"
    )


# --- Figure 9 ------------------------------------------------------------------------------------
def rows_extent(seed: int, events: int) -> Sequence[Row]:
    """A run for each CP."""
    items = uniform(seed, events)
    return [
        {
            "period": period,
            **measure(items, setting(events, q_target=OPEN, period_s=period / 1000, busy_s=BUSY_S)),
        }
        for period in PERIODS
    ]


def summary_extent(found: Sequence[Row]) -> Summary:
    """The extent and the EC-load time over CP."""
    cells = means(found, ["period"])
    by = {cell["period"]: cell for cell in cells}
    extents = [cell["extent"] for cell in cells]
    values = {
        "extent_grows": float(all(one < other for one, other in pairwise(extents))),
        **{f"cp_load_s.{period}": by[period]["load_s"] for period in (25, 250)},
    }
    grid = [float(period) for period in np.geomspace(PERIODS[0], PERIODS[-1], 16)]
    ages = [
        age_at_rate(probabilities(), SIZE, checks_an_input(period / 1000, BUSY_S))
        for period in grid
    ]
    lines = [expected_extent(probabilities(), SIZE, age) for age in ages]
    stated = {float(ms): f"cp-load-{ms}" for ms in (25, 250)}
    panels = [
        ExperimentPanel(
            "extent",
            "CP, ms",
            "thousand records",
            [
                Series("simulated", [*PERIODS], [extent / 1e3 for extent in extents]),
                Series("formula", grid, [extent / 1e3 for extent in lines], "formula"),
            ],
        ),
        ExperimentPanel(
            "EC-load time",
            "CP, ms",
            "s",
            [
                Series("simulated", [*PERIODS], [cell["load_s"] for cell in cells]),
                Series("formula", grid, [e * costs().read_s for e in lines], "formula"),
                *published.points("stated in the text", stated),
            ],
        ),
    ]
    return Summary(
        cells=cells,
        values=values,
        notes=[*_notes_extent(by)],
        panels=[*panels],
    )


def _notes_extent(by: Mapping[int, Row]) -> Iterator[str]:
    least = published.value("cp-load-25")
    for id_, extent_id in (("load-q1", "extent-q1"), ("u-load-smallest", "u-extent-smallest")):
        each = published.value(id_) / published.value(extent_id)
        records = least / each
        size = "fewer" if records < OPEN else "more"
        yield (
            f"an EC-load of {least:.0f} s is {records:,.0f} records at the {each * 1e6:.0f} µs "
            f"of {published.value(id_)} s for {published.value(extent_id):,.0f}: {size} than the "
            f"{OPEN:,} open windows"
        )
    most = published.value("cp-load-250") / costs().read_s
    age = age_at_extent(probabilities(), SIZE, most)
    yield (
        f"an EC-load of {published.value('cp-load-250'):.0f} s is {most:,.0f} records, with a "
        f"replay of {age:,.0f} tuples; at CP = 250 ms ours are {by[250]['extent']:,.0f} and "
        f"{by[250]['replay']:,.0f}"
    )


FIG8 = Experiment(
    name="cec-fig8",
    title="CEC response time over time, for several CP (Fig. 8)",
    source=SOURCE,
    parameters=(*SHARED, Parameter("CP", list(PERIODS), "IV.C, in ms")),
    seeds=SEEDS,
    events=EVENTS,
    rows=rows_response,
    summary=summary_response,
)
FIG9 = Experiment(
    name="cec-fig9",
    title="CEC extent over CP (Fig. 9)",
    source=SOURCE,
    parameters=(*SHARED, Parameter("CP", list(PERIODS), "IV.C, in ms")),
    seeds=SEEDS,
    events=EVENTS,
    rows=rows_extent,
    summary=summary_extent,
)
EXPERIMENTS = (FIG8, FIG9)
