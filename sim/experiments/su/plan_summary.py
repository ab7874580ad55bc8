"""The summary of `su-plan`: distributions, means, notes and the figure.

Rule of this file: no plan is made here; sim.experiments.su.plan makes them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import mean
from typing import Any

from model.results.experiment import ExperimentPanel, Series, Summary
from model.results.table import Row

SHARING = (0.05, 0.1, 0.2, 0.4)
RATES = (0.5, 1.0, 2.0, 4.0)
SIZES = (5, 10, 15, 20)
TIMED = ("meant", "one seed", "optimum")
ON_FIGURE4 = ("blocking", "topological", "greedy")
PARTS = 100
"""Ratios are counted in parts of so many."""
SHOWN = ("meant", "frequency-one", "misfit-stop", "two seeds")
LABELS = {"meant": "greedy", "optimum over time": "optimum"}
"""The parts of the distribution that are drawn, with their names."""


def summary(found: Sequence[Row]) -> Summary:
    """The share of instances planned as well as can be, means, and the worst, by algorithm."""
    plans = [row for row in found if row["what"] == "plans"]
    cells = [_cell(name, plans) for name in dict.fromkeys(row["algorithm"] for row in plans)]
    schedules = _means(found, "schedules", ("algorithm", "sharing", "rate"), "minutes")
    times = _means(found, "times", ("algorithm", "queries"), "seconds")
    return Summary(
        cells=cells,
        values={},
        notes=[*_notes(cells, schedules, times), *_notes_figure4(found)],
        panels=[*_panels(plans, schedules, times)],
    )


def _cell(name: str, plans: Sequence[Row]) -> Row:
    ratios = _ratios(name, plans)
    total = ratios.total()
    weighted = sum(ratio * count for ratio, count in ratios.items())
    return {
        "algorithm": name,
        "instances": total,
        "undefined": sum(row["undefined"] for row in plans if row["algorithm"] == name),
        "optimal": _optimal(ratios),
        "mean": weighted / PARTS / total if total else None,
        "worst": min(ratios) / PARTS if total else None,
    }


def _ratios(name: str, plans: Sequence[Row], **only: Any) -> Counter[int]:
    """How many plans reach which part of the optimum."""
    ratios = Counter[int]()
    for row in plans:
        if row["algorithm"] == name and all(row[key] == value for key, value in only.items()):
            for ratio, count in row["ratios"]:
                ratios[ratio] += count
    return ratios


def _optimal(ratios: Counter[int]) -> float | None:
    return ratios[PARTS] / ratios.total() if ratios.total() else None


def _means(
    found: Sequence[Row], what: str, keys: tuple[str, ...], value: str
) -> dict[tuple[Any, ...], float]:
    lists: dict[tuple[Any, ...], list[float]] = {}
    for row in found:
        if row["what"] == what:
            lists.setdefault(tuple(row[key] for key in keys), []).append(row[value])
    return {key: mean(values) for key, values in lists.items()}


def _notes(
    cells: Sequence[Row],
    schedules: Mapping[tuple[Any, ...], float],
    times: Mapping[tuple[Any, ...], float],
) -> Iterator[str]:
    for cell in cells:
        undefined = f"; divides by zero in {cell['undefined']:,}" if cell["undefined"] else ""
        if cell["instances"]:
            yield (
                f"{cell['algorithm']}: optimal in {cell['optimal']:.1%} of "
                f"{cell['instances']:,} instances, mean {cell['mean']:.3f}, worst "
                f"{cell['worst']:.2f} of the optimum{undefined}"
            )
    for name in ("blocking", "topological", "greedy", "two seeds", "optimum now"):
        parts = [
            f"{schedules[name, sharing, 1.0] / schedules['optimum over time', sharing, 1.0]:.2f}"
            for sharing in SHARING
        ]
        yield (
            f"{name}: minutes until a query is recovered, over those of the optimum over time: "
            f"{', '.join(parts)} at sharing {', '.join(map(str, SHARING))}"
        )
    for queries in SIZES:
        parts = [
            f"{name} {times[name, queries] / times['meant', queries]:.2g}" for name in TIMED[1:]
        ]
        yield f"{queries} queries: processor time over that of the greedy: {', '.join(parts)}"


def _notes_figure4(found: Sequence[Row]) -> Iterator[str]:
    for name in ON_FIGURE4:
        shares = [
            row["share"] for row in found if row["what"] == "figure 4" and row["algorithm"] == name
        ]
        if shares:
            yield (
                f"topology of Figure 4, {len(shares)} times: {name} serves {min(shares):.1%} to "
                f"{max(shares):.1%} of the optimum over time, mean {mean(shares):.1%}"
            )


def _panels(
    plans: Sequence[Row],
    schedules: Mapping[tuple[Any, ...], float],
    times: Mapping[tuple[Any, ...], float],
) -> Iterator[ExperimentPanel]:
    yield ExperimentPanel(
        "plans that are worth less than a share of the optimum",
        "share of the optimum",
        "% of the instances",
        [_distribution(name, _ratios(name, plans)) for name in SHOWN],
    )
    yield ExperimentPanel(
        "plans as good as can be, by sharing",
        "probability that a query needs an operator",
        "% of the instances",
        [
            Series(
                LABELS.get(name, name),
                SHARING,
                [100 * (_optimal(_ratios(name, plans, sharing=one)) or 0) for one in SHARING],
            )
            for name in SHOWN
        ],
    )
    yield ExperimentPanel(
        f"recovery as hosts come, sharing {SHARING[2]}",
        "hosts a minute",
        "minutes until a query is recovered",
        [
            Series(
                LABELS.get(name, name),
                RATES,
                [schedules[name, SHARING[2], rate] for rate in RATES],
            )
            for name in ("blocking", "topological", "greedy", "optimum over time")
        ],
        log="xy",
    )
    yield ExperimentPanel(
        "processor time of a plan",
        "failed queries",
        "ms",
        [
            Series(
                LABELS.get(name, name), SIZES, [1000 * times[name, queries] for queries in SIZES]
            )
            for name in TIMED
        ],
        log="xy",
    )


def _distribution(name: str, ratios: Counter[int]) -> Series:
    """For each share, how many instances are below it, in %."""
    total = ratios.total()
    below = [
        100 * sum(count for ratio, count in ratios.items() if ratio < part) / total
        for part in range(PARTS + 1)
    ]
    return Series(
        LABELS.get(name, name), [part / PARTS for part in range(PARTS + 1)], below, "line"
    )
