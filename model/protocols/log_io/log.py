"""The log database of LOG.io: every transaction is one step.

Rule of this file: tables in, tables out; nothing here knows how a node decides.  Extensions have
their own transactions, and rules that hold after each one: RULES and AFTER join them.
LOG.io, Sections 3.2 and 3.6.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import compress
from math import inf
from operator import itemgetter
from typing import Any

from model.core import Answer, Effect, NodeName, Send
from model.protocols.log_io.design import Garbage, LogIoDesign
from model.protocols.log_io.lineage.rows import add_lineage
from model.protocols.log_io.messages import (
    Assign,
    Begin,
    Commit,
    CommitAll,
    Complete,
    Discard,
    Executed,
    ExecutedGroup,
    Restore,
    Restored,
    Store,
    StoreRead,
)
from model.protocols.log_io.places import LOG
from model.protocols.log_io.replaying import log as replays
from model.protocols.log_io.scaling import log as replicas
from model.protocols.log_io.scaling.messages import Committed
from model.protocols.log_io.tables import (
    LogDatabase,
    LoggedEvent,
    ReadActionRow,
    Regeneration,
    Rules,
    Transacted,
    with_row,
)

INSET = itemgetter(3)
"""The Input Set of a row."""


def transact(design: LogIoDesign, tables: LogDatabase, node: NodeName, message: Any) -> Answer:
    """The tables after a transaction of the node, and the log's answer to it, if any."""
    if isinstance(message, CommitAll):
        return _commit_all(design, tables, node, message)
    if type(message) not in RULES:
        raise TypeError(f"{LOG}: nothing to do with {message}")
    before = tables
    tables, effects = RULES[type(message)](design, tables, node, message)
    for rule in AFTER:
        tables, more = rule(design, before, tables, node, message)
        effects += more
    return tables, effects


# --- transactions ----------------------------------------------------------------------------
def _assign(
    _design: LogIoDesign, tables: LogDatabase, node: NodeName, message: Assign
) -> Transacted:
    """Algorithm 2, step 2: a row of the event, if it is logged, for each of its Input Sets."""
    sender, number, insets, order = message
    events, key = tables.events, (sender, node, number)
    at = bisect_left(events, key)
    if at == len(events) or events[at][:3] != key:
        return tables, ()
    rows = (events[at]._replace(inset=inset, order=order) for inset in sorted(insets))
    end = at
    while end < len(events) and events[end][:3] == key:
        end += 1
    return tables._replace(events=(*events[:at], *rows, *events[end:])), ()


def _commit(
    design: LogIoDesign, tables: LogDatabase, node: NodeName, message: Commit
) -> Transacted:
    """Algorithm 3, step 4, and Algorithm 1, step 2.c."""
    outputs, context, inset, _, ends, asks, states = message
    if asks and not _has_inputs(tables, node, message):
        return tables, (Send(node, Committed(False)),)
    events = _done(design, tables.events, node, inset) if inset else tables.events
    for output in outputs:
        events = with_row(events, output)
    contexts = with_row(tables.contexts, (node, context))
    kept = tuple(sorted((*tables.states, *states), key=lambda one: one[:2]))
    tables = tables._replace(events=events, contexts=contexts, states=kept)
    if ends:
        tables = _act(tables, node, done=True)
    return tables, (Send(node, Committed(True)),) if asks else ()


def _commit_all(
    design: LogIoDesign, tables: LogDatabase, node: NodeName, message: CommitAll
) -> Transacted:
    """Algorithm 3, step 4, of all Input Sets that an input completes."""
    effects: tuple[Effect, ...] = ()
    for part in message.parts:
        tables, more = transact(design, tables, node, part)
        effects += more
    return tables, effects


def _has_inputs(tables: LogDatabase, node: NodeName, commit: Commit) -> bool:
    """Are the rows of the Input Set there, and undone?  7.2: if not, the transaction fails."""
    inputs = (row for row in tables.events if row.receiver == node and row.inset == commit.inset)
    return sum(not row.done for row in inputs) >= commit.asks


def _executed(
    design: LogIoDesign, tables: LogDatabase, node: NodeName, message: Executed
) -> Transacted:
    """Algorithm 5, step 3."""
    return _set_done(design, tables, (node, *message)), ()


def _executed_group(
    design: LogIoDesign, tables: LogDatabase, node: NodeName, message: ExecutedGroup
) -> Transacted:
    for number in message.numbers:
        tables = _set_done(design, tables, (node, message.sink, number))
    return tables, ()


def _begin(_design: LogIoDesign, tables: LogDatabase, node: NodeName, message: Begin) -> Transacted:
    """Algorithm 1, step 1."""
    others = tuple(one for one in tables.actions if one.node != node)
    actions = tuple(sorted((*others, ReadActionRow(node, message.number))))
    return tables._replace(actions=actions), ()


def _store(_design: LogIoDesign, tables: LogDatabase, node: NodeName, message: Store) -> Transacted:
    """Algorithm 1, step 2.a."""
    return _act(tables, node, effect=message.effect), ()


def _complete(
    _design: LogIoDesign, tables: LogDatabase, node: NodeName, _message: Complete
) -> Transacted:
    """Algorithm 1, step 2.b."""
    return _act(tables, node, complete=True), ()


def _discard(
    _design: LogIoDesign, tables: LogDatabase, node: NodeName, _message: Discard
) -> Transacted:
    """Algorithm 1, step 2.d."""
    return _act(tables, node, effect=None), ()


def _store_read(
    _design: LogIoDesign, tables: LogDatabase, _node: NodeName, _message: StoreRead
) -> Transacted:
    """Algorithm 4, step 2: lineage alone has the effect."""
    return tables, ()


def _restore(
    design: LogIoDesign, tables: LogDatabase, node: NodeName, _message: Restore
) -> Transacted:
    """What recovery reads: Algorithm 6, steps 1 and 2; 7, 1; 8; 9, steps 1 and 2; 10, step 2."""
    tables = replicas.forget_waiting(tables, node)
    sets: tuple[Regeneration, ...] = ()
    if design.replaying is not None:
        tables, sets = replays.restore(tables, node)
    return tables, (Send(node, _restored(tables, node)._replace(sets=sets)),)


RULES: Rules = {
    Assign: _assign,
    Commit: _commit,
    Executed: _executed,
    ExecutedGroup: _executed_group,
    Begin: _begin,
    Store: _store,
    Complete: _complete,
    Discard: _discard,
    StoreRead: _store_read,
    Restore: _restore,
    **replays.RULES,
    **replicas.RULES,
}
AFTER = (replicas.move_late, replays.collect_done, add_lineage, replicas.report_drained)
"""What the log does after each transaction, within it: (design, tables before, tables, node,
message)."""


# --- rows ------------------------------------------------------------------------------------
def _set_done(
    design: LogIoDesign, tables: LogDatabase, key: tuple[NodeName, NodeName, int]
) -> LogDatabase:
    """The tables in which the event with this key, if it is logged, is done."""
    events = tables.events
    at = bisect_left(events, key)
    if at == len(events) or events[at][:3] != key:
        return tables
    row = events[at]._replace(done=True)
    left = () if _is_garbage(design, row) else (row,)
    return tables._replace(events=(*events[:at], *left, *events[at + 1 :]))


def _act(tables: LogDatabase, node: NodeName, **changes: Any) -> LogDatabase:
    """The tables in which the node's latest read action has other values."""
    rows = (row._replace(**changes) if row.node == node else row for row in tables.actions)
    return tables._replace(actions=tuple(rows))


def _done(
    design: LogIoDesign, events: tuple[LoggedEvent, ...], node: NodeName, inset: int
) -> tuple[LoggedEvent, ...]:
    """The events in which those of an Input Set are done.

    Many events may wait: no loop looks at each.  A row becomes garbage when it becomes done.
    """
    rows = [*events]
    for at in reversed([*_assigned(events, node, inset)]):
        row = rows[at]._replace(done=True)
        rows[at : at + 1] = [] if _is_garbage(design, row) else [row]
    return tuple(rows)


def _assigned(events: tuple[LoggedEvent, ...], node: NodeName, inset: int) -> Iterator[int]:
    """The places of the rows of an Input Set."""
    start = 0
    while start < len(events):
        sender, receiver, *_ = events[start]
        end = bisect_left(events, (sender, receiver, inf), start)
        if receiver == node:
            insets = map(INSET, events[start:end])
            yield from compress(range(start, end), map(inset.__eq__, insets))
        start = end


def _is_garbage(design: LogIoDesign, row: LoggedEvent) -> bool:
    """May the row be deleted?  Section 3.6.  The inputs of replay operators: replaying/log.py."""
    if not row.done or design.garbage is Garbage.NEVER:
        return False
    return design.replaying is None or row.receiver not in design.replaying.operators


def _restored(tables: LogDatabase, node: NodeName) -> Restored:
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
        tuple(
            sorted(
                (row for row in inputs if row.inset),
                key=lambda row: (row.sender, row.number, row.inset),
            )
        ),
        tuple(row for row in inputs if not row.inset),
        tuple(sorted(greatest.items())),
        tuple(sorted(sent.items())),
        next((row for row in tables.actions if row.node == node), None),
    )
