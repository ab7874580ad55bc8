"""A relay that forgets: the source sends everything again, and nobody notices what came twice.

At-least-once delivery, and so repeating recovery where precise is claimed.
`asif check docs/examples/forgetful.py` refutes it; mindful.py is the correction.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from asif.protocol import (
    CRASHED,
    REPLAYED,
    Answer,
    Arrival,
    Behaviour,
    Body,
    Case,
    CountWindows,
    Deployment,
    Emit,
    Event,
    Family,
    Gauges,
    Guarantee,
    Input,
    Invalid,
    Note,
    Operator,
    OperatorClass,
    Received,
    Role,
    Scope,
    Send,
    Site,
    chain,
    deploy_graph,
    over_words,
    sequence,
)

# States.  Source: all events it ever sent.  Relay: is it up to date?  Sink: the number of the last
# event that it passed on, which it does not look at.


class Hello(NamedTuple):
    """The relay has restarted."""


class Again(NamedTuple):
    """All that was ever sent, in one message."""

    events: tuple[Event, ...]


def deploy(_design: None, scope: Scope) -> Deployment:
    if len(scope.graph.nodes) != 3:
        raise Invalid("forgetful: the graph must be a source, an operator and a sink")
    return deploy_graph(scope.graph, replies=True)


def boot(site: Site) -> Any:
    return {Role.SOURCE: (), Role.OPERATOR: True, Role.SINK: 0}[site.role]


def recover(site: Site, _durable: None) -> Answer:
    return False, (Send(site.preds[0], Hello()),)


def step(site: Site, state: Any, input_: Input) -> Answer:
    match site.role, input_:
        case Role.SOURCE, Arrival(gap, type_, data):
            now = gap + (state[-1].body.time if state else 0)
            event = Event((len(state) + 1,), Body(now, type_, data))
            return (*state, event), (Send(site.succs[0], event),)
        case Role.SOURCE, Received(_, Hello()):
            return state, (Note(REPLAYED, len(state)), Send(site.succs[0], Again(state)))
        case Role.OPERATOR, Received(_, Again(events)):
            return True, passed(site, events)
        case Role.OPERATOR, Received(_, Event() as event):
            return state, passed(site, (event,)) if state else ()
        case Role.SINK, Received(_, Event(sn, body)):
            return sn[0], (Emit((0, body)),)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def gauges(site: Site, state: Any) -> Gauges:
    return Gauges(buffered=len(state) if site.role is Role.SOURCE else 0)


def passed(site: Site, events: tuple[Event, ...]) -> tuple[Send, ...]:
    """What the engine makes of each event (a window of its own), under the event's number."""
    engine, emits = site.spec.engine, site.spec.emits
    return tuple(
        Send(site.succs[0], Event(sn, Body(body.time, emits, match)))
        for sn, body in events
        for match in engine.feed(engine.begin(), body).matches
    )


RELAY = chain(("relay", Operator(sequence("a"), CountWindows(1, 1))))
SMALL = over_words(RELAY, 2, crashes=2)
CLASS = OperatorClass.REPEATABLE
TWO_CRASHES = Case("two crashes", SMALL, CLASS)
FORGETFUL = Family(
    "forgetful",
    "A relay that forgets",
    "docs/tutorial/add-a-protocol.md",
    Behaviour(
        deploy,
        boot,
        step,
        recover,
        gauges=gauges,
        show=lambda value: f"{value.body.type}{value.sn[0]}" if isinstance(value, Event) else "",
    ),
)
PROTOCOL = FORGETFUL.design(
    scopes=(TWO_CRASHES.fails(747, 8, Guarantee.REPEATING),),
    must_occur=(CRASHED, REPLAYED),
    finding="Whatever was passed on before the crash is passed on again.",
)
