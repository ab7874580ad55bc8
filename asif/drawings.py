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

from asif.names import formats
from model.errors import Invalid

if TYPE_CHECKING:
    from reports.diagrams.picture import Picture

_KEY = "asif.formats"


def _note(context: typer.Context, value: str) -> str:
    from reports.diagrams.picture import suffixes

    context.meta[_KEY] = suffixes(value)
    return value


def refuse_without_place(context: typer.Context) -> None:
    """Raise Invalid if the user gives formats to a command that draws nothing without --out."""
    source = context.get_parameter_source("_format")
    given = source is not None and source.name == "COMMANDLINE"
    if given and context.params.get("out") is None:
        raise Invalid("--format: nothing is drawn without a folder; give --out, too")


FormatOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="FORMATS",
        help="Draw in these formats: svg, pdf, png, or a list of them.",
        callback=_note,
        autocompletion=formats,
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
