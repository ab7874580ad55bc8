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
from model.protocols.abs.deployment import EPOCH, OVERSEER
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


def generate(site: Site, state: ReaderState, input_: Input) -> Step:
    match input_:
        case Arrival(gap, type_, data):
            return _read(site, state, Body(state.now + gap, type_, data))
        case TimerFired():
            due = (Send(OVERSEER, EpochDue(state.run)),) if state.place > state.cut else ()
            return Step(state, due)
        case Received(_, message):
            return _obey(site, state, message)


def _read(site: Site, state: ReaderState, body: Body) -> Step:
    """Keep and send an event (8.1.1: "data sources be replayable")."""
    place = state.place + 1
    replayable = site.config.design.sources is Sources.REPLAYABLE
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
            part = EpochPart(run, epoch, state.place)
            return Step(state._replace(cut=state.place), (*markers, Send(OVERSEER, part)))
        case EpochComplete():  # the records up to the last marker will not be read again
            return Step(state._replace(kept=state.kept.trim(lambda one: one[0] <= state.cut)))
        case AskRun():
            return Step(state, (Send(OVERSEER, RunIs(site.name, state.run)),))
        case RollBack(run, _, part):  # 8.1.1: "restarted from the last complete epoch"
            cut = part or 0
            again = [one for one in state.kept if one[0] > cut]
            effects: list[Effect] = [Note(REPLAYED, len(again))]
            for place, body in again:
                effects += _sends(site, run, place, body)
            timer = (SetTimer(EPOCH),) if again else ()
            return Step(state._replace(run=run, cut=cut), (*effects, *timer))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {message}")
