"""Plots of a run on real input: the upstream backup over time, and the savings by skip ranges.

Rule of this file: no computation of results; the file draws a value of model.results.run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from model.results.run import RealRun, RunCrash
from reports import palette
from reports.diagrams.canvas import plot
from reports.diagrams.picture import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def backup_over_input(run: RealRun) -> str:
    """The plot as an <svg> element, for a page; "" if there is no series."""
    return backup_picture(run).svg if run.series else ""


def backup_picture(run: RealRun) -> Picture:
    """The events buffered by all nodes after each event, with the crashes and the other protocol's
    line."""
    return plot(
        partial(_backup, run), 8.6, 3.7, name=f"backup-{run.protocol}", about=_about_backup(run)
    )


def compare_bars(run: RealRun) -> str:
    """The plot as an <svg> element, for a page; "" if there is no other protocol."""
    return "" if run.compared is None else compared_picture(run).svg


def compared_picture(run: RealRun) -> Picture:
    """The events replayed and the backup's peak, with one bar for each protocol."""
    other = run.compared
    assert other is not None
    rows = [
        ("peak backup", other.peak_backup, run.peak_backup),
        ("events replayed", other.replayed, run.replayed),
    ]
    names = other.protocol, run.protocol
    about = "; ".join(
        f"{n}: {theirs:,} with {names[0]}, {ours:,} with {names[1]}" for n, theirs, ours in rows
    )
    return plot(
        partial(_beside, _title(run), rows, names),
        8.6,
        2.2,
        name=f"beside-{run.protocol}",
        about=f"{about}.",
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


def _backup(run: RealRun, figure: Figure) -> None:
    series = run.series
    figure.suptitle(_title(run), fontsize=10)
    axes = _counts(figure)
    events = [point.event for point in series]
    looks = _looks(run.protocol, run.compared.protocol if run.compared else None)
    lines = [([point.backup for point in series], run.protocol)]
    if run.compared is not None:
        theirs = [point.compared or 0 for point in series]
        lines.insert(0, (theirs, run.compared.protocol))
    for values, label in lines:
        look = looks(label)
        axes.plot(
            *(events, values), linestyle=look.line, color=look.colour, linewidth=1.3, label=label
        )
    for number, crash in enumerate(run.crashes):
        axes.axvline(
            crash.at_event,
            color=palette.BAD,
            linewidth=1,
            linestyle=":",
            label="_crash" if number else "crash",
        )
    top = _crash_names(axes, run.crashes, max(events), palette.text_of(palette.BAD))
    axes.set_xlabel("input events")
    axes.set_ylabel("events buffered")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0, right=max(events))
    axes.grid(visible=True, axis="y")
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1.02 + top), ncols=3, borderaxespad=0)


def _beside(
    title: str,
    rows: Sequence[tuple[str, int, int]],
    names: tuple[str, str],
    figure: Figure,
) -> None:
    figure.suptitle(title, fontsize=10)
    axes = _counts(figure)
    looks = _looks(*names)
    widest = max(max(without, with_) for _, without, with_ in rows) or 1
    for at, (_, without, with_) in enumerate(rows):
        for offset, value, hatch, label in (
            (0.2, without, "//", names[0]),
            (-0.2, with_, None, names[1]),
        ):
            colour = looks(label).colour
            axes.barh(
                at + offset,
                value,
                height=0.36,
                facecolor="none" if hatch else colour,
                edgecolor=colour,
                hatch=hatch,
                label=f"_{label}" if at else label,
            )
            axes.text(value + widest * 0.008, at + offset, f"{value:,}", va="center")
    axes.set_yticks(range(len(rows)), [name for name, *_ in rows])
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_visible(False)
    axes.spines.bottom.set_visible(False)
    axes.set_xlim(0, widest * 1.12)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1.0), ncols=2, borderaxespad=0)


def _title(run: RealRun) -> str:
    return f"{run.protocol}: {run.events:,} events of {run.input}"


def _looks(one: str, other: str | None) -> Callable[[str], palette.PlotLook]:
    """The looks of both protocols; two designs of a family differ by dashes and hatches."""
    return palette.looks(name for name in (one, other) if name)


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
