"""The external system that the pipeline writes to: a table in a database that is not the log's.

Rule of this file: it knows nothing of recovery; a write adds a row, whatever rows there are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from model.events import Body
from spark_check.log_io.library.database import Database, connect

TABLES = (
    "CREATE TABLE IF NOT EXISTS book (place BIGINT PRIMARY KEY, number BIGINT, body TEXT)",
    "CREATE TABLE IF NOT EXISTS asked (place BIGINT PRIMARY KEY, number BIGINT)",
    "CREATE TABLE IF NOT EXISTS batch (id BIGINT PRIMARY KEY)",
)


class WrittenPair(NamedTuple):
    """A write: two events of one type, by their numbers in the stream."""

    type: str
    first: int
    second: int

    def to_json(self) -> str:
        return json.dumps(self)

    def body(self) -> Body:
        """The pair as a value of the model."""
        data = (("type", self.type), ("value", (self.first, self.second)))
        return Body(self.second, "batch", data)


class ExternalBook(NamedTuple):
    """The table.  checkable: does it say whether a write has taken effect?"""

    database: Database
    checkable: bool

    def write(self, number: int, body: str) -> None:
        """Add a row, durably."""
        with self.database.transaction():
            self.insert(number, body)

    def insert(self, number: int, body: str) -> None:
        """Add a row, in an open transaction."""
        self.database.change(
            "INSERT INTO book (place, number, body)"
            " SELECT COALESCE(MAX(place), 0) + 1, CAST(? AS BIGINT), CAST(? AS TEXT) FROM book",
            (number, body),
        )

    def has(self, number: int) -> bool:
        """Is there a row with this number?  The question is counted."""
        with self.database.transaction():
            self.database.change(
                "INSERT INTO asked (place, number)"
                " SELECT COALESCE(MAX(place), 0) + 1, CAST(? AS BIGINT) FROM asked",
                (number,),
            )
        return bool(self.database.execute("SELECT 1 FROM book WHERE number = ? LIMIT 1", (number,)))

    def takes(self, batch: int) -> bool:
        """Is the batch new?  In an open transaction; from then on it is known."""
        known = "INSERT INTO batch (id) VALUES (?) ON CONFLICT (id) DO NOTHING"
        return self.database.change(known, (batch,)) > 0

    def rows(self) -> list[tuple[int, WrittenPair]]:
        """All rows in the order in which they were written, each with its number."""
        found = self.database.execute("SELECT number, body FROM book ORDER BY place")
        return [(int(number), WrittenPair(*json.loads(body))) for number, body in found]

    def asked(self) -> int:
        """How often the system was asked whether a write has taken effect."""
        return int(self.database.execute("SELECT COUNT(*) FROM asked")[0][0])


@contextmanager
def open_book(place: str, *, checkable: bool = True) -> Iterator[ExternalBook]:
    """The book in a file of SQLite, or in PostgreSQL at a URL."""
    database = connect(place)
    try:
        with database.transaction():
            for statement in TABLES:
                database.execute(statement)
        yield ExternalBook(database, checkable)
    finally:
        database.close()


def text(pairs: Sequence[Body]) -> str:
    """Rows in a few characters each: the type, and the two events."""
    found = (dict(body.data) for body in pairs)
    return "; ".join(f"{one['type']} {' '.join(map(str, one['value']))}" for one in found)
