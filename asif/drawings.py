"""`--format`: the formats of the pictures of a command, and the files of a picture in them.

Rule of this file: no picture is drawn or written here.  Where a command has a file for its one
plot, the suffix of that file is its format instead (asif.early.result_picture).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer
from typer._click.globals import get_current_context

if TYPE_CHECKING:
    from reports.diagrams.picture import Picture

_KEY = "asif.formats"


def _note(context: typer.Context, value: str) -> str:
    from reports.diagrams.picture import suffixes

    context.meta[_KEY] = suffixes(value)
    return value


FormatOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMATS",
        help="Draw in these formats: svg, pdf, png, or a list of them.",
        callback=_note,
    ),
]


def pictures(picture: Picture, place: Path) -> Mapping[Path, str | bytes]:
    """The files of a picture in the formats that the user asked for.

    place: the name of the file without a suffix.
    """
    from reports.diagrams.picture import files

    context = get_current_context(silent=True)
    formats: tuple[str, ...] = context.meta.get(_KEY, (".svg",)) if context else (".svg",)
    return files(picture, place, formats)
