"""A picture as files: SVG, PDF and PNG of one drawing, with its numbers as CSV beside it.

Rule of this file: nothing is drawn here.  A suffix of a file chooses the format.  Letters are of
the font that comes with matplotlib, so that no machine needs another one.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from model.errors import Invalid
from model.machine.marks import NUMBERS_HEADER
from reports import palette

SUFFIXES = (".svg", ".pdf", ".png")
FONT = "DejaVu Sans"
MONO = "DejaVu Sans Mono"
SHARP = 2.0
"""Pixels of a PNG by CSS pixels of the drawing."""

__all__ = ["FONT", "MONO", "NUMBERS_HEADER", "SUFFIXES", "Picture", "files", "suffixes"]


@dataclass(frozen=True)
class Picture:
    """svg: the drawing, with all colours as attributes.  numbers: CSV with NUMBERS_HEADER; "" if
    the drawing has none.  as_pdf: the same drawing, if it has a way of its own to PDF."""

    svg: str
    numbers: str = ""
    as_pdf: Callable[[], bytes] | None = None

    def content(self, suffix: str) -> str | bytes:
        """The content of a file with this suffix, one of SUFFIXES."""
        match suffix.lower():
            case ".svg":
                return _with_sheet(self.svg)
            case ".pdf":
                return self.as_pdf() if self.as_pdf is not None else pdf(self.svg)
            case ".png":
                return png(self.svg)
        raise ValueError(suffix)


def suffixes(text: str) -> tuple[str, ...]:
    """The suffixes of a list of formats, as in "svg,pdf,png".  Raises Invalid."""
    names = [name.strip().lower().removeprefix(".") for name in text.split(",")]
    for name in names:
        if f".{name}" not in SUFFIXES:
            raise Invalid(f"--format {text}: {name or 'nothing'} is no format; give {KNOWN}")
    return tuple(dict.fromkeys(f".{name}" for name in names))


KNOWN = "svg, pdf or png"


def files(
    picture: Picture, place: Path, formats: Iterable[str] | None = None
) -> Mapping[Path, str | bytes]:
    """The files of a picture: one for each format, and its numbers, if it has some.

    place: the file, if there are no formats; otherwise its name without a suffix.
    """
    named = [place] if formats is None else [Path(f"{place}{suffix}") for suffix in formats]
    found: dict[Path, str | bytes] = {
        path: picture.content(path.suffix if path.suffix.lower() in SUFFIXES else ".png")
        for path in named
    }
    if picture.numbers and (beside := numbers_of(place, formats)) is not None:
        found[beside] = picture.numbers
    return found


def numbers_of(place: Path, formats: Iterable[str] | None = None) -> Path | None:
    """The file of the numbers beside a picture; None beside a pipe or a device."""
    if formats is not None:
        return Path(f"{place}.csv")
    return place.with_suffix(".csv") if place.suffix.lower() in SUFFIXES else None


def _with_sheet(svg: str) -> str:
    """The drawing as a file: with its sheet for dark ground."""
    start = svg.index(">", svg.index("<svg")) + 1
    return f"{svg[:start]}\n{palette.file_sheet()}{svg[start:].rstrip()}\n"


def png(svg: str, zoom: float = SHARP) -> bytes:
    """The drawing as PNG.  zoom: pixels by CSS pixels of the drawing."""
    import resvg_py

    return resvg_py.svg_to_bytes(
        svg_string=svg,
        zoom=zoom,
        dpi=96,
        skip_system_fonts=True,
        font_dirs=[str(fonts())],
        font_family=FONT,
        sans_serif_family=FONT,
        monospace_family=MONO,
    )


def pdf(svg: str) -> bytes:
    """The drawing as PDF with letters; the same bytes each time."""
    from reportlab.graphics import renderPDF
    from svglib.svglib import svg2rlg

    _register_fonts()
    drawing = svg2rlg(io.BytesIO(_halos_apart(svg).encode()))
    assert drawing is not None
    return bytes(renderPDF.drawToString(drawing, invariant=1))


def _halos_apart(svg: str) -> str:
    """The drawing with each halo of a text as a text of its own: PDF has no order of painting."""
    halo = r'<text ([^>]*?) paint-order="stroke" stroke="([^"]+)" ([^>]*)>(.*?)</text>'
    return re.sub(
        halo,
        r'<text \1 stroke="\2" \3>\4</text><text \1 stroke="none" stroke-width="0">\4</text>',
        svg,
        flags=re.DOTALL,  # a text may have several lines
    )


@cache
def _register_fonts() -> None:
    from svglib.fonts import register_font

    for family, file in ((FONT, "DejaVuSans"), (MONO, "DejaVuSansMono")):
        for weight, ending in (("normal", ""), ("bold", "-Bold")):
            register_font(family, str(fonts() / f"{file}{ending}.ttf"), weight, "normal")


def fonts() -> Path:
    """The folder with the fonts of matplotlib."""
    import matplotlib as mpl

    return Path(mpl.get_data_path()) / "fonts" / "ttf"
