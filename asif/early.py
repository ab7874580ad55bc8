"""Options that name where results go: whether they can be written is asked before work begins.

Rule of this file: nothing is made or written.  An option of a file or folder for results has one
of the callbacks here; asif.ending.fence asks about all of them at once, before the command.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple, TypeVar

import typer

from model.errors import Invalid

_KEY = "asif.early"
P = TypeVar("P", bound=Path | None)


class ResultPlace(NamedTuple):
    """A place that the user has named.  option: its name, as --json."""

    option: str
    path: Path
    is_folder: bool


def result_file(context: typer.Context, param: typer.CallbackParam, value: P) -> P:
    """The callback of an option with the file of a result."""
    return _note(context, param, value, is_folder=False)


def result_picture(context: typer.Context, param: typer.CallbackParam, value: P) -> P:
    """The callback of an option with the file of a plot, whose suffix is its format.

    Its numbers are written beside it.
    """
    from reports.diagrams.picture import SUFFIXES, numbers_of

    if value is None or _is_device(value):
        return _note(context, param, value, is_folder=False)
    if value.suffix.lower() not in SUFFIXES:
        name = "plot.png" if value.stem.startswith("-") or not value.stem else f"{value.stem}.png"
        raise Invalid(f"{param.opts[-1]} {value}: a plot is svg, pdf or png; give {name}")
    _note(context, param, numbers_of(value), is_folder=False)
    return _note(context, param, value, is_folder=False)


def result_folder(context: typer.Context, param: typer.CallbackParam, value: P) -> P:
    """The callback of an option with a folder of results."""
    return _note(context, param, value, is_folder=True)


def seldom_used_folder(context: typer.Context, param: typer.CallbackParam, value: P) -> P:
    """As `result_folder`, of a folder whose default most runs do not write to."""
    source = context.get_parameter_source(param.name or "")
    given = source is not None and source.name == "COMMANDLINE"
    return _note(context, param, value, is_folder=True) if given else value


def _note(context: typer.Context, param: typer.CallbackParam, value: P, *, is_folder: bool) -> P:
    if value == Path("-"):
        raise Invalid(
            f"{param.opts[-1]} -: give the name of a {'folder' if is_folder else 'file'}"
            "; the result on standard output is --json -"
        )
    if value is not None:
        places = context.meta.setdefault(_KEY, [])
        places.append(ResultPlace(param.opts[-1], value, is_folder))
    return value


def ask_early(context: typer.Context, *, force: bool) -> None:
    """Raise Invalid for the first place that cannot be written; force: of any file.

    Two results in one file are refused, too.
    """
    from model.machine.files import refuse_unwritable

    places: list[ResultPlace] = context.meta.get(_KEY, [])
    seen: dict[str, str] = {}
    for one in places:
        if "\0" in str(one.path):
            raise Invalid(f"{one.option}: a name of a file has no NUL character")
        place = os.path.realpath(one.path)
        if one.is_folder:
            refuse_unusable(one.path)
            continue
        refuse_unwritable([one.path], force=force)
        if place in seen and not _is_device(one.path):
            raise Invalid(f"{one.path}: {seen[place]} and {one.option} write to it; give two names")
        seen[place] = one.option


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file()


def refuse_unusable(folder: Path) -> None:
    """Raise Invalid if files cannot be written into a folder, or if it cannot be made."""
    from model.machine.folders import why_unwritable

    try:
        why = why_unwritable(folder)
    except OSError as error:
        why = error.strerror
    if why is not None:
        raise Invalid(f"{folder}: cannot be written to: {why}; give another folder")
