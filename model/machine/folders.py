"""Folders of asif's own: a marker says so, and nothing without a marker is deleted.

Rule of this file: it deletes nothing but the content of a folder with a marker.  A folder gets its
marker before anything else, and loses it last: a kill at any moment leaves a folder of asif's.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from model.errors import Invalid
from model.machine.locks import LOCK, held

MARKER = ".asif"
NOTE = "asif made this folder, and may delete it with all that is in it"
"""The line in a marker."""


def refuse_foreign(folders: Iterable[Path]) -> None:
    """Raise Invalid for the first that holds something and is not asif's own, or cannot be made.

    Nothing is changed.
    """
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
        if (why := why_unwritable(folder)) is not None:
            raise Invalid(f"{folder}: cannot be written: {why}")


def why_unwritable(folder: Path) -> str | None:
    """Why no file can be made in a folder, which may be missing; None if one can."""
    place = Path(os.path.abspath(folder))
    while not os.path.lexists(place):
        place = place.parent
    if not place.is_dir():
        return f"{place} is no folder"
    allowed = os.access(place, os.W_OK | os.X_OK)
    return None if allowed else f"permission denied in {place}"


def claimed(folder: Path) -> Path:
    """Make a folder asif's own, with its marker, if it is none yet: its absolute path.

    Raises Invalid, and changes nothing, if something is there that asif did not make.
    """
    refuse_foreign([folder])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not is_own(folder):
            (folder / MARKER).write_text(f"{NOTE}\n", encoding="utf-8")
    except OSError as error:
        raise _unwritable(folder, error) from error
    return folder.resolve()


@contextmanager
def occupied(folder: Path) -> Iterator[None]:
    """A context in which this process alone works in a folder of asif's own.

    Raises Invalid, and changes nothing, if it is not asif's, or if another process works there.
    """
    refuse_foreign([folder])
    with held(folder / LOCK, str(folder)):
        yield


def emptied(folder: Path) -> Path:
    """Make an empty folder of asif's own: its absolute path.  Raises Invalid as `claimed` does."""
    place = claimed(folder)
    try:
        _delete_all(place)
    except OSError as error:
        raise _unwritable(folder, error) from error
    return place


def remove(folder: Path) -> None:
    """Delete a folder of asif's own; any other stays as it is."""
    if not is_own(folder):
        return
    try:
        _delete_all(folder)
        for name in (LOCK, MARKER):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
    except OSError:  # it keeps its marker: the next `emptied` deletes the rest
        return


def delete_inside(path: Path) -> None:
    """Delete a file or folder that lies in a folder of asif's own, if it is there.

    Raises ValueError if it lies in none.
    """
    if not any(is_own(folder) for folder in Path(os.path.abspath(path)).parents):
        raise ValueError(f"{path}: no folder above it is asif's own")
    if os.path.lexists(path):
        _delete(path)


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
    # A kill while the marker was written leaves it empty; a lock is there before the marker.
    holds = any(
        one.is_symlink()
        or not one.is_file()
        or one.name not in (MARKER, LOCK)
        or (one.name == MARKER and one.stat().st_size > 0)
        for one in folder.iterdir()
    )
    return holds and not is_own(folder)  # another run may have made it its own meanwhile


def _delete_all(folder: Path) -> None:
    """Delete all but the marker, and the lock that somebody may hold."""
    for one in folder.iterdir():
        if one.name not in (MARKER, LOCK):
            _delete(one)


def _delete(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink()


def _unwritable(folder: Path, error: OSError) -> Invalid:
    return Invalid(f"{folder}: cannot be written: {error.strerror}")
