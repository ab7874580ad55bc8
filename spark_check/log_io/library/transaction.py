"""What an operator writes to the log, inside a transaction (Tables 7 and 8).

Rule of this file: rows are written here and read in recovery.py; each method says its table,
algorithm and step, and where the paper's step is wrong, which one it does instead.

LOG.io, Sections 3.3 to 3.6, 6.2.  A done event is removed in the transaction that ends it, unless
lineage needs it (Section 3.6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from spark_check.log_io.library import recovery
from spark_check.log_io.library.capture import Capture
from spark_check.log_io.library.context import Context
from spark_check.log_io.library.database import Database
from spark_check.log_io.library.values import (
    ActionInfo,
    Event,
    InputSetGone,
    Key,
    LogError,
    ReadEffect,
    StateInfo,
    check_bytes,
    check_names,
)

KEYED = "send_op = ? AND send_port = ? AND rec_port = ? AND event_id = ?"
KEY_NAMES = "send_op, send_port, rec_port, event_id"
DELETE_DATA = f"""
    DELETE FROM event_data WHERE {KEYED} AND NOT EXISTS (
        SELECT 1 FROM event_log AS log
        WHERE log.send_op = event_data.send_op AND log.send_port = event_data.send_port
        AND log.rec_port = event_data.rec_port AND log.event_id = event_data.event_id)"""


class Transaction:
    """An open transaction; several operators of one process may share it (a group commit).

    What it logs may be sent, and its writes executed, only after it has committed.
    """

    def __init__(self, database: Database, capture: Capture, now_s: float) -> None:
        self._database, self._capture, self._now_s = database, capture, now_s

    # --- read actions: Algorithm 1 -----------------------------------------------------------
    def initialize_read_action(
        self, action: ActionInfo, state: StateInfo, state_body: bytes, context: Context
    ) -> None:
        """Log an incomplete read action, and the global state that made it.

        Table 7, InitializeReadAction; Algorithm 1, step 1.  Without lineage, the connection's
        earlier actions are removed; the latest one stays, so that no action_ID is given twice.
        """
        check_names(action.operator, action.connection)
        if not self._capture.captures(action.operator):
            self._database.change(
                "DELETE FROM read_action WHERE op_id = ? AND conn_id = ? AND action_id < ?",
                action[:3],
            )
        self._database.change(
            "INSERT INTO read_action (op_id, conn_id, action_id, action_desc, status)"
            " VALUES (?, ?, ?, ?, 'incomplete') ON CONFLICT (op_id, conn_id, action_id)"
            " DO UPDATE SET status = excluded.status, action_desc = excluded.action_desc",
            action,
        )
        self.store_state(state, state_body, context)

    def complete_read_action(self, action: ActionInfo, reference: bytes) -> None:
        """Mark a read action as complete, and log its undone event: a reference to the effect.

        Table 7, CompleteReadAction; Algorithm 1, step 2.b.  Raises LogError if it is not there.
        """
        operator, connection, number, _ = action
        changed = self._database.change(
            "UPDATE read_action SET status = 'complete'"
            " WHERE op_id = ? AND conn_id = ? AND action_id = ?",
            action[:3],
        )
        if not changed:
            raise LogError(f"{operator}: read action {number} on {connection} was not initialized")
        self._log([Event(operator, connection, operator, "", number, reference)])

    def drop_read_action(self, action: ActionInfo, discard: Callable[[], None]) -> None:
        """Discard the store of a read action, then forget where it was.

        Table 7, DropReadAction; Algorithm 1, step 2.d; Algorithm 6, steps 3.a and 4.a.  A crash
        between the two repeats both, so `discard` must accept that there is no store any more.
        Raises LogError, and discards nothing, if the event of the action is undone.
        """
        operator, connection, number, _ = action
        if recovery.is_undone(self._database, (operator, connection, "", number)):
            raise LogError(f"{operator}: read action {number} on {connection} is still undone")
        discard()
        self._database.change(DELETE_DATA, (operator, connection, "", number))

    # --- inputs: Algorithm 2 -----------------------------------------------------------------
    def assign_in_sets(self, event: Event, in_sets: Iterable[int], order: int) -> bool:
        """Assign an input to Input Sets, one row for each; is it still there?

        Table 7, AssignInSets; Algorithm 2, step 2.  order: Context.order_of the event; the paper's
        log does not have it, and replays the ports in another order than before.  An assignment
        changes the row of an event and makes no event: False says that the row has gone (a
        dispatcher has moved it to another replica, Algorithm 13, or it is assigned already), and
        the operator must forget the input.
        """
        numbers = sorted({*in_sets})
        if not numbers:
            raise ValueError("no Input Set: give at least one, or forget the input by done_event")
        first, *others = numbers
        if first < 1:
            raise ValueError(f"Input Set {first}: Input Sets are numbered from 1")
        changed = self._database.change(
            f"UPDATE event_log SET inset_id = ?, assigned_as = ? WHERE {KEYED}"
            " AND inset_id = 0 AND status = 'undone'",
            (first, order, *event.key),
        )
        if changed:
            self._insert_rows([(event, one) for one in others], order=order)
        return changed > 0

    # --- outputs: Algorithm 1, step 2.c; Algorithm 3, step 4 ---------------------------------
    def log_source_event(self, *events: Event) -> None:
        """Log undone outputs of a source operator.  Table 8, LogSourceEvent; Algorithm 1, 2.c.

        Raises an error of the database if an event with one of these numbers is logged already.
        """
        self._log(events)

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
        (Section 3.1).  Raises InputSetGone if no undone event has this Input Set.
        """
        used = self._end_input_set(operator, in_set)
        if not used:
            raise InputSetGone(f"{operator}: no undone event is assigned to Input Set {in_set}")
        self._log(outputs)
        captured = any((operator, port) in self._capture.inputs for _, _, port, _ in used)
        if reads and self._capture.captures(operator):
            captured = True
            self._log_reads(operator, in_set, reads)
        if captured:
            self._database.repeat(
                f"INSERT INTO event_lineage ({KEY_NAMES}, inset_id) VALUES (?, ?, ?, ?, ?)",
                [
                    (*one.key, in_set)
                    for one in outputs
                    if (operator, one.port) in self._capture.outputs
                ],
            )

    def log_state_event(self, state: StateInfo, in_set: int) -> None:
        """Log which global state generates the Output Set of an Input Set.

        Table 7, LogStateEvent; Algorithm 3, step 2; before log_output_events, in its transaction.
        Recovery does not need it (it is done at once, and 3.6 removes it), so it is logged only if
        the lineage of the operator is captured.
        """
        operator, number = state
        if self._capture.captures(operator):
            self._insert_data([Event(operator, "", operator, "", number, b"")])
            self._insert_rows([(Event(operator, "", operator, "", number, b""), in_set)])

    def done_event(self, event: Event) -> None:
        """Mark an event as done.  Table 8, DoneEvent.

        Of a write action: Algorithm 5, step 3; Algorithm 8, step 2.a.  Of a read action: Algorithm
        1, step 2.c; its data stay until drop_read_action.  Of an input: all its Input Sets.
        """
        if (event.receiver, event.receiver_port) in self._capture.inputs:
            self._database.change(f"UPDATE event_log SET status = 'done' WHERE {KEYED}", event.key)
            return
        self._database.change(f"DELETE FROM event_log WHERE {KEYED}", event.key)
        if event.receiver_port and (event.sender, event.port) not in self._capture.kept:
            self._database.change(DELETE_DATA, event.key)

    # --- states ------------------------------------------------------------------------------
    def store_state(self, state: StateInfo, body: bytes, context: Context) -> None:
        """Store the global state and the context.  Table 8, StoreState; Algorithm 3, step 4.3.

        The paper's StoreState stores the state, and its UpdateContext the numbers.  One call does
        both here: numbers that are newer than the state would hide inputs from a restarted
        operator.  Without lineage, the state takes the place of the one before (Section 3.6).
        """
        operator, number = state
        check_names(operator)
        check_bytes(f"state {number} of {operator}", body)
        values = (number, body, context.to_json(), self._now_s)
        if not self._capture.captures(operator) and self._database.change(
            "UPDATE state SET state_id = ?, state = ?, context = ?, logged_at = ?"
            " WHERE op_id = ? AND state_id = (SELECT MAX(state_id) FROM state WHERE op_id = ?)",
            (*values, operator, operator),
        ):
            return
        self._database.change(
            "INSERT INTO state (state_id, state, context, logged_at, op_id) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (op_id, state_id) DO UPDATE SET state = excluded.state,"
            " context = excluded.context, logged_at = excluded.logged_at",
            (*values, operator),
        )

    def update_context(self, operator: str, context: Context) -> None:
        """Store the context, and leave the global state as it is.  Table 7, UpdateContext.

        Right only for an operator whose global state does not depend on its inputs; store_state
        is for all others.
        """
        found = self._database.execute(
            "SELECT MAX(state_id) FROM state WHERE op_id = ?", (operator,)
        )
        if found[0][0] is None:
            self.store_state(StateInfo(operator, 1), b"", context)
            return
        self._database.change(
            "UPDATE state SET context = ? WHERE op_id = ? AND state_id = ?",
            (context.to_json(), operator, found[0][0]),
        )

    # --- rows --------------------------------------------------------------------------------
    def _log(self, events: Sequence[Event]) -> None:
        self._insert_data(events)
        self._insert_rows([(one, 0) for one in events])

    def _insert_data(self, events: Sequence[Event]) -> None:
        for one in events:
            one.check()
        self._database.repeat(
            f"INSERT INTO event_data ({KEY_NAMES}, header, body, logged_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            [(*one.key, one.header, one.body, self._now_s) for one in events],
        )

    def _insert_rows(
        self, rows: Iterable[tuple[Event, int]], status: str = "undone", order: int = 0
    ) -> None:
        self._database.repeat(
            f"INSERT INTO event_log ({KEY_NAMES}, rec_op, inset_id, status, assigned_as)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(*one.key, one.receiver, in_set, status, order) for one, in_set in rows],
        )

    def _log_reads(self, operator: str, in_set: int, reads: Sequence[ReadEffect]) -> None:
        events = [Event(operator, conn, operator, "", at, to) for conn, at, to in reads]
        self._insert_data(events)
        self._insert_rows([(one, in_set) for one in events], "done")

    def _end_input_set(self, operator: str, in_set: int) -> list[Key]:
        """The events of an Input Set, which is done now: Algorithm 3, step 4.4.

        Rows that lineage needs are kept as done: those from a port of IN, and those of reads and
        states.  The others are removed, with data that nothing needs.
        """
        ends = "rec_op = ? AND inset_id + 0 = ? AND status = 'undone'"
        change = "DELETE FROM event_log"
        if self._capture.captures(operator):
            change = "UPDATE event_log SET status = 'done'"
        used = self._database.execute(
            f"{change} WHERE {ends} RETURNING {KEY_NAMES}", (operator, in_set)
        )
        keys: list[Key] = [(one[0], one[1], one[2], one[3]) for one in used]
        left = [one for one in keys if one[2] and (operator, one[2]) not in self._capture.inputs]
        if self._capture.captures(operator):
            self._database.repeat(
                f"DELETE FROM event_log WHERE {KEYED} AND inset_id = ?",
                [(*one, in_set) for one in left],
            )
        unneeded = [one for one in left if (one[0], one[1]) not in self._capture.kept]
        self._database.repeat(DELETE_DATA, unneeded)
        return keys
