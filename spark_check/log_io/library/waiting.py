"""The rows that an open transaction has not written yet.

Rule of this file: a statement waits if nobody needs its answer now, and if no other process may
have to wait for it.  All others are executed at once (transaction.py).

A transaction of many steps then executes a statement once for the rows of all steps, and not once
a step: the round trips to the database do not grow with these rows.  They are written before the
commit, and before each statement that could see them (database.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from spark_check.log_io.library.capture import Capture
from spark_check.log_io.library.context import Context
from spark_check.log_io.library.database import Database, Row
from spark_check.log_io.library.guard.accounts import ADD, LINEAGE, Accounts
from spark_check.log_io.library.guard.accounts import EVENTS as COUNTED_EVENTS
from spark_check.log_io.library.guard.checksums import (
    END,
    ENDED,
    of_data,
    of_event,
    of_lineage,
    of_state,
)
from spark_check.log_io.library.obligations import Obligations
from spark_check.log_io.library.values import DONE, Event, Key, LogError, StateInfo

KEYED = "send_op = ? AND send_port = ? AND rec_port = ? AND event_id = ?"
KEY_NAMES = "send_op, send_port, rec_port, event_id"

INSERT_DATA = f"""
    INSERT INTO event_data ({KEY_NAMES}, header, body, logged_at, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_EVENT = f"""
    INSERT INTO event_log (
        {KEY_NAMES}, rec_op, inset_id, inset_key, status, assigned_as, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
INPUTS = "rec_op = ? AND inset_id + 0 = ? AND status = 'undone'"
ENDED_ROWS = f"WHERE {INPUTS} RETURNING {KEY_NAMES}, checksum"
DELETE_INPUTS = f"DELETE FROM event_log {ENDED_ROWS}"
KEEP_INPUTS = f"UPDATE event_log SET status = 'done', {END} {ENDED_ROWS}"
INSERT_LINEAGE = f"""
    INSERT INTO event_lineage ({KEY_NAMES}, inset_id, checksum) VALUES (?, ?, ?, ?, ?, ?)"""
DELETE_EVENT = f"DELETE FROM event_log WHERE {KEYED} AND inset_id = ?"
DELETE_DATA = f"""
    DELETE FROM event_data WHERE {KEYED} AND NOT EXISTS (
        SELECT 1 FROM event_log AS log
        WHERE log.send_op = event_data.send_op AND log.send_port = event_data.send_port
        AND log.rec_port = event_data.rec_port AND log.event_id = event_data.event_id)"""
ADD_STATE = """
    INSERT INTO state (op_id, state_id, state, context, logged_at, checksum)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (op_id, state_id) DO UPDATE SET state = excluded.state,
        context = excluded.context, logged_at = excluded.logged_at, checksum = excluded.checksum"""
REPLACE_STATE = """
    INSERT INTO state (op_id, state_id, state, context, logged_at, checksum)
    VALUES (?, COALESCE((SELECT MAX(state_id) FROM state WHERE op_id = ?), ?), ?, ?, ?, ?)
    ON CONFLICT (op_id, state_id) DO UPDATE SET state_id = ?, state = excluded.state,
        context = excluded.context, logged_at = excluded.logged_at, checksum = excluded.checksum"""
"""The new state takes the place of the operator's latest one."""

EVENTS = (INSERT_DATA, INSERT_EVENT)
ORDER = (*EVENTS, INSERT_LINEAGE, DELETE_EVENT, DELETE_DATA, ADD_STATE)
"""Data come before the rows that name them, and go after them."""

InputSet: TypeAlias = tuple[str, int]
"""An operator, and the number of one of its Input Sets."""


class EndedSet(NamedTuple):
    """An Input Set that an Output Set is made of.  reads: has it side-effect reads, too?"""

    operator: str
    in_set: int
    outputs: Sequence[Event]
    reads: bool


class WaitingRows:
    """Rows of one transaction.  accounts: they are written before the commit."""

    def __init__(
        self, database: Database, capture: Capture, now_s: float, accounts: Accounts
    ) -> None:
        self._database, self._capture, self._now_s = database, capture, now_s
        self.accounts = accounts
        self.obligations, self._is_last = Obligations(), False
        self._captured = capture.operators
        self._rows: dict[str, list[Row]] = {statement: [] for statement in ORDER}
        self._states: dict[str, tuple[int, bytes, Context]] = {}
        self._events: set[Key] = set()
        self._ends: dict[InputSet, EndedSet] = {}
        self._failed: BaseException | None = None

    def add(self, statement: str, rows: Iterable[Row]) -> None:
        self._rows[statement].extend(rows)

    def add_events(self, events: Iterable[Event], in_sets: Sequence[int], status: str) -> None:
        """Events with their data; a row for each of the Input Sets."""
        data, rows = self._rows[INSERT_DATA], self._rows[INSERT_EVENT]
        for one in events:
            key, header, body = one.key, bytes(one.header), bytes(one.body)
            self._events.add(key)
            data.append((*key, header, body, self._now_s, of_data(key, header, body, self._now_s)))
            for in_set in in_sets:
                checksum = of_event(key, one.receiver, in_set, "", 0, done=status == DONE)
                rows.append((*key, one.receiver, in_set, "", status, 0, checksum))
                self.accounts.of(one.sender).add(COUNTED_EVENTS, [checksum])

    def add_state(self, state: StateInfo, body: bytes, context: Context) -> None:
        """A state.  Without lineage it takes the place of the operator's latest one, and of several
        the last one is written."""
        operator, number = state
        self.obligations.stores(operator, context)
        if operator in self._captured:
            row = operator, number, bytes(body), context.to_json(), self._now_s
            self._rows[ADD_STATE].append((*row, self._account_of_state(*row)))
        else:
            self._states[operator] = number, bytes(body), context

    def _account_of_state(self, operator: str, number: int, *row: Any) -> int:
        checksum = of_state(operator, number, *row)
        self.accounts.of(operator).store(checksum)
        return checksum

    def concerns(self, event: Key, sets: Iterable[InputSet]) -> bool:
        """Does the event wait, or the end of one of these Input Sets?"""
        return event in self._events or not self._ends.keys().isdisjoint(sets)

    def end(self, one: EndedSet) -> None:
        """End an Input Set that has an event."""
        self._ends[one.operator, one.in_set] = one

    def end_now(self, one: EndedSet) -> bool:
        """End an Input Set; had it an event?"""
        ends = one.operator, one.in_set
        rows = self._database.execute(self._end_of(one), ends, ahead=ends not in self._ends)
        self._add_ended(one, rows)
        return bool(rows)

    def _end_of(self, one: EndedSet) -> str:
        return KEEP_INPUTS if one.operator in self._captured else DELETE_INPUTS

    def _add_ended(self, one: EndedSet, inputs: Iterable[Row]) -> None:
        """What follows the end of an Input Set: Algorithm 3, steps 4.4 and 4.5.

        Rows that lineage needs are kept as done: those from a port of IN.  The others are removed,
        with data that nothing needs.
        """
        operator, in_set, outputs, lineage = one
        account = self.accounts.of(operator)
        for sender, port, receiver_port, number, checksum in inputs:
            if operator in self._captured:
                account.change(ENDED)
            else:
                account.remove(COUNTED_EVENTS, [checksum])
            self.obligations.uses(operator, receiver_port, number)
            if (operator, receiver_port) in self._capture.inputs:
                lineage = True
                continue
            key = sender, port, receiver_port, number
            if operator in self._captured:
                self._rows[DELETE_EVENT].append((*key, in_set))
                account.remove(COUNTED_EVENTS, [checksum])
            if (sender, port) not in self._capture.kept:
                self._rows[DELETE_DATA].append(key)
        if lineage:
            rows = [
                (*made.key, in_set, of_lineage(made.key, in_set))
                for made in outputs
                if (operator, made.port) in self._capture.outputs
            ]
            self._rows[INSERT_LINEAGE].extend(rows)
            account.add(LINEAGE, [row[-1] for row in rows])

    def end_steps(self) -> None:
        """No row is added any more: the next write is the last one."""
        self._is_last = True

    def write(self) -> None:
        """Write all rows.  If that has failed, the transaction can only be rolled back."""
        if self._failed:
            raise LogError("rows of the transaction could not be written") from self._failed
        try:
            self._write(EVENTS)
            self._write_ends()
            if self._is_last:
                self.obligations.check()
            self._write(ORDER)
            self._write_states()
            if self._is_last:
                self._database.repeat(ADD, [*self.accounts.rows()])
        except BaseException as error:
            self._failed = error
            raise
        self._events.clear()

    def _write(self, statements: Iterable[str]) -> None:
        for statement in statements:
            self._database.repeat(statement, self._rows[statement])
            self._rows[statement].clear()

    def _write_ends(self) -> None:
        ends: dict[str, list[EndedSet]] = {}
        for one in self._ends.values():
            ends.setdefault(self._end_of(one), []).append(one)
        for statement, sets in ends.items():
            found = self._database.ask_each(statement, [one[:2] for one in sets])
            for one, rows in zip(sets, found, strict=True):
                self._add_ended(one, rows)
        self._ends.clear()

    def _write_states(self) -> None:
        rows = []
        for operator, (number, body, context) in self._states.items():
            row = number, body, context.to_json(), self._now_s
            checksum = self._account_of_state(operator, *row)
            rows.append((operator, operator, *row, checksum, number))
        self._database.repeat(REPLACE_STATE, rows)
        self._states.clear()
