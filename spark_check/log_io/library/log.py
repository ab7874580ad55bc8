"""The log of a pipeline: what an operator's code calls (Tables 7 to 9).

Rule of this file: no SQL; a method that writes is one transaction of its own here, and a step of
an open transaction in transaction.py.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from spark_check.log_io.library import recovery
from spark_check.log_io.library.capture import Capture
from spark_check.log_io.library.context import Context
from spark_check.log_io.library.database import Database, Watch, connect
from spark_check.log_io.library.guard.accounts import Accounts
from spark_check.log_io.library.guard.format import check_format
from spark_check.log_io.library.guard.lease import Leases
from spark_check.log_io.library.guard.opening import is_whole
from spark_check.log_io.library.guard.wholeness import LogReport, Traces, check_whole, inspect
from spark_check.log_io.library.transaction import Transaction
from spark_check.log_io.library.values import (
    ActionInfo,
    Event,
    InputSet,
    NewEvents,
    ReadAction,
    Replay,
    StateInfo,
    integer,
)
from spark_check.log_io.library.waiting import WaitingRows

BATCH = 100
"""How many new events a running operator reads at a time."""


class Log:
    """The log of a pipeline, in a database that all its operators share.

    place: a file of SQLite, or a URL of PostgreSQL.  capture: the ports whose lineage is captured;
    all operators of a pipeline give the same one.  One process and one thread use a Log.
    synchronous, watch: see database.py.  clock: seconds since some moment, for the retention
    period of lineage.  read_only: the log must be there, and stays as it is (reading.py).
    wait_s: how long to wait for an operator that another process runs; then LogError is raised.

    A Log that writes as an operator has its lease, from get_proc_state or its first write until it
    is closed (guard/lease.py).  Raises LogError for a log of another version, and for one that is
    not whole (guard/wholeness.py).
    """

    def __init__(
        self,
        place: str | Path,
        capture: Capture | None = None,
        *,
        synchronous: str = "FULL",
        watch: Watch | None = None,
        clock: Callable[[], float] = time.time,
        read_only: bool = False,
        wait_s: float = 0.0,
    ) -> None:
        self._traces = Traces(place)
        known = read_only or is_whole(place, self._traces)
        more: dict[str, Watch] = {} if watch is None else {"watch": watch}
        self.database: Database = connect(
            place, synchronous=synchronous, read_only=read_only, **more
        )
        self.capture = capture or Capture()
        self._clock = clock
        self._read_only = read_only
        self._leases = Leases(self.database, place, wait_s)
        try:
            check_format(self.database, make=not read_only)
            if not known:
                check_whole(self.database, self._traces)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._leases.free()
        self.database.close()
        self._leases.close()

    def inspect(self) -> LogReport:
        """The faults of the log and of its tables; it reads all of it."""
        return inspect(self.database, self._traces, every=True)

    def take(self, *operators: str) -> list[int]:
        """Take the leases of these operators: the epoch of each, greater than any before.

        An external system that refuses requests with an older epoch is safe from a process that
        was taken for dead, too.  Two processes that take several operators take them in one order,
        or by one call: else each may wait for the other.  Raises LogError if another process runs
        one of them, and still does so after wait_s seconds.
        """
        found = {one: self._leases.epoch(one) for one in sorted({*operators})}
        return [found[one] for one in operators]

    def check(self, operator: str) -> None:
        """Take the lease of an operator, or raise LogError if it is lost: before an effect that no
        transaction can undo."""
        if not self._read_only:
            self._leases.check(operator)

    @contextmanager
    def begin_transaction(self) -> Iterator[Transaction]:
        """A context that commits its transaction, or rolls back if an exception leaves it.

        Table 7, BeginTransaction; Table 8, Commit.  Outputs are sent, and writes executed, after
        the context: sent before the log has them, an event is lost (Algorithm 3, steps 4 to 6).
        Raises LogError if an operator has logged outputs, and stored no state that knows them.
        """
        accounts = Accounts(self._leases.epoch)
        waiting = WaitingRows(self.database, self.capture, self._clock(), accounts)
        with self._leases.transaction(accounts), self.database.transaction(waiting.write):
            yield Transaction(self.database, waiting, self.capture, self._leases.check)
            waiting.end_steps()

    # --- Table 7 -----------------------------------------------------------------------------
    def get_action_id(self, operator: str, connection: str) -> int:
        """A new action_ID.  Table 7, GetActionID; Algorithm 1, step 1."""
        self._leases.take(operator)
        return recovery.latest_action_id(self.database, operator, connection) + 1

    def get_state_id(self, operator: str) -> StateInfo:
        """A new state_ID.  Table 7, GetStateID; Algorithm 1, step 1; Algorithm 3, step 2.

        The table is read once for a lease: nobody else writes as the operator meanwhile.
        """
        lease = self._leases.take(operator)
        if lease.state_id is None:
            lease.state_id = recovery.latest_state_id(self.database, operator)
        lease.state_id += 1
        return StateInfo(operator, lease.state_id)

    def initialize_read_action(
        self, action: ActionInfo, state: StateInfo, state_body: bytes, context: Context
    ) -> None:
        """As Transaction.initialize_read_action, in a transaction of its own."""
        with self.begin_transaction() as transaction:
            transaction.initialize_read_action(action, state, state_body, context)

    def complete_read_action(self, action: ActionInfo, reference: bytes) -> None:
        """As Transaction.complete_read_action, in a transaction of its own."""
        with self.begin_transaction() as transaction:
            transaction.complete_read_action(action, reference)

    def drop_read_action(self, action: ActionInfo, discard: Callable[[], None]) -> None:
        """As Transaction.drop_read_action, in a transaction of its own."""
        with self.begin_transaction() as transaction:
            transaction.drop_read_action(action, discard)

    def assign_in_sets(self, event: Event, in_sets: Iterable[InputSet], order: int) -> bool:
        """As Transaction.assign_in_sets, in a transaction of its own."""
        with self.begin_transaction() as transaction:
            return transaction.assign_in_sets(event, in_sets, order)

    def update_context(self, operator: str, context: Context) -> None:
        """As Transaction.update_context, in a transaction of its own."""
        with self.begin_transaction() as transaction:
            transaction.update_context(operator, context)

    def done_event(self, event: Event) -> None:
        """As Transaction.done_event, in a transaction of its own (Algorithm 5, step 3)."""
        with self.begin_transaction() as transaction:
            transaction.done_event(event)

    def get_write_actions(self, operator: str) -> list[Event]:
        """The undone write actions, by number.

        Table 7, GetWriteActions; Algorithm 8, step 1.  Execute them with writes.execute_writes:
        one at a time, and after a restart each one only after a check.
        """
        return recovery.get_write_actions(self.database, operator)

    # --- Table 9 -----------------------------------------------------------------------------
    def fetch_resend_events(self, operator: str) -> list[Event]:
        """The undone outputs that no receiver has assigned, by number.

        Table 9, FetchResendEvents; Algorithm 6, step 1; Algorithm 7, step 1.  An event with an
        Input Set is acknowledged, and is not sent again.
        """
        return recovery.fetch_resend_events(self.database, operator)

    def fetch_ack_events(self, operator: str, context: Context) -> list[Replay]:
        """The undone inputs that are assigned, in the order in which to replay them.

        Table 9, FetchAckEvents; Algorithm 9, step 2.  context: as stored.  Each goes into its own
        Input Set alone; an input of several has a row for each, one after the other, and the
        conditions look at it when it is in all of them.  It triggers nothing if it is `seen`: the
        paper evaluates each condition again, against a global state that may be later than the one
        that the condition had seen.
        """
        return recovery.fetch_ack_events(self.database, operator, context)

    def fetch_new_events(self, operator: str, limit: int = BATCH) -> NewEvents:
        """The undone inputs that are not assigned: of each port by number; are there more?

        Not in the paper, whose connections keep what their receiver has not acknowledged.  With
        connections that lose it, a restarted operator needs this (Algorithm 9, step 3); an
        operator that polls needs no other connection.
        """
        limit = integer(limit, lambda: "the limit of new events", 1)
        return recovery.fetch_new_events(self.database, operator, limit)

    def get_proc_state(self, operator: str) -> tuple[StateInfo, bytes, Context] | None:
        """The latest global state and context.  Table 9, GetProcState; Algorithm 9, step 1.

        None: none is stored, and the operator begins as new (its undone inputs may be many).  It
        takes the lease of the operator: nobody else writes as this operator from here on.
        """
        self.check(operator)
        return recovery.get_proc_state(self.database, operator)

    def get_read_action(self, operator: str, connection: str) -> ReadAction | None:
        """The latest read action of a connection.  Algorithm 6, steps 2 and 3."""
        return recovery.get_read_action(self.database, operator, connection)
