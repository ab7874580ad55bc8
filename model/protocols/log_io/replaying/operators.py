"""Operators that lack the data of inputs, and replay operators that generate it again.

Rule of this file: each step names its algorithm and step; effects stand in the paper's order.
LOG.io, Section 5.2, Algorithms 10 and 11.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from model.boxes.box import Fed, Item, Of, Out
from model.core import Answer, Effect, NodeName, Send, Site
from model.events import Body
from model.protocols.log_io.messages import Put
from model.protocols.log_io.places import ENGINE, LOG
from model.protocols.log_io.quantities import LACKED, REGENERATED, note
from model.protocols.log_io.replaying.messages import (
    Absent,
    Ask,
    Mark,
    Recall,
    Recalled,
    Regenerate,
    Reset,
)
from model.protocols.log_io.states import RunningOperator
from model.protocols.log_io.tables import Key, LoggedEvent, Regeneration
from model.protocols.log_io.writing.writes import put


# --- an operator that lacks inputs -------------------------------------------------------------
def lacks(site: Site, state: RunningOperator, sender: NodeName, event: Put) -> bool:
    """Is the event the data of an input that the operator lacks?  5.2: such an event is accepted
    "without applying the filtering condition"."""
    return (sender, site.name, event.number) in {row.key for row in lacking(state)}


def fill(site: Site, state: RunningOperator, sender: NodeName, event: Put) -> Answer:
    """The operator with the data, and what it generates again of it (Algorithm 11, step 4.a)."""
    key = (sender, site.name, event.number)
    held = tuple(
        _filled(one, key, event) if isinstance(one, LoggedEvent) else one for one in state.held
    )
    again = tuple(
        one._replace(inputs=tuple(_filled(row, key, event) for row in one.inputs))
        for one in state.again
    )
    state, effects = _replay_ready(site, state._replace(held=held, again=again))
    return state, (Send(LOG, Reset((key,))), *effects)


def _filled(row: LoggedEvent, key: Key, event: Put) -> LoggedEvent:
    return row._replace(body=event.body) if row.key == key else row


def lacking(state: RunningOperator) -> list[LoggedEvent]:
    """The rows to replay, own ones and those of Input Sets, whose data is still to come."""
    rows: Iterable[Any] = (*state.held, *(row for one in state.again for row in one.inputs))
    return [row for row in rows if isinstance(row, LoggedEvent) and row.body is None]


def ask(rows: Collection[LoggedEvent]) -> tuple[Effect, ...]:
    """Algorithm 11, step 3: mark the inputs that lack their data, and have them sent again."""
    if not rows:
        return ()
    keys = tuple(sorted({row.key for row in rows}))
    asked = Ask(tuple(sorted({row.sender for row in rows})))
    return (*note(LACKED, len(keys)), Send(LOG, Mark(keys)), Send(ENGINE, asked))


def restore(site: Site, state: RunningOperator, sets: tuple[Regeneration, ...]) -> Answer:
    """A restarted operator: what it lacks (Algorithm 11, step 3), and what it generates again
    (Algorithm 10, steps 2 to 4)."""
    if site.spec.design.replaying is None:  # Algorithm 11, step 1
        return state, ()
    asks = ask(lacking(state))
    state, effects = replay(site, state, sets)
    return state, (*asks, *effects)


# --- a replay operator -------------------------------------------------------------------------
def obey(site: Site, state: RunningOperator, message: Regenerate | Recalled | Absent) -> Answer:
    """The step of a replay operator that is not recovering."""
    match message:
        case Recalled(sets):
            return replay(site, state, sets)
        case Absent(keys):
            again = (one for one in state.again if {row.key for row in one.inputs}.isdisjoint(keys))
            return _replay_ready(site, state._replace(again=tuple(again)))
    return state, (Send(LOG, Recall()),)


def replay(site: Site, state: RunningOperator, sets: tuple[Regeneration, ...]) -> Answer:
    """Algorithm 10: generate these Input Sets again, as soon as their inputs have their data.

    Step 3: the log has the global state of each Input Set, and the numbers of its outputs; the
    context of the operator stays.  Step 4: the inputs keep their status and their Input Sets; who
    lacks an output has marked it (Algorithm 11, step 3).
    """
    known = {one.inset: one for one in state.again}
    for one in sets:
        old = known.get(one.inset)
        known[one.inset] = one if old is None else old._replace(wanted=one.wanted)
    after = state._replace(again=tuple(known.values()))
    asked = {row.key for row in lacking(state)}
    asks = ask([row for row in lacking(after) if row.key not in asked])
    state, effects = _replay_ready(site, after)
    return state, (*asks, *effects)


def _replay_ready(site: Site, state: RunningOperator) -> tuple[RunningOperator, tuple[Effect, ...]]:
    """Replay Input Sets in the order of their outputs, until one lacks an input."""
    effects: list[Effect] = []
    again = [*state.again]
    while again and all(row.body is not None for row in again[0].inputs):
        effects += _generate_again(site, again.pop(0))
    return state._replace(again=tuple(again)), tuple(effects)


def _generate_again(site: Site, one: Regeneration) -> tuple[Effect, ...]:
    """The adapted steps 4 and 5 of Algorithm 3 (5.2): no output is logged, it is there already."""
    outs = _outs(site, one)
    bodies: dict[Key, Body] = {}
    for succ in site.succs:
        keys = [key for key in one.outputs if key[1] == succ]
        bodies |= {key: out.body for key, out in zip(keys, outs, strict=False)}
    sends = [
        put(site, key[1], Put(key[2], bodies[key], replayed))
        for key, replayed in one.wanted
        if key in bodies
    ]
    return (*note(REGENERATED, len(sends)), *sends)


def _outs(site: Site, one: Regeneration) -> tuple[Out, ...]:
    """What the Input Set generates: the generation comes with its last input."""
    logic, state = site.spec.logic, one.box
    items = []
    for row in one.inputs:
        edge = site.preds.index(row.sender)
        items.append(Item(edge, row.data, frozenset({Of(edge, row.number)})))
    if not items:
        return ()
    if logic.overlaps:
        return _outs_of_one(logic, items, one.inset)
    *others, last = items
    keys = logic.assign(state, last)
    key = keys[one.inset % len(keys)]
    for item in others:
        state = logic.gather(state, item, key)
    state = logic.update(state, last, key)
    if not logic.ready(state, key):
        return ()
    fed: Fed = logic.generate(state, key)[0]
    return fed.outs


def _outs_of_one(logic: Any, items: Sequence[Item], inset: int) -> tuple[Out, ...]:
    """The outputs of an Input Set whose events are in others, too: each goes into this one."""
    state, key = logic.begin(1), logic.key(inset)
    for item in items:
        state = logic.gather(state, item, (key,))
    fed: Fed = logic.generate(state, key)[0]
    return fed.outs
