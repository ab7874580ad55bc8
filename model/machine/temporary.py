"""Temporary folders that do not outlive their owner, however that ends.

Rule of this file: it imports little.  A folder is locked while its owner lives, and the system ends
the lock with the owner; so a later run knows a folder that nobody owns, and removes it.  A folder
without the marker of asif is none of them.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MARKER = ".asif-temporary"
WORDS = "A temporary folder of asif: it is removed when the process that made it has ended.\n"


@contextmanager
def folder(place: Path | None = None) -> Iterator[Path]:
    """A context with a new, empty folder, which ends with it, or else with this process.

    place: in which it is made; None: where this machine has temporary files.  Raises OSError.
    """
    where = Path(place or _place())
    remove_left(where)
    if place is not None:
        _note(place)
    path, lock = _make(where)
    try:
        yield path
    finally:
        _remove(path)
        os.close(lock)


def take_place() -> None:
    """Make one folder for all temporary files of this process, and of those that it starts.

    It ends with this process.  Where none can be made, all stays as it is.
    """
    with suppress(OSError):
        path, _ = _make(Path(_place()))
        os.environ["TMPDIR"] = str(path)
        # Else a folder appears where the user stands, whatever its settings are.
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(path / "hypothesis")


def remove_left(place: Path | None = None) -> None:
    """Remove the folders whose owners have ended; one that cannot be removed now stays."""
    with suppress(OSError), os.scandir(place or _place()) as entries:
        for entry in entries:
            if entry.name.startswith(_prefix()):
                with suppress(OSError):
                    _remove_if_left(entry.path)


def _remove_if_left(path: str) -> None:
    lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # an OSError if its owner lives
        if os.fstat(lock).st_uid == os.getuid():
            marker = Path(path, MARKER)
            if not marker.exists():
                os.rmdir(path)  # of an owner that ended before it wrote the marker
                return
            for place in marker.read_text(encoding="utf-8").splitlines()[1:]:
                remove_left(Path(place))
            _remove(Path(path))
    finally:
        os.close(lock)


def _make(place: Path) -> tuple[Path, int]:
    """A new folder, and the descriptor that locks it.  Raises OSError."""
    while True:
        path = place.resolve() / f"{_prefix()}{os.urandom(4).hex()}"
        os.mkdir(path, 0o700)
        # A run that removes folders may take a new one for one that is left.
        with suppress(FileNotFoundError, BlockingIOError):
            lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                (path / MARKER).write_text(WORDS, encoding="utf-8")
            except OSError:
                os.close(lock)
                raise
            return path, lock


def _note(place: Path) -> None:
    """Have the folder of this run name a place where it has another one: a later run looks there,
    too."""
    marker = Path(_place(), MARKER)
    if marker.exists():
        with marker.open("a", encoding="utf-8") as words:
            words.write(f"{place.resolve()}\n")


def _remove(path: Path) -> None:
    """Remove a folder of asif, the marker at last, so that a half removed one is still known."""
    import shutil

    for entry in os.scandir(path):
        if entry.name == MARKER:
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.unlink(entry.path)
    with suppress(OSError):
        if len(os.listdir(path)) == 1:
            os.unlink(path / MARKER)
            os.rmdir(path)


def _prefix() -> str:
    return f"asif-{os.getuid()}-"


def _place() -> str:
    """The folder of temporary files: as tempfile finds it, which takes longer to import."""
    named = (os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP"))
    for path in (*named, "/tmp", "/var/tmp", "/usr/tmp", os.getcwd()):
        if path and os.access(path, os.W_OK | os.X_OK) and stat.S_ISDIR(os.stat(path).st_mode):
            return path
    raise FileNotFoundError("no folder for temporary files can be written")
