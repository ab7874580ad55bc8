"""A log that is only read: opened without a change, and each failure is one line.

Rule of this file: it opens and closes, and asks nothing.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from spark_check.log_io.library.database import is_url
from spark_check.log_io.library.log import Log
from spark_check.log_io.library.values import LogError

PASSWORD = re.compile(r"(?<=://)([^:@/]*:)(.*)(?=@)|([?&]password=)([^&]*)")
HINTS = {
    "SQLITE_BUSY": "another process has locked it: end that process, or ask again later",
    "SQLITE_CANTOPEN": "you must be able to read it and to write into its folder: else copy it,"
    " with its -wal and -shm, into another folder",
}
"""The remedies, by SQLite's name of an error."""


@contextmanager
def read_log(place: str) -> Iterator[Log]:
    """A context with a log in which nothing is written.

    Raises LogError, one line that names the place without its password, if the place has no log, or
    if its database fails while it is opened or read.
    """
    name, errors = without_password(place), _errors(place)
    try:
        log = Log(place, read_only=True)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise LogError(f"{name}: {reason}: give a file that is a log of LOG.io") from None
    except ValueError as error:
        raise LogError(f"{name}: {error}") from None
    except LogError as error:
        raise LogError(f"{name} is no log of LOG.io: {error}") from None
    except errors as error:
        if getattr(error, "sqlite_errorname", "") == "SQLITE_NOTADB":
            raise LogError(f"{name} is no log of LOG.io: {error}") from None
        raise LogError(f"{name} cannot be opened: {_reason(error, place)}") from None
    with log:
        try:
            yield log
        except errors as error:
            raise LogError(f"{name} cannot be read: {_reason(error, place)}") from None


def without_password(place: str) -> str:
    """The place as one may print it."""
    return PASSWORD.sub(lambda found: f"{found[1] or found[3]}***", place)


def _errors(place: str) -> type[Exception]:
    """The exception that is the base of those of the database."""
    if is_url(place):
        import psycopg

        return psycopg.Error
    return sqlite3.Error


def _reason(error: Exception, place: str) -> str:
    """The error in one line, without a password, and the remedy."""
    text = " ".join(str(error).split())
    for found in PASSWORD.finditer(place):
        for part in filter(None, (found[2] or found[4] or "").split("@")):  # libpq stops at an @
            text = text.replace(part, "***")
    hint = HINTS.get(getattr(error, "sqlite_errorname", ""))
    return f"{text}: {hint}" if hint else text
