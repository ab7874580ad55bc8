"""A middle operator or writer of LOG.io: it takes inputs, and takes them again.

Rule of this file: each step names its algorithm and step; effects stand in the paper's order.
LOG.io, Algorithm 2, and step 2 of Algorithm 9.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.boxes.box import Fed, Item, Of
from model.boxes.triggered import Functions, Triggered
from model.core import DISCARDED, Answer, Effect, NodeName, Note, Received, Send, Site
from model.protocols.log_io.design import Again, Array, Delivery, Obsolete, PortOrder, Triggers
from model.protocols.log_io.messages import (
    Assign,
    Drop,
    Look,
    Missing,
    MissingGroup,
    Put,
    Query,
    Reply,
    Success,
    Write,
)
from model.protocols.log_io.operators.generation import generate, store_read
from model.protocols.log_io.places import AHEAD, LOG, SERVICE
from model.protocols.log_io.quantities import PENDING
from model.protocols.log_io.replaying import operators as replays
from model.protocols.log_io.replaying.messages import Absent, Recalled, Regenerate
from model.protocols.log_io.scaling.roles import is_alone
from model.protocols.log_io.states import Operator, Taken
from model.protocols.log_io.tables import LoggedEvent
from model.protocols.log_io.writing.groups import send
from model.protocols.log_io.writing.lookup import Lookup
from model.protocols.log_io.writing.writes import succeed


def begin(site: Site) -> Operator:
    """The state of an operator that has seen nothing."""
    spec = site.spec
    none = (0,) * len(site.preds)
    array = none if spec.design.array is Array.OWN else None
    sent, alone = (0,) * len(site.succs), is_alone(site)
    return Operator(spec.box.begin(len(none)), none, sent, alone=alone, array=array)


def work(site: Site, state: Operator, input_: Received) -> Answer:
    """The step of an operator that is not recovering."""
    sender, message = input_
    match message:
        case Reply(value):  # Algorithm 4: the generation goes on
            assert state.reading is not None
            taken, state = state.reading, state._replace(reading=None)
            state, effects = _update(site, state, taken, value)
            return go_on(site, state, (*store_read(site, taken.inset, value), *effects))
        case Regenerate() | Recalled() | Absent():
            return go_on(site, *replays.obey(site, state, message))
        case Put():
            return _take(site, state, sender, message)
        case Success(number):
            return succeed(site, state, sender, number)
        case Missing(number, body):  # Algorithm 8: else replay the write
            return state, (Note(PENDING), Send(sender, Write(number, body)))
        case MissingGroup(writes):
            return state, (Note(PENDING, len(writes)), *send(site.spec.design, sender, writes))
    raise TypeError(f"{site.name}: nothing to do with {message} from {sender}")


def _edge(site: Site, sender: NodeName) -> int:
    return site.preds.index(sender.partition(AHEAD)[0])


def go_on(site: Site, state: Operator, effects: tuple[Effect, ...]) -> Answer:
    """Take what is held, until another read is needed."""
    while state.held and not state.busy:
        first, *held = state.held
        state = state._replace(held=tuple(held))
        more: tuple[Effect, ...]
        if isinstance(first, LoggedEvent):
            state, more = _replay(site, state, first)
        else:
            state, more = work(site, state, first)
        effects += more
    return state, effects


# --- Algorithm 2: state update ---------------------------------------------------------------
def _take(site: Site, state: Operator, sender: NodeName, event: Put) -> Answer:
    edge = _edge(site, sender)
    design, last = site.spec.design, state.last[edge]
    drops: tuple[Effect, ...] = ()
    if design.connection is Delivery.LASTING:
        drops = (Send(f"{site.preds[edge]}{AHEAD}{site.name}", Drop(event.number)),)
    bound = last if design.obsolete is Obsolete.NOT_GREATER else last - 1
    if design.replaying is not None:
        match replays.judge(site, state, site.preds[edge], event):
            case replays.Fate.FILLS:
                state, effects = replays.fill(site, state, site.preds[edge], event)
                return go_on(site, state, (*effects, *drops))
            case replays.Fate.UNFILTERED:
                return _accept(site, state, edge, event, drops)
            case replays.Fate.DISCARDED:
                bound = event.number
    if event.number <= bound:  # step 1: filtering
        return state, (Note(DISCARDED), *drops)
    if state.busy:
        came = Received(sender, event)
        return state._replace(held=tuple(dict.fromkeys((*state.held, came)))), ()
    return _accept(site, state, edge, event, drops)


def _accept(
    site: Site, state: Operator, edge: int, event: Put, drops: tuple[Effect, ...]
) -> Answer:
    item = Item(edge, event.body, frozenset({Of(edge, event.number)}))
    keys = _keys(site.spec.box, item)
    insets = _insets_of(state, keys)
    order = sum(state.last) - state.last[edge] + event.number if _keeps_order(site) else 0
    assign = Send(LOG, Assign(site.preds[edge], event.number, insets, order))  # step 2
    state = state._replace(insets=max(state.insets, *insets))
    effects: tuple[Effect, ...] = ()
    for key, inset in zip(keys, insets, strict=True):
        state, more = _update(site, state, Taken(item, event.number, key, inset))
        effects += more
    return state, (assign, *drops, *effects)  # acknowledged: removed from the connection


def _keeps_order(site: Site) -> bool:
    """Does the log have to know the order of the events of several ports?

    Not if one Input Set is under way at a time: no output shows the order of its undone inputs.
    """
    box = site.spec.box
    several = isinstance(box, Functions) or (isinstance(box, Triggered) and box.group is not None)
    return several and len(site.preds) > 1 and site.spec.design.ports is PortOrder.ASSIGNED


def _keys(box: Any, item: Item) -> tuple[Any, ...]:
    """The Input Sets of an item: of a box that gathers no sets, each item is one."""
    if isinstance(box, Triggered | Functions):
        return box.keys(item)
    return (item.of,)


def _insets_of(state: Operator, keys: tuple[Any, ...]) -> tuple[int, ...]:
    """The numbers of the Input Sets with these keys; new ones for those that are not under way.

    A number says which function the set is for: it is the place of the function, modulo how many
    there are.
    """
    open_: Mapping[Any, int] = dict(state.open)
    first, among = state.insets + 1, len(keys)
    new = {key: first + (at - first) % among for at, key in enumerate(keys)}
    return tuple(open_.get(key, new[key]) for key in keys)


def _update(
    site: Site, state: Operator, taken: Taken, value: int | None = None, again: bool = False
) -> tuple[Operator, tuple[Effect, ...]]:
    """Global and event state after an assigned event (Algorithm 2, step 2), and the generation that
    it triggers (step 3).

    value: what a side-effect read has shown, where the box has several answers.  The read may be
    executed again until the outputs are logged, so its effect is stored with them.  again: the item
    has updated the global state already.
    """
    item, number, key, inset = taken
    last = _raised(state.last, item.edge, number)
    array = None if state.array is None else _raised(state.array, item.edge, number)
    newest = (item.edge, key[0]) if isinstance(site.spec.box, Functions) else (0, 0)
    before = state
    insets = max(state.insets, inset)
    state = state._replace(last=last, array=array, insets=insets, newest=newest)
    answers = _feed(site.spec.box, state.box, item, key, again)
    if len(answers) > 1 and value is None:  # Algorithm 3, step 1; Algorithm 4
        return state._replace(reading=taken), (_ask(site, taken),)
    fed = answers[(value or 0) % len(answers)]
    state = state._replace(box=fed.state, open=_opened(state, key, inset))
    if isinstance(site.spec.box, Triggered | Functions) and not fed.outs:
        return state, ()
    return generate(site, before, state, fed.outs, key, inset, value)


def _opened(state: Operator, key: Any, inset: int) -> tuple[tuple[Any, int], ...]:
    """The Input Sets under way, with this one."""
    return tuple(sorted({**dict(state.open), key: inset}.items(), key=str))


def _ask(site: Site, taken: Taken) -> Send:
    box = site.spec.box
    if isinstance(box, Lookup):
        return Send(box.system, Look(site.preds[taken.item.edge], taken.number))
    return Send(SERVICE, Query())


def _raised(numbers: tuple[int, ...], edge: int, number: int) -> tuple[int, ...]:
    return (*numbers[:edge], max(numbers[edge], number), *numbers[edge + 1 :])


def _feed(box: Any, state: Any, item: Item, key: Any, again: bool) -> tuple[Fed, ...]:
    if isinstance(box, Functions):
        return box.recheck_set(state, item, key) if again else box.feed_set(state, item, key)
    if isinstance(box, Lookup):
        return box.look(state, item)
    fed: tuple[Fed, ...] = box.recheck(state, item) if again else box.feed(state, item)
    return fed


# --- Algorithm 9, step 2: assigned inputs again ----------------------------------------------
def _replay(site: Site, state: Operator, row: LoggedEvent) -> Answer:
    """Take an assigned input again, without another assignment (Algorithm 9, step 2)."""
    edge = site.preds.index(row.sender)
    if replays.assigns_again(site, row):
        return _accept(site, state, edge, Put(row.number, row.data), ())
    item = Item(edge, row.data, frozenset({Of(edge, row.number)}))
    keys = _keys(site.spec.box, item)
    wanted = [keys[row.inset % len(keys)]]
    if site.spec.design.again is Again.ALL:
        wanted = [*keys]
    effects: tuple[Effect, ...] = ()
    for key in wanted:
        taken = Taken(item, row.number, key, row.inset)
        again = _has_updated(site, state, taken)
        if again and site.spec.design.triggers is Triggers.UNSEEN:
            state = _gather(site, state, taken)
            continue
        state, more = _update(site, state, taken, again=again)
        effects += more
    return state, effects


def _has_updated(site: Site, state: Operator, taken: Taken) -> bool:
    """Is the input's update part of the stored global state (step 2.b: "if not already done")?

    Then the condition has seen the input before that state was stored, and has been false.
    """
    box, edge = site.spec.box, taken.item.edge
    if site.spec.design.array is Array.NONE or not isinstance(box, Triggered | Functions):
        return False
    if taken.number != state.updated[edge]:
        return taken.number < state.updated[edge]
    newest, function = state.newest
    return not isinstance(box, Functions) or edge != newest or taken.key[0] <= function


def _gather(site: Site, state: Operator, taken: Taken) -> Operator:
    item, _, key, inset = taken
    box = site.spec.box
    gathered = (
        box.gather_set(state.box, item, key)
        if isinstance(box, Functions)
        else box.gather(state.box, item)
    )
    opened = _opened(state, key, inset)
    return state._replace(box=gathered, open=opened, insets=max(state.insets, inset))
