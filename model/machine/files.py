"""Result files: written whole or not at all, and never over a file of the user's.

Rule of this file: no half-written file, whatever interrupts the program, and no file that asif did
not write is replaced unless the user says so.  A terminal, /dev/null or a pipe is
written to as it is.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path

from model.errors import Invalid
from model.machine.folders import why_unwritable
from model.machine.marks import is_ours, marked
from model.machine.supervision import undisturbed


def write(files: Mapping[Path, str | bytes], *, force: bool = False) -> None:
    """Write results, each with asif's mark: all or none.

    Text is UTF-8.  Missing folders are made; a file that is there keeps its mode.  Raises Invalid
    as `refuse_unwritable` does, and where a disk is full, say.
    """
    refuse_unwritable(files, force=force)
    replace({path: marked(path, content) for path, content in files.items()})


def refuse_unwritable(paths: Iterable[Path], *, force: bool = False) -> None:
    """Raise Invalid, which names the first of the files that `write` could not write.

    Nothing is made.  Empty files are written over, and those with asif's mark; force: any file.
    """
    for path in paths:
        try:
            _refuse_one(path, force)
        except OSError as error:
            raise _unwritable(path, error.strerror) from error


def _refuse_one(path: Path, force: bool) -> None:
    if path.is_dir():
        raise _unwritable(path, "it is a folder")
    place = _place(path)
    if _is_stream(place):
        if not os.access(path, os.W_OK):
            raise _unwritable(path, "permission denied")
        return
    if place.exists():
        if not (force or place.stat().st_mode & 0o222):
            raise _unwritable(path, "it is read-only; give another name, or --force")
        if not (force or is_ours(place)):
            words = "asif did not write what is there; give another name, or --force"
            raise _unwritable(path, words)
    if (why := why_unwritable(place.parent)) is not None:
        raise _unwritable(path, why)


@undisturbed()
def replace(files: Mapping[Path, bytes]) -> None:
    """Write all files or none: first write each one beside its place, then rename all.

    No mark is asked for or added.  Raises Invalid, which names the file.
    """
    with ExitStack() as leftovers:
        written = []
        for path, content in files.items():
            try:
                place = _place(path)
                if _is_stream(place):
                    _write_to(place, content)
                    continue
                place.parent.mkdir(parents=True, exist_ok=True)
                handle, name = tempfile.mkstemp(dir=place.parent, prefix=".asif-")
                leftovers.callback(Path(name).unlink, missing_ok=True)
                with open(handle, "wb") as file:
                    file.write(content)
                # mkstemp makes a private file, but others read results.
                os.chmod(name, stat.S_IMODE(place.stat().st_mode) if place.is_file() else 0o644)
            except BrokenPipeError:  # of a pipe that the user gave: as of the standard output
                raise
            except OSError as error:
                raise _unwritable(path, error.strerror) from error
            written.append((name, place, path))
        for name, place, path in written:
            try:
                os.replace(name, place)
            except OSError as error:  # a folder has this name
                raise _unwritable(path, error.strerror) from error


def _place(path: Path) -> Path:
    """The place that a name stands for behind links, but for those of open files: /dev/stdout."""
    place = Path(os.path.abspath(path))
    for _ in range(40):  # as many links as Linux follows
        folder = place.parent.resolve()
        place = folder / place.name
        if folder.is_relative_to("/proc") or not place.is_symlink():
            break
        place = Path(os.path.normpath(folder / place.readlink()))
    return place


def _is_stream(place: Path) -> bool:
    """Is this no file that can be replaced, but a terminal, a pipe, or an open file?"""
    return place.is_relative_to("/proc") or (place.exists() and not place.is_file())


def _write_to(stream: Path, content: bytes) -> None:
    if stream.parent == Path(f"/proc/{os.getpid()}/fd") and stream.name.isdigit():
        sys.stdout.flush()  # the printed lines come first
        file = open(os.dup(int(stream.name)), "wb")  # noqa: SIM115
    else:
        file = stream.open("wb")
    with file:
        file.write(content)


def _unwritable(path: Path, why: str | None) -> Invalid:
    return Invalid(f"{path}: cannot be written: {why}")
