"""Has a log all that was written into it, and nothing else?

Rule of this file: it compares and reports; nothing is mended, and nothing is written.

What is compared, and what it finds:
- the files beside a log of SQLite (lease_files.py): transactions that are gone, as with a -wal that
  was removed or is damaged, or with an older copy of the main file;
- SQLite's own check of its file, and the text of its tables: damage of its structure;
- each row with its checksum (rows.py): damage of a row;
- the rows of a table with the accounts of all operators (accounts.py): rows that were deleted, or
  that come from another time;
- the latest state of each operator with its account; and rows with the rows that they name.

At the start of a pipeline, the checksums are compared of the rows that recovery reads; `every`
compares those of lineage, too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from spark_check.log_io.library.database import Database
from spark_check.log_io.library.guard.checksums import MASK
from spark_check.log_io.library.guard.lease_files import counts
from spark_check.log_io.library.guard.rows import CHECKED, KEY, damaged, read
from spark_check.log_io.library.schema import SQLITE, made_by
from spark_check.log_io.library.sessions.places import is_url
from spark_check.log_io.library.values import LogError, LogInterrupted

NAMED = 5
"""How many damaged rows are named."""
COUNTED = (("event_log", "events"), ("event_lineage", "lineage"), ("read_action", "actions"))
LOW = (1 << 31) - 1
SUMS = "COUNT(*), COALESCE(SUM(checksum & ?), 0), COALESCE(SUM(checksum >> 31), 0)"
"""Two sums, since that of all would be too large for a number of the databases."""
IS_DATA = " AND ".join(f"data.{name} = one.{name}" for name in KEY)


class TableReport(NamedTuple):
    """rows: how many were compared with their checksums; None: they cannot be read."""

    name: str
    rows: int | None
    faults: tuple[str, ...]


class LogReport(NamedTuple):
    """What is whole in a log, and what is not.  faults: those of no single table."""

    faults: tuple[str, ...]
    tables: tuple[TableReport, ...]

    @property
    def all_faults(self) -> tuple[str, ...]:
        """Each fault, with its table."""
        of_tables = (f"{one.name}: {fault}" for one in self.tables for fault in one.faults)
        return (*self.faults, *of_tables)

    @property
    def is_whole(self) -> bool:
        return not self.all_faults


class Traces:
    """What is beside a log before it is opened: to open a file of SQLite makes its -wal."""

    def __init__(self, place: str | Path) -> None:
        self.file = None if is_url(place) else Path(place)
        self.has_wal = self.file is None or os.path.exists(self._wal())

    def _wal(self) -> Path:
        path = Path(os.path.realpath(self.file or ""))
        return path.with_name(f"{path.name}-wal")


def check_whole(database: Database, traces: Traces) -> None:
    """Raise LogError if the log is not whole, as far as recovery needs it."""
    report = inspect(database, traces, every=False)
    first, *more = report.all_faults or ("",)
    if first:
        others = f", and {len(more)} more faults" if more else ""
        whole = [f"{one.name} ({one.rows})" for one in report.tables if not one.faults]
        raise LogError(
            f"{database.name} is not whole: {first}{others}; whole: {', '.join(whole) or 'nothing'}"
            ": put back the latest copy of all its files; `asif lineage LOG --verify` says more"
        )


def inspect(database: Database, traces: Traces, *, every: bool) -> LogReport:
    """What is whole in a log, and what is not.  every: compare also rows that recovery never reads.

    Other processes may write meanwhile: each statement sees one moment of the log.
    """
    faults: list[tuple[str, str]] = []
    tables: dict[str, int | None] = {table.name: None for table in CHECKED}
    parts: list[Callable[[], Iterator[tuple[str, str]]]] = [
        lambda: _lost(database, traces),
        lambda: _structure(database),
        lambda: _sums(database),
        lambda: _states(database),
        lambda: _named(database, every),
    ]
    for part in parts:
        faults += _caught("", part)
    for table in CHECKED:

        def rows(table: Any = table) -> Iterator[tuple[str, str]]:
            count, found = damaged(table, read(database, table, every=every))
            tables[table.name] = count
            if found:
                more = f" and {len(found) - NAMED} others" if len(found) > NAMED else ""
                yield table.name, f"damaged: {', '.join(found[:NAMED])}{more}"

        faults += _caught(table.name, rows)
    return LogReport(
        tuple(fault for table, fault in faults if table not in tables),
        tuple(
            TableReport(name, rows, tuple(fault for table, fault in faults if table == name))
            for name, rows in tables.items()
        ),
    )


def _caught(table: str, part: Callable[[], Iterator[tuple[str, str]]]) -> list[tuple[str, str]]:
    """The faults that a part of the check finds; so is an error of a database that is damaged."""
    found = []
    try:
        for one in part():
            found.append(one)
    except LogInterrupted:
        raise
    except LogError as error:
        found.append((table, f"it cannot be read: {error}"))
    return found


# --- the parts --------------------------------------------------------------------------------
def _lost(database: Database, traces: Traces) -> Iterator[tuple[str, str]]:
    """Transactions that the log had."""
    if traces.file is None:
        return
    try:
        known = counts(traces.file)  # first: others may go on meanwhile
    except (LogError, OSError) as error:
        yield "", str(error)
        return
    asked = "SELECT op_id, transactions, holder FROM log_account"
    rows = {row[0]: row[1:] for row in database.execute(asked)}
    for operator, count in sorted(known.items()):
        has = rows.get(operator, (0, ""))[0]
        if has < count:
            yield (
                "",
                f"{operator} has {has} transactions of {count}: it is an older copy, or its -wal"
                " was removed or is damaged",
            )
    held = sorted(name for name, (_, holder) in rows.items() if holder and name not in known)
    if held and not traces.has_wal:
        yield "", f"its -wal is missing: {held[0]} had not ended when the file was copied"


def _structure(database: Database) -> Iterator[tuple[str, str]]:
    """What SQLite finds in its own file."""
    if database.dialect is not SQLITE:
        return
    for (text,) in database.execute("PRAGMA integrity_check(20)"):
        if text != "ok":
            line = " ".join(str(text).split())
            owner = next((one.name for one in CHECKED if one.name in line), "")
            yield owner, line
    made = {row[0] for row in database.execute("SELECT sql FROM sqlite_master") if row[0]}
    for missing in sorted(made_by(SQLITE) - made):
        yield "", f"it was not made by {' '.join(missing.split()[:3])} as it should be"


def _sums(database: Database) -> Iterator[tuple[str, str]]:
    """Rows and accounts, in one statement, which sees one moment."""
    parts = [f"SELECT '{table}', {SUMS} FROM {table}" for table, _ in COUNTED]
    parts.append(f"SELECT 'log_account', {SUMS} FROM log_account")
    parts += [
        f"SELECT '{column}', COALESCE(SUM({column}), 0), 0, 0 FROM log_account"
        for _, column in COUNTED
    ]
    rows = database.execute(" UNION ALL ".join(parts), [LOW] * 4)
    sums = {name: tuple(map(int, values)) for name, *values in rows}
    as_counted = True
    for table, column in COUNTED:
        has, wanted = sums[table][0], sums[column][0]
        if has != wanted:
            as_counted = False
            yield table, f"it has {has} rows, and its operators have left {wanted} there"
    total = sum(_total(*sums[table][1:]) for table, _ in COUNTED)
    if as_counted and (total - _total(*sums["log_account"][1:])) & MASK:
        names = ", ".join(table for table, _ in COUNTED)
        yield "", f"a row of {names} is not the one that was written last"


def _total(low: int, high: int) -> int:
    return (high << 31) + low


def _states(database: Database) -> Iterator[tuple[str, str]]:
    """The latest state of each operator."""
    rows = database.execute(
        "SELECT account.op_id, account.state_checksum, state.checksum FROM log_account AS account"
        " LEFT JOIN state ON state.op_id = account.op_id AND state.state_id ="
        " (SELECT MAX(last.state_id) FROM state AS last WHERE last.op_id = account.op_id)"
    )
    for operator, wanted, found in rows:
        if wanted != (found or 0):
            fault = "is not the one that was stored last" if found is not None else "is missing"
            yield "state", f"the state of {operator} {fault}"
    for (operator,) in database.execute(
        "SELECT DISTINCT op_id FROM state WHERE NOT EXISTS"
        " (SELECT 1 FROM log_account AS account WHERE account.op_id = state.op_id)"
    ):
        yield "state", f"{operator} has a state, and no account"


def _named(database: Database, every: bool) -> Iterator[tuple[str, str]]:
    """Events that other rows name."""
    missing = f"NOT EXISTS (SELECT 1 FROM event_data AS data WHERE {IS_DATA})"
    asked = [("event_log", "" if every else "status <> 'done' AND ")]
    if every:
        asked.append(("event_lineage", ""))
    for table, condition in asked:
        ((count,),) = database.execute(
            f"SELECT COUNT(*) FROM {table} AS one WHERE {condition}{missing}"
        )
        if count:
            yield "event_data", f"{count} rows of {table} have no event"
    if every:
        ((count,),) = database.execute(
            "SELECT COUNT(*) FROM event_data WHERE send_port = '' AND rec_port = '' AND NOT EXISTS"
            " (SELECT 1 FROM state WHERE op_id = send_op AND state_id = event_id)"
        )
        if count:
            yield "state", f"{count} states are missing that lineage names"
