"""A session with a database: it is opened, may break, and is opened again.

Rule of this file: the common part of both databases; no statement of a log.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any, TypeVar

from spark_check.log_io.library.schema import Dialect
from spark_check.log_io.library.sessions.places import hidden, without_password
from spark_check.log_io.library.values import LogError, LogInterrupted

T = TypeVar("T")
PATIENCE_S = 60.0
"""How long a transaction waits for another one, and how long it takes to open a session again."""
READ_PATIENCE_S = 5.0
"""The same for one who only reads, and may ask again."""
REASON = 200
"""The most characters of an error of a client or a server."""


class Session(ABC):
    """errors: the exceptions of the client.  connection: the present one; broken: it cannot be used
    any more, and `reopen` makes another one.  read_only: nothing is written.
    """

    dialect: Dialect
    errors: tuple[type[Exception], ...]
    connection: Any

    def __init__(self, place: str | Path, *, read_only: bool) -> None:
        self.place, self.read_only, self.broken = place, read_only, False
        self.name = without_password(str(place))

    @abstractmethod
    def open(self) -> None:
        """Open a connection.  Raises one of the errors."""

    @abstractmethod
    def reopen(self) -> None:
        """Open another connection, when nothing that the broken one has begun goes on any more.

        Raises LogError.
        """

    @abstractmethod
    def in_transaction(self) -> bool:
        """Is a transaction open?"""

    @abstractmethod
    def breaks(self, error: Exception, committing: bool) -> bool:
        """Is the connection of no use after this error?  committing: COMMIT raised it."""

    @abstractmethod
    def hint(self, error: Exception) -> str:
        """The remedy, if one is known."""

    def may_step_again(self, _error: Exception) -> bool:
        """Has the database ended the transaction only because of others?"""
        return False

    def run(self, work: Callable[[Any, str], T], sql: str) -> T:
        """The result of `work`, which receives a cursor and a statement."""
        return work(self.connection.cursor(), sql)

    def together(self) -> AbstractContextManager[Any]:
        """A context whose statements are sent together, if the client can."""
        return nullcontext()

    def open_first(self) -> None:
        """Open the first connection.  Raises LogError."""
        try:
            self.open()
        except self.errors as error:
            raise LogError(f"{self.name} cannot be opened: {self.reason(error)}") from None

    def break_off(self) -> None:
        """Close the connection, which is of no use any more.  Nothing is raised."""
        self.broken = True
        self.close()

    def close(self) -> None:
        """Close the connection.  Nothing is raised: nothing waits to be written."""
        with suppress(*self.errors):
            self.connection.close()

    def has_committed(self, _cursor: Any) -> bool:
        """Has the COMMIT of a cursor, which has raised nothing, committed?"""
        return True

    def roll_back(self) -> None:
        """Undo the open transaction, if the database has not; else the connection breaks."""
        if self.broken:
            return
        try:
            with suppress(*self.errors):
                if self.in_transaction():
                    self.connection.execute("ROLLBACK")
        finally:
            if self.in_transaction():
                self.break_off()

    def trouble(self, error: Exception, *, opened: bool, committing: bool) -> LogError:
        """The one line for an error of a statement, and a broken connection if it is of no use.

        opened: a transaction is open.
        """
        reason = self.reason(error)
        if self.breaks(error, committing):
            self.break_off()
            if committing:
                end = "the log knows whether the transaction happened: step again, which recovers"
            else:
                end = f"{'the transaction did not happen: ' if opened else ''}step again"
            return LogInterrupted(f"{self.name}: the connection broke: {reason}: {end}")
        done = ": the transaction did not happen" if opened else ""
        if self.may_step_again(error):
            return LogInterrupted(f"{self.name}: {reason}{done}: step again")
        verb = " cannot be read" if self.read_only else ""
        return LogError(f"{self.name}{verb}: {reason}{done}")

    def reason(self, error: Exception) -> str:
        """The error in one line, without secrets, and the remedy."""
        text = hidden(str(error) or type(error).__name__, self.place)
        if len(text) > REASON:
            text = text[: REASON - 1] + "…"
        return f"{text}: {found}" if (found := self.hint(error)) else text
