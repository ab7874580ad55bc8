"""The log database of LOG.io: every transaction is one step.

Rule of this file: tables in, tables out; nothing here knows how a node decides.
LOG.io, Sections 3.2 and 3.6.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

from model.core import Answer, Effect, NodeName, Send
from model.protocols.log_io.design import Design, Garbage
from model.protocols.log_io.lineage.rows import add_lineage
from model.protocols.log_io.messages import (
    Assign,
    Begin,
    Commit,
    Complete,
    Discard,
    Executed,
    ExecutedGroup,
    Restore,
    Restored,
    Store,
    StoreRead,
)
from model.protocols.log_io.places import CONTROLLER, LEAVES, LOG
from model.protocols.log_io.replaying import log as replays
from model.protocols.log_io.replaying.design import Gone, Keeps
from model.protocols.log_io.replaying.messages import (
    Absent,
    LogData,
    Mark,
    Recall,
    Recalled,
    Regeneration,
    Reopen,
    Reset,
)
from model.protocols.log_io.scaling import log as replicas
from model.protocols.log_io.scaling.messages import (
    Choose,
    Chosen,
    Committed,
    Drained,
    Move,
    Resent,
    Watch,
)
from model.protocols.log_io.tables import LoggedEvent, ReadAction, Tables, with_row


def transact(design: Design, tables: Tables, node: NodeName, message: Any) -> Answer:
    """The tables after a transaction of the node, and the log's answer to it, if any."""
    before = tables
    tables, effects = _transact(design, tables, node, message)
    if tables.waiting and replicas.may_move(design, tables, tables.waiting[1]):
        sender, move = tables.waiting
        tables, moved = replicas.move(design, tables._replace(waiting=None), sender, move)
        effects = (*effects, Send(sender, Resent(moved)))
    if design.replaying is not None and design.garbage is Garbage.AT_ONCE:
        tables = replays.collect(design.replaying, tables)
    if design.lineage and (tables is not before or isinstance(message, StoreRead)):
        tables = add_lineage(design, before, tables, node, message)
    if tables.watched and replicas.are_taken(tables, LEAVES):
        return tables._replace(watched=False), (*effects, Send(CONTROLLER, Drained()))
    return tables, effects


def _transact(
    design: Design, tables: Tables, node: NodeName, message: Any
) -> tuple[Tables, tuple[Effect, ...]]:
    effects: tuple[Effect, ...] = ()
    match message:
        case Commit(asks=asks) if asks and not replicas.may_commit(design, tables, node, message):
            effects = (Send(node, Committed(False)),)
        case Choose(replica):
            sent = (row for row in tables.events if row[:2] == (node, replica))
            undone = tuple(row for row in sent if not row.done)
            effects = (Send(node, Chosen(replica, undone)),)
        case Move():
            tables = tables._replace(waiting=(node, message))
        case Watch():
            tables = tables._replace(watched=True)
        case Assign(sender, number, insets, order):
            tables = _assign(tables, (sender, node, number), insets, order)
        case Commit(outputs, context, inset, _, ends, asks, states):
            events = _done(design, tables.events, node, inset) if inset else tables.events
            for output in outputs:
                events = with_row(events, output)
            contexts = with_row(tables.contexts, (node, context))
            kept = tuple(sorted((*tables.states, *states), key=lambda one: one[:2]))
            tables = tables._replace(events=events, contexts=contexts, states=kept)
            if ends:
                tables = _act(tables, node, done=True)
            if asks:
                effects = (Send(node, Committed(True)),)
        case Executed(sink, number):
            tables = _change(design, tables, (node, sink, number), done=True)
        case ExecutedGroup(sink, numbers):
            for number in numbers:
                tables = _change(design, tables, (node, sink, number), done=True)
        case Begin(number):
            others = tuple(one for one in tables.actions if one.node != node)
            actions = tuple(sorted((*others, ReadAction(node, number))))
            tables = tables._replace(actions=actions)
        case Store(effect):
            tables = _act(tables, node, effect=effect)
        case Complete():
            tables = _act(tables, node, complete=True)
        case Discard():
            tables = _act(tables, node, effect=None)
        case StoreRead():
            pass  # of lineage alone
        case Restore():  # the node waits for no transaction of the life before
            if tables.waiting and tables.waiting[0] == node:
                tables = tables._replace(waiting=None)
            sets: tuple[Regeneration, ...] = ()
            if design.replaying is not None:
                tables, sets = replays.restore(design.replaying, tables, node)
            effects = (Send(node, _restored(tables, node)._replace(sets=sets)),)
        case Recall():
            assert design.replaying is not None
            sets = replays.recall(design.replaying, tables, node)
            effects = (Send(node, Recalled(sets)),)
        case Mark(keys):
            assert design.replaying is not None
            tables = replays.change(tables, message)
            absent = set(keys).difference(row.key for row in tables.events)
            if absent and design.replaying.gone is Gone.REPORTED:
                effects = (Send(node, Absent(tuple(sorted(absent)))),)
        case Reset() | Reopen() | LogData():
            tables = replays.change(tables, message)
        case _:
            raise TypeError(f"{LOG}: nothing to do with {message}")
    return tables, effects


def _assign(
    tables: Tables, key: tuple[NodeName, NodeName, int], insets: tuple[int, ...], order: int
) -> Tables:
    """The tables with a row of the event, if it is logged, for each of these Input Sets."""
    events = tables.events
    at = bisect_left(events, key)
    if at == len(events) or events[at][:3] != key:
        return tables
    rows = (events[at]._replace(inset=inset, order=order) for inset in sorted(insets))
    left = (row for row in events[at:] if row[:3] != key)
    return tables._replace(events=(*events[:at], *rows, *left))


def _change(
    design: Design, tables: Tables, key: tuple[NodeName, NodeName, int], **changes: Any
) -> Tables:
    """The tables in which the event with this key, if it is logged, has other values."""
    events = tables.events
    at = bisect_left(events, key)
    if at == len(events) or events[at][:3] != key:
        return tables
    row = events[at]._replace(**changes)
    left = () if _is_garbage(design, row) else (row,)
    return tables._replace(events=(*events[:at], *left, *events[at + 1 :]))


def _act(tables: Tables, node: NodeName, **changes: Any) -> Tables:
    """The tables in which the node's latest read action has other values."""
    rows = (row._replace(**changes) if row.node == node else row for row in tables.actions)
    return tables._replace(actions=tuple(rows))


def _done(
    design: Design, events: tuple[LoggedEvent, ...], node: NodeName, inset: int
) -> tuple[LoggedEvent, ...]:
    """The events in which those of an Input Set are done."""
    rows = (
        row._replace(done=True) if row.receiver == node and inset == row.inset else row
        for row in events
    )
    return tuple(row for row in rows if not _is_garbage(design, row))


def _is_garbage(design: Design, row: LoggedEvent) -> bool:
    """May the row be deleted?  Section 3.6.  Those of replay operators: replaying/log.py."""
    if not row.done or design.garbage is Garbage.NEVER:
        return False
    replaying = design.replaying
    return (
        replaying is None
        or replaying.keeps is Keeps.AT_ONCE
        or row.receiver not in replaying.operators
    )


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
