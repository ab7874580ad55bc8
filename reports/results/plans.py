"""Recovery plans: a table of the algorithms, and the schedule as a picture.

Rule of this file: it computes no plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from rich.table import Column, Table

from model.results.plans import PlanResult, PlanRow
from reports import palette
from reports.diagrams.canvas import plot
from reports.diagrams.picture import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DRAWN = "greedy, mended"
"""The algorithm whose schedule the picture shows, query by query."""
MARKS = {"optimum over time": "|", "topological": ".", "blocking": "x"}
"""The algorithms beside it: the mark of the time from which a query is recovered."""
LINES = {
    DRAWN: ("-", palette.BLUE, 4.5),
    "blocking": ("--", palette.VERMILION, 1.5),
    "topological": ("-.", palette.GREEN, 1.5),
    "optimum over time": (":", palette.FG, 1.8),
}
"""The style, the colour and the width of each line; later ones are on top."""


# --- text ------------------------------------------------------------------------------------
def table(result: PlanResult) -> Table:
    """A row for each algorithm."""
    rows = Table(
        "algorithm",
        Column("priority-minutes", justify="right"),
        Column("of the optimum", justify="right"),
        Column("at the end", justify="right"),
        Column("cost", justify="right"),
        Column("order", overflow="fold"),
    )
    for row in result.algorithms:
        if row.served is None:
            rows.add_row(row.algorithm, "–", "–", "–", "–", "no plan, see below")
            continue
        share = "–" if row.share is None else f"{row.share:.1%}"
        rows.add_row(
            row.algorithm,
            f"{row.served:,.10g}",
            share,
            f"{row.value:,}",
            f"{row.cost:,}",
            ", ".join(row.order),
        )
    return rows


def lines(result: PlanResult) -> Iterator[str]:
    """The schedule of the mended algorithm, moment by moment; then the other findings."""
    row = _drawn(result)
    before: Sequence[str] = ()
    for step, moment in zip(row.steps, result.moments, strict=True):
        new = [query for query in step.queries if query not in before]
        before = step.queries
        yield (
            f"{moment.at_min:6.10g} min: {step.cost:,} of {moment.resources:,} used, "
            f"{', '.join(new) or 'nothing new'}"
        )
    for one in result.algorithms:
        if one.served is None:
            yield f"{one.algorithm}: {one.about}"
        for step in one.steps:
            if not step.placed:
                yield (
                    f"{one.algorithm}: at {step.at_min:g} min the partitions do not fit on "
                    f"single hosts"
                )
    yield (
        f"at most {result.sharing} failed queries share an operator: for one moment, a mended "
        f"plan is worth at least {result.bound:.1%} of the best one"
    )
    yield from (f"at {at:g} min it is worth less" for at in result.below_bound)


def _drawn(result: PlanResult) -> PlanRow:
    """The row of the algorithm that the picture shows; it is never left out."""
    row = result.row(DRAWN)
    assert row is not None
    return row


# --- the picture -----------------------------------------------------------------------------
def size(result: PlanResult) -> tuple[float, float]:
    """Width and height of the picture, in inches."""
    return 8.6, 4.4 + 0.24 * len(result.failed_queries)


def picture(result: PlanResult) -> Picture:
    """The resources, the queries and the recovered priority over time."""
    row = _drawn(result)
    about = (
        f"Recovery of {len(result.failed_queries)} queries as hosts come within "
        f"{result.moments[-1].at_min:g} minutes: in this order, {', '.join(row.order)}."
    )
    return plot(partial(draw, result), *size(result), name="plan", about=about)


def draw(result: PlanResult, figure: Figure) -> None:
    """Three panels above each other, with one axis of time."""
    queries = 0.24 * len(result.failed_queries)
    ratios = [1.0, 0.4 + queries, 1.5]
    figure.suptitle(f"Recovery plan of {result.name}: failed queries as hosts come", fontsize=10)
    top, middle, bottom = figure.subplots(3, 1, sharex=True, height_ratios=ratios)
    _resources(top, result)
    _queries(middle, result)
    _recovered(bottom, result)
    for axes in (top, middle, bottom):
        for moment in result.moments:
            axes.axvline(moment.at_min, color=palette.FG, linewidth=0.6, alpha=0.18, zorder=0)
        axes.set_axisbelow(True)
    bottom.set_xlim(0, result.until_min)
    bottom.set_xlabel("minutes since the failure")
    handles, labels = bottom.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(handles))


def _resources(axes: Axes, result: PlanResult) -> None:
    times = [0.0, *(moment.at_min for moment in result.moments), result.until_min]
    there = [0, *(moment.resources for moment in result.moments)]
    used = [0, *(step.cost for step in _drawn(result).steps)]
    axes.stairs(there, times, color=palette.FG, linewidth=1.1, label="_there")
    axes.stairs(used, times, color=palette.BLUE, fill=True, alpha=0.35, label="_used")
    axes.axhline(result.cost, color=palette.FG, linestyle=":", linewidth=0.9)
    axes.annotate(
        f"all that failed: {result.cost:,}",
        (0, result.cost),
        (4, -3),
        textcoords="offset points",
        fontsize=8,
        verticalalignment="top",
    )
    axes.set_ylim(0, 1.12 * max(result.cost, there[-1]))
    axes.set_ylabel("resources")
    axes.set_title("resources: there (line) and used (filled)", fontsize=10, loc="left")


def _queries(axes: Axes, result: PlanResult) -> None:
    order = _in_order(result)
    since = _since(_drawn(result))
    for place, query in enumerate(order):
        if query in since:
            left = since[query]
            axes.barh(
                place,
                result.until_min - left,
                left=left,
                height=0.62,
                facecolor=palette.BLUE,
                alpha=0.35,
                label=f"_{DRAWN}",
            )
    for name, mark in MARKS.items():
        row = result.row(name)
        times = _since(row) if row else {}
        axes.plot(
            [times[query] for query in order if query in times],
            [place for place, query in enumerate(order) if query in times],
            linestyle="",
            marker=mark,
            markersize=11 if mark == "|" else 7,
            markeredgewidth=1.6,
            color=LINES[name][1],
            label=f"_{name}",
        )
    priorities = result.priorities
    weighted = len(set(priorities.values())) > 1
    labels = [f"{query}  ({priorities[query]})" if weighted else query for query in order]
    axes.set_yticks(range(len(order)), labels, fontsize=8.5)
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    about = " (priority)" if weighted else ""
    axes.set_title(
        f"queries{about} and when each is recovered: by {DRAWN} (bars), by others (marks)",
        fontsize=10,
        loc="left",
    )


def _in_order(result: PlanResult) -> Sequence[str]:
    """The queries in the order of their recovery; those that are not recovered come last."""
    order = [*_drawn(result).order]
    return [*order, *(query for query in result.failed_queries if query not in order)]


def _since(row: PlanRow) -> dict[str, float]:
    """For each recovered query the time from which it is."""
    found: dict[str, float] = {}
    for step in row.steps:
        for query in step.queries:
            found.setdefault(query, step.at_min)
    return found


def _recovered(axes: Axes, result: PlanResult) -> None:
    times = [0.0, *(moment.at_min for moment in result.moments), result.until_min]
    for name, (style, colour, width) in LINES.items():
        for row in result.algorithms:
            if row.algorithm == name and row.steps:
                axes.stairs(
                    [0, *(step.value for step in row.steps)],
                    times,
                    baseline=None,
                    color=colour,
                    linestyle=style,
                    linewidth=width,
                    alpha=0.45 if name == DRAWN else 1.0,
                    label=name,
                )
    most = sum(result.priorities[query] for query in result.failed_queries)
    axes.set_ylim(-0.05 * most, 1.08 * most)  # a line at 0 is seen
    axes.locator_params(axis="y", nbins=5, integer=True)
    axes.set_ylabel("priority")
    axes.set_title("priority recovered", fontsize=10, loc="left")
