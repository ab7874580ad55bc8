"""Logs of LOG.io with changes: a small one that is whole, and rows or bytes of it that are not.

Rule of this file: the whole log is made by the library itself.
"""

from __future__ import annotations

import sqlite3
import tempfile
from functools import cache
from pathlib import Path
from random import Random

from docs.examples.log_io import pipeline
from spark_check.log_io.library import Log
from tests.fuzz.values import NUMBERS, TEXTS, broken


@cache
def whole() -> bytes:
    """The log of the example, run to its end."""
    with tempfile.TemporaryDirectory() as home:
        place = Path(home) / "log.db"
        with Log(str(place), pipeline.captured(), synchronous="OFF") as log:
            pipeline.run(log, Path(home), lambda _what: None, pipeline.OPERATORS)
        with sqlite3.connect(place) as log_file:
            log_file.execute("PRAGMA journal_mode = DELETE")
        log_file.close()
        return place.read_bytes()


def log(pick: Random) -> bytes:
    kind = pick.randrange(6)
    if kind == 0:
        return pick.choice((b"", b"SQLite format 3\x00", b"x" * 4_096, whole()))
    if kind < 3:
        return broken(pick, whole())
    with tempfile.TemporaryDirectory() as home:
        place = Path(home) / "log.db"
        place.write_bytes(whole())
        file = sqlite3.connect(place)
        for _ in range(pick.randrange(1, 4)):
            _change(pick, file)
        file.commit()
        file.close()
        return place.read_bytes()


def _change(pick: Random, file: sqlite3.Connection) -> None:
    tables = [name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type='table'")]
    if not tables:
        return
    table = pick.choice(tables)
    columns = [row[1] for row in file.execute(f"PRAGMA table_info('{table}')")]
    column = pick.choice(columns)
    few = f"rowid IN (SELECT rowid FROM '{table}' ORDER BY rowid LIMIT {pick.choice((1, 5, 1000))})"
    statement = pick.choice(
        (
            f"UPDATE '{table}' SET \"{column}\" = ? WHERE {few}",
            f"UPDATE '{table}' SET \"{column}\" = ? WHERE {few}",
            f"DELETE FROM '{table}' WHERE {few}",
            f"DROP TABLE '{table}'",
            f'ALTER TABLE \'{table}\' RENAME COLUMN "{column}" TO "gone"',
            f'UPDATE \'{table}\' SET "{column}" = "{pick.choice(columns)}" WHERE {few}',
        )
    )
    given = pick.choice((None, b"\xff", b"{", b"[" * 5_000, *NUMBERS, *TEXTS))
    if isinstance(given, int) and not -(2**63) <= given < 2**63:
        given = str(given)
    try:
        file.execute(statement, (given,) if "?" in statement else ())
    except sqlite3.Error:  # a constraint, or a view
        return
