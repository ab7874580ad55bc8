"""The files beside a log of SQLite, one for each operator: a lock, and a number.

Rule of this file: files and locks; no table.

The lock is held while a process runs the operator; the system frees it when that process has ended,
however it ends.  The number is how many transactions of the operator the log has.  It is written
after each commit, so the log has at least as many: if it has fewer, it has lost some.  A file of
SQLite cannot know that by itself: without its -wal, or with a damaged one, it is an older log.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from weakref import WeakSet

from spark_check.log_io.library.guard.checksums import of_values
from spark_check.log_io.library.values import LogError

SUFFIX = "-lease"
TRIES = 3
"""How often a file is read that looks damaged."""
_OPEN: WeakSet[LeaseFile] = WeakSet()


def folder_of(log: Path) -> Path:
    """The folder with the files; SQLite, too, follows links before it names its -wal."""
    path = log.resolve()
    return path.with_name(path.name + SUFFIX)


def file_of(log: Path, operator: str) -> Path:
    """The file of an operator.  It is made before the log says that a process runs the operator."""
    return folder_of(log) / f"{of_values(operator):016x}"


def counts(log: Path) -> dict[str, int]:
    """The number of transactions by operator, as the files say.

    Raises LogError for a file that is damaged.
    """
    return dict(filter(None, map(_read, _files(folder_of(log)))))


def _files(folder: Path) -> Iterator[Path]:
    with suppress(FileNotFoundError):
        yield from sorted(folder.iterdir())


def _read(path: Path) -> tuple[str, int] | None:
    """The operator and the number of a file; None: it is empty."""
    for _ in range(TRIES):  # its process may write it just now
        text = path.read_bytes()
        if not text:
            return None
        with suppress(ValueError):
            count, _, operator = text.decode().rstrip("\n").split(" ", 2)
            if text == _line(operator, int(count)):
                return operator, int(count)
    raise LogError(f"{path} is damaged: remove it only if you know that the log is whole")


def _line(operator: str, count: int) -> bytes:
    return f"{count:020d} {of_values(operator, count):020d} {operator}\n".encode()


class LeaseFile:
    """The open file of an operator, which is locked.  Raises BlockingIOError if another one has
    locked it."""

    LOSS = "its file was removed"
    _is_open = False

    def __init__(self, log: Path, operator: str) -> None:
        self._path = file_of(log, operator)
        self._path.parent.mkdir(exist_ok=True)
        self._operator = operator
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not self.is_there():  # it was removed between the two
                raise BlockingIOError
            self._reserve()
        except BaseException:
            os.close(self._file)
            raise
        self._is_open = True
        _OPEN.add(self)

    def _reserve(self) -> None:
        """Let a new file have the size that it keeps: later, the disk may be full."""
        if os.fstat(self._file).st_size:
            return
        try:
            self.write(0)
        except LogError:
            os.ftruncate(self._file, 0)
            raise

    def is_there(self) -> bool:
        """Is this still the file at its place?  Else another process may lock the one there."""
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(self._file))
        except OSError:
            return False

    def write(self, count: int) -> None:
        """The operator has that number of transactions in the log.  The disk may have it later."""
        line = _line(self._operator, count)
        try:
            if os.pwrite(self._file, line, 0) < len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            raise LogError(f"{self._path} cannot be written: {error.strerror}") from None

    def close(self) -> None:
        """Free the lock.  The garbage collector may have taken the file from _OPEN already."""
        if self._is_open:
            self._is_open = False
            _OPEN.discard(self)
            os.close(self._file)

    __del__ = close


def _leave_to_parent() -> None:
    """A child that was forked shares the locks of its parent: it must not hold them longer."""
    for one in [*_OPEN]:
        one.close()


os.register_at_fork(after_in_child=_leave_to_parent)
