"""A source operator whose read action is not replayable, and its recovery.

Rule of this file: each step names its algorithm and step; effects stand in the paper's order.
LOG.io, Algorithm 1, steps 1 and 2, and Algorithm 6.

The external system is the service, which shows another value to the next read.  When to read is
not the protocol's choice; the source of the graph says it, and the number of its request is the
action_ID.
"""

from __future__ import annotations

from model.core import RESENT, RESTORED, STALE, Answer, Effect, Note, Send, Site
from model.events import Body, Event
from model.protocols.log_io.design import Reads
from model.protocols.log_io.messages import (
    Acknowledge,
    Begin,
    Commit,
    Complete,
    Discard,
    Lineage,
    Query,
    Reply,
    Restored,
    Store,
)
from model.protocols.log_io.places import LOG, SERVICE
from model.protocols.log_io.quantities import READ_AGAIN, RESUMED, note
from model.protocols.log_io.sources.effects import effect_of
from model.protocols.log_io.states import Source
from model.protocols.log_io.tables import ContextRow, LoggedEvent, SideRead, Used
from model.protocols.log_io.writing.writes import put_all
from model.queues import Inlet, Replay, Replayed

Message = Event | Replayed | Reply


def begin(site: Site) -> Source:
    """The state of a source operator that has read nothing."""
    return Source(Inlet(), (0,) * len(site.succs))


def act(site: Site, state: Source, message: Message) -> Answer:
    """The step of a source operator that is not recovering."""
    match message:
        case Replayed():
            return state._replace(inlet=state.inlet.begin(message)), ()
        case Event():
            if not state.inlet.is_next(message):
                return state, (Note(STALE),)
            state = state._replace(inlet=state.inlet.take(message))
            if state.reading is not None:
                return state._replace(held=(*state.held, message)), ()
            return _execute(site, state, message)
        case Reply(value):
            return _generate(site, state, value)
    raise TypeError(f"{site.name}: nothing to do with {message}")


def _execute(site: Site, state: Source, request: Event) -> Answer:
    """Step 1: get a new action_ID, log the action, execute it."""
    begun = (Send(LOG, Begin(request.sn[0])),) if _stores(site) else ()
    return state._replace(reading=request), (*begun, Send(SERVICE, Query(request.sn[0])))


def _stores(site: Site) -> bool:
    return bool(site.spec.design.reads is not Reads.REPLAYABLE)


def _generate(site: Site, state: Source, value: int) -> Answer:
    """Steps 2.a and 2.b, of what the service has shown; then the other ones of step 2, and the next
    request, if one waits."""
    request = state.reading
    assert request is not None
    effect = effect_of(site.spec.box, value, request.body)
    stored: tuple[Effect, ...] = ()
    if _stores(site):
        stored = (Send(LOG, Store(effect)), Send(LOG, Complete()))  # 2.a and 2.b
        stored += _acknowledge(site, request.sn[0])
    state, effects = _iterate(site, state, request.sn[0], effect, state.skips)
    state = state._replace(reading=None, skips=0)
    more: tuple[Effect, ...] = ()
    if state.held:
        first, *held = state.held
        state, more = _execute(site, state._replace(held=tuple(held)), first)
    return state, (*stored, *effects, *more)


def _acknowledge(site: Site, number: int) -> tuple[Effect, ...]:
    """The effect of the action is stored, and its events may go.  Algorithm 1 has no such step."""
    acknowledges = site.spec.design.reads is Reads.ACKNOWLEDGED
    return (Send(SERVICE, Acknowledge(number)),) if acknowledges else ()


def _iterate(
    site: Site, state: Source, number: int, effect: tuple[Body, ...], offset: int
) -> tuple[Source, tuple[Effect, ...]]:
    """Steps 2.c and 2.d: log and send the outputs from this offset on, one by one."""
    effects: list[Effect] = []
    for at, body in enumerate(effect[offset:], offset + 1):
        sent = tuple(one + 1 for one in state.sent)
        numbered = zip(site.succs, sent, strict=True)
        rows = [LoggedEvent(site.name, succ, one, 0, body) for succ, one in numbered]
        ends = at == len(effect)
        context = ContextRow((number, 0) if ends else (number - 1, at), (), sent)
        sends = put_all(site, rows)
        lineage = _origin(site, rows, number)
        commit = Commit(tuple(rows), context, 0, lineage, ends)
        effects += [Send(LOG, commit), *sends]  # step 2.c
        state = state._replace(sent=sent)
    if not effect:  # step 2.c(3), where no event is the last one
        ended = ContextRow((number, 0), (), state.sent)
        effects.append(Send(LOG, Commit((), ended, ends=True)))
    discard = (Send(LOG, Discard()),) if _stores(site) else ()  # step 2.d
    return state, (*effects, *discard)


def _origin(site: Site, rows: list[LoggedEvent], number: int) -> Lineage:
    """An output of a source is made of its read action.  Algorithm 1 has no such row."""
    capture = site.spec.design.lineage
    if capture is None:
        return Lineage()
    really = frozenset({(SERVICE, number)})
    used = (Used(*row[:3], number, really) for row in rows if row[:2] in capture.ports.outs)
    origin = Lineage(tuple(used), SideRead(number, number))
    return origin if origin.rows else Lineage()


def resume(site: Site, found: Restored) -> Answer:
    """Algorithm 6.  The context has the actions that are done, and an offset into the next one.

    What came meanwhile belongs to a lost connection: the requests are sent again.
    """
    context = found.context or ContextRow((0, 0), (), (0,) * len(site.succs))
    number, offset = context.box
    sends = put_all(site, found.outputs)  # step 1
    effects: list[Effect] = [Note(RESTORED), *note(RESENT, len(sends)), *sends]
    state = Source(Inlet(), context.sent)  # step 2
    action = found.action
    if action is not None and action.complete:
        effects += _acknowledge(site, action.number)
    if action is not None and action.complete and action.done:  # step 3.a
        effects.append(Send(LOG, Discard()))
    elif action is not None and action.complete:  # step 3.b
        number = action.number
        state, more = _iterate(site, state, number, action.effect or (), offset)
        effects += [Note(RESUMED), *more]
    elif action is not None:  # step 4.a
        effects += [Note(READ_AGAIN), Send(LOG, Discard())]
    else:  # step 4.b
        state = state._replace(skips=offset)
    request = Replay(number)
    return state._replace(inlet=Inlet(request=request)), (*effects, Send(site.preds[0], request))
