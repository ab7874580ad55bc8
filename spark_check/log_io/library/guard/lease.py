"""The leases of a process: one for each operator that it writes as.

Rule of this file: who may write as an operator; the rows themselves are of no interest here.

A lease has an epoch, which grows with each one that is given.  Two things hold it:
- a lock that ends with its holder: of a file beside the log (SQLite), of a session (PostgreSQL).
  So an operator whose process has died is free at once, and nobody waits for a time-out.
- the epoch in LOG_ACCOUNT.  Each transaction compares it before it commits (accounts.py), since a
  lock may be lost while its holder lives: its connection was cut, its file was removed.  A holder
  that was taken for dead can then write nothing more.
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from spark_check.log_io.library.database import Database
from spark_check.log_io.library.guard.accounts import Accounts
from spark_check.log_io.library.guard.lease_files import LeaseFile
from spark_check.log_io.library.guard.session_lock import SessionLock
from spark_check.log_io.library.sessions.places import is_url
from spark_check.log_io.library.values import LogError, LogInterrupted, check_names

PAUSE_S = 0.05
"""Between two tries of one who waits."""
GRACE_S = 10.0
"""How long to wait for a lock that is free in a moment."""
HOLDER = re.compile("process ([0-9]+) on (.+)")
TAKE = """
    INSERT INTO log_account (op_id, epoch, holder, held_since, transactions, events, lineage,
        actions, checksum, state_checksum) VALUES (?, 1, ?, ?, 1, 0, 0, 0, 0, 0)
    ON CONFLICT (op_id) DO UPDATE SET epoch = log_account.epoch + 1, holder = excluded.holder,
        held_since = excluded.held_since, transactions = log_account.transactions + 1
    RETURNING epoch, transactions"""
FREE = "UPDATE log_account SET holder = '' WHERE op_id = ? AND epoch = ?"
CHECKPOINT = "PRAGMA wal_checkpoint(PASSIVE)"
"""From now on, the main file of SQLite says that a process holds a lease, and so has a -wal."""


class Lease:
    """A lease of this process.  count: the operator's transactions in the log.  state_id: the
    number of its latest state, once somebody has asked for it."""

    def __init__(self, epoch: int, count: int, lock: LeaseFile | SessionLock) -> None:
        self.epoch, self.count, self.lock = epoch, count, lock
        self.state_id: int | None = None

    def write(self) -> None:
        self.lock.write(self.count)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it is another user's
    return True


class Leases:
    """The leases of a log that is open.  wait_s: how long `take` waits for another process."""

    def __init__(self, database: Database, place: str | Path, wait_s: float) -> None:
        if not wait_s >= 0:
            raise LogError(f"wait_s={wait_s}: give a number of seconds")
        self._database, self._place, self._wait_s = database, place, wait_s
        self._held: dict[str, Lease] = {}
        self._new: list[str] = []
        self._open, self._process = False, os.getpid()

    def take(self, operator: str) -> Lease:
        """The lease of an operator.  Raises LogError if another process has it."""
        if os.getpid() != self._process:
            raise LogError(f"{operator}: a child process uses its parent's log: open it again")
        if operator not in self._held:
            self._held[operator] = self._taken(operator)
        return self._held[operator]

    def epoch(self, operator: str) -> int:
        """The epoch of the lease.  Raises LogError if it is lost, as far as its lock knows."""
        lease = self.take(operator)
        if not lease.lock.is_there():
            raise LogError(self._loss(operator))
        return lease.epoch

    def check(self, operator: str) -> None:
        """Raise LogError if the lease is lost.

        The epoch counts only if the lock was held while it was read: a query may find a connection
        broken, and make another one, which has no lock.
        """
        asked_on = None
        while asked_on is not self._database.connection:
            asked_on = self._database.connection
            epoch = self.epoch(operator)
            if self._account(operator)[0] != epoch:
                raise LogError(self._loss(operator))

    @contextmanager
    def transaction(self, accounts: Accounts) -> Iterator[None]:
        """A context for a transaction of the log, which is committed when it ends.

        Within it, nobody waits for a lease: its holder may wait for this transaction.
        """
        if self._open:
            raise RuntimeError("a transaction is open: use it, or leave it before the next one")
        self._open = True
        try:
            yield
        except BaseException as error:
            self._open = False
            self._forget_new()
            if isinstance(error, Exception) and (lost := self._lost(accounts.operators)):
                raise LogError(lost) from error
            raise
        finally:
            self._open = False
        for operator in accounts.operators:
            self._held[operator].count += 1
        changed, is_first = {*accounts.operators, *self._new}, len(self._new) == len(self._held)
        self._new.clear()
        try:
            for operator in changed:
                self._held[operator].write()
            if changed and is_first:
                self._checkpoint()
        except LogError as error:
            raise LogInterrupted(f"{error}: the transaction happened: step again") from None

    def free(self) -> None:
        """Say in the log that its operators have no process; nothing is raised."""
        rows = [(operator, lease.epoch) for operator, lease in self._held.items()]
        if rows and os.getpid() == self._process and not self._database.is_broken:
            with suppress(Exception):
                with self._database.transaction():
                    self._database.repeat(FREE, rows)
                for lease in self._held.values():
                    if isinstance(lease.lock, SessionLock):  # its session ends a moment later
                        lease.lock.close()

    def close(self) -> None:
        """Free the locks.  Those of a session have ended with it."""
        for lease in self._held.values():
            if isinstance(lease.lock, LeaseFile):
                lease.lock.close()
        self._held.clear()

    # --- one lease ---------------------------------------------------------------------------
    def _taken(self, operator: str) -> Lease:
        check_names(operator)
        lock = self._locked(operator)
        since = datetime.now(UTC).isoformat(" ", "seconds")
        holder = f"process {self._process} on {socket.gethostname()}"
        try:
            ((epoch, count),) = self._database.execute(TAKE, (operator, holder, since), ahead=True)
            lease = Lease(epoch, count, lock)
            if self._open:
                self._new.append(operator)
                return lease
            lease.write()
            if not self._held:
                self._checkpoint()
        except BaseException:
            with suppress(Exception):
                lock.close()
            raise
        return lease

    def _checkpoint(self) -> None:
        if not is_url(self._place):
            self._database.execute(CHECKPOINT)

    def _locked(self, operator: str) -> LeaseFile | SessionLock:
        began = time.monotonic()
        while True:
            try:
                if is_url(self._place):
                    return SessionLock(self._database, operator)
                return LeaseFile(Path(self._place), operator)
            except BlockingIOError:
                waited = time.monotonic() - began
                if waited >= self._patience_s(operator):
                    raise LogError(self._refusal(operator)) from None
            except OSError as error:
                raise LogError(f"{self._place}: no lease can be kept beside it: {error}") from None
            time.sleep(PAUSE_S)

    def _patience_s(self, operator: str) -> float:
        """How long to wait for the lock.  One whose holder has gone is free in a moment, when the
        server has seen it; one without a name in the log has just been taken, or is being freed."""
        holder = self._account(operator)[1]
        found = HOLDER.fullmatch(holder)
        gone = found and found[2] == socket.gethostname() and not _is_alive(int(found[1]))
        if self._open:
            return GRACE_S if gone else 0.0
        return max(self._wait_s, GRACE_S if gone or not holder else 0.0)

    def _forget_new(self) -> None:
        """The transaction that took them has not been committed."""
        for operator in self._new:
            with suppress(Exception):
                self._held.pop(operator).lock.close()
        self._new.clear()

    # --- the acts of others ------------------------------------------------------------------
    def _account(self, operator: str) -> tuple[int, str, str]:
        asked = "SELECT epoch, holder, held_since FROM log_account WHERE op_id = ?"
        rows = self._database.execute(asked, (operator,), ahead=True)
        return tuple(rows[0]) if rows else (0, "", "")

    def _refusal(self, operator: str) -> str:
        _, holder, since = self._account(operator)
        who = f"{holder} runs it since {since}" if holder else "another process runs it"
        return f"{operator}: {who}: end that process, or wait for its end (wait_s)"

    def _lost(self, operators: Iterable[str]) -> str | None:
        """The first of these leases that is lost, in words."""
        with suppress(Exception):
            for operator in operators:
                if self._account(operator)[0] != self._held[operator].epoch:
                    return self._loss(operator)
        return None

    def _loss(self, operator: str) -> str:
        epoch, holder, since = self._account(operator)
        if epoch == self._held[operator].epoch:
            why = self._held[operator].lock.LOSS
            return f"{operator}: its lock is lost, since {why}: start it again"
        who = f"{holder or 'another process'} has taken it over, {since}"
        return f"{operator}: {who}: this process writes nothing more"
