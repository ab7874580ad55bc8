"""Folders of asif's own: a marker says so, and nothing without a marker is deleted.

Rule of this file: it deletes only what is in a folder with a marker.  A folder gets its marker
before anything else, and loses it last: a kill at any moment leaves a folder that is asif's.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from model.errors import Invalid

MARKER = ".asif"
NOTE = "asif made this folder, and may delete it with all that is in it"
"""The line in a marker."""


def refuse_foreign(folders: Iterable[Path]) -> None:
    """Raise Invalid for the first that holds something and is not asif's own; nothing is made."""
    for folder in folders:
        try:
            foreign = _is_foreign(folder)
        except OSError as error:
            raise Invalid(f"{folder}: cannot be read: {error.strerror}") from error
        if foreign:
            raise Invalid(
                f"{folder}: asif needs this name for a folder of its own, and did not make what "
                "is there; give another folder, or move it"
            )


def emptied(folder: Path) -> Path:
    """Make an empty folder of asif's own, with its marker: its absolute path.

    Raises Invalid, and changes nothing, if something is there that asif did not make.
    """
    refuse_foreign([folder])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _mark(folder)
        _delete(folder)
    except OSError as error:
        raise Invalid(f"{folder}: cannot be written: {error.strerror}") from error
    return folder.resolve()


def remove(folder: Path) -> None:
    """Delete a folder of asif's own; any other stays as it is."""
    if not is_own(folder):
        return
    try:
        _delete(folder)
        (folder / MARKER).unlink()
        folder.rmdir()
    except OSError:  # it keeps its marker: the next `emptied` deletes the rest
        return


def is_own(folder: Path) -> bool:
    """Has asif made this folder?  Not that behind a link."""
    marker = folder / MARKER
    if folder.is_symlink() or marker.is_symlink() or not marker.is_file():
        return False
    with marker.open("rb") as file:
        return file.read(len(NOTE)) == NOTE.encode()


def _is_foreign(folder: Path) -> bool:
    if not os.path.lexists(folder) or is_own(folder):
        return False
    if folder.is_symlink() or not folder.is_dir():
        return True
    found = [*folder.iterdir()]
    # A kill while the marker was written leaves it empty.
    return any(one.name != MARKER or not one.is_file() or one.stat().st_size for one in found)


def _mark(folder: Path) -> None:
    if not is_own(folder):
        (folder / MARKER).write_text(f"{NOTE}\n", encoding="utf-8")


def _delete(folder: Path) -> None:
    """Delete all but the marker."""
    for one in folder.iterdir():
        if one.name == MARKER:
            continue
        if one.is_dir() and not one.is_symlink():
            shutil.rmtree(one)
        else:
            one.unlink()
