"""What an operator writes to the log, inside a transaction (Tables 7 and 8).

Rule of this file: rows are written here and read in recovery.py; each method says its table,
algorithm and step, and where the paper's step is wrong, which one it does instead.

LOG.io, Sections 3.3 to 3.6, 6.2.  A done event is removed in the transaction that ends it, unless
lineage needs it (Section 3.6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from spark_check.log_io.library import recovery
from spark_check.log_io.library.capture import Capture
from spark_check.log_io.library.context import Context
from spark_check.log_io.library.database import Database, read_bytes
from spark_check.log_io.library.guard.accounts import ACTIONS, EVENTS
from spark_check.log_io.library.guard.checksums import END, ENDED, of_action, of_event, of_state
from spark_check.log_io.library.values import (
    DONE,
    UNDONE,
    ActionInfo,
    Event,
    InputSet,
    InputSetGone,
    LogError,
    ReadEffect,
    StateInfo,
    check_bytes,
    event_name,
    integer,
)
from spark_check.log_io.library.waiting import (
    DELETE_DATA,
    INSERT_EVENT,
    KEYED,
    EndedSet,
    WaitingRows,
)

ASSIGN = f"""
    UPDATE event_log SET inset_id = ?, inset_key = ?, assigned_as = ?, checksum = ?
    WHERE {KEYED} AND inset_id = 0 AND status = 'undone' AND rec_op = ?"""
COMPLETE_ACTION = f"""
    UPDATE read_action SET status = 'complete', {END}
    WHERE op_id = ? AND conn_id = ? AND action_id = ? AND status = 'incomplete'"""
FORGET_EVENT = f"DELETE FROM event_log WHERE {KEYED} RETURNING checksum"
KEEP_EVENT = f"UPDATE event_log SET status = 'done', {END} WHERE {KEYED} AND status = 'undone'"


class Transaction:
    """An open transaction; several operators of one process may share it (a group commit).

    What it logs may be sent, and its writes executed, only after it has committed.  check: raises
    LogError if the lease of an operator is lost.
    """

    def __init__(
        self,
        database: Database,
        waiting: WaitingRows,
        capture: Capture,
        check: Callable[[str], None],
    ) -> None:
        self._database, self._waiting, self._capture = database, waiting, capture
        self._check = check
        self._captured = capture.operators
        self._assigned: set[tuple[str, int]] = set()

    def hold(self, *operators: str) -> None:
        """Have the transaction happen only if this process has the leases of these operators at its
        end, too, as of those that it writes as.  Raises LogError if another process has one."""
        for one in operators:
            self._waiting.accounts.of(one)

    # --- read actions: Algorithm 1 -----------------------------------------------------------
    def initialize_read_action(
        self, action: ActionInfo, state: StateInfo, state_body: bytes, context: Context
    ) -> None:
        """Log an incomplete read action, and the global state that made it.

        Table 7, InitializeReadAction; Algorithm 1, step 1.  Without lineage, the connection's
        earlier actions are removed; the latest one stays, so that no action_ID is given twice.
        """
        action = action.checked()
        account = self._waiting.accounts.of(action.operator)
        replaced = "=" if action.operator in self._captured else "<="
        rows = self._database.execute(
            "DELETE FROM read_action WHERE op_id = ? AND conn_id = ?"
            f" AND action_id {replaced} ? RETURNING checksum",
            action[:3],
        )
        account.remove(ACTIONS, (one for (one,) in rows))
        checksum = of_action(*action)
        self._database.change(
            "INSERT INTO read_action (op_id, conn_id, action_id, action_desc, status, checksum)"
            " VALUES (?, ?, ?, ?, 'incomplete', ?)",
            (*action, checksum),
        )
        account.add(ACTIONS, [checksum])
        self.store_state(state, state_body, context)

    def complete_read_action(self, action: ActionInfo, reference: bytes) -> None:
        """Mark a read action as complete, and log its undone event: a reference to the effect.

        Table 7, CompleteReadAction; Algorithm 1, step 2.b.  Raises LogError if it is not there.
        """
        operator, connection, number, _ = action = action.checked()
        account = self._waiting.accounts.of(operator)
        if not self._database.change(COMPLETE_ACTION, action[:3]):
            raise LogError(f"{operator}: read action {number} on {connection} was not initialized")
        account.change(ENDED)
        self._log([Event(operator, connection, operator, "", number, reference)])

    def drop_read_action(self, action: ActionInfo, discard: Callable[[], None]) -> None:
        """Discard the store of a read action, then forget where it was.

        Table 7, DropReadAction; Algorithm 1, step 2.d; Algorithm 6, steps 3.a and 4.a.  A crash
        between the two repeats both, so `discard` must accept that there is no store any more.
        Raises LogError, and discards nothing, if the event of the action is undone.
        """
        operator, connection, number, _ = action.checked()
        self._check(operator)
        if recovery.is_undone(self._database, (operator, connection, "", number)):
            raise LogError(
                f"{operator}: read action {number} on {connection} is still undone: its last"
                " event calls done_event, and the operator itself if it has read no event"
            )
        discard()
        self._waiting.add(DELETE_DATA, [(operator, connection, "", number)])

    # --- inputs: Algorithm 2 -----------------------------------------------------------------
    def assign_in_sets(self, event: Event, in_sets: Iterable[InputSet], order: int) -> bool:
        """Assign an input to Input Sets, one row for each; is it still there?

        Table 7, AssignInSets; Algorithm 2, step 2.  order: Context.order_of the event; the paper's
        log does not have it, and replays the ports in another order than before.  An assignment
        changes the row of an event and makes no event: False says that the row has gone (a
        dispatcher has moved it to another replica, Algorithm 13, or it is assigned already), and
        the operator must forget the input.
        """
        found = sorted({one.checked() for one in in_sets})
        if not found:
            raise ValueError("no Input Set: give at least one, or forget the input by done_event")
        event = event.checked()
        order = integer(order, lambda: f"the order of {event_name(event.key)}")
        if any(one.number == other.number for one, other in pairwise(found)):
            raise ValueError("one number for two Input Sets: keep the context of new_in_set")
        key, receiver = event.key, event.receiver
        account = self._waiting.accounts.of(receiver)
        first, *others = [(*one, order, of_event(key, receiver, *one, order)) for one in found]
        sets = [(receiver, one.number) for one in found]
        ahead = not self._waiting.concerns(key, sets)
        if not self._database.change(ASSIGN, (*first, *key, receiver), ahead=ahead):
            return False
        rows = [
            (*key, receiver, number, name, UNDONE, order, checksum)
            for number, name, _, checksum in others
        ]
        self._database.repeat(INSERT_EVENT, rows)
        account.change(first[-1] - of_event(key, receiver, 0, "", 0))
        account.add(EVENTS, (row[-1] for row in rows))
        self._assigned.update(sets)
        return True

    # --- outputs: Algorithm 1, step 2.c; Algorithm 3, step 4 ---------------------------------
    def log_source_event(self, *events: Event) -> None:
        """Log undone outputs of a source operator.  Table 8, LogSourceEvent; Algorithm 1, 2.c.

        Raises LogError at the end of a transaction that does not store the operator's state.
        Raises LogError if an event with one of these numbers is logged already; at the latest, the
        end of the transaction raises it.
        """
        self._send([one.checked() for one in events])

    def _send(self, events: Sequence[Event]) -> None:
        self._waiting.obligations.sends(events)
        for operator in {one.sender for one in events}:
            self._waiting.accounts.of(operator)
        self._waiting.add_events(events, (0,), UNDONE)

    def log_output_events(
        self,
        operator: str,
        in_set: int,
        outputs: Sequence[Event],
        reads: Sequence[ReadEffect] = (),
    ) -> None:
        """Log an Output Set as undone, mark its Input Set as done, and log its lineage.

        Table 8, LogOutputEvents; Algorithm 3, steps 4.1, 4.2, 4.4 and 4.5.  reads: side-effect
        reads, logged if the lineage of the operator is captured (step 5.a).  An output has lineage
        if it is sent on a port of OUT, and the Input Set has a read or an event from a port of IN
        (Section 3.1).  Raises InputSetGone if no undone event has this Input Set, and LogError at
        the end of a transaction that does not store the operator's state, with the numbers used.

        An input may complete several Input Sets ("can be triggered for more than one", 3.5.1): call
        this for each of them in one transaction.  After a crash between two transactions, the
        conditions have seen the input, and nobody would ask them again.
        """
        in_set = integer(in_set, lambda: f"the number of an Input Set of {operator}")
        outputs = [one.checked() for one in outputs]
        self._waiting.accounts.of(operator)
        if operator not in self._captured:
            reads = ()
        ended = EndedSet(operator, in_set, tuple(outputs), bool(reads))
        if (operator, in_set) in self._assigned:  # in this transaction, so it cannot have gone
            self._assigned.remove((operator, in_set))
            self._waiting.end(ended)
        elif not self._waiting.end_now(ended):
            raise InputSetGone(f"{operator}: no undone event is assigned to Input Set {in_set}")
        self._waiting.obligations.ends(operator, in_set)
        self._send(outputs)
        if reads:
            effects = [Event(operator, conn, operator, "", at, to) for conn, at, to in reads]
            self._log(effects, (in_set,), DONE)

    def log_state_event(self, state: StateInfo, *in_sets: int) -> None:
        """Log which global state generates the Output Sets of these Input Sets.

        Table 7, LogStateEvent; Algorithm 3, step 2; in the transaction of log_output_events, which
        would end it: so it is logged as done.  Recovery does not need it (3.6 removes it), so it is
        logged only if the lineage of the operator is captured.
        """
        operator, number = state.checked()
        if operator in self._captured:
            in_sets = tuple(InputSet(one).checked().number for one in in_sets)
            self._log([Event(operator, "", operator, "", number, b"")], in_sets, DONE)

    def done_event(self, event: Event) -> None:
        """Mark an event as done.  Table 8, DoneEvent.

        Of a write action: Algorithm 5, step 3; Algorithm 8, step 2.a.  Of a read action: Algorithm
        1, step 2.c(3); its data stay until drop_read_action.  A reading that has no event has no
        last one: then the operator calls this in a transaction of its own.  Of an input: all its
        Input Sets.
        """
        event = event.checked()
        self._assigned.clear()  # it may have been the only event of an Input Set
        account = self._waiting.accounts.of(event.receiver)
        if (event.receiver, event.receiver_port) in self._capture.inputs:
            account.change(ENDED * self._database.change(KEEP_EVENT, event.key))
            return
        rows = self._database.execute(FORGET_EVENT, event.key)
        account.remove(EVENTS, (one for (one,) in rows))
        if event.receiver_port and (event.sender, event.port) not in self._capture.kept:
            self._waiting.add(DELETE_DATA, [event.key])

    # --- states ------------------------------------------------------------------------------
    def store_state(self, state: StateInfo, body: bytes, context: Context) -> None:
        """Store the global state and the context.  Table 8, StoreState; Algorithm 3, step 4.3.

        The paper's StoreState stores the state, and its UpdateContext the numbers.  One call does
        both here: numbers that are newer than the state would hide inputs from a restarted
        operator.  Without lineage, the state takes the place of the one before (Section 3.6).
        """
        operator, number = state = state.checked()
        context.check()
        check_bytes(body, lambda: f"state {number} of {operator}")
        self._waiting.accounts.of(operator)
        self._waiting.add_state(state, body, context)

    def update_context(self, operator: str, context: Context) -> None:
        """Store the context, and leave the global state as it is.  Table 7, UpdateContext.

        Right only for an operator whose global state does not depend on its inputs; store_state
        is for all others.
        """
        account = self._waiting.accounts.of(operator)
        found = self._database.execute(
            "SELECT state_id, state, logged_at FROM state WHERE op_id = ?"
            " ORDER BY state_id DESC LIMIT 1",
            (operator,),
        )
        if not found:
            self.store_state(StateInfo(operator, 1), b"", context)
            return
        context.check()
        number, body, logged_at = found[0]
        self._waiting.obligations.stores(operator, context)
        text = context.to_json()
        checksum = of_state(operator, number, read_bytes(body), text, logged_at)
        self._database.change(
            "UPDATE state SET context = ?, checksum = ? WHERE op_id = ? AND state_id = ?",
            (text, checksum, operator, number),
        )
        account.store(checksum)

    # --- rows --------------------------------------------------------------------------------
    def _log(
        self, events: Sequence[Event], in_sets: Sequence[int] = (0,), status: str = UNDONE
    ) -> None:
        self._waiting.add_events([one.checked() for one in events], in_sets, status)
