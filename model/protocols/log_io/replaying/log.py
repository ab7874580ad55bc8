"""What the log does for replay operators.

Rule of this file: tables in, tables out, as in log_io/log.py.
LOG.io, Algorithms 10 and 11, and the "exception" of Section 3.6.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from model.core import NodeName
from model.protocols.log_io.replaying.design import (
    GlobalState,
    Keeps,
    Meanwhile,
    Old,
    Regenerates,
    Replaying,
)
from model.protocols.log_io.replaying.messages import LogData, Mark, Regeneration, Reopen, Reset
from model.protocols.log_io.tables import Key, SetState, Tables


def change(tables: Tables, message: Mark | Reset | Reopen | LogData) -> Tables:
    """The tables after a transaction that changes rows which are there, and makes none."""
    changed: dict[Key, dict[str, Any]]
    match message:
        case Mark(keys):
            changed = {key: {"replay": True} for key in keys}
        case Reset(keys):
            changed = {key: {"replay": False} for key in keys}
        case Reopen(keys):
            changed = {key: {"done": False} for key in keys}
        case LogData(outputs):
            changed = {row.key: {"body": row.body} for row in outputs}
    rows = (row._replace(**changed.get(row.key, {})) for row in tables.events)
    return tables._replace(events=tuple(rows))


def collect(replaying: Replaying, tables: Tables) -> Tables:
    """The tables without the done inputs of replay operators of which no output is logged.

    An output may itself be kept for the replay operator that took it.
    """
    awaited = replaying.keeps is Keeps.WHILE_AWAITED
    while True:
        logged = {row.key for row in tables.events}
        states = tuple(one for one in tables.states if not logged.isdisjoint(one.outputs))
        needed = {one[:2] for one in states}
        left = tuple(
            row
            for row in tables.events
            if not row.done
            or (row.replay and awaited)
            or row.receiver not in replaying.operators
            or (row.receiver, row.inset) in needed
        )
        tables = tables._replace(states=states)
        if left == tables.events:
            return tables
        tables = tables._replace(events=left)


def restore(
    replaying: Replaying, tables: Tables, node: NodeName
) -> tuple[Tables, tuple[Regeneration, ...]]:
    """Algorithm 10, step 2, of an operator in state "restarted"."""
    if replaying.old is Old.CLEARED:
        keys = (row.key for row in tables.events if row.receiver == node and row.replay)
        tables = change(tables, Reset(tuple(keys)))
    marked = replaying.regenerates is Regenerates.BOTH
    return tables, _sets(replaying, tables, node, unassigned=True, marked=marked)


def recall(replaying: Replaying, tables: Tables, node: NodeName) -> tuple[Regeneration, ...]:
    """Algorithm 10, step 2, of an operator in state "replay"."""
    return _sets(replaying, tables, node, unassigned=False, marked=True)


def _sets(
    replaying: Replaying, tables: Tables, node: NodeName, *, unassigned: bool, marked: bool
) -> tuple[Regeneration, ...]:
    """The Input Sets of the node's outputs that have to be generated again."""
    wanted = dict(_wanted(replaying, tables, node, unassigned=unassigned, marked=marked))
    numbered = (
        (min(key[2] for key in one.outputs if key in wanted), one)
        for one in tables.states
        if one.node == node and not wanted.keys().isdisjoint(one.outputs)
    )
    in_order = sorted(numbered, key=lambda pair: pair[0])  # outputs are sent in their order
    return tuple(_regeneration(replaying, tables, one, wanted) for _, one in in_order)


def _wanted(
    replaying: Replaying, tables: Tables, node: NodeName, *, unassigned: bool, marked: bool
) -> Iterator[tuple[Key, bool]]:
    """The outputs to send, and whether as replayed events."""
    mine = [row for row in tables.events if row.sender == node and row.body is None]
    waiting = [row for row in mine if not row.done and not row.inset]
    first = min((row.number for row in mine if row.replay), default=0)
    if marked and first and replaying.meanwhile is Meanwhile.DISCARDED:
        yield from ((row.key, False) for row in waiting if row.number > first)  # "sent after"
    if unassigned:
        yield from ((row.key, True) for row in waiting)
    if marked:
        yield from ((row.key, True) for row in mine if row.replay)


def _regeneration(
    replaying: Replaying, tables: Tables, one: SetState, wanted: dict[Key, bool]
) -> Regeneration:
    node, inset, box, outputs = one
    rows = (row for row in tables.events if row.receiver == node and row.inset == inset)
    return Regeneration(
        inset,
        dict(tables.contexts)[node].box if replaying.state is GlobalState.LATEST else box,
        tuple(sorted(rows, key=lambda row: (row.sender, row.number))),
        outputs,
        tuple((key, wanted[key]) for key in outputs if key in wanted),
    )
