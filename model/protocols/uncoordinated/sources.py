"""The replayable sources of uncoordinated checkpoints.

Rule of this file: no step of another node.  A source does not crash; its log is its checkpoint.
"""

from __future__ import annotations

from typing import Any

from model.boxes.box import Of, Out
from model.core import REPLAYED, Arrival, Input, Note, Received, Send, Site, Step
from model.events import Body
from model.protocols.uncoordinated.messages import (
    LineMoved,
    LoggedRecord,
    ReplayableSource,
    ReturnToLine,
)


def generate(site: Site, state: ReplayableSource, input_: Input) -> Step:
    match input_:
        case Arrival(gap, type_, data):
            number = state.made + 1
            lineage = frozenset([Of(site.config.number, state.made)])
            out = Out(Body(state.now + gap, type_, data), lineage)
            kept = state.kept.append((number, out))
            sends = _sends(site, state.run, number, out)
            return Step(ReplayableSource(state.run, out.body.time, number, kept), sends)
        case Received(_, message):
            return _obey(site, state, message)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _sends(site: Site, run: int, number: int, out: Out) -> tuple[Send, ...]:
    record = LoggedRecord(run, 0, number, out)
    return tuple(Send(name, record) for name in site.config.below)


def _obey(site: Site, state: ReplayableSource, message: Any) -> Step:
    match message:
        case LineMoved(_, _, needed):  # a line never moves back, whatever the run
            return Step(state._replace(kept=state.kept.trim(lambda one: one[0] <= needed)))
        case ReturnToLine(run):
            again = (send for one in state.kept for send in _sends(site, run, *one))
            note = Note(REPLAYED, len(state.kept))
            return Step(state._replace(run=run), (note, *again))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {message}")
