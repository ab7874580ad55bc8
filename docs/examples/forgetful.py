"""A relay that forgets: the source sends everything again, and nobody notices what came twice.

At-least-once delivery, and so repeating recovery where precise is claimed.
`asif check docs/examples/forgetful.py` refutes it; mindful.py is the correction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from model.core import (
    Arrival,
    Arrive,
    Assumptions,
    Deliver,
    Deployment,
    Emit,
    Failures,
    Guarantee,
    Input,
    Inputs,
    Note,
    OperatorClass,
    Outcome,
    PinnedScope,
    Protocol,
    Role,
    Scope,
    Send,
    Site,
    Step,
)
from model.events import Body, Event
from model.graph import SINK, SOURCE, chain
from model.operator import Operator
from model.patterns import sequence
from model.properties import AS_IF, COMPLETE
from model.windows import CountWindows

Sent: TypeAlias = tuple[Event, ...]
"""State of the source: all it ever sent.  A relay's state is whether it is up to date; the sink
keeps the number of the last event it passed on (and does not look at it)."""


class Hello(NamedTuple):
    """The relay has restarted."""


class Again(NamedTuple):
    """All that was ever sent, in one message."""

    events: Sent


def deploy(scope: Scope) -> Deployment:
    graph, roles = scope.graph, {SOURCE: Role.SOURCE, SINK: Role.SINK}
    sites = tuple(
        Site(name, roles.get(spec, Role.OPERATOR), spec, graph.preds(name), graph.succs(name))
        for name, spec in graph.nodes
    )
    channels = (*graph.edges, ("relay", "source"))
    return Deployment(sites, channels, frozenset({"relay"}))


def boot(site: Site) -> Any:
    return {Role.SOURCE: (), Role.OPERATOR: True, Role.SINK: 0}[site.role]


def recover(site: Site, durable: None) -> Step:
    return Step(False, (Send("source", Hello()),))


def step(site: Site, state: Any, input_: Input) -> Step:
    match site.role, input_:
        case Role.SOURCE, Arrive(Arrival(gap, type_, data)):
            now = gap + (state[-1].body.time if state else 0)
            event = Event((len(state) + 1,), Body(now, type_, data))
            return Step((*state, event), (Send("relay", event),))
        case Role.SOURCE, Deliver(_, Hello()):
            return Step(state, (Note("events replayed", len(state)), Send("relay", Again(state))))
        case Role.OPERATOR, Deliver(_, Again(events)):
            return Step(True, passed(site, events))
        case Role.OPERATOR, Deliver(_, Event() as event):
            return Step(state, passed(site, (event,)) if state else ())
        case Role.SINK, Deliver(_, Event(sn, body)):
            return Step(sn[0], (Emit((0, body)),))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def passed(site: Site, events: Sent) -> tuple[Send, ...]:
    """What the engine makes of each event (a window of its own), under the event's number."""
    engine, emits = site.spec.engine, site.spec.emits
    fed = ((event, engine.feed(engine.begin(), event.body)) for event in events)
    return tuple(
        Send("sink", Event(event.sn, Body(event.body.time, emits, match)))
        for event, (_, matches, _) in fed
        for match in matches
    )


def gauges(site: Site, state: Any) -> Mapping[str, int]:
    return {"backup": len(state) if site.role is Role.SOURCE else 0}


RELAY = chain(("relay", Operator(sequence("a"), CountWindows(1, 1))))
ANY_TWO = Inputs((Arrival(1, "a"), Arrival(1, "b")), 2)
SMALL = Scope(RELAY, (("source", ANY_TWO),), crashes=2)
REFUTED, CLASS = Outcome.REFUTED, OperatorClass.REPEATABLE

PROTOCOL = Protocol(
    name="forgetful",
    title="A relay that forgets",
    source="docs/add-a-protocol.md",
    deploy=deploy,
    boot=boot,
    recover=recover,
    step=step,
    gauges=gauges,
    show=lambda value: type(value).__name__.lower() if isinstance(value, Hello | Again) else "",
    assumes=Assumptions(Failures.ANY),
    claims={CLASS: Guarantee.PRECISE},
    properties=(AS_IF, COMPLETE),
    scopes=(PinnedScope("two crashes", SMALL, CLASS, REFUTED, guarantee=Guarantee.REPEATING),),
    sometimes=("crashes", "events replayed"),
    finding="Whatever was passed on before the crash is passed on again.",
)
