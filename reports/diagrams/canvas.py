"""The canvas: a function that draws on a figure of matplotlib gives a picture, with its numbers.

Rule of this file: no import of matplotlib elsewhere, and none here before something is drawn, since
the import takes a second.  The same drawing gives the same bytes.  Colours are attributes of the
SVG, as those of drawings by hand are.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

from reports import palette
from reports.diagrams.numbers import numbers
from reports.diagrams.picture import Picture
from reports.safe_text import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Draw: TypeAlias = "Callable[[Figure], None]"
"""A function that draws on an empty figure."""


def plot(
    draw: Draw,
    width: float,
    height: float,
    *,
    name: str,
    about: str,
    style: Mapping[Any, Any] | None = None,
) -> Picture:
    """The picture of this size in inches.

    name: the prefix of its ids.  about: the picture in words.  style: more settings of matplotlib.
    """
    buffer = io.StringIO()
    with _figure(draw, width, height, style) as figure:
        figure.savefig(buffer, format="svg", metadata={"Date": None})
        found = numbers(figure)
    svg = _with_attributes(buffer.getvalue(), name, about)
    return Picture(svg, found, partial(_pdf, draw, width, height, style))


def _with_attributes(drawn: str, name: str, about: str) -> str:
    """The output of matplotlib as an element without prolog, metadata and sheets."""
    drawn = drawn[drawn.index("<svg") :]
    drawn = re.sub(r"<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", drawn, flags=re.DOTALL)
    drawn = re.sub("<[^>]*>", lambda tag: _tag(tag[0], name), drawn)  # texts have no bare < or >
    opening = (
        f'<svg role="img" aria-label="{escape(about)}" class="plot" stroke-linejoin="round" '
        f'stroke-linecap="butt" '
    )
    drawn = re.sub(r'\b(width|height)="([\d.]+)pt"', _pixels, drawn, count=2)
    return visible(drawn.replace("<svg ", opening, 1).strip())


def _tag(tag: str, name: str) -> str:
    """The tag with its style as attributes.  name: the prefix of its ids."""
    tag = re.sub(r'\bid="', f'id="{name}-', tag)
    tag = re.sub(r'(href="|url\()#', rf"\1#{name}-", tag)
    return re.sub(r' style="([^"]*)"', _attributes, tag)


def _pixels(size: re.Match[str]) -> str:
    """A size without a unit, which every reader knows."""
    return f'{size[1]}="{float(size[2]) * 4 / 3:g}"'


def _attributes(style: re.Match[str]) -> str:
    """The same style as attributes."""
    found = []
    for one in style[1].split(";"):
        name, _, value = (part.strip() for part in one.partition(":"))
        if name == "font":
            found += _of_font(value)
        elif name:
            found.append((name, value))
    return "".join(f' {name}="{value}"' for name, value in found)


def _of_font(value: str) -> list[tuple[str, str]]:
    """The attributes of a font as in: italic 700 10px 'DejaVu Sans', sans-serif."""
    read = re.fullmatch(r"(?P<before>.*?)(?P<size>[\d.]+px) (?P<family>.*)", value)
    assert read is not None, value
    words = read["before"].split()
    found = [("font-size", read["size"]), ("font-family", read["family"])]
    found += [("font-style", word) for word in words if word in ("italic", "oblique")]
    return found + [("font-weight", word) for word in words if word.isdigit() or word == "bold"]


def _pdf(draw: Draw, width: float, height: float, style: Mapping[Any, Any] | None) -> bytes:
    buffer = io.BytesIO()
    with _figure(draw, width, height, style) as figure:
        figure.savefig(buffer, format="pdf", metadata={"CreationDate": None})
    return buffer.getvalue()


@contextmanager
def _figure(
    draw: Draw, width: float, height: float, style: Mapping[Any, Any] | None
) -> Iterator[Figure]:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({**_STYLE, **(style or {})}), warnings.catch_warnings():
        # The letters of an SVG stay letters, and the page has more of them than matplotlib's font.
        warnings.filterwarnings("ignore", "Glyph|constrained_layout not applied", UserWarning)
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        _take_literally(figure)
        yield figure


def _take_literally(figure: Figure) -> None:
    """Have no name of a user's be a formula, for which matplotlib takes all between two $.

    The numbers along an axis may be powers of ten, which are formulas.
    """
    from matplotlib.text import Text
    from matplotlib.ticker import FuncFormatter

    axes = [axis for one in figure.axes for axis in (one.xaxis, one.yaxis)]
    ticks = [tick for axis in axes for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())]
    numbers = {label for tick in ticks for label in (tick.label1, tick.label2)}
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        text.set_text(visible(text.get_text()))
        if text not in numbers:
            text.set_parse_math(False)
    for axis in axes:
        names = axis.get_major_formatter()
        if isinstance(names, FuncFormatter):  # as set_yticks makes it of names
            names.func = partial(_literally, names.func)


def _literally(name: Callable[..., str], *place: Any) -> str:
    return visible(name(*place)).replace("$", r"\$")


_STYLE: Mapping[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "asif",
    "pdf.fonttype": 42,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "sans-serif"],
    "font.size": 10,
    "figure.facecolor": palette.BG,
    "savefig.facecolor": palette.BG,
    "axes.facecolor": "none",
    "text.color": palette.FG,
    "axes.edgecolor": palette.FG,
    "axes.labelcolor": palette.FG,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": palette.FG,
    "ytick.color": palette.FG,
    "grid.color": palette.RULE,
    "grid.linewidth": 0.7,
    "lines.scale_dashes": True,
    "legend.frameon": False,
}
