"""The replayable sources of asynchronous barrier snapshotting.

Rule of this file: no step of another node.  Sources do not crash.
LOG.io, Sections 1, 8.1.1 and 9.1.
"""

from __future__ import annotations

from typing import Any

from model.boxes.box import Of
from model.core import (
    REPLAYED,
    Arrival,
    CancelTimer,
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
from model.protocols.abs.deployment import EPOCH, OVERSEER, PAUSE
from model.protocols.abs.design import Sources
from model.protocols.abs.messages import (
    AskRun,
    EndEpoch,
    EpochComplete,
    EpochDue,
    EpochMarker,
    EpochPart,
    ReaderState,
    RollBack,
    RunIs,
    StreamRecord,
)
from model.queues import STALE_NOTE
from model.uploads import Snapshots, StoredPart


def generate(site: Site, state: ReaderState, input_: Input) -> Step:
    match input_:
        case Arrival(gap, type_, data):
            return _read(site, state, Body(state.now + gap, type_, data))
        case TimerFired(timer):
            if timer == PAUSE:
                return _ask(state._replace(waits=False), state.due)
            return _ask(state, state.due or state.place > state.cut)
        case Received(_, message):
            return _obey(site, state, message)


def _ask(state: ReaderState, due: bool) -> Step:
    """Ask for an epoch if one is due; during an epoch and the pause after it, later."""
    if not due or state.waits:
        return Step(state._replace(due=due))
    return Step(state._replace(due=False), (Send(OVERSEER, EpochDue(state.run)),))


def _forget(site: Site) -> tuple[CancelTimer, ...]:
    """End the pause that is under way."""
    return (CancelTimer(PAUSE),) if site.config.pauses else ()


def _read(site: Site, state: ReaderState, body: Body) -> Step:
    """Keep and send an event (8.1.1: "data sources be replayable")."""
    place = state.place + 1
    replayable = site.config.design.sources is not Sources.ONCE
    kept = state.kept.append((place, body)) if replayable else state.kept
    sends = _sends(site, state.run, place, body)
    return Step(state._replace(now=body.time, place=place, kept=kept), (*sends, SetTimer(EPOCH)))


def _sends(site: Site, run: int, place: int, body: Body) -> tuple[Send, ...]:
    record = StreamRecord(run, body, frozenset([Of(site.config.number, place - 1)]))
    return tuple(Send(succ, record) for succ in site.succs)


def _obey(site: Site, state: ReaderState, message: Any) -> Step:
    match message:
        case EndEpoch(run, epoch):  # 8.1.1: markers "are injected into each data source"
            if run != state.run:
                return Step(state, (STALE_NOTE,))
            markers = (Send(succ, EpochMarker(run, epoch)) for succ in site.succs)
            waits = site.config.design.snapshots is Snapshots.SYNCHRONOUS
            part = (EpochPart if waits else StoredPart)(run, epoch, state.place)
            state = state._replace(cut=state.place, waits=site.config.pauses, due=False)
            # Another source may have ended the pause: this one must not end the next one.
            return Step(state, (*markers, Send(OVERSEER, part), *_forget(site)))
        case EpochComplete(_, _, more):  # no record up to the last marker will be read again
            kept = state.kept.trim(lambda one: one[0] <= state.cut)
            timer = (SetTimer(PAUSE),) if state.waits else ()
            return Step(state._replace(kept=kept, due=state.due or more), timer)
        case AskRun():
            return Step(state, (Send(OVERSEER, RunIs(site.name, state.run)),))
        case RollBack(run, _, part):  # 8.1.1: "restarted from the last complete epoch"
            cut = part or 0
            again = [one for one in state.kept if one[0] > cut]
            effects: list[Effect] = [Note(REPLAYED, len(again))]
            for place, body in again:
                effects += _sends(site, run, place, body)
            if again:
                effects.append(SetTimer(EPOCH))
            state = state._replace(run=run, cut=cut, waits=False, due=False)
            return Step(state, (*effects, *_forget(site)))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {message}")
