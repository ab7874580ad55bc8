"""A figure of an experiment as panels, drawn as the experiment describes them.

Rule of this file: it knows kinds of series, and no experiment.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from model.results.experiment import ExperimentPanel, Series
from reports.diagrams.canvas import Colours, svg
from reports.diagrams.labels import PointLabel, place_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = 2
MARKERS = "osD^vP"


def draw(panels: Sequence[ExperimentPanel], *, name: str, about: str) -> str:
    """The panels as one <svg> element."""
    rows = -(-len(panels) // COLUMNS)
    return svg(partial(_panels, panels), 9.6, 0.7 + 3.1 * rows, name=name, about=about)


def _panels(panels: Sequence[ExperimentPanel], figure: Figure, colours: Colours) -> None:
    columns = min(COLUMNS, len(panels))
    grid = [*figure.subplots(-(-len(panels) // columns), columns, squeeze=False).flat]
    handles: dict[str, Any] = {}
    labels = [*dict.fromkeys(one.label for panel in panels for one in panel.series)]
    for axes, panel in zip(grid, panels, strict=False):
        for series in panel.series:
            handle = _series(axes, panel, series, labels.index(series.label), colours)
            handles.setdefault(series.label, handle)
        _axes(axes, panel)
    for axes, panel in zip(grid, panels, strict=False):
        _name_points(axes, panel, labels, colours)
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    figure.legend(
        [*handles.values()], [*handles], loc="outside upper center", ncols=min(4, len(handles))
    )


def _series(axes: Axes, panel: ExperimentPanel, series: Series, at: int, colours: Colours) -> Any:
    colour, marker = _colour(at, colours), MARKERS[at % len(MARKERS)]
    style = "-" if at < len(colours) else "-."
    x, y = series.x, series.y
    match series.kind:
        case "bars":
            bars = [one for one in panel.series if one.kind == "bars"]
            width = 0.8 / len(bars)
            shift = (bars.index(series) - (len(bars) - 1) / 2) * width
            middles = [place + shift for place in x]
            if series.low:
                whiskers = np.abs(np.array([series.low, series.high]) - np.array(y))
                axes.errorbar(middles, y, whiskers, fmt="none", ecolor=colours.ink, capsize=3)
            return axes.bar(middles, y, 0.9 * width, color=colour, alpha=0.85)
        case "formula":
            (line,) = axes.plot(x, y, color=colours.ink, linestyle="--", linewidth=1)
        case "published" | "unscored":
            shape = "x" if series.kind == "published" else "1"
            (line,) = axes.plot(
                x, y, color=colours.ink, linestyle="", marker=shape, markersize=8, zorder=5
            )
        case "line":
            (line,) = axes.plot(x, y, color=colour, linestyle=style, linewidth=1.1)
        case _:
            joined = all(one.kind != "formula" for one in panel.series)
            width = 0.7 if joined else 0
            (line,) = axes.plot(x, y, color=colour, marker=marker, linestyle=style, markersize=4.5)
            line.set_linewidth(width)
    if series.low:
        axes.fill_between(x, series.low, series.high, color=colour, alpha=0.12, linewidth=0)
    return line


def _name_points(
    axes: Axes, panel: ExperimentPanel, labels: Sequence[str], colours: Colours
) -> None:
    """Write the names of points beside them."""
    named = [
        PointLabel(name, at, _colour(labels.index(series.label), colours))
        for series in panel.series
        for name, at in zip(series.names, zip(series.x, series.y, strict=True), strict=False)
    ]
    if named:
        points = [at for one in panel.series for at in zip(one.x, one.y, strict=True)]
        place_labels(axes, named, points, size=7.5, marker=4.5)


def _colour(at: int, colours: Colours) -> str:
    cycle = (colours.with_, colours.without, colours.bad, colours.ink)
    return cycle[at % len(cycle)]


def _axes(axes: Axes, panel: ExperimentPanel) -> None:
    axes.set_title(panel.title, fontsize=10, loc="left")
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    if panel.categories:
        axes.set_xticks(range(len(panel.categories)), panel.categories)
        axes.grid(axis="y")
    else:
        axes.grid(visible=True)
    axes.set_axisbelow(True)
    for which, set_scale, axis in (
        ("x", axes.set_xscale, axes.xaxis),
        ("y", axes.set_yscale, axes.yaxis),
    ):
        if which in panel.log:
            set_scale("log", subs=[2, 5])
            axis.set_minor_formatter(_number)
        elif which == "y":
            axes.set_ylim(0)
        if which == "y" or not panel.categories:
            axis.set_major_formatter(_number)


def _number(value: float, _: float) -> str:
    return f"{value:,.10g}"
