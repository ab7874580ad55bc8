"""A session with a PostgreSQL server: it notices one that hangs, and outlives one that crashes.

Rule of this file: how a connection is opened, watched and ended, and the meaning of its errors.

When a connection breaks, its session at the server may still be at work: a COMMIT that has arrived
happens, also after its client has gone.  So a new connection is used only when the server has ended
the session before it.  The log will say the same tomorrow.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Generator
from contextlib import AbstractContextManager
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.pq import Ping, TransactionStatus

from spark_check.log_io.library.schema import POSTGRESQL
from spark_check.log_io.library.sessions import session
from spark_check.log_io.library.sessions.session import Session
from spark_check.log_io.library.values import LogError

STATEMENT_S = 300.0
"""How long a statement may take, with the wait for its locks."""
SILENCE_S = 5.0
"""After this time without an answer, and again and again, the server is asked for a sign of life;
it may take PING_S."""
PING_S, PINGS = 2, 3
PAUSE_S = 0.1
LOST = ("08", "57P", "25P03")
"""How the SQLSTATE of an error begins that ends the session."""
OTHERS = ("40001", "40P01", "55P03", "57014")
"""The SQLSTATE of an error that is due to other transactions: deadlock, lock, time-out."""
HINTS = {
    "53100": "make room on the server's disk",
    "25006": "the server is read-only, or the log is only read",
    "42501": "the user may not do this",
}
NOISE = re.compile(r" This probably means the server term.*(request\.|…)|consuming input failed: ")
SESSION = "SELECT pid, backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()"
END = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid = %s AND backend_start::text = %s"""

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # its warnings are our errors


class WatchedConnection(psycopg.Connection[Any]):
    """A connection that gives up a server without a sign of life."""

    def wait(self, gen: Generator[Any, int, Any], *arguments: Any, **more: Any) -> Any:
        return super().wait(self._watched(gen), *arguments, **more)

    def _watched(self, gen: Generator[Any, int, Any]) -> Generator[Any, int, Any]:
        """The generator, which is also asked when nothing has come for some time."""
        began = heard = time.monotonic()
        silent = 0
        try:
            wanted = next(gen)
            while True:
                came = yield wanted
                if not came and (now := time.monotonic()) - heard > SILENCE_S:
                    silent = 0 if self._answers() else silent + 1
                    heard = time.monotonic()
                    if silent == PINGS or now - began > STATEMENT_S + SILENCE_S:
                        self.pgconn.finish()
                        raise psycopg.OperationalError("the server does not answer")
                elif came:
                    heard, silent = time.monotonic(), 0
                wanted = gen.send(came)
        except StopIteration as done:
            return done.value

    def _answers(self) -> bool:
        """Does the server answer, if only with a refusal?"""
        info = make_conninfo(self.info.dsn, connect_timeout=PING_S)
        return psycopg.pq.PGconn.ping(info.encode()) in (Ping.OK, Ping.REJECT)


class Server(Session):
    """The place is a URL or keywords of libpq."""

    dialect, errors = POSTGRESQL, (psycopg.Error, UnicodeError)
    connection: WatchedConnection

    def open(self) -> None:
        patience = self._patience_s()
        info = make_conninfo(str(self.place), connect_timeout=max(2, int(patience)))
        made = WatchedConnection.connect(info, autocommit=True)
        settings = {
            "join_collapse_limit": 1,  # joins stay in the order of the query
            "lock_timeout": f"'{patience}s'",
            "statement_timeout": f"'{STATEMENT_S}s'",
            **({"default_transaction_read_only": "on"} if self.read_only else {}),
        }
        try:
            made.execute("; ".join(f"SET {name} = {value}" for name, value in settings.items()))
            self._session = made.execute(SESSION).fetchone()
        except BaseException:
            made.close()
            raise
        self.connection, self.broken = made, False

    def _patience_s(self) -> float:
        return session.READ_PATIENCE_S if self.read_only else session.PATIENCE_S

    def reopen(self) -> None:
        """A server that crashed may start again meanwhile."""
        ended, until = self._session, time.monotonic() + self._patience_s()
        while True:
            try:
                self.open()
                while self.connection.execute(END, ended).fetchone():
                    if time.monotonic() >= until:
                        raise psycopg.OperationalError("its last session does not end")
                    time.sleep(PAUSE_S)
            except self.errors as error:
                self.break_off()
                self._session = ended
                if time.monotonic() >= until:
                    reason = self.reason(error)
                    raise LogError(f"{self.name} cannot be opened again: {reason}") from None
                time.sleep(PAUSE_S)
            else:
                return

    def in_transaction(self) -> bool:
        return self.connection.info.transaction_status != TransactionStatus.IDLE

    def together(self) -> AbstractContextManager[Any]:
        return self.connection.pipeline()

    def reason(self, error: Exception) -> str:
        return NOISE.sub("", super().reason(error))

    def has_committed(self, cursor: Any) -> bool:
        return bool(cursor.statusmessage == "COMMIT")

    def breaks(self, error: Exception, committing: bool) -> bool:
        state = getattr(error, "sqlstate", None) or ""
        return self.connection.closed or state.startswith(LOST)

    def may_step_again(self, error: Exception) -> bool:
        return getattr(error, "sqlstate", None) in OTHERS

    def hint(self, error: Exception) -> str:
        return HINTS.get(getattr(error, "sqlstate", None) or "", "")
