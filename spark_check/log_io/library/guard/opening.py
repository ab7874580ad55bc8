"""Is a log whole, before it is opened to write?

Rule of this file: a file of SQLite is looked at as a reader does, so that one that is refused stays
as it is.

SQLite removes the -wal of a file that is missing or empty, and its last connection moves the rows
of a -wal that it can read into the file: the right file or -wal, put back later, would fit no more.
"""

from __future__ import annotations

import stat
from os import stat_result
from pathlib import Path

from spark_check.log_io.library.database import connect
from spark_check.log_io.library.guard.format import check_format, is_log
from spark_check.log_io.library.guard.lease_files import counts, folder_of
from spark_check.log_io.library.guard.wholeness import Traces, check_whole
from spark_check.log_io.library.sessions.places import without_password
from spark_check.log_io.library.values import LogError


def is_whole(place: str | Path, traces: Traces) -> bool:
    """Is it known that the log is whole?  Not if only its database can say so, which is PostgreSQL,
    or a file of SQLite without tables of a log.

    Raises LogError, and changes nothing, if the log is not whole or of another version.
    """
    if traces.file is None:
        return False
    try:
        file = traces.file.resolve()
        found = _status(file)
        if not found or not found.st_size:
            _check_alone(without_password(str(place)), file)
            return False
        journal = _status(file.with_name(f"{file.name}-journal"))
    except (OSError, ValueError):
        return False  # whoever opens it says why it cannot be
    if not stat.S_ISREG(found.st_mode) or (journal and journal.st_size):
        return False  # of a process that was killed before it had made a log, for one
    database = connect(place, read_only=True)
    try:
        if not is_log(database):
            return False
        check_format(database, make=False)
        check_whole(database, traces)
    finally:
        database.close()
    return True


def _status(file: Path) -> stat_result | None:
    try:
        return file.stat()
    except FileNotFoundError:
        return None


def _check_alone(name: str, file: Path) -> None:
    """Raise LogError if a file without content had some."""
    beside = _beside(file)
    found = _status(file)  # after the others: another process may have begun it meanwhile
    if beside and (not found or not found.st_size):
        raise LogError(
            f"{name} is {'empty' if found else 'missing'}, and {beside} lies beside it: put back"
            " the latest copy of all its files, or remove all of them to begin with an empty log"
        )


def _beside(file: Path) -> str:
    """The file or folder that only a file with content has beside it."""
    wal = file.with_name(f"{file.name}-wal")
    found = _status(wal)
    if found and found.st_size:
        return wal.name
    return folder_of(file).name if any(counts(file).values()) else ""
