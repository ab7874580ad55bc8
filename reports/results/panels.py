"""A figure of an experiment as panels, drawn as the experiment describes them.

Rule of this file: it knows kinds of series, and no experiment.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from model.results.experiment import ExperimentPanel, Reproduction, Series
from reports import palette
from reports.diagrams.broken import break_axis
from reports.diagrams.canvas import plot
from reports.diagrams.labels import PointLabel, place_labels
from reports.diagrams.picture import Picture

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Settings: TypeAlias = "dict[str, Any]"
"""Of an artist of matplotlib, by name."""

COLUMNS = 2
CHARACTERS = 105
"""Of a line above a figure."""
PUBLISHED = "x+12"
"""Markers of published numbers."""


def picture(result: Reproduction) -> Picture:
    """The panels that an experiment describes."""
    assert result.panels is not None
    rows = -(-len(result.panels) // COLUMNS)
    about = f"{result.title}, {result.source}: {amount(result)}"
    draw = partial(_panels, result)
    return plot(draw, 9.6, 1.2 + 3.1 * rows, name=result.experiment, about=about)


def amount(result: Reproduction) -> str:
    """The seeds and events of a run, and whether the paper has more."""
    seeds = f"{result.seeds:,} seed{'s' * (result.seeds != 1)}"
    less = "" if result.as_published else "; the paper has more"
    return f"{seeds}, {result.events:,} events a run{less}"


def heading(figure: Figure, result: Reproduction) -> None:
    """Write the title of an experiment, its source and its amount above the figure."""
    title = textwrap.fill(f"{result.title} · {result.source}", CHARACTERS)
    figure.suptitle(f"{title}\n{amount(result)}", fontsize=10)


def _panels(result: Reproduction, figure: Figure) -> None:
    panels = result.panels or ()
    columns = min(COLUMNS, len(panels))
    grid = [*figure.subplots(-(-len(panels) // columns), columns, squeeze=False).flat]
    heading(figure, result)
    looks = _looks(panels)
    handles: dict[str, Artist] = {}
    for axes, panel in zip(grid, panels, strict=False):
        for series in panel.series:
            handle = _series(axes, panel, series, looks(series), joined=result.as_published)
            handles.setdefault(series.label, handle)
        _axes(axes, panel)
        break_axis(axes)
    for axes, panel in zip(grid, panels, strict=False):
        _name_points(axes, panel, looks)
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    figure.legend(
        [*handles.values()], [*handles], loc="outside lower center", ncols=min(4, len(handles))
    )


def _looks(panels: Sequence[ExperimentPanel]) -> Callable[[Series], palette.PlotLook]:
    """A function that returns the look of a series; a label has one look in all panels."""
    every = [series for panel in panels for series in panel.series]
    ours = palette.looks(one.label for one in every if one.kind in ("measured", "line", "bars"))
    formulas = [*dict.fromkeys(one.label for one in every if one.kind == "formula")]
    known = [*dict.fromkeys(one.label for one in every if one.kind in ("published", "unscored"))]

    def look(series: Series) -> palette.PlotLook:
        if series.kind == "formula":
            dashes = palette.DASHES[1 + formulas.index(series.label) % (len(palette.DASHES) - 1)]
            return palette.PlotLook(palette.FG, "", dashes)
        if series.kind in ("published", "unscored"):
            mark = PUBLISHED[known.index(series.label) % len(PUBLISHED)]
            return palette.PlotLook(palette.FG, mark, ())
        return ours(series.label)

    return look


def _series(
    axes: Axes, panel: ExperimentPanel, series: Series, look: palette.PlotLook, *, joined: bool
) -> Any:
    """Draw a series.  joined: lines may join its points, as in the paper."""
    if series.kind == "bars":
        return _draw_bars(axes, panel, series, look)
    style: Settings = {"linestyle": "none", "marker": look.mark, "markersize": 4.5}
    match series.kind:
        case "formula":
            style = {"linestyle": look.line, "linewidth": 1}
        case "published" | "unscored":
            style |= {"markersize": 8, "zorder": 5}
        case "line" if joined:
            style = {"linestyle": look.line, "linewidth": 1.3}
        case "line":
            style |= {"markersize": 2.5}
        case _ if joined and all(one.kind != "formula" for one in panel.series):
            style |= {"linestyle": look.line, "linewidth": 0.9}
    label = f"_{series.label}"
    (line,) = axes.plot(series.x, series.y, color=look.colour, label=label, **style)
    if series.low:
        band: Settings = {"color": look.colour, "alpha": 0.15, "linewidth": 0}
        axes.fill_between(series.x, series.low, series.high, label=label, **band)
    return line


def _draw_bars(axes: Axes, panel: ExperimentPanel, series: Series, look: palette.PlotLook) -> Any:
    bars = [one for one in panel.series if one.kind == "bars"]
    width = 0.8 / len(bars)
    shift = (bars.index(series) - (len(bars) - 1) / 2) * width
    middles = [place + shift for place in series.x]
    whiskers: Settings = {}
    if series.low:
        ends = np.abs(np.array([series.low, series.high]) - np.array(series.y))
        whiskers = {"yerr": ends, "error_kw": {"ecolor": palette.FG, "capsize": 3}}
    label = f"_{series.label}"
    return axes.bar(middles, series.y, 0.9 * width, color=look.colour, label=label, **whiskers)


def _name_points(
    axes: Axes, panel: ExperimentPanel, looks: Callable[[Series], palette.PlotLook]
) -> None:
    """Write the names of points beside them."""
    named = [
        PointLabel(name, at, looks(series).text)
        for series in panel.series
        for name, at in zip(series.names, zip(series.x, series.y, strict=True), strict=False)
    ]
    if named:
        points = [at for one in panel.series for at in zip(one.x, one.y, strict=True)]
        place_labels(axes, named, points, size=7.5, marker=4.5, halo=palette.BG)


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
