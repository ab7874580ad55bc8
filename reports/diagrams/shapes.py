"""Elements of a drawing in SVG: colours are attributes, so that every program shows them.

Rule of this file: no sheet and no variable; lengths are CSS pixels.  kind: the meaning of an
element, for scripts and tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TypeAlias

from reports import palette
from reports.diagrams.picture import FONT, MONO
from reports.safe_text import visible

Points: TypeAlias = Sequence[tuple[float, float]]
_SANS = f"{FONT}, Verdana, sans-serif"
_MONO = f"{MONO}, Menlo, Consolas, monospace"


def sheet(parts: Iterable[str], width: float, height: float, *, about: str, mono: bool) -> str:
    """The drawing as one <svg> on a ground of its own.  about: the picture in words."""
    fonts = _MONO if mono else _SANS
    return visible(
        "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {n(width)} '
                f'{n(height)}" width="{n(width)}" height="{n(height)}" font-family="{fonts}" '
                f'font-size="11" aria-label="{escape(about)}">',
                f'<rect width="{n(width)}" height="{n(height)}" fill="{palette.BG}"/>',
                *parts,
                "</svg>",
            ]
        )
    )


def text(
    x: float,
    y: float,
    words: str,
    *,
    colour: str = palette.FG,
    anchor: str = "start",
    size: float = 0,
    bold: bool = False,
    mono: bool = False,
    halo: bool = True,
    kind: str = "",
) -> str:
    """Words at a place.  halo: a rim of the ground, so that no line crosses them."""
    look = f' font-size="{n(size)}"' if size else ""
    look += f' font-family="{_MONO}"' if mono else ""
    look += ' font-weight="bold"' if bold else ""
    rim = (
        f' paint-order="stroke" stroke="{palette.BG}" stroke-width="4" stroke-linejoin="round"'
        if halo
        else ""
    )
    return (
        f'<text{_kind(kind)} x="{n(x)}" y="{n(y)}" fill="{colour}" text-anchor="{anchor}"'
        f"{look}{rim}>"
        f"{escape(words)}</text>"
    )


def line(
    x1: float,
    y1: float,
    x2: float,
    y2: float,
    colour: str,
    width: float = 1,
    dashes: Sequence[float] = (),
    kind: str = "",
) -> str:
    return (
        f'<line{_kind(kind)} x1="{n(x1)}" y1="{n(y1)}" x2="{n(x2)}" y2="{n(y2)}" '
        f"{stroke(colour, width, dashes)}/>"
    )


def stroke(colour: str, width: float, dashes: Sequence[float] = ()) -> str:
    """The attributes of a line."""
    dashed = f' stroke-dasharray="{" ".join(map(n, dashes))}"' if dashes else ""
    return f'stroke="{colour}" stroke-width="{n(width)}"{dashed}'


def path(points: Points, colour: str, width: float = 1.4, dashes: Sequence[float] = ()) -> str:
    """A line with corners."""
    way = " L".join(f"{n(x)} {n(y)}" for x, y in points)
    return f'<path d="M{way}" fill="none" {stroke(colour, width, dashes)}/>'


def polygon(points: Points, colour: str) -> str:
    return f'<polygon points="{" ".join(f"{n(x)},{n(y)}" for x, y in points)}" fill="{colour}"/>'


def rect(
    x: float, y: float, width: float, height: float, *, fill: str, colour: str, radius: float = 5
) -> str:
    return (
        f'<rect x="{n(x)}" y="{n(y)}" width="{n(width)}" height="{n(height)}" rx="{n(radius)}" '
        f'fill="{fill}" stroke="{colour}"/>'
    )


def circle(
    x: float, y: float, radius: float, *, fill: str, colour: str = "none", width: float = 1
) -> str:
    edge = "" if colour == "none" else f" {stroke(colour, width)}"
    return f'<circle cx="{n(x)}" cy="{n(y)}" r="{n(radius)}" fill="{fill}"{edge}/>'


def cross(x: float, y: float, radius: float, colour: str = palette.BAD, width: float = 2.5) -> str:
    r = radius
    return (
        f'<path class="cross" d="M{n(x - r)} {n(y - r)} L{n(x + r)} {n(y + r)} '
        f'M{n(x - r)} {n(y + r)} L{n(x + r)} {n(y - r)}" fill="none" '
        f'{stroke(colour, width)} stroke-linecap="round"/>'
    )


def _kind(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


def n(value: float) -> str:
    """A length, to a tenth of a pixel."""
    return f"{value:.1f}".removesuffix(".0")
