"""A session with a file of SQLite that is written.

Rule of this file: how a connection is opened, and the meaning of its errors.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

from spark_check.log_io.library.schema import SQLITE
from spark_check.log_io.library.sessions import session
from spark_check.log_io.library.sessions.session import Session
from spark_check.log_io.library.values import LogError

ERRORS = (sqlite3.Error, OverflowError, UnicodeError)
HINTS = {
    "SQLITE_BUSY": "another process has locked it: end that process, or try again later",
    "SQLITE_LOCKED": "another process has locked it: end that process, or try again later",
    "SQLITE_CANTOPEN": "give a file that you can write, in a folder that is there",
    "SQLITE_READONLY": "you must be able to write the file, and into its folder",
    "SQLITE_FULL": "make room on its disk",
    "SQLITE_IOERR": "is its disk full, or damaged?",
    "SQLITE_CORRUPT": "the file is damaged",
}
"""The remedies, by the beginning of SQLite's name of an error."""


def code_of(error: Exception) -> str:
    """SQLite's name of an error, as SQLITE_BUSY_SNAPSHOT."""
    return getattr(error, "sqlite_errorname", None) or ""


class SqliteFile(Session):
    """synchronous: with "NORMAL", a loss of power may undo the last commits."""

    dialect, errors = SQLITE, ERRORS
    connection: sqlite3.Connection

    def __init__(self, place: str | Path, synchronous: str) -> None:
        super().__init__(place, read_only=False)
        self._synchronous = synchronous

    def open(self) -> None:
        made = sqlite3.connect(self.place, timeout=session.PATIENCE_S, isolation_level=None)
        try:
            made.execute(f"PRAGMA synchronous = {self._synchronous}")
            made.execute("PRAGMA journal_mode = WAL").fetchall()
            made.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            with suppress(*ERRORS):
                made.close()
            raise
        self.connection, self.broken = made, False

    def reopen(self) -> None:
        """The new connection reads the content of the file, as after a crash."""
        try:
            self.open()
        except ERRORS as error:
            reason = self.reason(error)
            raise LogError(f"{self.name} cannot be opened again: {reason}") from None

    def in_transaction(self) -> bool:
        return self.connection.in_transaction

    def breaks(self, error: Exception, committing: bool) -> bool:
        """A COMMIT that could not be written to the end may be in the file, and may not."""
        code = code_of(error)
        return "closed database" in str(error) or (committing and code.startswith("SQLITE_IOERR"))

    def hint(self, error: Exception) -> str:
        code = code_of(error)
        return next((text for name, text in HINTS.items() if code.startswith(name)), "")
