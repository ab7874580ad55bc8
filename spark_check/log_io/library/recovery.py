"""What a restarted operator reads from the log, and a running one polls (Tables 7 and 9).

Rule of this file: rows are read here, never written.
LOG.io, Algorithms 6 to 9, Section 6.2.
"""

from __future__ import annotations

from spark_check.log_io.library.context import Context
from spark_check.log_io.library.database import Database, Row, read_bytes
from spark_check.log_io.library.values import (
    ActionInfo,
    Event,
    InputSet,
    Key,
    LogError,
    NewEvents,
    ReadAction,
    Replay,
    StateInfo,
)

EVENTS = """
    SELECT log.send_op, log.send_port, log.rec_op, log.rec_port, log.event_id,
        data.body, data.header, log.inset_id, log.inset_key, log.assigned_as
    FROM event_log AS log JOIN event_data AS data ON data.send_op = log.send_op
        AND data.send_port = log.send_port AND data.rec_port = log.rec_port
        AND data.event_id = log.event_id"""


def fetch_resend_events(database: Database, operator: str) -> list[Event]:
    """Table 9, FetchResendEvents."""
    rows = database.execute(
        f"{EVENTS} WHERE log.send_op = ? AND log.status = 'undone' AND log.inset_id = 0"
        " AND log.send_port <> '' AND log.rec_port <> '' ORDER BY log.event_id, log.send_port",
        (operator,),
    )
    return [_event(row) for row in rows]


def get_write_actions(database: Database, operator: str) -> list[Event]:
    """Table 7, GetWriteActions."""
    rows = database.execute(
        f"{EVENTS} WHERE log.send_op = ? AND log.status = 'undone' AND log.inset_id = 0"
        " AND log.send_port = '' ORDER BY log.event_id, log.rec_port",
        (operator,),
    )
    return [_event(row) for row in rows]


def fetch_new_events(database: Database, operator: str, limit: int) -> NewEvents:
    """The undone inputs that are not assigned, at most `limit` of them."""
    rows = database.execute(
        f"{EVENTS} WHERE log.rec_op = ? AND log.status = 'undone' AND log.inset_id + 0 = 0"
        " AND log.send_port <> '' AND log.rec_port <> ''"
        " ORDER BY log.event_id, log.send_op, log.send_port LIMIT ?",
        (operator, limit + 1),
    )
    return NewEvents([_event(row) for row in rows[:limit]], len(rows) > limit)


def fetch_ack_events(database: Database, operator: str, context: Context) -> list[Replay]:
    """Table 9, FetchAckEvents, in the order in which they were assigned; of each input by number.

    So those that the conditions have seen come first: they are in their Input Sets before a
    condition looks again.  All rows of an input come together.
    """
    rows = database.execute(
        f"{EVENTS} WHERE log.rec_op = ? AND log.status = 'undone' AND log.inset_id + 0 > 0"
        " AND log.send_port <> '' AND log.rec_port <> ''",
        (operator,),
    )

    def order(row: Row) -> tuple[int, str, int, int]:
        _, _, _, port, number, _, _, in_set, _, assigned_as = row
        return assigned_as, port, number, in_set

    found = [(_event(row), InputSet(*row[7:9])) for row in sorted(rows, key=order)]
    return [Replay(one, in_set, context.has_seen(one)) for one, in_set in found]


def get_proc_state(database: Database, operator: str) -> tuple[StateInfo, bytes, Context] | None:
    """Table 9, GetProcState."""
    rows = database.execute(
        "SELECT state_id, state, context FROM state WHERE op_id = ? ORDER BY state_id DESC LIMIT 1",
        (operator,),
    )
    if not rows:
        return None
    number, state, context = rows[0]
    try:
        return StateInfo(operator, number), read_bytes(state), Context.from_json(context)
    except LogError as error:
        raise LogError(f"{database.name}: state {number} of {operator}: {error}") from None


def get_read_action(database: Database, operator: str, connection: str) -> ReadAction | None:
    """The latest read action of a connection (Algorithm 6, steps 2 and 3)."""
    rows = database.execute(
        "SELECT action_id, action_desc, status FROM read_action WHERE op_id = ? AND conn_id = ?"
        " ORDER BY action_id DESC LIMIT 1",
        (operator, connection),
    )
    if not rows:
        return None
    number, description, status = rows[0]
    key = (operator, connection, "", number)
    data = database.execute(
        "SELECT body FROM event_data"
        " WHERE send_op = ? AND send_port = ? AND rec_port = ? AND event_id = ?",
        key,
    )
    complete = status == "complete"
    return ReadAction(
        ActionInfo(operator, connection, number, description),
        complete,
        complete and not is_undone(database, key),
        read_bytes(data[0][0]) if data else None,
    )


def is_undone(database: Database, key: Key) -> bool:
    """Has the event an undone row?"""
    rows = database.execute(
        "SELECT 1 FROM event_log WHERE send_op = ? AND send_port = ? AND rec_port = ?"
        " AND event_id = ? AND status = 'undone' LIMIT 1",
        key,
    )
    return bool(rows)


def latest_action_id(database: Database, operator: str, connection: str) -> int:
    rows = database.execute(
        "SELECT COALESCE(MAX(action_id), 0) FROM read_action WHERE op_id = ? AND conn_id = ?",
        (operator, connection),
    )
    return int(rows[0][0])


def latest_state_id(database: Database, operator: str) -> int:
    rows = database.execute(
        "SELECT COALESCE(MAX(state_id), 0) FROM state WHERE op_id = ?", (operator,)
    )
    return int(rows[0][0])


def _event(row: Row) -> Event:
    sender, port, receiver, receiver_port, number, body, header = row[:7]
    return Event(
        sender, port, receiver, receiver_port, number, read_bytes(body), read_bytes(header)
    )
