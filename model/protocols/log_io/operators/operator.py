"""A middle operator or writer of LOG.io: it takes inputs, and takes them again.

Rule of this file: each step names its algorithm and step; effects stand in the paper's order.
LOG.io, Algorithm 2, and step 2 of Algorithm 9.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import Any

from model.boxes.box import Item, Of
from model.core import DISCARDED, Answer, Effect, NodeName, Note, Received, Send, Site
from model.protocols.log_io.design import Delivery, Known, OneTransaction
from model.protocols.log_io.messages import (
    Assign,
    Drop,
    Missing,
    MissingGroup,
    Put,
    Reply,
    Success,
    Write,
)
from model.protocols.log_io.operators.generation import (
    generate,
    generate_all,
    in_one_transaction,
    store_read,
)
from model.protocols.log_io.operators.logic import SetKey
from model.protocols.log_io.places import LOG
from model.protocols.log_io.quantities import PENDING
from model.protocols.log_io.replaying import operators as replays
from model.protocols.log_io.replaying.messages import Absent, Recalled, Regenerate
from model.protocols.log_io.roles import is_alone
from model.protocols.log_io.states import RunningOperator, Taken
from model.protocols.log_io.tables import LoggedEvent
from model.protocols.log_io.writing.groups import send
from model.protocols.log_io.writing.writes import succeed


def begin(site: Site) -> RunningOperator:
    """The state of an operator that has seen nothing."""
    spec = site.spec
    none = (0,) * len(site.preds)
    array = none if spec.design.greatest is Known.EVENT_LOG else None
    sent, alone = (0,) * len(site.succs), is_alone(site)
    return RunningOperator(spec.logic.begin(len(none)), none, sent, alone=alone, array=array)


def work(site: Site, state: RunningOperator, input_: Received) -> Answer:
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
        case Success(number):  # Algorithm 5, step 3; Algorithm 8, step 2.a
            return succeed(site, state, sender, number)
        case Missing(number, body):  # Algorithm 8, step 2.b
            return state, (Note(PENDING), Send(sender, Write(number, body)))
        case MissingGroup(writes):
            again = send(site.spec.design.groups, sender, writes)
            return state, (Note(PENDING, len(writes)), *again)
    raise TypeError(f"{site.name}: nothing to do with {message} from {sender}")


def go_on(site: Site, state: RunningOperator, effects: tuple[Effect, ...]) -> Answer:
    """Take what is held, until another read is needed, or data (Algorithm 11, steps 4.b and 5)."""
    while state.held and not state.busy:
        first, *held = state.held
        state = state._replace(held=tuple(held))
        more: tuple[Effect, ...]
        if isinstance(first, LoggedEvent):
            state, more = _replay_all(site, state, first)
        else:
            state, more = work(site, state, first)
        effects += more
    return state, effects


# --- Algorithm 2: state update ---------------------------------------------------------------
def _take(site: Site, state: RunningOperator, sender: NodeName, event: Put) -> Answer:
    """Algorithm 2, step 1.  An event that is not obsolete is accepted, or held."""
    edge = site.spec.ins.index(sender)
    pred, last = site.preds[edge], state.last[edge]
    drops: tuple[Effect, ...] = ()
    if site.spec.design.connection is Delivery.LASTING:
        drops = (Send(sender, Drop(event.number)),)
    if event.replay and replays.lacks(site, state, pred, event):  # Algorithm 11, step 4.a
        state, effects = replays.fill(site, state, pred, event)
        return go_on(site, state, (*effects, *drops))
    if event.number <= last:  # step 1: filtering
        return state, (Note(DISCARDED), *drops)
    if state.busy:
        came = Received(sender, event)
        return state._replace(held=tuple(dict.fromkeys((*state.held, came)))), ()
    return _accept(site, state, edge, event, drops)


def _accept(
    site: Site, state: RunningOperator, edge: int, event: Put, drops: tuple[Effect, ...]
) -> Answer:
    """Algorithm 2, steps 2 and 3, of each Input Set of the event."""
    item = Item(edge, event.body, frozenset({Of(edge, event.number)}))
    keys = site.spec.logic.assign(state.box, item)
    insets = _insets_of(site, state, keys)
    order = sum(state.last) - state.last[edge] + event.number if _keeps_order(site) else 0
    assign = Send(LOG, Assign(site.preds[edge], event.number, insets, order))  # step 2
    state = state._replace(insets=max(state.insets, *insets))
    effects: tuple[Effect, ...] = ()
    for key, inset in zip(keys, insets, strict=False):  # one key may stand for several Input Sets
        state, more = _update(site, state, Taken(item, event.number, key, inset))
        effects += more
    effects = in_one_transaction(site, state, effects)
    return state, (assign, *drops, *effects)  # acknowledged: removed from the connection


def _keeps_order(site: Site) -> bool:
    """Does the log have to know the order of the events of several ports?

    Not if one Input Set is under way at a time: no output shows the order of its undone inputs.
    """
    return len(site.preds) > 1 and bool(site.spec.logic.several)


def _insets_of(site: Site, state: RunningOperator, keys: tuple[SetKey, ...]) -> tuple[int, ...]:
    """The numbers of the Input Sets with these keys; new ones for those that are not under way.

    A number says which function the set is for: it is the place of the function, modulo the number
    of functions.
    """
    if site.spec.logic.overlaps:
        (key,) = keys
        return tuple(site.spec.logic.insets(key))
    open_: Mapping[Any, int] = dict(state.open)
    first, among = state.insets + 1, len(keys)
    new = {key: first + (at - first) % among for at, key in enumerate(keys)}
    return tuple(open_.get(key, new[key]) for key in keys)


def _update(
    site: Site, state: RunningOperator, taken: Taken, value: int | None = None
) -> tuple[RunningOperator, tuple[Effect, ...]]:
    """Global and event state after an assigned event (Algorithm 2, step 2), and the generation that
    it triggers (step 3).

    value: the answer to a side-effect read, where the operator generates something else for each.
    The read may be executed again until the outputs are logged, so its effect is stored with them.
    """
    item, number, key, inset = taken
    logic, before = site.spec.logic, state
    last = _raised(state.last, item.edge, number)
    array = None if state.array is None else _raised(state.array, item.edge, number)
    newest = logic.newest(item.edge, key)
    insets = max(state.insets, inset)
    state = state._replace(last=last, array=array, insets=insets, newest=newest)
    box = logic.update(state.box, item, key)  # step 2
    if not logic.ready(box, key):  # step 3
        return state._replace(box=box, open=_opened(site, state, key, inset)), ()
    if logic.overlaps:
        return generate_all(site, state._replace(box=box))
    answers = logic.generate(box, key)
    if len(answers) > 1 and value is None:  # Algorithm 3, step 1; Algorithm 4, step 1
        ask = logic.request(site.preds[item.edge], number)
        return state._replace(reading=taken), (Send(logic.asks, ask),)
    fed = answers[(value or 0) % len(answers)]
    state = state._replace(box=fed.state)
    return generate(site, before, state, fed.outs, taken, value)


def _opened(
    site: Site, state: RunningOperator, key: SetKey, inset: int
) -> tuple[tuple[SetKey, int], ...]:
    """The Input Sets under way, with this one; none where a key gives the number."""
    if site.spec.logic.overlaps:
        return ()
    return tuple(sorted({**dict(state.open), key: inset}.items(), key=str))


def _raised(numbers: tuple[int, ...], edge: int, number: int) -> tuple[int, ...]:
    return (*numbers[:edge], max(numbers[edge], number), *numbers[edge + 1 :])


# --- Algorithm 9, step 2: assigned inputs again ----------------------------------------------
def _replay_all(site: Site, state: RunningOperator, row: LoggedEvent) -> Answer:
    """Take an assigned input again; with the rows of its other functions, if one transaction has
    them all."""
    state, effects = _replay(site, state, row)
    if site.spec.design.together is OneTransaction.OF_FUNCTION:
        return state, effects
    while state.held and _is_of(state.held[0], row):
        other = state.held[0]
        assert isinstance(other, LoggedEvent)
        state, more = _replay(site, state._replace(held=state.held[1:]), other)
        effects += more
    return state, in_one_transaction(site, state, effects)


def _replay(site: Site, state: RunningOperator, row: LoggedEvent) -> Answer:
    """Take an assigned input again, without another assignment.

    Algorithm 11, step 4.b, and Algorithm 9, step 2.
    """
    edge = site.preds.index(row.sender)
    item = Item(edge, row.data, frozenset({Of(edge, row.number)}))  # step 2.a
    keys = site.spec.logic.assign(state.box, item)
    key = keys[row.inset % len(keys)]
    if site.spec.logic.overlaps:
        state, key = _with_its_others(site, state, row, key)
    return _update_again(site, state, Taken(item, row.number, key, row.inset))


def _with_its_others(
    site: Site, state: RunningOperator, row: LoggedEvent, key: SetKey
) -> tuple[RunningOperator, SetKey]:
    """The operator without the other undone rows of the input, and the keys of all its rows.

    As before the failure, the condition sees an input once, in all its Input Sets.
    """
    others = [*takewhile(lambda one: _is_of(one, row), state.held)]
    insets = {row.inset, *(one.inset for one in others if isinstance(one, LoggedEvent))}
    numbered = zip(key, site.spec.logic.insets(key), strict=True)
    mine = tuple(one for one, inset in numbered if inset in insets)
    return state._replace(held=state.held[len(others) :]), mine


def _is_of(held: Received | LoggedEvent, row: LoggedEvent) -> bool:
    return isinstance(held, LoggedEvent) and held.key == row.key


def _update_again(site: Site, state: RunningOperator, taken: Taken) -> Answer:
    """Algorithm 9, step 2.b: the global state "if not already done", and the event state of its
    Input Set alone.

    Step 2.c: the condition is evaluated.  If the stored global state has the input, the condition
    has seen the input before that state was stored, and has been false: it is not evaluated again.
    """
    if not _has_updated(site, state, taken):
        return _update(site, state, taken)
    return _gather(site, state, taken), ()


def _has_updated(site: Site, state: RunningOperator, taken: Taken) -> bool:
    """Is the input's update part of the stored global state (step 2.b: "if not already done")?"""
    logic, edge = site.spec.logic, taken.item.edge
    if not logic.gathers:
        return False
    if taken.number != state.updated[edge]:
        return taken.number < state.updated[edge]
    (newest, last), (one, function) = state.newest, logic.newest(edge, taken.key)
    return one != newest or bool(function <= last)


def _gather(site: Site, state: RunningOperator, taken: Taken) -> RunningOperator:
    item, _, key, inset = taken
    opened = _opened(site, state, key, inset)
    gathered = site.spec.logic.gather(state.box, item, key)
    return state._replace(box=gathered, open=opened, insets=max(state.insets, inset))
