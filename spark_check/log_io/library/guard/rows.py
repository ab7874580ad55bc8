"""The rows of a log, each compared with its checksum.

Rule of this file: it reads rows, and judges each one alone; wholeness.py compares several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from spark_check.log_io.library.database import Database, Row
from spark_check.log_io.library.guard.checksums import (
    of_action,
    of_data,
    of_event,
    of_lineage,
    of_state,
)
from spark_check.log_io.library.values import BYTES, event_name

PAGE = 1_000
"""How many rows are read at a time."""
KEY = ("send_op", "send_port", "rec_port", "event_id")


class CheckedTable(NamedTuple):
    """A table whose rows have checksums.  key, others: its columns, without the checksum.

    checksum: that of a row; it raises TypeError or ValueError for a row that nobody has logged.
    undone: the rows that recovery reads, in SQL.
    """

    name: str
    key: tuple[str, ...]
    others: tuple[str, ...]
    checksum: Callable[..., int]
    undone: str

    @property
    def columns(self) -> str:
        return ", ".join((*self.key, *self.others, "checksum"))

    def row_name(self, row: Row) -> str:
        """The row as people write it."""
        if self.key[:4] == KEY and all(isinstance(one, str) for one in row[:3]):
            return event_name((row[0], row[1], row[2], row[3]))
        return " ".join(map(str, row[: len(self.key)]))

    def is_whole(self, row: Row) -> bool:
        try:
            return bool(self.checksum(*row[:-1]) == row[-1])
        except (TypeError, ValueError):
            return False


def _data(a: Any, b: Any, c: Any, number: Any, header: Any, body: Any, logged_at: Any) -> int:
    return of_data((a, b, c, number), _bytes(header), _bytes(body), logged_at)


def _event(a: Any, b: Any, c: Any, number: Any, in_set: Any, *others: Any) -> int:
    receiver, in_set_key, status, assigned_as = others
    done = {"undone": False, "done": True}
    if status not in done:
        raise ValueError(status)
    key = a, b, c, number
    return of_event(key, receiver, in_set, in_set_key, assigned_as, done=done[status])


def _lineage(a: Any, b: Any, c: Any, number: Any, in_set: Any) -> int:
    return of_lineage((a, b, c, number), in_set)


def _action(operator: Any, connection: Any, number: Any, description: Any, status: Any) -> int:
    complete = {"incomplete": False, "complete": True}
    if status not in complete:
        raise ValueError(status)
    return of_action(operator, connection, number, description, complete=complete[status])


def _state(operator: Any, number: Any, body: Any, context: Any, logged_at: Any) -> int:
    return of_state(operator, number, _bytes(body), context, logged_at)


def _bytes(value: Any) -> bytes:
    if not isinstance(value, BYTES):
        raise TypeError(value)
    return bytes(value)


IS_DATA = " AND ".join(f"log.{name} = event_data.{name}" for name in KEY)
CHECKED = (
    CheckedTable(
        "event_data",
        KEY,
        ("header", "body", "logged_at"),
        _data,
        f"EXISTS (SELECT 1 FROM event_log AS log WHERE {IS_DATA} AND log.status <> 'done')",
    ),
    CheckedTable(
        "event_log",
        (*KEY, "inset_id"),
        ("rec_op", "inset_key", "status", "assigned_as"),
        _event,
        "status <> 'done'",
    ),
    CheckedTable("event_lineage", (*KEY, "inset_id"), (), _lineage, "inset_id < 1"),
    CheckedTable(
        "read_action",
        ("op_id", "conn_id", "action_id"),
        ("action_desc", "status"),
        _action,
        "action_id > 0",
    ),
    CheckedTable(
        "state",
        ("op_id", "state_id"),
        ("state", "context", "logged_at"),
        _state,
        "state_id = (SELECT MAX(last.state_id) FROM state AS last WHERE last.op_id = state.op_id)",
    ),
)


def read(database: Database, table: CheckedTable, *, every: bool) -> Iterator[Row]:
    """The rows of a table, without many of them in memory; every: also those that only lineage
    needs."""
    key, order = ", ".join(table.key), "ORDER BY"
    marks = ", ".join("?" for _ in table.key)
    asked = f"SELECT {table.columns} FROM {table.name}"
    if not every:
        yield from database.execute(f"{asked} WHERE {table.undone}")
        return
    after, last = "", ()
    while True:
        rows = database.execute(f"{asked}{after} {order} {key} LIMIT {PAGE}", last)
        yield from rows
        if len(rows) < PAGE:
            return
        after, last = f" WHERE ({key}) > ({marks})", tuple(rows[-1][: len(table.key)])


def damaged(table: CheckedTable, rows: Iterable[Row]) -> tuple[int, list[str]]:
    """How many rows there are, and the names of those that are not as their checksums say."""
    count, found = 0, []
    for row in rows:
        count += 1
        if not table.is_whole(row):
            found.append(table.row_name(row))
    return count, found
