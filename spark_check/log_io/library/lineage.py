"""Lineage queries: the inputs behind an event, and the outputs made of it, by SQL.

Rule of this file: rows are read here, never written; no picture is drawn.

LOG.io, Sections 3.1 and 7.3: EVENT_LINEAGE is joined with EVENT_LOG on the operator and the Input
Set, step by step.  What the rows say is what was captured: an input that an operator keeps in its
global state is behind later outputs, too, and no row says so
(docs/explanation/findings.md, LOG.io).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from spark_check.log_io.library import recovery
from spark_check.log_io.library.capture import Connection, Port
from spark_check.log_io.library.database import read_bytes
from spark_check.log_io.library.log import Log
from spark_check.log_io.library.values import Key, event_name

if TYPE_CHECKING:
    import networkx


class EventKind(StrEnum):
    """The role of an event at its operator.  A read is a read action, or a side-effect read."""

    OUTPUT = "output"
    WRITE = "write"
    READ = "read"


def kind_of(event: Key) -> EventKind:
    _, port, receiver_port, _ = event
    return (
        EventKind.OUTPUT if port and receiver_port else EventKind.READ if port else EventKind.WRITE
    )


class Origin(StrEnum):
    """What the log knows about the events that an event, or those of a port, were made of."""

    CAPTURED = "captured"
    SOURCE = "source"
    """The operator has never taken an input."""
    UNKNOWN = "not captured"


class LoggedPort(NamedTuple):
    """An output port, or a connection to an external system, of which the log has events.

    receiver: where its connection goes; None: to an external system, or no event says where.
    numbers: the least and the greatest.  events: how many are there.
    """

    operator: str
    port: str
    kind: EventKind
    receiver: Port | None
    numbers: tuple[int, int]
    events: int
    origin: Origin


class Found(NamedTuple):
    """An event of a lineage.  is_source: the log does not say what it was made of.

    A side-effect read is an event without receiver_port; its body is a reference to the effect.
    """

    sender: str
    sender_port: str
    receiver_port: str
    number: int
    body: bytes
    is_source: bool

    @property
    def kind(self) -> EventKind:
        return kind_of(self.key)

    @property
    def key(self) -> Key:
        return self.sender, self.sender_port, self.receiver_port, self.number

    @property
    def port(self) -> str:
        return self.sender_port or self.receiver_port


def _is(left: str, right: str) -> str:
    names = ("send_op", "send_port", "rec_port", "event_id")
    return " AND ".join(f"{left}.{name} = {right}.{name}" for name in names)


START = "CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT)"
PORT = "send_op, send_port, rec_port"
NAMES = f"{PORT}, event_id"
MADE_OF = (
    "found CROSS JOIN event_lineage AS made CROSS JOIN event_log AS log",
    f"""{_is("made", "found")} AND log.rec_op = made.send_op AND log.status = 'done'
        AND log.inset_id + 0 = made.inset_id + 0 AND (log.send_port <> '' OR log.rec_port <> '')""",
)
"""Tables and condition of one step backward.  SQLite keeps the order of a CROSS JOIN, and
database.py has PostgreSQL keep it: in another order, both may read all events of an operator
(PostgreSQL does while its statistics are of a time when there were few events)."""
WENT_INTO = (
    "found CROSS JOIN event_log AS log CROSS JOIN event_lineage AS made",
    f"""{_is("log", "found")} AND made.send_op = log.rec_op
        AND made.inset_id = log.inset_id""",
)


def _closure(step: tuple[str, str], next_: str, ports: Collection[Port] | None) -> str:
    """All events that are reached step by step; ports: only over events on these."""
    tables, condition = step
    columns = ", ".join(f"{next_}.{name}" for name in NAMES.split(", "))
    return f"""WITH RECURSIVE found ({NAMES}) AS (
        SELECT {START} UNION SELECT {columns} FROM {tables}
        WHERE {condition}{_on(next_, ports)})"""


def _on(table: str, ports: Collection[Port] | None) -> str:
    """The condition that the events of a table are on these ports."""
    if ports is None:
        return ""
    listed = ", ".join("(?, ?)" for _ in ports)
    port = f"CASE {table}.send_port WHEN '' THEN {table}.rec_port ELSE {table}.send_port END"
    return f" AND ({table}.send_op, {port}) IN (VALUES {listed})"


def find(log: Log, operator: str, port: str, number: int) -> Key:
    """The event that an operator sent on a port, or the write that it executed on a connection.

    Raises KeyError if the log has none: was it captured, and is it still retained?
    """
    rows = log.database.execute(
        f"SELECT {NAMES} FROM event_data WHERE send_op = ? AND event_id = ?"
        " AND (send_port = ? OR (send_port = '' AND rec_port = ?))",
        (operator, number, port, port),
    )
    if not rows:
        raise KeyError(f"{operator}.{port} {number}")
    found: Key = tuple(rows[0])
    return found


def connections(log: Log) -> list[Connection]:
    """The connections over which the log has events; this reads all of them."""
    rows = log.database.execute(
        "SELECT DISTINCT send_op, send_port, rec_op, rec_port FROM event_log WHERE send_port <> ''"
        " AND rec_port <> ''"
    )
    return sorted(Connection(*row) for row in rows)


def ports(log: Log) -> list[LoggedPort]:
    """The contents of the log; this reads all of it."""
    receivers = {one.start: one.end for one in connections(log)}
    captured = {
        tuple(row) for row in log.database.execute(f"SELECT DISTINCT {PORT} FROM event_lineage")
    }
    rows = log.database.execute(
        f"SELECT {PORT}, MIN(event_id), MAX(event_id), COUNT(*) FROM event_data"
        f" WHERE send_port <> '' OR rec_port <> '' GROUP BY {PORT}"
    )
    taking = {row[0]: takes_inputs(log, row[0]) for row in rows}
    found = []
    for sender, port, receiver_port, first, last, events in rows:
        made_of = Origin.UNKNOWN if taking[sender] else Origin.SOURCE
        if (sender, port, receiver_port) in captured:
            made_of = Origin.CAPTURED
        kind, name = kind_of((sender, port, receiver_port, first)), port or receiver_port
        receiver = receivers.get((sender, name)) if kind is EventKind.OUTPUT else None
        found.append(LoggedPort(sender, name, kind, receiver, (first, last), events, made_of))
    return sorted(found, key=lambda one: one[:3])


def takes_inputs(log: Log, operator: str) -> bool:
    """Has the operator taken an input, as far as the log knows?"""
    stored = recovery.get_proc_state(log.database, operator)
    waiting = "rec_op = ? AND send_port <> '' AND rec_port <> ''"
    return bool(
        (stored and stored[2].accepted)
        or log.database.execute(f"SELECT 1 FROM event_log WHERE {waiting} LIMIT 1", (operator,))
    )


def origin(log: Log, event: Key) -> Origin:
    """The knowledge of the log about the inputs of an event, if backward finds none."""
    rows = log.database.execute(
        "SELECT 1 FROM event_lineage WHERE send_op = ? AND send_port = ? AND rec_port = ? LIMIT 1",
        event[:3],
    )
    if rows:
        return Origin.CAPTURED
    return Origin.UNKNOWN if takes_inputs(log, event[0]) else Origin.SOURCE


def is_unused(log: Log, event: Key) -> bool:
    """Does the event wait for its receiver, or a write for its execution?"""
    return recovery.is_undone(log.database, event)


def backward(log: Log, event: Key, ports: Collection[Port] | None = None) -> list[Found]:
    """The events that this one was made of, step by step, without itself.

    ports: only lineage over these output ports, as capture.ports_between gives them for a scope.
    """
    return _query(log, _closure(MADE_OF, "log", ports), event, ports)


def forward(log: Log, event: Key, ports: Collection[Port] | None = None) -> list[Found]:
    """The events that this one went into, step by step, without itself.  ports: see backward."""
    return _query(log, _closure(WENT_INTO, "made", ports), event, ports)


def inputs_of(log: Log, event: Key) -> list[Found]:
    """The events of the Input Set that this one was made of: one step backward."""
    tables, condition = MADE_OF
    rows = log.database.execute(
        f"""WITH found ({NAMES}) AS (SELECT {START})
        SELECT log.send_op, log.send_port, log.rec_port, log.event_id, data.body, NOT EXISTS (
            SELECT 1 FROM event_lineage AS more WHERE {_is("more", "log")})
        FROM {tables} CROSS JOIN event_data AS data
        WHERE {condition} AND {_is("data", "log")}""",
        event,
    )
    return sorted(_found(row) for row in rows)


def graph(
    log: Log, event: Key, ports: Collection[Port] | None = None, *, ahead: bool = False
) -> networkx.DiGraph:
    """The lineage of an event: a node for each event, an edge from each input to each output.

    A node is the key of an event and has `name`, `body` and `is_source`; an edge has `in_set`, the
    Input Set.  ahead: forward instead of backward.  ports: see backward.
    """
    import networkx  # only those who draw or walk the graph need the package

    found = networkx.DiGraph()
    add_node(found, event, body_of(log, event), origin(log, event) is Origin.SOURCE)
    for one in (forward if ahead else backward)(log, event, ports):
        add_node(found, one.key, one.body, one.is_source)
    sql, parameters = uses(event, ports, ahead=ahead)
    for row in log.database.execute(sql, parameters):
        ends = tuple(row[:4]), tuple(row[4:8])
        input_, output = ends[::-1] if ahead else ends
        if input_ in found and output in found:
            found.add_edge(input_, output, in_set=row[8])
    return found


def uses(event: Key, ports: Collection[Port] | None, *, ahead: bool) -> tuple[str, tuple[Any, ...]]:
    """The query for all uses of a lineage, with its parameters.

    A row has the event that is reached, the one from which it is, the Input Set, and whether the
    log does not say what the event that is reached was made of.
    """
    step, next_ = (WENT_INTO, "made") if ahead else (MADE_OF, "log")
    other = "log" if next_ == "made" else "made"
    columns = ", ".join(f"{at}.{name}" for at in (next_, "found") for name in NAMES.split(", "))
    sql = f"""{_closure(step, next_, ports)} SELECT {columns}, {other}.inset_id,
        NOT EXISTS (SELECT 1 FROM event_lineage AS more WHERE {_is("more", next_)})
        FROM {step[0]} WHERE {step[1]}{_on(next_, ports)}"""
    return sql, (*event, *_flat(ports), *_flat(ports))


def add_node(found: networkx.DiGraph, node: tuple[Any, ...], body: bytes, is_source: bool) -> None:
    """Add an event, whose key begins the node, to a graph."""
    sender, port, receiver_port, number = node[:4]
    name = event_name((sender, port, receiver_port, number))
    found.add_node(node, name=name, body=body, is_source=is_source)


def _query(log: Log, closure: str, event: Key, ports: Collection[Port] | None) -> list[Found]:
    rows = log.database.execute(
        f"""{closure} SELECT found.send_op, found.send_port, found.rec_port, found.event_id,
            data.body, NOT EXISTS (SELECT 1 FROM event_lineage AS more WHERE {_is("more", "found")})
        FROM found CROSS JOIN event_data AS data WHERE {_is("data", "found")}""",
        (*event, *_flat(ports)),
    )
    return sorted(one for one in map(_found, rows) if one.key != event)


def _flat(ports: Collection[Port] | None) -> Iterator[str]:
    for port in ports or ():
        yield from port


def _found(row: Any) -> Found:
    sender, port, receiver_port, number, body, source = row
    return Found(sender, port, receiver_port, number, read_bytes(body), bool(source))


def body_of(log: Log, event: Key) -> bytes:
    """The body of an event.  Raises KeyError if the log does not have it."""
    rows = log.database.execute(
        "SELECT body FROM event_data"
        " WHERE send_op = ? AND send_port = ? AND rec_port = ? AND event_id = ?",
        event,
    )
    if not rows:
        raise KeyError(f"no event {event} in the log: was it captured, and is it still retained?")
    return read_bytes(rows[0][0])
