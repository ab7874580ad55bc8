"""A source operator whose read action is replayable, and its recovery.

Rule of this file: each step names its algorithm and step; effects stand in the paper's order.
LOG.io, Algorithm 1, step 3, and Algorithm 6.
"""

from __future__ import annotations

from typing import Any

from model.core import RESENT, RESTORED, STALE, Answer, Effect, Note, Send, Site
from model.events import BEGINNING, Event
from model.protocols.log_io.design import GoesOn
from model.protocols.log_io.messages import Commit, Restored
from model.protocols.log_io.places import LOG
from model.protocols.log_io.quantities import note
from model.protocols.log_io.states import Reader
from model.protocols.log_io.tables import ContextRow, LoggedEvent
from model.protocols.log_io.writing.writes import put_all
from model.queues import Inlet, Replay, Replayed, Stamp


def begin(site: Site) -> Reader:
    """The state of a reader that has read nothing."""
    return Reader(Inlet(), (0,) * len(site.succs))


def read(site: Site, state: Reader, message: Any) -> Answer:
    """Algorithm 1, step 3: each event is logged and sent as in step 2.c, when it comes."""
    if isinstance(message, Replayed):
        return state._replace(inlet=state.inlet.begin(message)), ()
    assert isinstance(message, Event)
    if not state.inlet.is_next(message):
        return state, (Note(STALE),)
    if state.skips:
        return state._replace(inlet=state.inlet.take(message), skips=state.skips - 1), ()
    sent = tuple(number + 1 for number in state.sent)
    numbered = zip(site.succs, sent, strict=True)
    rows = [LoggedEvent(site.name, succ, number, 0, message.body) for succ, number in numbered]
    after = _after(site, state, message)._replace(sent=sent)
    at = (after.inlet.time, after.same) if after.same else after.inlet.place  # step 3
    commit = Send(LOG, Commit(tuple(rows), ContextRow(at, (), sent)))  # step 2.c
    sends = put_all(site, rows)
    return after, (commit, *sends)


def read_again(site: Site, found: Restored) -> Answer:
    """Algorithm 6: send the undone outputs again, then replay from the last event logged.

    What the source sent before the request belongs to a lost connection.  The read action is never
    complete here (steps 3.a and 3.b): its source goes on.
    """
    context = found.context or ContextRow(0, (), (0,) * len(site.succs))
    request = Replay(context.box)
    sends = put_all(site, found.outputs)  # step 1
    # step 2, and steps 4.a and 4.b: the action is executed again, from the event after the last one
    state = Reader(Inlet(request=request), context.sent)
    if site.spec.design.goes_on is GoesOn.KEY:
        time, same = context.box or (BEGINNING, 0)
        request = Replay(time, Stamp.TIME, inclusive=True)
        state = Reader(Inlet(time=time, request=request), context.sent, same, same)
    notes: tuple[Effect, ...] = (Note(RESTORED), *note(RESENT, len(sends)))
    return state, (*notes, *sends, Send(site.preds[0], request))


def _after(site: Site, state: Reader, event: Event) -> Reader:
    """The reader with its place, or key, after this event; a key is a time, and the number of the
    event among those of that time."""
    inlet, same = state.inlet.take(event), 0
    if site.spec.design.goes_on is GoesOn.KEY:
        same = 1 + (state.same if event.body.time == state.inlet.time else 0)
    return state._replace(inlet=inlet, same=same)
