"""Plots as inline SVG that takes its colours from the page, so that light and dark both work.

Rule of this file: matplotlib draws in stand-in colours; afterwards each becomes a CSS variable.
The same data gives the same bytes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

INK, WITH, WITHOUT, BAD = "#010203", "#010204", "#010205", "#010206"
_COLOURS = {
    INK: "currentColor",
    WITH: "var(--with, #1d5fbf)",
    WITHOUT: "var(--without, #a04a00)",
    BAD: "var(--bad, #c01c28)",
}
ON_WHITE = {INK: "#24292f", WITH: "#1d5fbf", WITHOUT: "#a04a00", BAD: "#c01c28"}
"""What they become where there is no page to choose them."""
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "asif",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": INK,
    "grid.alpha": 0.15,
    "legend.frameon": False,
}


def backup_over_input(run: Mapping[str, Any]) -> str:
    """Total upstream backup after each event, with and without skip ranges; crashes are marked.

    run: the value that sim.run makes.  "" if it has no series.
    """
    series = run["series"]
    if not series:
        return ""
    with mpl.rc_context(STYLE):
        figure, axes = _figure(8.6, 3.4)
        events = [point["event"] for point in series]
        for key, colour, dashes, label in (
            ("without_skips", WITHOUT, "--", "without skip ranges"),
            ("with_skips", WITH, "-", "with skip ranges"),
        ):
            values = [point[key] for point in series]
            axes.plot(events, values, dashes, color=colour, linewidth=1.3, label=label)
        for number, crash in enumerate(run["crashes"]):
            axes.axvline(
                crash["at_event"],
                color=BAD,
                linewidth=1,
                linestyle=":",
                label="" if number else "crash",
            )
        top = _crash_names(axes, run["crashes"], max(events))
        axes.set_xlabel("input events")
        axes.set_ylabel("events in upstream backup")
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0, right=max(events))
        axes.grid(visible=True, axis="y")
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1.02 + top), ncols=3, borderaxespad=0)
        return inline(figure, "backup", _about_backup(run))


def saved_by_skips(run: Mapping[str, Any]) -> str:
    """Two bars each for events replayed and the backup's peak: without and with skip ranges."""
    rows = [
        ("peak backup", run["without_skips"]["peak_backup"], run["peak_backup"]),
        ("events replayed", run["without_skips"]["replayed"], run["replayed"]),
    ]
    with mpl.rc_context(STYLE):
        figure, axes = _figure(8.6, 1.9)
        widest = max(max(without, with_) for _, without, with_ in rows) or 1
        for at, (_, without, with_) in enumerate(rows):
            for offset, value, colour, label in (
                (0.2, without, WITHOUT, "without skip ranges"),
                (-0.2, with_, WITH, "with skip ranges"),
            ):
                hatch = "//" if colour == WITHOUT else None
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
        axes.spines["bottom"].set_visible(False)
        axes.set_xlim(0, widest * 1.12)
        axes.legend(loc="lower right", bbox_to_anchor=(1, 1.0), ncols=2, borderaxespad=0)
        about = "; ".join(f"{n}: {without:,} without, {with_:,} with" for n, without, with_ in rows)
        return inline(figure, "saved", f"What skip ranges saved. {about}.")


def sparkline(values: Sequence[int], highest: int, width: int = 60) -> str:
    """Block characters, each for the greatest value of its share; `highest` is a full block."""
    if not values:
        return ""
    shares = []
    for at in range(width):
        start, end = at * len(values) // width, (at + 1) * len(values) // width
        shares.append(max(values[start : max(start + 1, end)]))
    return "".join("▁▂▃▄▅▆▇█"[min(7, value * 8 // max(highest, 1))] for value in shares)


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasSVG(figure)
    axes = figure.add_subplot()
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=7, integer=True, steps=[1, 2, 5, 10]))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    return figure, axes


def _crash_names(axes: Axes, crashes: list[Mapping[str, Any]], end: int) -> float:
    """Names above the marks, one row higher where two would meet; how far up they reach."""
    reach: list[float] = []
    for crash in sorted(crashes, key=lambda crash: (crash["at_event"], crash["node"])):
        width = end * (0.014 * len(crash["node"]) + 0.01)
        start = crash["at_event"] - width / 2
        row = next((r for r, until in enumerate(reach) if start > until), len(reach))
        reach[row : row + 1] = [start + width]
        axes.text(
            crash["at_event"],
            1.01 + 0.065 * row,
            crash["node"],
            color=BAD,
            ha="center",
            va="bottom",
            fontsize=8.5,
            transform=axes.get_xaxis_transform(),
        )
    return 0.07 * len(reach)


def _about_backup(run: Mapping[str, Any]) -> str:
    crashes = ", ".join(f"{c['node']} at event {c['at_event']:,}" for c in run["crashes"])
    return (
        f"Upstream backup over {run['events']:,} input events: at most {run['peak_backup']:,} "
        f"events with skip ranges, {run['without_skips']['peak_backup']:,} without. "
        f"Crashes: {crashes or 'none'}."
    )


def inline(figure: Figure, name: str, about: str) -> str:
    """The figure as an <svg> element: no prolog, no metadata, ids that are the page's own."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    drawn = buffer.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    drawn = re.sub(r"<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r'\bid="', f'id="{name}-', drawn)
    drawn = re.sub(r'(href="|url\()#', rf"\1#{name}-", drawn)
    opening = f'<svg role="img" aria-label="{escape(about)}" class="plot" '
    for stand_in, colour in _COLOURS.items():
        drawn = drawn.replace(stand_in, colour)
    return drawn.replace("<svg ", opening, 1).strip()
