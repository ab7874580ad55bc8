"""What the log does while a replica comes or goes away.

Rule of this file: tables in, tables out, as in log_io/log.py.
LOG.io, Algorithm 13, step 1.c, and Section 7.2.
"""

from __future__ import annotations

from model.core import NodeName
from model.protocols.log_io.design import Design
from model.protocols.log_io.messages import Commit
from model.protocols.log_io.places import MERGER
from model.protocols.log_io.scaling.design import Moved, Moves, Waits
from model.protocols.log_io.scaling.messages import Move
from model.protocols.log_io.tables import LoggedEvent, Tables, with_row


def may_commit(design: Design, tables: Tables, node: NodeName, commit: Commit) -> bool:
    """Are the rows of the Input Set there, and undone?  7.2: if not, the transaction fails."""
    assert design.scaling is not None
    if design.scaling.moved is Moved.GOES_ON:
        return True
    inputs = (row for row in tables.events if row.receiver == node and row.inset == commit.inset)
    return sum(not row.done for row in inputs) >= commit.asks


def may_move(design: Design, tables: Tables, move: Move) -> bool:
    """May the events of the key go to another replica now?"""
    assert design.scaling is not None
    match design.scaling.waits:
        case Waits.NOTHING:
            return True
        case Waits.DONE:
            undone = {row[:3] for row in tables.events if not row.done}
            return undone.isdisjoint(row[:3] for row in move.rows)
        case Waits.TAKEN:
            return are_taken(tables, move.replica)


def move(
    design: Design, tables: Tables, node: NodeName, message: Move
) -> tuple[Tables, tuple[LoggedEvent, ...]]:
    """Algorithm 13, step 1.c: the tables, and the rows that have moved."""
    assert design.scaling is not None
    undone = {row[:3] for row in tables.events if not row.done}
    leave = undone.intersection(row[:3] for row in message.rows)
    events = tuple(row for row in tables.events if row[:3] not in leave)
    moved: list[LoggedEvent] = []
    for body, key in dict.fromkeys((row.body, row[:3]) for row in message.rows):
        if key in undone or design.scaling.moves is Moves.CHOSEN:
            number = message.number + len(moved)
            moved.append(LoggedEvent(node, message.to, number, 0, body))
    for row in moved:
        events = with_row(events, row)
    contexts = with_row(tables.contexts, (node, message.context))
    return tables._replace(events=events, contexts=contexts), tuple(moved)


def are_taken(tables: Tables, replica: NodeName) -> bool:
    """Has the merger taken all outputs of the replica?"""
    rows = (row for row in tables.events if row[:2] == (replica, MERGER))
    return all(row.done or row.inset for row in rows)
