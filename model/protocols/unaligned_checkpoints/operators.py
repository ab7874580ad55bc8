"""The instances of operators: they fill input buffers, process records, and empty output buffers.

Rule of this file: no snapshot (snapshots.py), and no step of another node.  A timer stands for the
speed of a task and one for that of the network: the world lets them run out when it likes, which
covers any back pressure.
FLIP-76.
"""

from __future__ import annotations

from typing import Any

from model.boxes.box import Item, Out
from model.core import (
    RESTORED,
    Effect,
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
from model.protocols.unaligned_checkpoints.design import Injection
from model.protocols.unaligned_checkpoints.instances import key_of
from model.protocols.unaligned_checkpoints.messages import (
    TOO_EARLY,
    CheckpointBarrier,
    FlowRecord,
    GoBack,
    InstancePart,
    InstanceState,
    KeyState,
)
from model.protocols.unaligned_checkpoints.snapshots import (
    arrive,
    blocked,
    note_arrival,
    report,
    settle,
)
from model.queues import STALE_NOTE
from model.uploads import PartUploaded

PROCESS, TRANSMIT = "process", "transmit"


def operate(site: Site, state: InstanceState, input_: Input) -> Step:
    match input_:
        case TimerFired(name) if name == PROCESS:
            return _process_next(site, state)
        case TimerFired(name) if name == TRANSMIT:
            return _transmit_next(state)
        case Received(_, GoBack() as order):
            return _go_back(site, state, order)
        case Received(_, PartUploaded(run, number)):
            return report(state, run, number)
        case Received(sender, FlowRecord() | CheckpointBarrier() as message):
            return _receive(site, state, sender, message)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _receive(site: Site, state: InstanceState, sender: NodeName, message: Any) -> Step:
    """Take a message into the input buffers; a barrier that overtakes is taken at once."""
    if message.run < state.run:
        return Step(state, (STALE_NOTE,))
    if message.run > state.run:
        return Step(state._replace(early=(*state.early, (sender, message))), (Note(TOO_EARLY),))
    if isinstance(message, CheckpointBarrier):
        state, effects = arrive(site, state, sender, message)
    else:
        state, effects = note_arrival(site, state, sender, message)
        state = state._replace(inbox=(*state.inbox, (sender, message)))
    return Step(state, (*effects, *_timers(state)))


def _timers(state: InstanceState) -> tuple[SetTimer, ...]:
    """The timers of a task that can process, and of an output buffer that is not empty."""
    process = (SetTimer(PROCESS),) if _next(state) is not None else ()
    return (*process, SetTimer(TRANSMIT)) if state.outbox else process


def _next(state: InstanceState) -> int | None:
    """The place of the first record whose input is not blocked."""
    stopped = blocked(state)
    return next((at for at, one in enumerate(state.inbox) if one[0] not in stopped), None)


def _process_next(site: Site, state: InstanceState) -> Step:
    """Feed the box with a record; of several allowed answers the one that the run chooses."""
    at = _next(state)
    if at is None:
        return Step(state)
    sender, record = state.inbox[at]
    state = state._replace(inbox=(*state.inbox[:at], *state.inbox[at + 1 :]))
    key = key_of(site.spec, record.body)
    known = {one.key: one for one in state.keys}
    box, taken = known.get(key, _new(site, key))[1:]
    edge = site.config.edge(sender, site.name)
    answers = site.spec.feed(box, Item(edge, record.body, record.of))
    fed = answers[state.run % len(answers)]
    known[key] = KeyState(key, fed.state, taken + 1)
    keys = tuple(sorted(known.values(), key=lambda one: repr(one.key)))
    state = _put_out(site, state._replace(keys=keys), fed.outs)
    state, effects = settle(site, state)
    return Step(state, (*effects, *_timers(state)))


def _new(site: Site, key: Any) -> KeyState:
    return KeyState(key, site.spec.begin(len(site.config.graph.preds(_node(site)))))


def _node(site: Site) -> NodeName:
    node: NodeName = site.config.places[site.name].node
    return node


def _put_out(site: Site, state: InstanceState, outs: tuple[Out, ...]) -> InstanceState:
    """Put the outputs into the output buffers."""
    job = site.config
    sent = tuple(
        (job.owner(node, out.body, state.run), FlowRecord(state.run, *out))
        for out in outs
        for node in job.graph.succs(_node(site))
    )
    return state._replace(outbox=(*state.outbox, *sent))


def _transmit_next(state: InstanceState) -> Step:
    """Send the first output, and the barriers right behind it."""
    effects: list[Effect] = []
    while state.outbox and not effects:
        effects.append(Send(*state.outbox[0]))
        state = state._replace(outbox=state.outbox[1:])
    while state.outbox and isinstance(state.outbox[0][1], CheckpointBarrier):
        effects.append(Send(*state.outbox[0]))
        state = state._replace(outbox=state.outbox[1:])
    return Step(state, (*effects, *((SetTimer(TRANSMIT),) if state.outbox else ())))


def _go_back(site: Site, state: InstanceState, order: GoBack) -> Step:
    """Go on from the part in a new run: first with the records that were on their way."""
    run, number, part = order
    keys, inputs, _ = part or InstancePart()
    flight = tuple((one.sender, one.record) for one in inputs)
    first = site.config.design.injection is Injection.BEFORE_NEW
    early, state = state.early, InstanceState(run, number, keys, flight if first else ())
    effects: list[Effect] = [Note(RESTORED)]
    for sender, message in early:
        if message.run >= run:
            state, more = _receive(site, state, sender, message)
            effects += more
    if not first:
        state = state._replace(inbox=(*state.inbox, *flight))
    return Step(state, (*effects, *_timers(state)))
