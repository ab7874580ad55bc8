"""The numbers of a plot as CSV: a row for each value that it shows.

Rule of this file: numbers are read from the drawing, so that a new plot needs no code here.  A
series without an entry in the legend has a label that begins with "_".
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from model.machine.marks import NUMBERS_HEADER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer, ErrorbarContainer
    from matplotlib.figure import Figure

_NAMELESS = re.compile(r"_(child|container)\d+|_nolegend_|")


class PlotNumber(NamedTuple):
    """A value of a series; low and high: the ends of its bar of errors, or of its range."""

    series: str
    x: Any
    y: Any
    x_low: Any = ""
    x_high: Any = ""
    y_low: Any = ""
    y_high: Any = ""


def numbers(figure: Figure) -> str:
    """All numbers of a figure as CSV; "" if it shows none."""
    rows = [
        (_title(axes), axes.get_xlabel(), axes.get_ylabel(), *map(_shown, number))
        for axes in figure.axes
        for number in _of_axes(axes)
    ]
    if not rows:
        return ""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(NUMBERS_HEADER)
    writer.writerows(rows)
    return text.getvalue()


def _title(axes: Axes) -> str:
    return " ".join(axes.get_title("left").split()) or " ".join(axes.get_title().split())


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    number = float(value)
    return "" if math.isnan(number) else f"{number:.10g}"


def _of_axes(axes: Axes) -> Iterator[PlotNumber]:
    from matplotlib.collections import PolyCollection
    from matplotlib.container import BarContainer, ErrorbarContainer
    from matplotlib.patches import Rectangle, StepPatch

    inside: set[int] = set()
    for container in axes.containers:
        inside |= {id(one) for one in container.get_children()}
        if isinstance(container, BarContainer):
            yield from _bars(axes, container)
        elif isinstance(container, ErrorbarContainer):
            yield from _errors(axes, container)
    for line in axes.lines:
        if id(line) not in inside and (name := _name(line)):
            xs, ys = line.get_xdata(orig=False), line.get_ydata(orig=False)
            for x, y in zip(*_pairs(xs, ys), strict=True):
                yield PlotNumber(name, _place(axes, "x", x), _place(axes, "y", y))
    for patch in axes.patches:
        if id(patch) in inside or not (name := _name(patch)):
            continue
        if isinstance(patch, StepPatch):
            values, edges, _ = patch.get_data()
            for value, start, end in zip(values, edges, edges[1:], strict=False):
                yield PlotNumber(name, start, value, start, end)
        elif isinstance(patch, Rectangle):
            x, wide = patch.get_x(), patch.get_width()
            yield PlotNumber(name, x, "", x, x + wide)
    for band in axes.collections:
        if isinstance(band, PolyCollection) and (name := _name(band)):
            yield from _band(name, band)


def _pairs(xs: Any, ys: Any) -> tuple[Sequence[Any], Sequence[Any]]:
    return [*xs], [*ys]


def _name(artist: Any) -> str:
    """The label without its mark of a series that the legend leaves out; "" if there is none."""
    label = str(artist.get_label())
    return "" if _NAMELESS.fullmatch(label) else label.removeprefix("_")


def _bars(axes: Axes, container: BarContainer) -> Iterator[PlotNumber]:
    if not (name := _name(container)):
        return
    for bar in container.patches:
        x, y, wide, high = bar.get_x(), bar.get_y(), bar.get_width(), bar.get_height()
        if container.orientation == "horizontal":
            place = _place(axes, "y", y + high / 2)
            yield PlotNumber(name, wide, place, *((x, x + wide) if x else ()))
        else:
            place = _place(axes, "x", x + wide / 2)
            ends: tuple[Any, ...] = ("", "", *_whisker(container, x + wide / 2))
            if y:
                ends = ("", "", y, y + high)
            yield PlotNumber(name, place, high, *ends)


def _whisker(container: BarContainer, at: float) -> tuple[Any, Any]:
    """The ends of the whisker of a bar at this place; a bar without a number has none."""
    for bars in container.errorbar.lines[2] if container.errorbar else ():
        for (x, low), (_, high) in filter(len, bars.get_segments()):
            if math.isclose(x, at, abs_tol=1e-9):
                return low, high
    return "", ""


def _errors(axes: Axes, container: ErrorbarContainer) -> Iterator[PlotNumber]:
    line, _, bars = container.lines
    if not (name := _name(container)):
        return
    segments = [bar.get_segments() for bar in bars]
    for at, (x, y) in enumerate(
        zip(*_pairs(line.get_xdata(orig=False), line.get_ydata(orig=False)), strict=True)
    ):
        ends: list[Any] = ["", "", "", ""]
        for (x1, y1), (x2, y2) in filter(len, (some[at] for some in segments)):
            if x1 != x2:
                ends[:2] = x1, x2
            if y1 != y2:
                ends[2:] = y1, y2
        yield PlotNumber(name, _place(axes, "x", x), _place(axes, "y", y), *ends)


def _band(name: str, band: Any) -> Iterator[PlotNumber]:
    ends: dict[float, list[float]] = {}
    for path in band.get_paths():
        for x, y in path.vertices:
            ends.setdefault(float(x), []).append(float(y))
    for x, ys in ends.items():
        yield PlotNumber(f"{name} (band)", x, "", "", "", min(ys), max(ys))


def _place(axes: Axes, which: str, value: Any) -> Any:
    """A number on an axis, or the name at this place of an axis of names."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter

    axis = axes.xaxis if which == "x" else axes.yaxis
    formatter, locator = axis.get_major_formatter(), axis.get_major_locator()
    named = isinstance(formatter, FixedFormatter | FuncFormatter)
    if not (named and isinstance(locator, FixedLocator)):
        return value
    places = [float(one) for one in axis.get_majorticklocs()]
    if not places or places != [float(at) for at in range(len(places))]:
        return value
    nearest = round(float(value))
    if not 0 <= nearest < len(places) or abs(float(value) - nearest) >= 0.5:
        return value
    return formatter(nearest, nearest).replace(r"\$", "$")
