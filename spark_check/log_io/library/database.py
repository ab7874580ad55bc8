"""A connection to the database of the log: statements and transactions.

Rule of this file: no table of LOG.io is named here.

SQLite: write-ahead log, synchronous=FULL, BEGIN IMMEDIATE.  A commit is on disk when it returns,
readers see the state before an open transaction, and two transactions that write come one after
the other.  PostgreSQL: read committed, which does the same for the rows that a transaction
changes: a second one waits, and then sees them changed or gone.
"""

from __future__ import annotations

import errno
import sqlite3
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeAlias

from spark_check.log_io.library.schema import POSTGRESQL, SQLITE, Dialect, columns, statements

Row: TypeAlias = tuple[Any, ...]
Watch: TypeAlias = Callable[[str], None]
"""A function that receives each statement before it is executed."""
PATIENCE_S = 60.0
"""How long a transaction of SQLite waits for another one before it fails, and how long a connection
to PostgreSQL may take."""
READ_PATIENCE_S = 5.0
"""The same for one who only reads, and may ask again."""


def read_bytes(value: Any) -> bytes:
    """The bytes of a column.  SQLite has kept a text that was logged in their place."""
    return value.encode() if isinstance(value, str) else bytes(value)


def _ignore(_statement: str) -> None:
    """Nobody watches."""


def _write_nothing() -> None:
    """No row waits."""


class Database:
    """A connection.  One process and one thread use it."""

    def __init__(self, connection: Any, dialect: Dialect, watch: Watch = _ignore) -> None:
        self._connection, self.dialect, self._watch = connection, dialect, watch
        self._open, self._write_waiting = False, _write_nothing

    def execute(
        self, sql: str, parameters: Sequence[Any] = (), *, ahead: bool = False
    ) -> list[Row]:
        """The rows that a statement returns.  Each parameter stands as "?" in it.

        ahead: of the rows that wait in the transaction, none of which the statement could see.
        """
        cursor = self._run(sql, parameters, ahead)
        return list(cursor.fetchall()) if cursor.description else []

    def change(self, sql: str, parameters: Sequence[Any] = (), *, ahead: bool = False) -> int:
        """How many rows a statement has changed.  ahead: see execute."""
        return int(self._run(sql, parameters, ahead).rowcount)

    def repeat(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Execute a statement with each of these parameters, if there are any, and ahead."""
        if len(rows) == 1:
            self.change(
                sql, rows[0], ahead=True
            )  # PostgreSQL's client is slower with a list of one
        elif rows:
            self._watch(sql)
            self._connection.cursor().executemany(self._text(sql), rows)

    def ask_each(self, sql: str, rows: Sequence[Sequence[Any]]) -> list[list[Row]]:
        """The rows that a statement returns with each of these parameters; it is ahead."""
        if not self.dialect.pipelines:
            return [list(self._run(sql, row, ahead=True)) for row in rows]
        self._watch(sql)
        cursor = self._connection.cursor()
        cursor.executemany(self._text(sql), rows, returning=True)
        return [list(one.fetchall()) for one in cursor.results()]

    def _run(self, sql: str, parameters: Sequence[Any], ahead: bool) -> Any:
        if not ahead:
            self._write_waiting()
        self._watch(sql)
        return self._connection.cursor().execute(self._text(sql), parameters)

    def _text(self, sql: str) -> str:
        return sql.replace("?", self.dialect.placeholder)

    @contextmanager
    def transaction(self, write_waiting: Callable[[], None] | None = None) -> Iterator[None]:
        """A context that commits, or rolls back if an exception leaves it.

        write_waiting: writes the rows that wait; called before each statement, unless it is
        executed ahead, and before the commit.
        """
        if self._open:
            raise RuntimeError("a transaction is open: use it, or leave it before the next one")
        self.execute(self.dialect.begin)
        self._open, self._write_waiting = True, write_waiting or _write_nothing
        try:
            yield
            with self._together():
                self.execute("COMMIT")
        except BaseException:
            self.execute("ROLLBACK", ahead=True)
            raise
        finally:
            self._open, self._write_waiting = False, _write_nothing

    def _together(self) -> AbstractContextManager[Any]:
        """A context whose statements are sent together, if the client can: in one round trip, but
        for ask_each, and without another answer than an error."""
        return self._connection.pipeline() if self.dialect.pipelines else nullcontext()

    def make_tables(self) -> None:
        """Make the tables that are not there yet."""
        with self.transaction():
            if self.dialect.lock:
                self.execute(self.dialect.lock)
            for statement in statements(self.dialect):
                self.execute(statement)

    def missing_columns(self) -> list[tuple[str, str]]:
        """The tables and columns of a log that are not there."""
        return sorted(columns() - {(row[0], row[1]) for row in self.execute(self.dialect.columns)})

    @property
    def connection(self) -> Any:
        """The present one: what belongs to a session ends with it."""
        return self._connection

    def close(self) -> None:
        self._connection.close()


def connect(
    place: str | Path, *, synchronous: str = "FULL", watch: Watch = _ignore, read_only: bool = False
) -> Database:
    """A connection to PostgreSQL, if the place is a URL of it, or to a file of SQLite.

    synchronous: of SQLite only; with "NORMAL" a loss of power may undo the last commits.
    read_only: nothing is written, and all waits are short (READ_PATIENCE_S).  Raises ValueError for
    a place that can be neither of both; with read_only, also OSError where there is no file.
    """
    if is_url(place):
        return Database(_server(str(place), read_only), POSTGRESQL, watch)
    if "://" in str(place):
        raise ValueError("give a file of SQLite or postgresql://USER@HOST/DATABASE")
    if synchronous not in ("FULL", "NORMAL", "EXTRA", "OFF"):
        raise ValueError(f"synchronous={synchronous}: give FULL, NORMAL, EXTRA or OFF")
    if read_only:
        return Database(_read_only_file(Path(place)), SQLITE, watch)
    connection = sqlite3.connect(place, timeout=PATIENCE_S, isolation_level=None)
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("PRAGMA foreign_keys = ON")
    return Database(connection, SQLITE, watch)


def is_url(place: str | Path) -> bool:
    """Is the place a URL of PostgreSQL?"""
    return str(place).startswith(("postgresql://", "postgres://"))


def _server(url: str, read_only: bool) -> Any:
    import psycopg  # only those who use PostgreSQL need the package

    patience = READ_PATIENCE_S if read_only else PATIENCE_S
    server = psycopg.connect(url, autocommit=True, connect_timeout=int(patience))
    server.execute("SET join_collapse_limit = 1")  # joins stay in the order of the query
    if read_only:
        server.execute("SET default_transaction_read_only = on")
        server.execute(f"SET lock_timeout = '{READ_PATIENCE_S}s'")
    return server


def _read_only_file(path: Path) -> sqlite3.Connection:
    """SQLite itself makes the file's -wal and -shm, if they are missing: readers need them."""
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "is a directory", str(path))
    if not stat.S_ISREG(mode):
        raise ValueError("is no file: give a file of SQLite or postgresql://USER@HOST/DATABASE")
    uri = f"{path.absolute().as_uri()}?mode=ro"
    return sqlite3.connect(uri, uri=True, timeout=READ_PATIENCE_S, isolation_level=None)
