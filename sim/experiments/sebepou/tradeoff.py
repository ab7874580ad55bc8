"""The cost of recovery in normal operation, and the length of an extent: our own experiments.

Rule of this file: the paper has none of these numbers, but for the settings of its operator.

CEC is adjustable, "trading off recovery time with performance"; its rival CRB writes all windows at
once, every so often.  The paper measures no CRB.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from model.results.experiment import ExperimentPanel, Parameter, Series, Summary
from model.results.table import Row
from sim.experiments import published
from sim.experiments.experiment import Experiment
from sim.experiments.sebepou.extent import expected_extent, worst_case, zipf
from sim.experiments.sebepou.kernel import CheckpointWay, ExtentRun, ExtentSetting, run
from sim.experiments.sebepou.paper import (
    BUSY_S,
    EVENTS,
    OPEN,
    PERIOD_S,
    SETTING,
    SIZE,
    SOURCE,
    TUPLE_BYTES,
    costs,
    means,
    setting,
    uniform,
)

FACTORS = (1, 1.25, 1.5, 2, 3, 4, 8)
TARGETS = (200_000, 350_000, 500_000, 1_000_000, 1_500_000)
PERIODS_MS = (15, 25, 50, 100, 250)
LONG_BUSY_S = 0.01
SAVES_S = (0.5, 1, 2, 5, 10, 20)


# --- overhead and recovery time ------------------------------------------------------------------
def knobs(events: int) -> Iterator[tuple[str, float, ExtentSetting]]:
    """The ways to recover, each over one knob."""
    for factor in FACTORS:
        often = {"period_s": PERIOD_S, "busy_s": BUSY_S}
        yield "CEC over Q", factor, setting(events, q_target=int(factor * OPEN), **often)
    for target in TARGETS:
        yield "CEC over U", target, setting(events, u_target=target, **often)
    for period in PERIODS_MS:
        how = setting(events, q_target=OPEN, period_s=period / 1000, busy_s=LONG_BUSY_S)
        yield "CEC over CP", period, how
    for way in (CheckpointWay.STOPPING, CheckpointWay.COPYING):
        for save_s in SAVES_S:
            yield way.value, save_s, setting(events, way=way, save_s=save_s)


def rows_tradeoff(seed: int, events: int) -> Sequence[Row]:
    """A run for each way and each value of its knob."""
    items = uniform(seed, events)
    native = events - events // 2
    return [
        {
            "way": way,
            "knob": float(knob),
            "overhead": ran.steady_s / (native * costs().tuple_s) - 1,
            "recovery_s": recovery_s(ran),
            "pause_s": pause_s(how, ran),
            "stored_mb_s": (
                ran.opens * (how.way is CheckpointWay.CONTINUOUS) + ran.checks + ran.saved
            )
            * TUPLE_BYTES
            / 1e6
            / ran.clock_s,
        }
        for way, knob, how in knobs(events)
        for ran in [run(items, how)]
    ]


def recovery_s(ran: ExtentRun) -> float:
    """The mean time of a recovery without detection and restart: to read, and to replay."""
    each = costs()
    return (ran.mean_extent + ran.mean_loaded) * each.read_s + ran.mean_replay * each.tuple_s


def pause_s(how: ExtentSetting, ran: ExtentRun) -> float:
    """The longest time for which the operator processes no tuple."""
    each = costs()
    match how.way:
        case CheckpointWay.CONTINUOUS:
            return how.busy_s if ran.checks else each.check_s
        case CheckpointWay.STOPPING:
            return ran.most_windows * (each.check_s + each.write_s)
        case _:
            return each.copy_s


def summary_tradeoff(found: Sequence[Row]) -> Summary:
    """Overhead and pauses over recovery times."""
    cells = means(found, ["way", "knob"])
    ways = [*dict.fromkeys(cell["way"] for cell in cells)]
    units = {"CEC over Q": "{:g} x", "CEC over U": "{:,.0f}", "CEC over CP": "{:g} ms"}
    series = [
        Series(
            way,
            [cell["recovery_s"] for cell in mine],
            [100 * cell["overhead"] for cell in mine],
            names=_last([units.get(way, "{:g} s").format(cell["knob"]) for cell in mine]),
        )
        for way in ways
        for mine in [[cell for cell in cells if cell["way"] == way]]
    ]
    pauses = [
        Series(way, one.x, [1000 * cell["pause_s"] for cell in cells if cell["way"] == way])
        for way, one in zip(ways, series, strict=True)
    ]
    recovery = "mean recovery time, s"
    panels = [
        ExperimentPanel("overhead", recovery, "% more time a tuple", series, log="xy"),
        ExperimentPanel("longest pause", recovery, "ms", pauses, log="xy"),
    ]
    return Summary(
        cells=cells,
        values={},
        notes=[*_notes_tradeoff(cells)],
        panels=[*panels],
    )


def _last(names: Sequence[str]) -> list[str]:
    """The names, without all but the last."""
    return [""] * (len(names) - 1) + [*names[-1:]]


def _notes_tradeoff(cells: Sequence[Row]) -> Iterator[str]:
    yield (
        "the numbers of CRB are ours alone: the paper argues against it, and measures none; a "
        "window costs it what a record costs CEC"
    )
    for way in dict.fromkeys(cell["way"] for cell in cells):
        mine = [cell for cell in cells if cell["way"] == way]
        fast = min(mine, key=lambda cell: float(cell["recovery_s"]))
        cheap = min(mine, key=lambda cell: float(cell["overhead"]))
        yield (
            f"{way}: recovery from {fast['recovery_s']:.1f} s at {fast['overhead']:.1%} overhead "
            f"to {cheap['recovery_s']:.1f} s at {cheap['overhead']:.1%}, pauses of up to "
            f"{1000 * max(cell['pause_s'] for cell in mine):,.3g} ms"
        )
    stated, line = published.value("checkpoint-4gb"), 4e9 * 8 / 1e9
    yield (
        f"4 GB over 1 Gbit/s take {line:.0f} s, or {2**32 * 8 / 1e9:.0f} s for 4 GiB, and not at "
        f"least {stated:.0f} s as in Section I, which is {4e9 * 8 / stated / 1e9:.1f} Gbit/s"
    )


# --- how long an extent becomes ------------------------------------------------------------------
KEYS = 10_000
EXPONENTS = (0.0, 0.5, 1.0)
AGES = (3_000, 10_000, 30_000, 100_000)
BOUNDED = (10_000, 20_000, 40_000, 60_000)
OFTEN_S = 1e-12
ALWAYS_S = 1e6


def distribution(exponent: float) -> str:
    """The name of a distribution."""
    return f"Zipf {exponent:g}" if exponent else "uniform"


def drawn(seed: int, events: int, exponent: float) -> NDArray[np.int32]:
    """Random items by Zipf's law; exponent 0: uniform."""
    if not exponent:
        return uniform(seed, events, KEYS)
    steps = np.cumsum(zipf(KEYS, exponent))
    draws = np.random.default_rng(seed).random(events)
    return np.minimum(np.searchsorted(steps, draws), KEYS - 1).astype(np.int32)


def rows_extent(seed: int, events: int) -> Sequence[Row]:
    """Runs in which no footprint gets older than U, and runs with a target Q within CI and CP."""
    half, found = events // 2, []
    for exponent in EXPONENTS:
        items = drawn(seed, events, exponent)
        for u_target, q_target in [(age, None) for age in AGES] + [(None, q) for q in BOUNDED]:
            how = ExtentSetting(
                costs(),
                KEYS,
                SIZE,
                u_target=u_target,
                q_target=q_target,
                period_s=OFTEN_S if u_target else PERIOD_S,
                busy_s=ALWAYS_S if u_target else BUSY_S,
                warm=half,
            )
            ran = run(items, how)
            found.append(
                {
                    "exponent": exponent,
                    "u": u_target or 0,
                    "q": q_target or 0,
                    "mean_extent": ran.mean_extent,
                    "most_extent": ran.most_extent,
                }
            )
    return found


def bound(q_target: int) -> int:
    """The worst case within CI and CP, for any stream of these keys."""
    each = costs()
    return worst_case(q_target, KEYS, int(BUSY_S / each.check_s), int(PERIOD_S / each.tuple_s) + 2)


def summary_extent(found: Sequence[Row]) -> Summary:
    """Formula and bound beside the runs."""
    cells = means(found, ["exponent", "u", "q"])
    ages = [float(age) for age in np.geomspace(AGES[0], AGES[-1], 13)]
    mean_series, most_series, errors = [], [], []
    for exponent in EXPONENTS:
        name, keys = distribution(exponent), zipf(KEYS, exponent)
        mine = [cell for cell in cells if cell["exponent"] == exponent]
        means_ = [cell["mean_extent"] for cell in mine if cell["u"]]
        mean_series += [
            Series(name, AGES, means_),
            Series("formula", ages, [expected_extent(keys, SIZE, age) for age in ages], "formula"),
        ]
        errors += [
            mean / expected_extent(keys, SIZE, age) - 1
            for age, mean in zip(AGES, means_, strict=True)
        ]
        most_series.append(
            Series(name, BOUNDED, [cell["most_extent"] for cell in mine if cell["q"]])
        )
    bounds = [bound(q) for q in BOUNDED]
    most_series.append(Series("bound for any stream", BOUNDED, bounds, "line"))
    most_series.append(Series("Q", BOUNDED, BOUNDED, "formula"))
    panels = [
        ExperimentPanel(
            "mean extent", "age of the oldest footprint, tuples", "records", mean_series, log="x"
        ),
        ExperimentPanel(
            "largest extent, CI 5 ms in CP 100 ms", "Q, records", "records", most_series
        ),
    ]
    exceeded = [cell for cell in cells if cell["q"] and cell["most_extent"] > bound(int(cell["q"]))]
    worst = max(errors, key=abs)
    return Summary(
        cells=cells,
        values={},
        notes=[
            f"mean extents are at most {abs(worst):.1%} away from the formula, over "
            f"{len(errors)} pairs of a distribution and an age",
            f"{len(exceeded)} of {sum(1 for cell in cells if cell['q'])} largest extents exceed "
            "the bound; the bound holds for any stream, and a target alone does not: records of "
            "one CP come on top",
        ],
        panels=[*panels],
    )


TRADEOFF = Experiment(
    name="cec-tradeoff",
    title="CEC and CRB: overhead and pauses over recovery time (ours)",
    source=SOURCE + "; the numbers of CRB are ours",
    parameters=(
        *SETTING,
        Parameter("Q", list(FACTORS), "in open windows; CI 5 ms, CP 100 ms"),
        Parameter("U", list(TARGETS), "in tuples; CI 5 ms, CP 100 ms"),
        Parameter("CP", list(PERIODS_MS), "in ms; CI 10 ms, Q = open windows"),
        Parameter("interval of CRB", list(SAVES_S), "in s; our choice"),
        Parameter("seconds to write a window", "40 s for 4 GB, 100 bytes each", "I; our choice"),
        Parameter("seconds to copy a window", "those of a G_check", "our choice"),
        Parameter("seconds to read a saved window", "those of a record", "our choice"),
        Parameter("seconds to replay a tuple", "those of a tuple", "our choice"),
    ),
    seeds=1,
    events=EVENTS,
    rows=rows_tradeoff,
    summary=summary_tradeoff,
    ours=True,
)
EXTENT = Experiment(
    name="cec-extent",
    title="CEC: how long an extent becomes, formula and bound beside runs (ours)",
    source=SOURCE + "; the formula is ours",
    parameters=(
        Parameter("keys", KEYS, "our choice: rare keys must have had their turn"),
        Parameter("window size", SIZE, "IV.B, in tuples"),
        Parameter("distributions", [distribution(one) for one in EXPONENTS], "our choice"),
        Parameter("U", list(AGES), "in tuples; whenever it is exceeded, G_checks follow at once"),
        Parameter("Q", list(BOUNDED), "in records; CI 5 ms, CP 100 ms"),
    ),
    seeds=1,
    events=3_000_000,
    rows=rows_extent,
    summary=summary_extent,
    ours=True,
)
EXPERIMENTS = (TRADEOFF, EXTENT)
