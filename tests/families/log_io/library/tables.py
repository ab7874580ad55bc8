"""The tables of a log as the model writes them, and the model's transactions as library calls."""

from __future__ import annotations

import json
import re
from typing import Any

from model.events import Body
from model.protocols.log_io.design import LineageCapture as ModelCapture
from model.protocols.log_io.design import LineageScope, OutputPort
from model.protocols.log_io.lineage.ports import ports_of
from model.protocols.log_io.tables import ContextRow as ModelContext
from model.protocols.log_io.tables import LogDatabase, LoggedEvent, ReadActionRow
from spark_check.log_io.library import (
    Capture,
    Connection,
    Context,
    Event,
    Log,
    Scope,
    Transaction,
    capture,
    write_action,
)
from spark_check.log_io.library.schema import TABLES
from spark_check.log_io.library.values import DONE, UNDONE

SOURCE, MIDDLE, OTHER, WRITER, SINK, SERVICE = "source", "middle", "other", "writer", "sink", "till"
EDGES = ((SOURCE, MIDDLE), (SOURCE, OTHER), (MIDDLE, WRITER), (OTHER, WRITER))
"""A port is called by the operator at its other end."""
SUCCS = {SOURCE: (MIDDLE, OTHER), MIDDLE: (WRITER,), OTHER: (WRITER,), WRITER: (SINK,)}
PREDS = {MIDDLE: (SOURCE,), OTHER: (SOURCE,), WRITER: (MIDDLE, OTHER)}
CONNECTIONS = tuple(Connection(a, b, b, a) for a, b in EDGES)
WHOLE = capture(
    CONNECTIONS,
    Scope((SOURCE, MIDDLE), (WRITER, SINK)),
    Scope((SOURCE, OTHER), (WRITER, SINK)),
    writes=[(WRITER, SINK)],
)
NOTHING = Capture()
SCOPES = tuple(
    LineageScope(OutputPort(SOURCE, to), OutputPort(WRITER, SINK)) for to in (MIDDLE, OTHER)
)
MODEL_WHOLE = ModelCapture(SCOPES, ports=ports_of((*EDGES, (WRITER, SINK)), SCOPES))
"""The same scopes for the model."""


def event_of(row: LoggedEvent) -> Event:
    body = json.dumps(row.data.time).encode()
    if row.receiver == SINK:
        return write_action(row.sender, SINK, row.number, body)
    return Event(row.sender, row.receiver, row.receiver, row.sender, row.number, body)


def row_of(event: Event, in_set: int = 0, order: int = 0) -> LoggedEvent:
    receiver = event.receiver if event.sender_port else event.receiver_port
    body = Body(json.loads(event.body), "a")
    return LoggedEvent(event.sender, receiver, event.number, in_set, body, order=order)


def context_of(node: str, context: ModelContext) -> tuple[bytes, Context]:
    """The state and the context that a node stores."""
    accepted = dict(zip(PREDS.get(node, ()), context.last, strict=True))
    sent = dict(zip(SUCCS[node], context.sent, strict=True))
    body = json.dumps(context.box).encode()
    return body, Context(accepted, sent, context.insets)


def model_context(node: str, body: bytes, context: Context) -> ModelContext:
    return ModelContext(
        json.loads(body),
        tuple(context.accepted[one] for one in PREDS.get(node, ())),
        tuple(context.sent[one] for one in SUCCS[node]),
        context.in_sets,
    )


def tables_of(log: Log) -> dict[str, Any]:
    """The parts of the model's tables that the rows of the database say."""
    rows = log.database.execute(
        "SELECT log.send_op, log.send_port, log.rec_op, log.rec_port, log.event_id, data.body,"
        " log.inset_id, log.status, log.assigned_as FROM event_log AS log JOIN event_data AS data"
        " ON data.send_op = log.send_op AND data.send_port = log.send_port"
        " AND data.rec_port = log.rec_port AND data.event_id = log.event_id"
    )
    logged = [(Event(a, b, c, d, at, bytes(body)), *more) for a, b, c, d, at, body, *more in rows]
    whole = [one for one in logged if one[0].receiver_port]
    reading = {(one.sender, one.number) for one, *_ in logged if not one.receiver_port}
    actions = log.database.execute("SELECT op_id, action_id, status FROM read_action")
    made = log.database.execute(
        "SELECT send_op, send_port, rec_port, event_id, inset_id FROM event_lineage"
    )
    bodies = log.database.execute(
        "SELECT send_op, send_port, rec_port, event_id, body FROM event_data WHERE rec_port <> ''"
    )
    undone, done = (
        {one.key for one, _, status, _ in whole if status == wanted} for wanted in (UNDONE, DONE)
    )
    return {
        "events": sorted(
            row_of(one, at, order) for one, at, status, order in whole if status == UNDONE
        ),
        "contexts": [
            (node, model_context(node, found[1], found[2]))
            for node in sorted(SUCCS)
            if (found := log.get_proc_state(node))
        ],
        "used": sorted((op, port or sink, at, inset) for op, port, sink, at, inset in made),
        "assigned": sorted(
            (one.sender, one.receiver, one.number, at)
            for one, at, status, _ in whole
            if status == DONE
        ),
        "data": sorted(
            (op, port or sink, at, json.loads(body))
            for op, port, sink, at, body in map(tuple, bodies)
            if (op, port, sink, at) in done or (op, port, sink, at) not in undone
        ),
        "actions": [
            (op, number, status == "complete", status == "complete" and (op, number) not in reading)
            for op, number, status in actions
            if log.get_action_id(op, SERVICE) == number + 1
        ],
    }


def told_by_model(tables: LogDatabase) -> dict[str, Any]:
    def action(row: ReadActionRow) -> tuple[str, int, bool, bool]:
        return row.node, row.number, row.complete, row.done

    return {
        "events": sorted(tables.events),
        "contexts": sorted(tables.contexts, key=lambda one: one[0]),
        "used": sorted(row[:4] for row in tables.used),
        "assigned": sorted(tuple(row) for row in tables.assigned),
        "data": sorted((*row[:3], row.body.time) for row in tables.data),
        "actions": [action(row) for row in tables.actions],
    }


def log_outputs(log: Log, *events: Event) -> None:
    """Log outputs of operators, each with a state that knows them."""
    with log.begin_transaction() as transaction:
        transaction.log_source_event(*events)
        for operator in {one.sender for one in events}:
            store_knowing(log, transaction, operator, *events)


def store_knowing(
    log: Log, transaction: Transaction, operator: str, *events: Event, in_sets: int = 0
) -> None:
    """Store a state of an operator that has received or sent these events, and made Input Sets."""
    by_number = sorted(events, key=lambda one: one.number)
    accepted = {one.receiver_port: one.number for one in by_number if one.receiver == operator}
    sent = {one.port: one.number for one in by_number if one.sender == operator}
    transaction.store_state(log.get_state_id(operator), b"null", Context(accepted, sent, in_sets))


def snapshot(log: Log) -> list[Any]:
    """Everything that a connection sees, as text, in one statement."""
    parts = []
    for name, columns in re.findall(r"TABLE IF NOT EXISTS (\w+) \((.*?)\n\)", TABLES, re.DOTALL):
        names = re.findall(r"^ {4}([a-z]\w*) ", columns, re.MULTILINE)
        values = " || '|' || ".join(f"CAST({one} AS TEXT)" for one in names)
        parts.append(f"SELECT '{name}', {values} FROM {name}")
    return log.database.execute(" UNION ALL ".join(parts) + " ORDER BY 1, 2")


def all_rows(log: Log) -> list[list[Any]]:
    """Everything that a connection sees."""
    names = ("event_log", "event_data", "read_action", "state", "event_lineage")
    return [sorted(log.database.execute(f"SELECT * FROM {name}"), key=repr) for name in names]
