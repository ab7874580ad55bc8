"""Plots of a run on real input: the upstream backup over time, and the savings by skip ranges.

Rule of this file: no computation of results; the file draws a value of model.results.run.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from model.results.run import RealRun, RunCrash
from reports.diagrams.canvas import Colours, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def backup_over_input(run: RealRun) -> str:
    """The plot of the events buffered by all nodes after each event, with the crashes and the other
    protocol's line; "" if there is no series."""
    if not run.series:
        return ""
    return svg(
        partial(_backup, run), 8.6, 3.4, name=f"backup-{run.protocol}", about=_about_backup(run)
    )


def compare_bars(run: RealRun) -> str:
    """The plot of the events replayed and of the backup's peak, with one bar for each protocol; ""
    if there is no other protocol."""
    other = run.compared
    if other is None:
        return ""
    rows = [
        ("peak backup", other.peak_backup, run.peak_backup),
        ("events replayed", other.replayed, run.replayed),
    ]
    names = other.protocol, run.protocol
    about = "; ".join(
        f"{n}: {theirs:,} with {names[0]}, {ours:,} with {names[1]}" for n, theirs, ours in rows
    )
    return svg(
        partial(_beside, rows, names), 8.6, 1.9, name=f"beside-{run.protocol}", about=f"{about}."
    )


def sparkline(values: Sequence[int], highest: int, width: int = 60) -> str:
    """The values as block characters, each for the greatest value of its part of the series.

    highest: the value of a full block.
    """
    if not values:
        return ""
    shares = []
    for at in range(width):
        start, end = at * len(values) // width, (at + 1) * len(values) // width
        shares.append(max(values[start : max(start + 1, end)]))
    return "".join("▁▂▃▄▅▆▇█"[min(7, value * 8 // max(highest, 1))] for value in shares)


def _backup(run: RealRun, figure: Figure, colours: Colours) -> None:
    series = run.series
    axes = _counts(figure)
    events = [point.event for point in series]
    lines = [([point.backup for point in series], colours.with_, "-", run.protocol)]
    if run.compared is not None:
        theirs = [point.compared or 0 for point in series]
        lines.insert(0, (theirs, colours.without, "--", run.compared.protocol))
    for values, colour, dashes, label in lines:
        axes.plot(events, values, dashes, color=colour, linewidth=1.3, label=label)
    for number, crash in enumerate(run.crashes):
        axes.axvline(
            crash.at_event,
            color=colours.bad,
            linewidth=1,
            linestyle=":",
            label="" if number else "crash",
        )
    top = _crash_names(axes, run.crashes, max(events), colours.bad)
    axes.set_xlabel("input events")
    axes.set_ylabel("events buffered")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0, right=max(events))
    axes.grid(visible=True, axis="y")
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1.02 + top), ncols=3, borderaxespad=0)


def _beside(
    rows: Sequence[tuple[str, int, int]],
    names: tuple[str, str],
    figure: Figure,
    colours: Colours,
) -> None:
    axes = _counts(figure)
    widest = max(max(without, with_) for _, without, with_ in rows) or 1
    for at, (_, without, with_) in enumerate(rows):
        for offset, value, colour, label in (
            (0.2, without, colours.without, names[0]),
            (-0.2, with_, colours.with_, names[1]),
        ):
            hatch = "//" if colour == colours.without else None
            axes.barh(
                at + offset,
                value,
                height=0.36,
                facecolor="none" if hatch else colour,
                edgecolor=colour,
                hatch=hatch,
                label="" if at else label,
            )
            axes.text(value + widest * 0.008, at + offset, f"{value:,}", va="center")
    axes.set_yticks(range(len(rows)), [name for name, *_ in rows])
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_visible(False)
    axes.spines.bottom.set_visible(False)
    axes.set_xlim(0, widest * 1.12)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1.0), ncols=2, borderaxespad=0)


def _counts(figure: Figure) -> Axes:
    """Axes for whole numbers."""
    axes = figure.add_subplot()
    axes.locator_params(nbins=7, integer=True, steps=[1, 2, 5, 10])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    return axes


def _crash_names(axes: Axes, crashes: Sequence[RunCrash], end: int, colour: str) -> float:
    """Write the names above the marks, one row higher where two would meet; return the height."""
    reach: list[float] = []
    for crash in sorted(crashes, key=lambda crash: (crash.at_event, crash.node)):
        width = end * (0.014 * len(crash.node) + 0.01)
        start = crash.at_event - width / 2
        row = next((r for r, until in enumerate(reach) if start > until), len(reach))
        reach[row : row + 1] = [start + width]
        axes.text(
            crash.at_event,
            1.01 + 0.065 * row,
            crash.node,
            color=colour,
            ha="center",
            va="bottom",
            fontsize=8.5,
            transform=axes.get_xaxis_transform(),
        )
    return 0.07 * len(reach)


def _about_backup(run: RealRun) -> str:
    crashes = ", ".join(f"{c.node} at event {c.at_event:,}" for c in run.crashes)
    other = run.compared
    theirs = f", {other.peak_backup:,} with {other.protocol}" if other else ""
    return (
        f"Events buffered over {run.events:,} input events: at most {run.peak_backup:,} "
        f"with {run.protocol}{theirs}. Crashes: {crashes or 'none'}."
    )
