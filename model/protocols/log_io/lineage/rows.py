"""The rows of lineage that a transaction leaves in the log.

Rule of this file: tables in, tables out; the log calls it, within its transaction.
LOG.io, Algorithm 3, step 4.5; Algorithm 4; Section 3.6.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from model.core import NodeName
from model.protocols.log_io.design import LineageCapture, LineageNames, LogIoDesign, OfState
from model.protocols.log_io.lineage.retention import clean
from model.protocols.log_io.messages import Commit, Executed, ExecutedGroup, Restore, StoreRead
from model.protocols.log_io.places import SERVICE
from model.protocols.log_io.replaying.messages import Reset
from model.protocols.log_io.tables import (
    Assigned,
    Data,
    LogDatabase,
    LoggedEvent,
    ReadEffectRow,
    Related,
    Transacted,
    Used,
)


def add_lineage(
    design: LogIoDesign, before: LogDatabase, after: LogDatabase, node: NodeName, message: Any
) -> Transacted:
    """The tables after a transaction, with its rows of lineage; before: the tables before it."""
    capture = design.lineage
    if capture is None or (after is before and not isinstance(message, StoreRead)):
        return after, ()
    match message:
        case StoreRead(number, value):  # Algorithm 4, step 2
            stored = _merged(after.effects, [ReadEffectRow(node, number, value)], 2)
            return after._replace(effects=stored), ()
        case Commit():
            mine = [row for row in before.events if row.receiver == node]
            inputs = [row for row in mine if message.inset and row.inset == message.inset]
            after = _record(capture, after, node, message, inputs)
            after = _keep(capture, before, after)
        case Executed() | ExecutedGroup() | Reset() | Restore():  # they may delete rows, too
            after = _keep(capture, before, after)
    if capture.retention is not None:
        after = clean(capture, capture.retention, after)
    return after, ()


def _record(
    capture: LineageCapture,
    tables: LogDatabase,
    node: NodeName,
    commit: Commit,
    inputs: list[LoggedEvent],
) -> LogDatabase:
    """The tables with the rows of the outputs (4.5.b), and of what else is in the Input Set."""
    rows, read, uses_state = commit.lineage
    tables = tables._replace(truth=_merged(tables.truth, rows, 3))
    events = [(row.sender, row.number) for row in inputs if row[:2] in capture.ports.ins]
    more: list[Assigned] = []
    if read is not None:  # 4.5.a
        more.append(Assigned(SERVICE, node, read.number, read.inset))
        if read.value is not None:
            shown = ReadEffectRow(node, read.number, read.value)
            tables = tables._replace(shown=_merged(tables.shown, [shown], 2))
    if uses_state and capture.names is LineageNames.INSET and capture.of_state is OfState.SETS:
        states = [row.number for row in tables.used if row[:2] == (node, node)]
        number = max(states, default=0)
        more += [Assigned(node, node, number, commit.inset)] if number else []
        state = Used(node, node, number + 1, commit.inset, frozenset())
        tables = tables._replace(used=_merged(tables.used, [state], 3))
    if capture.names is not LineageNames.INSET:
        named = frozenset((*events, *((row.sender, row.number) for row in more)))
        said = capture.names is LineageNames.FUNCTION
        related = [
            Related(*row[:3], *one)
            for row in rows
            for one in (_said(capture, row) if said else named)
        ]
        return tables._replace(related=_merged(tables.related, related, 5))
    tables = tables._replace(assigned=_merged(tables.assigned, more, 4))
    if not events and not more:  # 3.1: "if and only if"
        rows = ()
    return tables._replace(used=_merged(tables.used, rows, 3))


def _said(capture: LineageCapture, row: Used) -> frozenset[tuple[NodeName, int]]:
    """The inputs on ports in IN, and the read actions, that the function says it used."""
    ins = capture.ports.ins
    return frozenset(one for one in row.really if one[0] == SERVICE or (one[0], row.sender) in ins)


def _keep(capture: LineageCapture, before: LogDatabase, tables: LogDatabase) -> LogDatabase:
    """The tables with what lineage keeps of rows that garbage collection has deleted."""
    ports, logged = capture.ports, {row[:4] for row in tables.events}
    gone = [row for row in before.events if row[:4] not in logged]
    if capture.names is LineageNames.INSET:  # the join of 7.3 needs them
        assigned = [Assigned(*row[:4]) for row in gone if row[:2] in ports.ins]
        tables = tables._replace(assigned=_merged(tables.assigned, assigned, 4))
    kept = ports.outs | ports.ins  # a path begins with an event on a port in IN
    bodies = ((row[:3], row.body) for row in gone if row[:2] in kept)
    data = [Data(*key, body) for key, body in bodies if body is not None]
    return tables._replace(data=_merged(tables.data, data, 3))


def _merged(rows: tuple[Any, ...], more: Iterable[Any], key: int) -> tuple[Any, ...]:
    """The rows with these, in the order of their keys: equal tables are equal."""
    found = {row[:key]: row for row in (*rows, *more)}
    return tuple(found[one] for one in sorted(found))
