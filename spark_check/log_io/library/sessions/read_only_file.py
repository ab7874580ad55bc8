"""A session with a file of SQLite that is only read: it leaves no trace, and needs no permission.

Rule of this file: which way of reading leaves the folder as it is; nothing is written beside a log.

A reader of SQLite makes -wal and -shm beside the log, if they are missing, and leaves them there.
So it is asked in another way:
- nobody writes, and there is no -wal: the file is taken for immutable.  Whether it was is seen
  after each query; if not, the query is repeated.
- there are -wal and -shm: SQLite reads the -shm without changing it, and makes a private index if
  the last writer was killed.
- there is a -wal alone, as on a copy: file and -wal are copied into a temporary folder.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import stat
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from spark_check.log_io.library.schema import SQLITE
from spark_check.log_io.library.sessions import copied, session
from spark_check.log_io.library.sessions.places import FORMS
from spark_check.log_io.library.sessions.session import Session
from spark_check.log_io.library.sessions.sqlite_file import ERRORS, HINTS, code_of
from spark_check.log_io.library.values import LogError

T = TypeVar("T")
TRIES = 20
SETTLED_S = 0.05
"""A file that is older than this has another time if it is changed now."""
PAUSE_S = 0.02
BUSY = "cannot be read: another process writes it all the time: ask again"
WAL_HEADER = 32
"""Bytes of a -wal, which change when it begins anew."""
CHANGED = ("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_NOTADB", "SQLITE_CORRUPT", "SQLITE_IOERR")
"""Errors that a writer may cause who comes or goes just now."""


class FileState(NamedTuple):
    """The marks of a change of a file: its identity, size and time.  header: of a -wal."""

    inode: int
    size: int
    changed_ns: int


class ReadOnlyFile(Session):
    """A query sees the log as it is at one moment."""

    dialect, errors = SQLITE, ERRORS

    def __init__(self, place: str | Path) -> None:
        super().__init__(place, read_only=True)
        self._path = Path(place)
        self._frozen: FileState | None = None
        self._private = False  # is it a copy of the log?
        self._copied = ExitStack()

    # --- the ways of reading -----------------------------------------------------------------
    def open(self) -> None:
        path = Path(os.path.realpath(self._path))  # as SQLite does for its -wal
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "is a directory")
        if not stat.S_ISREG(mode):
            raise LogError(f"{self.name}: is no file: {FORMS}")
        self._frozen = None
        if _size(f"{path}-journal"):  # of a file that has another mode than a log
            self._connect(path, "mode=ro")
        elif not _size(f"{path}-wal"):
            self._frozen = _settled(path)
            self._connect(path, "immutable=1")
        elif os.path.exists(f"{path}-shm"):
            self._connect(path, "mode=ro&readonly_shm=1")
        else:
            self._connect(self._copy(path), "mode=rw")

    def _connect(self, path: Path, how: str) -> None:
        uri = f"{path.as_uri()}?{how}"
        self.connection = sqlite3.connect(
            uri, uri=True, timeout=session.READ_PATIENCE_S, isolation_level=None
        )
        self.connection.execute("PRAGMA query_only = ON")
        self.broken = False

    def _copy(self, path: Path) -> Path:
        """A copy in a temporary folder, of one moment: a -wal that has not begun anew holds all
        that came into the file meanwhile."""
        self._private = True
        copy = self._copied.enter_context(copied.folder()) / "log.db"
        for _ in range(TRIES):
            before = _wal_header(path)
            shutil.copyfile(path, copy)
            with suppress(FileNotFoundError):
                shutil.copyfile(f"{path}-wal", f"{copy}-wal")
            if before and before == _wal_header(path):
                return copy
            time.sleep(PAUSE_S)
        raise LogError(f"{self.name} {BUSY}")

    def _changed(self) -> bool:
        """Was the file changed that was taken for immutable?"""
        if self._frozen is None:
            return False
        path = Path(os.path.realpath(self._path))
        return bool(_size(f"{path}-wal") or _state(path) != self._frozen)

    # --- a session ---------------------------------------------------------------------------
    def run(self, work: Callable[[Any, str], T], sql: str) -> T:
        try:
            return self._run(work, sql)
        except OSError as error:  # the file has gone
            raise LogError(f"{self.name}: {self.reason(error)}") from None

    def _run(self, work: Callable[[Any, str], T], sql: str) -> T:
        for left in reversed(range(TRIES)):
            try:
                found = super().run(work, sql)
                if not self._changed():
                    return found
            except ERRORS as error:
                if not left or not self._may_pass(error):
                    raise
            self.close()
            time.sleep(PAUSE_S)
            self.open()
        raise LogError(f"{self.name} {BUSY}")

    def _may_pass(self, error: Exception) -> bool:
        """Is the error due to a file that has changed, or is changing?"""
        if self._changed():
            return True
        changes = not self._private and self._frozen is None
        return bool(changes and code_of(error).startswith(CHANGED))

    def open_first(self) -> None:
        try:
            super().open_first()
        except OSError as error:
            raise LogError(f"{self.name}: {self.reason(error)}") from None

    def reopen(self) -> None:
        self.open_first()

    def in_transaction(self) -> bool:
        return bool(self.connection.in_transaction)

    def breaks(self, _error: Exception, committing: bool) -> bool:
        return False

    def close(self) -> None:
        super().close()
        self._copied.close()
        self._private = False

    def trouble(self, error: Exception, *, opened: bool, committing: bool) -> LogError:
        if code_of(error) == "SQLITE_NOTADB":
            return LogError(f"{self.name} is no log of LOG.io: {error}")
        return super().trouble(error, opened=opened, committing=committing)

    def reason(self, error: Exception) -> str:
        if isinstance(error, OSError):
            return f"{(error.strerror or str(error)).lower()}: give a file that is a log of LOG.io"
        return super().reason(error)

    def hint(self, error: Exception) -> str:
        code = code_of(error)
        if code.startswith("SQLITE_READONLY"):
            return "a process that writes it begins or ends: ask again"
        return next((text for name, text in HINTS.items() if code.startswith(name)), "")


def _size(path: str | Path) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def _state(path: Path) -> FileState:
    found = os.stat(path)
    return FileState(found.st_ino, found.st_size, found.st_mtime_ns)


def _settled(path: Path) -> FileState:
    """The state of a file, when its time is old enough to differ from that of a change."""
    while abs(time.time_ns() - (found := _state(path)).changed_ns) < SETTLED_S * 1e9:
        time.sleep(PAUSE_S)
    return found


def _wal_header(path: Path) -> bytes:
    try:
        with open(f"{path}-wal", "rb") as file:
            return file.read(WAL_HEADER)
    except FileNotFoundError:
        return b""
