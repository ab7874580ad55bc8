"""A connection to the database of the log: statements and transactions.

Rule of this file: no table of LOG.io is named here, and no client of a database.

SQLite: write-ahead log, synchronous=FULL, BEGIN IMMEDIATE.  A commit is on disk when it returns,
readers see the state before an open transaction, and two transactions that write come one after
the other.  PostgreSQL: read committed, which does the same for the rows that a transaction
changes: a second one waits, and then sees them changed or gone.

Each error of a database is a LogError, in one line.  A transaction in which a statement has failed
cannot be committed.  A connection that broke is opened again when the next transaction begins, or
the next query is asked: the work of the broken one has ended by then (sessions/).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from spark_check.log_io.library.schema import Dialect, statements
from spark_check.log_io.library.sessions.places import (
    FORMS,
    is_url,
    what_is_wrong,
    without_password,
)
from spark_check.log_io.library.sessions.read_only_file import ReadOnlyFile
from spark_check.log_io.library.sessions.session import Session
from spark_check.log_io.library.sessions.sqlite_file import SqliteFile
from spark_check.log_io.library.values import LogError, LogInterrupted

Row: TypeAlias = tuple[Any, ...]
T = TypeVar("T")
Watch: TypeAlias = Callable[[str], None]
"""A function that receives each statement before it is executed."""
REPEATED = re.compile(r"\s*(SELECT|WITH|BEGIN)\b")
"""Statements that change nothing by themselves."""


def read_bytes(value: Any) -> bytes:
    """The bytes of a column.  SQLite has kept a text that was logged in their place.

    Raises LogError for a value of another type, which only a damaged log has.
    """
    if isinstance(value, str):
        return value.encode()
    if not isinstance(value, bytes | bytearray | memoryview):
        raise LogError(f"the log is damaged: it has {type(value).__name__} in place of bytes")
    return bytes(value)


def _ignore(_statement: str) -> None:
    """Nobody watches."""


def _write_nothing() -> None:
    """No row waits."""


class Database:
    """A connection.  One process and one thread use it."""

    def __init__(self, session: Session, watch: Watch = _ignore) -> None:
        self._session, self._watch = session, watch
        self._open, self._write_waiting = False, _write_nothing
        self._failed: LogError | None = None

    @property
    def name(self) -> str:
        """The place, as one may print it."""
        return self._session.name

    @property
    def dialect(self) -> Dialect:
        return self._session.dialect

    @property
    def is_broken(self) -> bool:
        """Has the connection broken?  The next statement opens another one, and may wait for it."""
        return self._session.broken

    @property
    def connection(self) -> Any:
        """The present one: all that belongs to a session ends with it."""
        return self._session.connection

    def execute(
        self, sql: str, parameters: Sequence[Any] = (), *, ahead: bool = False
    ) -> list[Row]:
        """The rows that a statement returns.  Each parameter stands as "?" in it.

        ahead: of the rows that wait in the transaction, none of which the statement could see.
        """

        def ask(cursor: Any, text: str) -> list[Row]:
            cursor.execute(text, parameters)
            return list(cursor.fetchall()) if cursor.description else []

        return self._do(sql, ask, ahead)

    def read(self, sql: str, parameters: Sequence[Any], use: Callable[[Iterator[Row]], T]) -> T:
        """The result of `use`, which receives the rows one by one, and perhaps again from the
        first one: when the query has to be repeated."""

        def ask(cursor: Any, text: str) -> T:
            cursor.execute(text, parameters)
            return use(iter(cursor))

        return self._do(sql, ask, False)

    def change(self, sql: str, parameters: Sequence[Any] = (), *, ahead: bool = False) -> int:
        """How many rows a statement has changed.  ahead: see execute."""

        def count(cursor: Any, text: str) -> int:
            cursor.execute(text, parameters)
            return int(cursor.rowcount)

        return self._do(sql, count, ahead)

    def repeat(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Execute a statement with each of these parameters, if there are any, and ahead."""
        if len(rows) == 1:
            self.change(
                sql, rows[0], ahead=True
            )  # PostgreSQL's client is slower with a list of one
        elif rows:
            self._do(sql, lambda cursor, text: cursor.executemany(text, rows), True)

    def ask_each(self, sql: str, rows: Sequence[Sequence[Any]]) -> list[list[Row]]:
        """The rows that a statement returns with each of these parameters; it is ahead."""
        if not self._session.dialect.pipelines:
            return [self.execute(sql, row, ahead=True) for row in rows]

        def ask(cursor: Any, text: str) -> list[list[Row]]:
            cursor.executemany(text, rows, returning=True)
            return [list(one.fetchall()) for one in cursor.results()]

        return self._do(sql, ask, True)

    def _do(self, sql: str, work: Callable[[Any, str], T], ahead: bool) -> T:
        """The result of `work` with a cursor and the statement."""
        if not ahead:
            self._write_waiting()
        self._watch(sql)
        session = self._session
        text = sql.replace("?", session.dialect.placeholder)
        if self._open or not REPEATED.match(sql):
            return self._try(work, text)
        try:
            return self._try(work, text)
        except LogInterrupted:
            if not session.broken:
                raise
        return self._try(work, text)  # on another connection, outside of any transaction

    def _try(self, work: Callable[[Any, str], T], text: str) -> T:
        session = self._session
        self._raise_failure()
        if session.broken:
            session.reopen()
        try:
            return session.run(work, text)
        except session.errors as error:
            trouble = session.trouble(error, opened=self._open, committing=False)
        if self._open:
            self._failed = trouble
        raise trouble

    @contextmanager
    def transaction(self, write_waiting: Callable[[], None] | None = None) -> Iterator[None]:
        """A context that commits, or rolls back if an exception leaves it.

        write_waiting: writes the rows that wait; called before each statement, unless it is
        executed ahead, and before the commit.  Raises LogInterrupted if the connection broke: the
        transaction did not happen, or the log knows whether it did.
        """
        if self._open:
            raise RuntimeError("a transaction is open: use it, or leave it before the next one")
        self.execute(self._session.dialect.begin)
        self._open, self._write_waiting = True, write_waiting or _write_nothing
        try:
            yield
            self._commit()
        except BaseException:
            self._roll_back()
            raise
        finally:
            self._open, self._write_waiting, self._failed = False, _write_nothing, None

    def _commit(self) -> None:
        """Commit: the rows that wait and COMMIT are sent together, if the client can: in one round
        trip, but for ask_each, and without another answer than an error."""
        session, sent = self._session, False
        try:
            with session.together():
                self._write_waiting()
                self._raise_failure()
                self._watch("COMMIT")
                sent = True
                cursor = session.connection.cursor()
                cursor.execute("COMMIT")
        except session.errors as error:
            trouble = session.trouble(error, opened=True, committing=sent)
        else:
            if session.has_committed(cursor):
                return
            trouble = LogError(f"{session.name}: the transaction did not happen")
        raise trouble

    def _raise_failure(self) -> None:
        """Raise LogError if a statement of the transaction has failed, whoever has caught it."""
        if self._failed:
            raise LogError(f"a statement of the transaction has failed: {self._failed}")

    def _roll_back(self) -> None:
        try:
            if not self._session.broken:
                self._watch("ROLLBACK")
        finally:
            self._session.roll_back()

    def make_tables(self) -> None:
        """Make the tables that are not there yet."""
        dialect = self._session.dialect
        with self.transaction():
            if dialect.lock:
                self.execute(dialect.lock)
            for statement in statements(dialect):
                self.execute(statement)

    def close(self) -> None:
        self._session.close()


def connect(
    place: str | Path, *, synchronous: str = "FULL", watch: Watch = _ignore, read_only: bool = False
) -> Database:
    """A connection to PostgreSQL, if the place is a URL of it or keywords of libpq, or to a file of
    SQLite.

    synchronous: of SQLite only; with "NORMAL" a loss of power may undo the last commits.
    read_only: nothing is written, and all waits are short.  Raises LogError, which hides the
    secrets of the place, if it cannot be opened.
    """
    session = _session(place, synchronous, read_only)
    session.open_first()
    return Database(session, watch)


def _session(place: str | Path, synchronous: str, read_only: bool) -> Session:
    if wrong := what_is_wrong(place):
        raise LogError(f"the place of a log '{without_password(place)}' has {wrong}: {FORMS}")
    if is_url(place):
        try:
            from spark_check.log_io.library.sessions.server import Server
        except ImportError as error:  # only those who use PostgreSQL need the package
            raise LogError(f"{without_password(place)}: install psycopg: {error}") from None
        return Server(place, read_only=read_only)
    if "://" in str(place):
        raise LogError(f"{without_password(place)}: {FORMS}")
    if synchronous not in ("FULL", "NORMAL", "EXTRA", "OFF"):
        raise ValueError(f"synchronous={synchronous}: give FULL, NORMAL, EXTRA or OFF")
    return ReadOnlyFile(place) if read_only else SqliteFile(place, synchronous)
