"""What the log does while a replica comes or goes away.

Rule of this file: tables in, tables out, as in log_io/log.py.
LOG.io, Algorithm 13, step 1, and Section 7.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from model.core import NodeName, Send
from model.protocols.log_io.design import LogIoDesign, Replicas
from model.protocols.log_io.places import CONTROLLER
from model.protocols.log_io.scaling.keyed import KeyPart, MovedState, moved_state
from model.protocols.log_io.scaling.messages import Choose, Chosen, Drained, Move, Resent, Watch
from model.protocols.log_io.tables import (
    ContextRow,
    LogDatabase,
    LoggedEvent,
    Rules,
    Transacted,
    with_row,
)

Contexts: TypeAlias = tuple[tuple[NodeName, ContextRow], ...]


def _choose(
    _design: LogIoDesign, tables: LogDatabase, node: NodeName, message: Choose
) -> Transacted:
    """Algorithm 13, step 1.b: what was sent to the replica and is undone."""
    sent = (row for row in tables.events if row[:2] == (node, message.replica))
    undone = tuple(row for row in sent if not row.done)
    return tables, (Send(node, Chosen(message.replica, undone)),)


def _wait(_design: LogIoDesign, tables: LogDatabase, node: NodeName, message: Move) -> Transacted:
    """Step 1.c waits until it may be executed, which may be at once."""
    return tables._replace(waiting=(node, message)), ()


def _watch(
    _design: LogIoDesign, tables: LogDatabase, _node: NodeName, _message: Watch
) -> Transacted:
    return tables._replace(watched=True), ()


RULES: Rules = {Choose: _choose, Move: _wait, Watch: _watch}


# --- after each transaction ------------------------------------------------------------------
def move_late(
    design: LogIoDesign, _before: LogDatabase, tables: LogDatabase, _node: NodeName, _message: Any
) -> Transacted:
    """Execute step 1.c as soon as it may be."""
    if tables.waiting is None or not may_move(design, tables, tables.waiting[1]):
        return tables, ()
    sender, message = tables.waiting
    tables, moved = move(tables._replace(waiting=None), sender, message)
    return tables, (Send(sender, Resent(moved)),)


def report_drained(
    design: LogIoDesign, _before: LogDatabase, tables: LogDatabase, _node: NodeName, _message: Any
) -> Transacted:
    """Report to the controller that the outputs of the replica have been taken."""
    scaling = design.scaling
    if scaling is None:
        return tables, ()
    if tables.watched and are_taken(tables, scaling.replicas, scaling.replicas.second):
        return tables._replace(watched=False), (Send(CONTROLLER, Drained()),)
    return tables, ()


def forget_waiting(tables: LogDatabase, node: NodeName) -> LogDatabase:
    """The tables of a node that restarts: it waits for no transaction of the life before."""
    if tables.waiting and tables.waiting[0] == node:
        return tables._replace(waiting=None)
    return tables


# --- rows ------------------------------------------------------------------------------------
def may_move(design: LogIoDesign, tables: LogDatabase, move: Move) -> bool:
    """May the events of the key go to another replica now?"""
    assert design.scaling is not None
    replicas, in_turn = design.scaling.replicas, design.scaling.in_turn
    return not in_turn or are_taken(tables, replicas, move.replica)


def move(
    tables: LogDatabase, node: NodeName, message: Move
) -> tuple[LogDatabase, tuple[LoggedEvent, ...]]:
    """Algorithm 13, step 1.c: the tables, and the rows that have moved, which are those that are
    still undone.  The global state of the key is the first of them, as an event."""
    undone = {row[:3] for row in tables.events if not row.done}
    leave = undone.intersection(row[:3] for row in message.rows)
    events = tuple(row for row in tables.events if row[:3] not in leave)
    bodies = {row.number: row.body for row in message.rows if row[:3] in undone}
    takes = message.key and not any(isinstance(one, MovedState) for one in bodies.values())
    first = message.number + bool(takes)
    numbers = {number: first + at for at, number in enumerate(bodies)}
    contexts, moved = tables.contexts, []
    if takes:
        contexts, part = _take_part(contexts, message, numbers)
        state = moved_state(message.key, part)
        moved.append(LoggedEvent(node, message.to, message.number, 0, state))
    for number, body in bodies.items():
        body = body.with_numbers(numbers) if isinstance(body, MovedState) else body
        moved.append(LoggedEvent(node, message.to, numbers[number], 0, body))
    for row in moved:
        events = with_row(events, row)
    contexts = with_row(contexts, (node, message.context))
    return tables._replace(events=events, contexts=contexts), tuple(moved)


def _take_part(
    contexts: Contexts, message: Move, numbers: Mapping[int, int]
) -> tuple[Contexts, KeyPart | None]:
    """STATE without the replica's global state for the key, and that state.

    numbers: of the undone events of the key, which have other ones after the move.
    """
    stored = dict(contexts).get(message.replica)
    part = (
        next((one for one in stored.box.parts if one.key == message.key), None) if stored else None
    )
    if stored is None or part is None:
        return contexts, None
    left = tuple(one for one in stored.box.parts if one.key != message.key)
    row = stored._replace(box=stored.box._replace(parts=left))
    (last,) = stored.last
    counted = tuple(new for number, new in numbers.items() if number <= last)
    return with_row(contexts, (message.replica, row)), part._replace(counted=counted)


def are_taken(tables: LogDatabase, replicas: Replicas, replica: NodeName) -> bool:
    """Has the merger taken all outputs of the replica?"""
    rows = (row for row in tables.events if row[:2] == (replica, replicas.merger))
    return all(row.done or row.inset for row in rows)
