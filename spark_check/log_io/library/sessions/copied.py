"""A temporary folder for the copy of a log: it does not outlive its reader, however that ends.

Rule of this file: it looks for folders of asif alone, in the place of temporary files.  A folder is
locked while its owner lives, and has the marker that the commands of asif know, too: the next
reader, or the next command, removes a folder whose owner was killed.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MARKER = ".asif-temporary"
WORDS = "A temporary folder of asif: it is removed when the process that made it has ended.\n"


@contextmanager
def folder() -> Iterator[Path]:
    """A context with a new folder, which ends with it.  Raises OSError."""
    place = Path(tempfile.gettempdir())
    for left in place.glob(f"{_prefix()}*/{MARKER}"):
        with suppress(OSError):
            _remove_if_left(left.parent)
    path, lock = _make(place)
    try:
        yield path
    finally:
        _remove(path)
        os.close(lock)


def _make(place: Path) -> tuple[Path, int]:
    """A new folder, and the descriptor that locks it.  Raises OSError."""
    while True:
        path = place / f"{_prefix()}{os.urandom(4).hex()}"
        path.mkdir(0o700)
        # Another process may take a new folder for one that is left.
        with suppress(FileNotFoundError, BlockingIOError):
            lock = _lock(path)
            (path / MARKER).write_text(WORDS, encoding="utf-8")
            return path, lock


def _remove_if_left(path: Path) -> None:
    """Remove the folder.  Raises OSError if its owner lives, or is somebody else."""
    lock = _lock(path)
    try:
        if os.fstat(lock).st_uid == os.getuid():
            _remove(path)
    finally:
        os.close(lock)


def _remove(path: Path) -> None:
    """Remove a folder, the marker at last, so that a half removed one is still known."""
    with suppress(OSError):
        for one in path.iterdir():
            if one.name != MARKER:
                one.unlink()
        (path / MARKER).unlink()
        path.rmdir()


def _lock(path: Path) -> int:
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise
    return lock


def _prefix() -> str:
    return f"asif-{os.getuid()}-"
