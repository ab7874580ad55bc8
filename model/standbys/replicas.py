"""The dispatch of a replica: which function of its family takes which message.

Rule of this file: no choice of a family.  The states of a family differ; of a replica that leads,
this file reads `inlets` and `queue`.  A family writes its part as a Conduct.
Hwang et al., Sections 2, 5 and 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

from model.core import (
    DISCARDED,
    RESTORED,
    STALE,
    Answer,
    Effect,
    Input,
    Lost,
    NodeName,
    Note,
    Received,
    Send,
    Site,
    Step,
    TimerFired,
)
from model.standbys import consumers, producers
from model.standbys.choices import Again, Deposes
from model.standbys.messages import (
    TOOK_OVER,
    Ack,
    Begin,
    Connect,
    Deposed,
    Last,
    Output,
    Rejoined,
)
from model.standbys.producers import OutputQueue

Effects: TypeAlias = tuple[Effect, ...]
Ending: TypeAlias = Callable[[Site, Any, Any, Effects, Received], Answer]
"""(site, state before, state after, effects, the message) -> the step: what a family adds to it."""


def end(_site: Site, _before: Any, after: Any, effects: Effects, _received: Received) -> Answer:
    """The step as it is."""
    return Step(after, effects)


class Conduct(NamedTuple):
    """The answers of a family's primary; each function gets the site and the state first.

    process: a tuple, with its sender.  fired: the name of a timer.  resume: a reader has answered
    with its last tuple: (sender, place).  renew: the other replica is back as the secondary: its
    name.  alone: the secondary is lost.  own: any other input.  recover: the first step of a
    secondary that comes back.
    begun, heard, connected: the end of the step after `Begin`, `Ack` and `Connect`.
    """

    process: Callable[[Site, Any, NodeName, Output], Answer]
    fired: Callable[[Site, Any, str], Answer]
    resume: Callable[[Site, Any, NodeName, int], Answer]
    renew: Callable[[Site, Any, NodeName], Answer]
    alone: Callable[[Site, Any], Answer]
    own: Callable[[Site, Any, Input], Answer]
    recover: Callable[[Site, None], Answer]
    begun: Ending = end
    heard: Ending = end
    connected: Ending = end


def lead(conduct: Conduct, site: Site, state: Any, input_: Input) -> Answer:
    """The step of a primary."""
    match input_:
        case Received(sender, Output() as output):
            return conduct.process(site, state, sender, output)
        case Received(sender, Ack() as ack):
            queue, notes = producers.hear(state.queue, sender, ack)
            return conduct.heard(site, state, state._replace(queue=queue), notes, input_)
        case TimerFired(timer):
            return conduct.fired(site, state, timer)
        case Received(sender, Begin() as message):
            after, answer = consumers.greet(site, state, sender, message)
            return conduct.begun(site, state, after, answer, input_)
        case Received(sender, Connect() as request):
            queue, effects = producers.connect(state.queue, sender, request)
            return conduct.connected(site, state, state._replace(queue=queue), effects, input_)
        case Received(sender, Last(place)):
            return conduct.resume(site, state, sender, place)
        case Received(sender, Rejoined()):
            return conduct.renew(site, state, sender)
        case Received(_, Lost()):
            return conduct.alone(site, state)
        case Received(_, Deposed()):
            return conduct.recover(site, None)
        case _:
            return conduct.own(site, state, input_)


def follow(
    site: Site,
    state: Any,
    input_: Input,
    take_over: Callable[[Site, Any], Answer],
    own: Callable[[Site, Any, Received], Answer],
) -> Answer:
    """The step of a secondary.  own: what the family's primary sends to it."""
    match input_:
        case Received(_, Lost()):
            return take_over(site, state)
        case Received():
            return own(site, state, input_)
        case TimerFired():
            return stale(state)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def stale(state: Any) -> Step:
    """The step after a message for a primary that is no more, or from one."""
    return Step(state, (Note(STALE),))


# --- a takeover ------------------------------------------------------------------------------
def succeed(site: Site, *notes: Note) -> list[Effect]:
    """The first effects of a takeover; the primary, which may be up, is deposed."""
    effects: list[Effect] = [Note(TOOK_OVER), Note(RESTORED), *notes]
    if site.config.design.deposes is Deposes.YES:
        effects.append(Send(site.config.other, Deposed()))
    return effects


def present(again: Again, queue: OutputQueue, start: int, kept: Iterable[Output]) -> list[Effect]:
    """Begin at all readers after `start`; they get what is kept, unless they are asked first."""
    effects: list[Effect] = []
    asks, outputs = again is not Again.ALL, (*kept,)
    for reader in queue.readers:
        effects.append(Send(reader.target, Begin(start, asks, again)))
        if not asks:
            effects += (Send(reader.target, output) for output in outputs if reader.gets(output))
    return effects


def resume(
    release: Callable[[Site, Any], tuple[Any, Effects]],
    site: Site,
    state: Any,
    sender: NodeName,
    place: int,
) -> Step:
    """Once all readers have answered, send each of them what it does not have."""
    queue = producers.answer(site.config.design.again, state.queue, sender, place)
    known = sum(1 for output in queue.kept if output.place <= place)
    state, sends = release(site, state._replace(queue=queue))
    return Step(state, (Note(DISCARDED, known), *sends))
