"""The canvas: a drawing becomes inline SVG, or PNG on white.

Rule of this file: no import of matplotlib elsewhere, and none here before something is drawn, since
the import takes a second.  The same drawing gives the same bytes.  An SVG takes its colours from
the page, so that light and dark both work: the drawing uses stand-ins, which become CSS variables.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from reports.safe_text import visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Colours(NamedTuple):
    ink: str
    with_: str
    without: str
    bad: str


STAND_INS = Colours("#010203", "#010204", "#010205", "#010206")
ON_PAGE = Colours(
    "currentColor", "var(--with, #1d5fbf)", "var(--without, #a04a00)", "var(--bad, #c01c28)"
)
ON_WHITE = Colours("#24292f", "#1d5fbf", "#a04a00", "#c01c28")
"""The colours of a PNG, which has no page to choose them."""

Draw: TypeAlias = "Callable[[Figure, Colours], None]"
"""A function that draws on an empty figure, in the colours given."""


def svg(
    draw: Draw,
    width: float,
    height: float,
    *,
    name: str,
    about: str,
    style: Mapping[Any, Any] | None = None,
) -> str:
    """The picture as an <svg> element of this size in inches, without prolog and metadata.

    name: the prefix of its ids.  about: the picture in words.  style: more settings of matplotlib.
    """
    buffer = io.StringIO()
    with _draw_figure(draw, width, height, STAND_INS, style) as figure:
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    drawn = buffer.getvalue()
    drawn = drawn[drawn.index("<svg") :]
    drawn = re.sub(r"<metadata>.*?</metadata>", "", drawn, flags=re.DOTALL)
    drawn = re.sub(r'\bid="', f'id="{name}-', drawn)
    drawn = re.sub(r'(href="|url\()#', rf"\1#{name}-", drawn)
    for stand_in, colour in zip(STAND_INS, ON_PAGE, strict=True):
        drawn = drawn.replace(stand_in, colour)
    opening = f'<svg role="img" aria-label="{escape(about)}" class="plot" '
    return visible(drawn.replace("<svg ", opening, 1).strip())


def png(draw: Draw, width: float, height: float, *, dpi: int = 150) -> bytes:
    """The picture as PNG on white, of this size in inches."""
    buffer = io.BytesIO()
    with _draw_figure(draw, width, height, ON_WHITE) as figure:
        figure.set_facecolor("white")
        figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    return buffer.getvalue()


@contextmanager
def _draw_figure(
    draw: Draw,
    width: float,
    height: float,
    colours: Colours,
    style: Mapping[Any, Any] | None = None,
) -> Iterator[Figure]:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({**_style(colours.ink), **(style or {})}), warnings.catch_warnings():
        # The letters of an SVG stay letters, and the page has more of them than matplotlib's font.
        warnings.filterwarnings("ignore", "Glyph|constrained_layout not applied", UserWarning)
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure, colours)
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


def _style(ink: str) -> dict[Any, Any]:
    return {
        "svg.fonttype": "none",
        "svg.hashsalt": "asif",
        "font.family": "sans-serif",
        "font.size": 10,
        "text.color": ink,
        "axes.edgecolor": ink,
        "axes.labelcolor": ink,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "xtick.color": ink,
        "ytick.color": ink,
        "grid.color": ink,
        "grid.alpha": 0.15,
        "legend.frameon": False,
    }
