"""What the log does while a replica comes or goes away.

Rule of this file: tables in, tables out, as in log_io/log.py.
LOG.io, Algorithm 13, step 1, and Section 7.2.
"""

from __future__ import annotations

from typing import Any

from model.core import NodeName, Send
from model.protocols.log_io.design import LogIoDesign, Replicas
from model.protocols.log_io.places import CONTROLLER
from model.protocols.log_io.scaling.messages import Choose, Chosen, Drained, Move, Resent, Watch
from model.protocols.log_io.tables import LogDatabase, LoggedEvent, Rules, Transacted, with_row


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
    still undone."""
    undone = {row[:3] for row in tables.events if not row.done}
    leave = undone.intersection(row[:3] for row in message.rows)
    events = tuple(row for row in tables.events if row[:3] not in leave)
    moved: list[LoggedEvent] = []
    for body, key in dict.fromkeys((row.body, row[:3]) for row in message.rows):
        if key in undone:
            number = message.number + len(moved)
            moved.append(LoggedEvent(node, message.to, number, 0, body))
    for row in moved:
        events = with_row(events, row)
    contexts = with_row(tables.contexts, (node, message.context))
    return tables._replace(events=events, contexts=contexts), tuple(moved)


def are_taken(tables: LogDatabase, replicas: Replicas, replica: NodeName) -> bool:
    """Has the merger taken all outputs of the replica?"""
    rows = (row for row in tables.events if row[:2] == (replica, replicas.merger))
    return all(row.done or row.inset for row in rows)
