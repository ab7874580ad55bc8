"""What surrounds the operators of LOG.io: lasting connections, and external systems behind sinks.

Rule of this file: sites that never crash, and answer what they are sent.
LOG.io, Sections 2.1 (connections) and 2.3 (write actions).
"""

from __future__ import annotations

from typing import Any

from model.core import Answer, Arrival, Emit, Input, Lost, NodeName, Received, Send, Site, Step
from model.events import Body, Event
from model.log import Log
from model.protocols.log_io.design import Growth, Reads, WriteSupport
from model.protocols.log_io.messages import (
    Acknowledge,
    Check,
    CheckGroup,
    Drop,
    GroupedWrite,
    Look,
    Missing,
    MissingGroup,
    Peek,
    Put,
    Query,
    Reply,
    Success,
    Write,
    WriteGroup,
)
from model.protocols.log_io.scaling.messages import Close, Open
from model.protocols.log_io.sources.effects import GONE
from model.protocols.log_io.states import Connected, ExternalSystem
from model.queues import Numbered, QueueState, Replay, produce, serve

LATE = "late"
"""The type of an event that appears between others."""
VALUES = 2
"""So many values does the service show in turn."""


def carry(site: Site, state: Connected, sender: NodeName, message: Any) -> Answer:
    """The step of a lasting connection."""
    receiver = state.to or site.spec.receiver
    match message:
        case Close():
            return Connected((), True, True), ()
        case Open() if state.deleted:
            return Connected(closed=True), ()
        case Open():  # the controller asks twice
            return state, ()
        case _ if state.deleted:
            return state, ()
        case Put():
            sends = () if state.closed else (Send(receiver, message),)
            return state._replace(held=(*state.held, message)), sends
        case Drop(number):
            return state._replace(held=tuple(put for put in state.held if put.number != number)), ()
        case Lost():
            return state._replace(closed=True), ()
        case Peek():
            to = "" if sender == site.spec.receiver else sender
            return Connected(state.held, to=to), tuple(Send(sender, put) for put in state.held)
    raise TypeError(f"connection to {receiver}: nothing to do with {message}")


def show_next(site: Site, value: int, reader: NodeName, message: Any) -> Answer:
    """The step of an external service on a read; no two reads in a row see the same value.

    Of a queue the value is the number of events that have gone.
    """
    reads = site.spec.design.reads
    match message:
        case Acknowledge(number):
            return max(value, number), ()
        case Query(number) if reads in (Reads.DESTRUCTIVE, Reads.ACKNOWLEDGED):
            after = max(value, number) if reads is Reads.DESTRUCTIVE else value
            return after, (Send(reader, Reply(value if value < number else GONE)),)
    return (value + 1) % VALUES, (Send(reader, Reply(value)),)


def execute(site: Site, state: ExternalSystem, sender: NodeName, message: Any) -> Answer:
    """The step of an external system on a write, or on the question whether one took effect."""
    edge = site.preds.index(message.writer if isinstance(message, Look) else sender)
    newest = state.newest[edge]
    match message:
        case Write() | WriteGroup() | GroupedWrite():
            action = Write(*message) if isinstance(message, GroupedWrite) else message
            support = site.spec.design.writes
            overwrites = support is WriteSupport.OVERWRITING
            others = (None,) * len(state.newest) if overwrites else state.newest
            visible = (*others[:edge], action, *others[edge + 1 :])
            after = state._replace(newest=visible)
            writes = message.writes if isinstance(message, WriteGroup) else (message,)
            repeats = (overwrites or support is WriteSupport.IDEMPOTENT) and action == newest
            emits = () if repeats else tuple(Emit((edge, write.body)) for write in writes)
            if isinstance(message, GroupedWrite):
                return after, emits
            return after, (*emits, Send(sender, Success(message.number)))
        case Look(_, number):
            shown = newest is not None and number <= newest.number
            return state, (Send(sender, Reply(0 if shown else 1)),)
        case CheckGroup(writes):
            done = 0 if newest is None else newest.number
            missing = tuple(write for write in writes if write.number > done)
            answer = MissingGroup(missing) if missing else Success(writes[-1].number)
            return state, (Send(sender, answer),)
        case Check(number, body):
            known = newest is not None and number <= newest.number
            return state, (Send(sender, Success(number) if known else Missing(number, body)),)
    raise TypeError(f"{site.name}: nothing to do with {message}")


def offer(site: Site, state: QueueState, input_: Input) -> Step:
    """The external system behind a source: a replayable read action reads it again."""
    if isinstance(input_, Arrival):
        return produce(state, input_, site.succs)
    assert isinstance(input_, Received)
    if site.spec.design.growth is Growth.ANYWHERE:
        state = _with_one_between(state, input_.message)
    return serve(state, input_.sender, input_.message)


def _with_one_between(state: QueueState, request: Replay) -> QueueState:
    """The effect with one more event, of the time of the first one, once two of different times
    have been read."""
    if len(state.kept) != 2 or any(request.wants(one) for one in state.kept):
        return state
    first, last = (one.body for one in state.kept)
    if first.time == last.time:
        return state
    bodies = enumerate((first, Body(first.time, LATE), last), 1)
    empty: Log[Numbered] = Log()
    return QueueState(3, state.now, empty.extend(Event((at,), body) for at, body in bodies))
