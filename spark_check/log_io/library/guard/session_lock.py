"""The lock of an operator in a session of PostgreSQL.

Rule of this file: one lock; no table.

It ends with its session, however that ends.  A session whose connection broke is followed by
another one, which has to take the lock again.
"""

from __future__ import annotations

from spark_check.log_io.library.database import Database
from spark_check.log_io.library.guard.checksums import of_values


class SessionLock:
    """An advisory lock of a session of PostgreSQL.  Raises BlockingIOError if another session has
    it."""

    LOSS = "its connection was cut"

    def __init__(self, database: Database, operator: str) -> None:
        self._database, self._number = database, of_values("asif.log_io", operator)
        self._take()

    def _take(self) -> None:
        asked = "SELECT pg_try_advisory_lock(? # hashtext(current_schema()))"
        if not self._database.execute(asked, (self._number,), ahead=True)[0][0]:
            raise BlockingIOError
        self._connection = self._database.connection

    def is_there(self) -> bool:
        """Has this session the lock?  A new connection takes it again."""
        if self._connection is not self._database.connection:
            try:
                self._take()
            except BlockingIOError:
                return False
        return True

    def write(self, count: int) -> None:
        """Nothing: the server itself knows its commits."""

    def close(self) -> None:
        asked = "SELECT pg_advisory_unlock(? # hashtext(current_schema()))"
        self._database.execute(asked, (self._number,), ahead=True)
