"""The sinks of unaligned checkpoints: an output is committed with the checkpoint that has it.

Rule of this file: no step of another node.  A sink is an external system with two-phase commit: it
never crashes.  An output belongs to the checkpoint whose barrier comes next on its channel.
"""

from __future__ import annotations

from typing import Any

from model.boxes.box import Out
from model.core import (
    Effect,
    Emit,
    Input,
    NodeName,
    Note,
    Received,
    Send,
    SetTimer,
    Site,
    Step,
    TimerFired,
)
from model.protocols.unaligned_checkpoints.instances import INTERVAL, OVERSEER
from model.protocols.unaligned_checkpoints.messages import (
    TOO_EARLY,
    CheckpointBarrier,
    CheckpointDone,
    CheckpointDue,
    CheckpointPart,
    CommitterState,
    FlowRecord,
    GoBack,
    PreparedOut,
)
from model.queues import STALE_NOTE
from model.uploads import Snapshots, StoredPart


def conclude(site: Site, state: CommitterState, input_: Input) -> Step:
    match input_:
        case TimerFired():
            numbers = [one.number for one in state.prepared]
            due = (Send(OVERSEER, CheckpointDue(state.run, max(numbers))),) if numbers else ()
            return Step(state, due)
        case Received(_, GoBack(run, number, part)):
            return _go_back(site, state, run, number, part)
        case Received(_, CheckpointDone(run, number)):
            if run != state.run:
                return Step(state, (STALE_NOTE,))
            return _commit(state, number)
        case Received(sender, FlowRecord() | CheckpointBarrier() as message):
            return _receive(site, state, sender, message)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _receive(site: Site, state: CommitterState, sender: NodeName, message: Any) -> Step:
    if message.run < state.run:
        return Step(state, (STALE_NOTE,))
    if message.run > state.run:
        return Step(state._replace(early=(*state.early, (sender, message))), (Note(TOO_EARLY),))
    if isinstance(message, FlowRecord):
        return _prepare(site, state, sender, message)
    marked = state.marked | {sender}
    if not marked.issuperset(site.config.inputs(site.name, state.run)):
        return Step(state._replace(marked=marked))
    waits = site.config.design.snapshots is Snapshots.SYNCHRONOUS
    part = (CheckpointPart if waits else StoredPart)(state.run, message.number, None)
    state = state._replace(number=message.number, marked=frozenset())
    return Step(state, (Send(OVERSEER, part),))


def _prepare(site: Site, state: CommitterState, sender: NodeName, record: FlowRecord) -> Step:
    """Keep an output for the checkpoint whose barrier comes next; the first one sets the timer."""
    number = state.number + (2 if sender in state.marked else 1)
    known = any(one.number == number for one in state.prepared)
    edge = site.config.edge(sender, site.name)
    one = PreparedOut(number, edge, Out(record.body, record.of))
    timer = () if known else (SetTimer(INTERVAL),)
    return Step(state._replace(prepared=(*state.prepared, one)), timer)


def _commit(state: CommitterState, number: int) -> Step:
    """Commit the outputs up to the checkpoint of this number."""
    ready = [one for one in state.prepared if one.number <= number]
    left = tuple(one for one in state.prepared if one.number > number)
    emits = tuple(Emit((one.edge, one.out.body), one.out.of) for one in ready)
    return Step(state._replace(prepared=left), emits)


def _go_back(site: Site, state: CommitterState, run: int, number: int, part: Any) -> Step:
    """Drop all outputs that are not committed (the commit of the checkpoint came before), and take
    those on their way."""
    early, state = state.early, CommitterState(run, number)
    effects: list[Effect] = []
    for one in part.inputs:
        state, more = _prepare(site, state, one.sender, one.record)
        effects += more
    for sender, message in early:
        if message.run >= run:
            state, more = _receive(site, state, sender, message)
            effects += more
    return Step(state, tuple(effects))
