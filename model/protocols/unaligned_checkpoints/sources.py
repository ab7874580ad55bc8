"""The replayable sources of unaligned checkpoints.

Rule of this file: no step of another node.  Sources do not crash.  A source has no buffers: it
reads when a channel takes the record, and puts a barrier behind its last record.
"""

from __future__ import annotations

from typing import Any

from model.boxes.box import Of
from model.core import (
    REPLAYED,
    Arrival,
    Effect,
    Input,
    Note,
    Received,
    Send,
    SetTimer,
    Site,
    Step,
    TimerFired,
)
from model.events import Body
from model.protocols.unaligned_checkpoints.instances import INTERVAL, OVERSEER, SAVEPOINT
from model.protocols.unaligned_checkpoints.messages import (
    CheckpointBarrier,
    CheckpointDone,
    CheckpointDue,
    CheckpointPart,
    FlowRecord,
    GeneratorState,
    GoBack,
    InjectBarriers,
    SavepointDue,
)
from model.queues import STALE_NOTE
from model.uploads import Snapshots, StoredPart


def generate(site: Site, state: GeneratorState, input_: Input) -> Step:
    match input_:
        case Arrival(gap, type_, data):
            return _read(site, state, Body(state.now + gap, type_, data))
        case TimerFired(name) if name == SAVEPOINT:
            return Step(state, (Send(OVERSEER, SavepointDue()),))
        case TimerFired():
            due = Send(OVERSEER, CheckpointDue(state.run, state.number + 1))
            return Step(state, (due,) if state.place > state.cut else ())
        case Received(_, message):
            return _obey(site, state, message)


def _read(site: Site, state: GeneratorState, body: Body) -> Step:
    """Keep an event, and send it to the instances that own its key; after a savepoint that ends
    the job, the next job sends it.  The user may ask for a savepoint from the first event on."""
    place = state.place + 1
    state = state._replace(now=body.time, place=place, kept=state.kept.append((place, body)))
    if state.stopped:
        return Step(state)
    asks = _asks(site) if place == 1 else ()
    return Step(state, (*_sends(site, state.run, place, body), SetTimer(INTERVAL), *asks))


def _asks(site: Site) -> tuple[SetTimer, ...]:
    """The timer of the user, which is at the first source."""
    job = site.config
    asks = job.design.savepoints is not None and site.name == job.readers[0]
    return (SetTimer(SAVEPOINT),) if asks else ()


def _sends(site: Site, run: int, place: int, body: Body) -> tuple[Send, ...]:
    job = site.config
    record = FlowRecord(run, body, frozenset([Of(job.readers.index(site.name), place - 1)]))
    succs = job.graph.succs(site.name)
    return tuple(Send(job.owner(node, body, run), record) for node in succs)


def _obey(site: Site, state: GeneratorState, message: Any) -> Step:
    match message:
        case InjectBarriers(run, number, saves):
            if run != state.run:
                return Step(state, (STALE_NOTE,))
            barrier = CheckpointBarrier(run, number, saves)
            sends = (Send(name, barrier) for name in site.config.outputs(site.name, run))
            waits = site.config.design.snapshots is Snapshots.SYNCHRONOUS
            part = (CheckpointPart if waits else StoredPart)(run, number, state.place)
            stops = saves and not site.config.goes_on
            state = state._replace(cut=state.place, number=number, stopped=stops)
            return Step(state, (*sends, Send(OVERSEER, part)))
        case CheckpointDone(_, _, saves) if site.config.goes_on:  # the next job reads on from it
            return Step(state, _asks(site) if saves else ())
        case CheckpointDone():  # the records up to the last barrier will not be read again
            return Step(state._replace(kept=state.kept.trim(lambda one: one[0] <= state.cut)))
        case GoBack(run, number, part):
            cut = part or 0
            again = [one for one in state.kept if one[0] > cut]
            sent = state.cut if state.stopped else state.place
            effects: list[Effect] = [Note(REPLAYED, max(0, sent - cut))]
            for place, body in again:
                effects += _sends(site, run, place, body)
            timer = (SetTimer(INTERVAL),) if again else ()
            state = state._replace(run=run, cut=cut, number=number, stopped=False)
            return Step(state, (*effects, *timer))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {message}")
