"""What the log does for replay operators.

Rule of this file: tables in, tables out, as in log_io/log.py.
LOG.io, Algorithms 10 and 11, and the "exception" of Section 3.6.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from model.core import NodeName, Send
from model.protocols.log_io.design import Garbage, LogIoDesign, Replaying
from model.protocols.log_io.replaying.messages import Absent, LogData, Mark, Recall, Recalled, Reset
from model.protocols.log_io.tables import (
    Key,
    LogDatabase,
    Regeneration,
    Rules,
    SetState,
    Transacted,
)


def change(tables: LogDatabase, message: Mark | Reset | LogData) -> LogDatabase:
    """The tables after a transaction that changes rows which are there, and makes none."""
    changed: dict[Key, dict[str, Any]]
    match message:
        case Mark(keys):
            changed = {key: {"replay": True} for key in keys}
        case Reset(keys):
            changed = {key: {"replay": False} for key in keys}
        case LogData(outputs):
            changed = {row.key: {"body": row.body} for row in outputs}
    rows = (row._replace(**changed.get(row.key, {})) for row in tables.events)
    return tables._replace(events=tuple(rows))


def collect(replaying: Replaying, tables: LogDatabase) -> LogDatabase:
    """The tables without the done inputs of replay operators of which no output is logged.

    An output may itself be kept for the replay operator that took it.
    """
    while True:
        logged = {row.key for row in tables.events}
        states = tuple(one for one in tables.states if not logged.isdisjoint(one.outputs))
        needed = {one[:2] for one in states}
        left = tuple(
            row
            for row in tables.events
            if not row.done
            or row.replay
            or row.receiver not in replaying.operators
            or (row.receiver, row.inset) in needed
        )
        tables = tables._replace(states=states)
        if left == tables.events:
            return tables
        tables = tables._replace(events=left)


def restore(tables: LogDatabase, node: NodeName) -> tuple[LogDatabase, tuple[Regeneration, ...]]:
    """Algorithm 10, step 2, of an operator in state "restarted": its Input Sets to replay.

    The marks that it made before it crashed go: it marks what it lacks now.
    """
    keys = (row.key for row in tables.events if row.receiver == node and row.replay)
    tables = change(tables, Reset(tuple(keys)))
    return tables, _sets(tables, node, unassigned=True, marked=True)


def _sets(
    tables: LogDatabase, node: NodeName, *, unassigned: bool, marked: bool
) -> tuple[Regeneration, ...]:
    """The Input Sets of the node's outputs that have to be generated again."""
    wanted = dict(_wanted(tables, node, unassigned=unassigned, marked=marked))
    numbered = (
        (min(key[2] for key in one.outputs if key in wanted), one)
        for one in tables.states
        if one.node == node and not wanted.keys().isdisjoint(one.outputs)
    )
    in_order = sorted(numbered, key=lambda pair: pair[0])  # outputs are sent in their order
    return tuple(_regeneration(tables, one, wanted) for _, one in in_order)


def _wanted(
    tables: LogDatabase, node: NodeName, *, unassigned: bool, marked: bool
) -> Iterator[tuple[Key, bool]]:
    """The outputs to send, and whether as replayed events."""
    mine = [row for row in tables.events if row.sender == node and row.body is None]
    if unassigned:
        yield from ((row.key, True) for row in mine if not row.done and not row.inset)
    if marked:
        yield from ((row.key, True) for row in mine if row.replay)


def _regeneration(tables: LogDatabase, one: SetState, wanted: dict[Key, bool]) -> Regeneration:
    node, inset, box, outputs = one
    rows = (row for row in tables.events if row.receiver == node and row.inset == inset)
    return Regeneration(
        inset,
        box,
        tuple(sorted(rows, key=lambda row: (row.sender, row.number))),
        outputs,
        tuple((key, wanted[key]) for key in outputs if key in wanted),
    )


# --- transactions ----------------------------------------------------------------------------
def _change(_design: LogIoDesign, tables: LogDatabase, _node: NodeName, message: Any) -> Transacted:
    return change(tables, message), ()


def _mark(_design: LogIoDesign, tables: LogDatabase, node: NodeName, message: Mark) -> Transacted:
    """Algorithm 11, step 3.  A row may be gone: what was made of it has been taken meanwhile."""
    tables = change(tables, message)
    absent = set(message.keys).difference(row.key for row in tables.events)
    if absent:
        return tables, (Send(node, Absent(tuple(sorted(absent)))),)
    return tables, ()


def _recall(
    _design: LogIoDesign, tables: LogDatabase, node: NodeName, _message: Recall
) -> Transacted:
    """Algorithm 10, step 2, of an operator in state "replay"."""
    sets = _sets(tables, node, unassigned=False, marked=True)
    return tables, (Send(node, Recalled(sets)),)


RULES: Rules = {Mark: _mark, Recall: _recall, Reset: _change, LogData: _change}


def collect_done(
    design: LogIoDesign, _before: LogDatabase, tables: LogDatabase, _node: NodeName, _message: Any
) -> Transacted:
    """Section 3.6, after each transaction."""
    if design.replaying is None or design.garbage is Garbage.NEVER:
        return tables, ()
    return collect(design.replaying, tables), ()
