"""The rows that an open transaction has not written yet.

Rule of this file: a statement stands here if nobody needs its answer, and if no other process waits
for it or would have to.  The others are executed at once, where they stand.

A transaction of many steps then executes each statement once, with the rows of all steps, and not
once a step: the round trips to the database do not grow with these rows.  They are written before
the commit, and before each statement that could see them (database.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from spark_check.log_io.library.context import Context
from spark_check.log_io.library.database import Database, Row
from spark_check.log_io.library.values import Event, Key, StateInfo

KEYED = "send_op = ? AND send_port = ? AND rec_port = ? AND event_id = ?"
KEY_NAMES = "send_op, send_port, rec_port, event_id"

INSERT_DATA = f"""
    INSERT INTO event_data ({KEY_NAMES}, header, body, logged_at) VALUES (?, ?, ?, ?, ?, ?, ?)"""
INSERT_EVENT = f"""
    INSERT INTO event_log ({KEY_NAMES}, rec_op, inset_id, status, assigned_as)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_LINEAGE = f"INSERT INTO event_lineage ({KEY_NAMES}, inset_id) VALUES (?, ?, ?, ?, ?)"
DELETE_EVENT = f"DELETE FROM event_log WHERE {KEYED} AND inset_id = ?"
DELETE_DATA = f"""
    DELETE FROM event_data WHERE {KEYED} AND NOT EXISTS (
        SELECT 1 FROM event_log AS log
        WHERE log.send_op = event_data.send_op AND log.send_port = event_data.send_port
        AND log.rec_port = event_data.rec_port AND log.event_id = event_data.event_id)"""
ADD_STATE = """
    INSERT INTO state (op_id, state_id, state, context, logged_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (op_id, state_id) DO UPDATE SET state = excluded.state,
        context = excluded.context, logged_at = excluded.logged_at"""
REPLACE_STATE = """
    INSERT INTO state (op_id, state_id, state, context, logged_at)
    VALUES (?, COALESCE((SELECT MAX(state_id) FROM state WHERE op_id = ?), ?), ?, ?, ?)
    ON CONFLICT (op_id, state_id) DO UPDATE SET state_id = ?, state = excluded.state,
        context = excluded.context, logged_at = excluded.logged_at"""
"""The new state takes the place of the operator's latest one."""

ORDER = (INSERT_DATA, INSERT_EVENT, INSERT_LINEAGE, DELETE_EVENT, DELETE_DATA, ADD_STATE)
"""Data come before the rows that name them, and go after them."""


class WaitingRows:
    """Rows of one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rows: dict[str, list[Row]] = {statement: [] for statement in ORDER}
        self._latest: dict[str, tuple[StateInfo, bytes, Context, float]] = {}
        self._events: set[Key] = set()

    def add(self, statement: str, rows: Iterable[Row]) -> None:
        self._rows[statement].extend(rows)

    def add_events(self, events: Iterable[Event], in_set: int, status: str, now_s: float) -> None:
        """Events with their data."""
        for one in events:
            key = one.key
            self._events.add(key)
            self._rows[INSERT_DATA].append((*key, bytes(one.header), bytes(one.body), now_s))
            self._rows[INSERT_EVENT].append((*key, one.receiver, in_set, status, 0))

    def has(self, event: Event) -> bool:
        """Does the event wait?"""
        return event.key in self._events

    def replace_state(self, state: StateInfo, body: bytes, context: Context, now_s: float) -> None:
        """The state, in place of the operator's latest one; of several, the last one is written."""
        self._latest[state.operator] = (state, body, context, now_s)

    def write(self) -> None:
        """Write all rows.  If that fails, they still wait, so that no commit goes without them."""
        for statement, rows in self._rows.items():
            self._database.repeat(statement, rows)
        self._database.repeat(
            REPLACE_STATE,
            [
                (operator, operator, number, body, context.to_json(), now_s, number)
                for (operator, number), body, context, now_s in self._latest.values()
            ],
        )
        for rows in self._rows.values():
            rows.clear()
        self._latest.clear()
        self._events.clear()
