"""The log database of LOG.io: every transaction is one step.

Rule of this file: tables in, tables out; nothing here knows how a node decides.
LOG.io, Sections 3.2 and 3.6.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from model.core import Answer, Effect, NodeName, Send
from model.protocols.log_io.design import Design, Garbage
from model.protocols.log_io.messages import (
    Assign,
    Assigned,
    Commit,
    Executed,
    LoggedEvent,
    Restore,
    Restored,
    Tables,
)

LOG = "log"


def transact(design: Design, tables: Tables, node: NodeName, message: Any) -> Answer:
    """The tables after a transaction of the node, and the log's answer to it, if any."""
    effects: tuple[Effect, ...] = ()
    match message:
        case Assign(sender, number, inset):
            events = tuple(
                row._replace(inset=inset) if _is(row, sender, node, number) else row
                for row in tables.events
            )
            tables = tables._replace(events=events)
            if design.lineage:
                row = Assigned(sender, node, number, inset)
                tables = tables._replace(assigned=_sorted((*tables.assigned, row)))
        case Commit(outputs, context, inset, lineage):
            done = [
                row._replace(done=True) if row.receiver == node and inset == row.inset else row
                for row in tables.events
            ]
            events = _sorted(_collect(design, (*done, *outputs)) if inset else (*done, *outputs))
            contexts = _sorted((*(c for c in tables.contexts if c[0] != node), (node, context)))
            used = _sorted({*tables.used, *lineage})
            tables = tables._replace(events=events, contexts=contexts, used=used)
        case Executed(sink, number):
            done = [
                row._replace(done=True) if _is(row, node, sink, number) else row
                for row in tables.events
            ]
            tables = tables._replace(events=tuple(_collect(design, done)))
        case Restore():
            effects = (Send(node, _restored(tables, node)),)
        case _:
            raise TypeError(f"{LOG}: nothing to do with {message}")
    return tables, effects


def _is(row: LoggedEvent, sender: NodeName, receiver: NodeName, number: int) -> bool:
    return row[:3] == (sender, receiver, number)


def _collect(design: Design, rows: Iterable[LoggedEvent]) -> list[LoggedEvent]:
    """The rows that stay (Section 3.6)."""
    return [row for row in rows if design.garbage is Garbage.NEVER or not row.done]


def _sorted(rows: Iterable[Any]) -> tuple[Any, ...]:
    """In the order of their keys, so that equal tables are equal."""
    return tuple(sorted(rows, key=lambda row: tuple(map(str, row[:4])) if len(row) > 2 else row[0]))


def _restored(tables: Tables, node: NodeName) -> Restored:
    """What recovery reads: Algorithm 6, steps 1 and 2; 7, 1; 8; 9, steps 1 and 2."""
    undone = sorted((row for row in tables.events if not row.done), key=lambda row: row.number)
    inputs = [row for row in undone if row.receiver == node]
    greatest: dict[NodeName, int] = {}
    sent: dict[NodeName, int] = {}
    for row in tables.events:
        if row.receiver == node and row.inset:
            greatest[row.sender] = max(greatest.get(row.sender, 0), row.number)
        if row.sender == node:
            sent[row.receiver] = max(sent.get(row.receiver, 0), row.number)
    return Restored(
        dict(tables.contexts).get(node),
        tuple(row for row in undone if row.sender == node and not row.inset),
        tuple(sorted((row for row in inputs if row.inset), key=lambda row: row[::2])),
        tuple(row for row in inputs if not row.inset),
        tuple(sorted(greatest.items())),
        tuple(sorted(sent.items())),
    )
