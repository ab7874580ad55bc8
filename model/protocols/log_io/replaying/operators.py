"""Operators that lack the data of inputs, and replay operators that generate it again.

Rule of this file: each step names its algorithm and step; effects stand in the paper's order.
LOG.io, Section 5.2, Algorithms 10 and 11.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import Enum
from typing import Any

from model.boxes.box import Fed, Item, Of, Out
from model.boxes.triggered import Functions, Triggered
from model.core import Answer, Effect, NodeName, Send, Site
from model.events import Body
from model.protocols.log_io.messages import Put
from model.protocols.log_io.places import ENGINE, LOG
from model.protocols.log_io.quantities import LACKED, REGENERATED, note
from model.protocols.log_io.replaying.design import (
    Accepts,
    Asks,
    Marks,
    Meanwhile,
    Resets,
    Running,
    Sets,
)
from model.protocols.log_io.replaying.messages import (
    Absent,
    Ask,
    Mark,
    Recall,
    Recalled,
    Regenerate,
    Regeneration,
    Reopen,
    Reset,
)
from model.protocols.log_io.states import Operator
from model.protocols.log_io.tables import Key, LoggedEvent
from model.protocols.log_io.writing.writes import put


# --- an operator that lacks inputs -------------------------------------------------------------
class Fate(Enum):
    """What becomes of an event that arrives where replay operators are."""

    USUAL = "Algorithm 2"
    FILLS = "it is the data of an input that the operator lacks"
    DISCARDED = "it is discarded"
    UNFILTERED = "Algorithm 2 without the filter"


def judge(site: Site, state: Operator, sender: NodeName, event: Put) -> Fate:
    """5.2: "during the State Update phase"."""
    replaying = site.spec.design.replaying
    waiting = {row.key for row in lacking(state)}
    if event.replay:
        if (sender, site.name, event.number) in waiting:
            return Fate.FILLS
        if waiting and replaying.accepts is Accepts.ANY:
            return Fate.UNFILTERED
        if not waiting and replaying.running is Running.DISCARDS:
            return Fate.DISCARDED
    elif waiting and sender in replaying.operators and replaying.meanwhile is Meanwhile.DISCARDED:
        return Fate.DISCARDED  # Algorithm 11, step 4.a
    return Fate.USUAL


def fill(site: Site, state: Operator, sender: NodeName, event: Put) -> Answer:
    """The operator with the data, and what it generates again of it."""
    key = (sender, site.name, event.number)
    held = tuple(
        _filled(one, key, event) if isinstance(one, LoggedEvent) else one for one in state.held
    )
    again = tuple(
        one._replace(inputs=tuple(_filled(row, key, event) for row in one.inputs))
        for one in state.again
    )
    reset: tuple[Effect, ...] = ()
    if site.spec.design.replaying.resets is Resets.RECEIVER:
        reset = (Send(LOG, Reset((key,))),)
    state, effects = _replay_ready(site, state._replace(held=held, again=again))
    return state, (*reset, *effects)


def _filled(row: LoggedEvent, key: Key, event: Put) -> LoggedEvent:
    return row._replace(body=event.body) if row.key == key else row


def assigns_again(site: Site, row: LoggedEvent) -> bool:
    """Does a replayed input go through the State Update phase?"""
    replaying = site.spec.design.replaying
    if replaying is None or replaying.sets is Sets.KEPT:
        return False
    return row.sender in replaying.operators


def lacking(state: Operator) -> list[LoggedEvent]:
    """The rows to replay, own ones and those of Input Sets, whose data is still to come."""
    rows: Iterable[Any] = (*state.held, *(row for one in state.again for row in one.inputs))
    return [row for row in rows if isinstance(row, LoggedEvent) and row.body is None]


def ask(site: Site, rows: Collection[LoggedEvent]) -> tuple[Effect, ...]:
    """Algorithm 11, step 3: mark the inputs that lack their data, and have them sent again."""
    if not rows:
        return ()
    keys = tuple(sorted({row.key for row in rows}))
    mark: tuple[Effect, ...] = (*note(LACKED, len(keys)), Send(LOG, Mark(keys)))
    if site.spec.design.replaying.asks is Asks.AT_FAILURE:
        return mark
    return (*mark, Send(ENGINE, Ask(tuple(sorted({row.sender for row in rows})))))


# --- a replay operator -------------------------------------------------------------------------
def obey(site: Site, state: Operator, message: Regenerate | Recalled | Absent) -> Answer:
    """The step of a replay operator that is not recovering."""
    match message:
        case Recalled(sets):
            return replay(site, state, sets)
        case Absent(keys):
            again = (one for one in state.again if {row.key for row in one.inputs}.isdisjoint(keys))
            return _replay_ready(site, state._replace(again=tuple(again)))
    return state, (Send(LOG, Recall()),)


def replay(site: Site, state: Operator, sets: tuple[Regeneration, ...]) -> Answer:
    """Algorithm 10: generate these Input Sets again, as soon as their inputs have their data."""
    known = {one.inset: one for one in state.again}
    for one in sets:
        old = known.get(one.inset)
        known[one.inset] = one if old is None else old._replace(wanted=one.wanted)
    after = state._replace(again=tuple(known.values()))
    asked = {row.key for row in lacking(state)}
    asks = ask(site, [row for row in lacking(after) if row.key not in asked])
    state, effects = _replay_ready(site, after)
    return state, (*asks, *effects)


def _replay_ready(site: Site, state: Operator) -> tuple[Operator, tuple[Effect, ...]]:
    """Replay Input Sets in the order of their outputs, until one lacks an input."""
    effects: list[Effect] = []
    again = [*state.again]
    while again and all(row.body is not None for row in again[0].inputs):
        effects += _generate_again(site, again.pop(0))
    return state._replace(again=tuple(again)), tuple(effects)


def _generate_again(site: Site, one: Regeneration) -> tuple[Effect, ...]:
    """The adapted steps 4 and 5 of Algorithm 3 (5.2): no output is logged, it is there already."""
    replaying = site.spec.design.replaying
    outs = _outs(site, one)
    bodies: dict[Key, Body] = {}
    for succ in site.succs:
        keys = [key for key in one.outputs if key[1] == succ]
        bodies |= {key: out.body for key, out in zip(keys, outs, strict=False)}
    effects: list[Effect] = []
    if replaying.marks is Marks.WHOLE_SETS:
        effects.append(Send(LOG, Reopen(one.outputs)))
    if replaying.resets is Resets.SENDER:
        effects.append(Send(LOG, Reset(tuple(key for key, _ in one.wanted))))
    sends = [
        put(site, key[1], Put(key[2], bodies[key], replayed))
        for key, replayed in one.wanted
        if key in bodies
    ]
    return (*note(REGENERATED, len(sends)), *effects, *sends)


def _outs(site: Site, one: Regeneration) -> tuple[Out, ...]:
    """What the Input Set generates: the generation comes with its last input."""
    box, state = site.spec.box, one.box
    items = []
    for row in one.inputs:
        edge = site.preds.index(row.sender)
        items.append(Item(edge, row.data, frozenset({Of(edge, row.number)})))
    if not items:
        return ()
    *others, last = items
    fed: Fed
    if isinstance(box, Functions):
        keys = box.keys(last)
        key = keys[one.inset % len(keys)]
        for item in others:
            state = box.gather_set(state, item, key)
        fed = box.feed_set(state, last, key)[0]
    else:
        if isinstance(box, Triggered):
            for item in others:
                state = box.gather(state, item)
        fed = box.feed(state, last)[0]
    return fed.outs
