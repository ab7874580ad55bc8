"""Is a database a log of this version of the library?

Rule of this file: names of tables and columns, and the version; no row of a pipeline.
"""

from __future__ import annotations

from spark_check.log_io.library.database import Database
from spark_check.log_io.library.schema import FORMAT, ROWS, columns
from spark_check.log_io.library.values import LogError

ANOTHER = "let its pipeline end with that version, or begin with an empty log"


def is_log(database: Database) -> bool:
    """Has the database a table of a log, of whatever version?"""
    return _has_log({table for table, _ in _columns(database)})


def check_format(database: Database, *, make: bool) -> None:
    """Raise LogError if the database is no log, or a log of another version.

    make: make the tables if there are none.  In a log of another version nothing is changed.
    """
    there = _columns(database)
    name, tables = database.name, {table for table, _ in there}
    if make and not _has_log(tables):
        database.make_tables()
        return
    if "log_format" not in tables and {*ROWS} <= tables:
        raise LogError(f"{name}: {_made_by(1)}: {ANOTHER}")
    if ("log_format", "version") in there:
        found = [row[0] for row in database.execute("SELECT version FROM log_format")]
        if len(found) != 1 or not isinstance(found[0], int):
            raise LogError(f"{name}: the log says {found} as its version, and not one number")
        if found[0] != FORMAT:
            newer = "take a newer asif" if found[0] > FORMAT else ANOTHER
            raise LogError(f"{name}: {_made_by(found[0])}: {newer}")
    if missing := sorted(columns() - there):
        raise LogError(f"{name} is no log of LOG.io: it has no {'.'.join(missing[0])}")


def _columns(database: Database) -> set[tuple[str, str]]:
    """Each table that is there with each of its columns."""
    return {(row[0], row[1]) for row in database.execute(database.dialect.columns)}


def _has_log(tables: set[str]) -> bool:
    return not tables.isdisjoint({*ROWS, "log_format"})


def _made_by(version: int) -> str:
    return f"version {version} of the library has made the log, and this is version {FORMAT}"
