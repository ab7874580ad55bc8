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
from model.protocols.unaligned_checkpoints.instances import INTERVAL, OVERSEER
from model.protocols.unaligned_checkpoints.messages import (
    CheckpointBarrier,
    CheckpointDone,
    CheckpointDue,
    CheckpointPart,
    FlowRecord,
    GeneratorState,
    GoBack,
    InjectBarriers,
)
from model.queues import STALE_NOTE
from model.uploads import Snapshots, StoredPart


def generate(site: Site, state: GeneratorState, input_: Input) -> Step:
    match input_:
        case Arrival(gap, type_, data):
            return _read(site, state, Body(state.now + gap, type_, data))
        case TimerFired():
            due = Send(OVERSEER, CheckpointDue(state.run, state.number + 1))
            return Step(state, (due,) if state.place > state.cut else ())
        case Received(_, message):
            return _obey(site, state, message)


def _read(site: Site, state: GeneratorState, body: Body) -> Step:
    """Keep an event, and send it to the instances that own its key."""
    place = state.place + 1
    state = state._replace(now=body.time, place=place, kept=state.kept.append((place, body)))
    return Step(state, (*_sends(site, state.run, place, body), SetTimer(INTERVAL)))


def _sends(site: Site, run: int, place: int, body: Body) -> tuple[Send, ...]:
    job = site.config
    record = FlowRecord(run, body, frozenset([Of(job.readers.index(site.name), place - 1)]))
    succs = job.graph.succs(site.name)
    return tuple(Send(job.owner(node, body, run), record) for node in succs)


def _obey(site: Site, state: GeneratorState, message: Any) -> Step:
    match message:
        case InjectBarriers(run, number):
            if run != state.run:
                return Step(state, (STALE_NOTE,))
            barrier = CheckpointBarrier(run, number)
            sends = (Send(name, barrier) for name in site.config.outputs(site.name, run))
            waits = site.config.design.snapshots is Snapshots.SYNCHRONOUS
            part = (CheckpointPart if waits else StoredPart)(run, number, state.place)
            state = state._replace(cut=state.place, number=number)
            return Step(state, (*sends, Send(OVERSEER, part)))
        case CheckpointDone():  # the records up to the last barrier will not be read again
            return Step(state._replace(kept=state.kept.trim(lambda one: one[0] <= state.cut)))
        case GoBack(run, number, part):
            cut = part or 0
            again = [one for one in state.kept if one[0] > cut]
            effects: list[Effect] = [Note(REPLAYED, len(again))]
            for place, body in again:
                effects += _sends(site, run, place, body)
            timer = (SetTimer(INTERVAL),) if again else ()
            return Step(state._replace(run=run, cut=cut, number=number), (*effects, *timer))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {message}")
