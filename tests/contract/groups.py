"""Two relays on one host, and a sink that receives a notice of a crash: a protocol of the tests.

Rule of this file: as few effects as show every kind of group crash, and no property about outputs.
"""

from __future__ import annotations

from typing import Any

from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows
from model.core import (
    Answer,
    Arrival,
    Deployment,
    Emit,
    Group,
    Guarantee,
    Input,
    Lost,
    OperatorClass,
    Property,
    Received,
    Role,
    Save,
    Scope,
    Send,
    Site,
    When,
)
from model.costs import Gauges, Size, default_size
from model.events import Body
from model.evidence import PinnedScope
from model.family import Family
from model.graph import chain
from model.parts import deploy_graph, over_words
from model.protocol import Assumptions, Behaviour, Failures, Protocol

HOST = frozenset({"A", "B"})
WATCHED = frozenset({("A", "sink"), ("B", "sink"), ("A", "B")})


def deploy(_design: None, scope: Scope) -> Deployment:
    """source -> A -> B -> sink, and a channel from A to the sink on which only notices come."""
    line = deploy_graph(scope.graph)
    channels = (*line.channels, ("A", "sink"))
    return line._replace(channels=channels, together=(Group(HOST),), watched=WATCHED)


def boot(site: Site) -> Any:
    """The number of events; of the sink, the nodes that were lost."""
    return () if site.role is Role.SINK else 0


def recover(_site: Site, durable: int | None) -> Answer:
    return durable or 0, ()


def step(site: Site, state: Any, input_: Input) -> Answer:
    match site.role, input_:
        case Role.SOURCE, Arrival(gap, type_, data):
            body = Body(state + gap, type_, data)
            return body.time, (Send("A", body),)
        case Role.OPERATOR, Received(_, Body() as body):
            return state + 1, (Send(site.succs[0], body), Save(state + 1))
        case Role.OPERATOR, Received(_, Lost()):
            return state + 10, ()
        case Role.SINK, Received(_, Lost(node)):
            return (*state, node), ()
        case Role.SINK, Received(sender, body):
            return state, (Emit((site.preds.index(sender), body)),)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def show(value: Any) -> str:
    """States of relays by their number; whoever shows a notice must not ask."""
    assert not isinstance(value, Lost)
    return str(value) if isinstance(value, int) else ""


def size(value: Any) -> Size:
    """Whoever charges for a notice must not ask."""
    assert not isinstance(value, Lost)
    return default_size(value)


NEVER_BOTH = Property(
    "at rest, the sink has not lost both",
    When.QUIESCENT,
    lambda _, seen: all({*state} != HOST for name, state in seen.states if name == "sink"),
    nodes=True,
)
OPERATOR = Operator(sequence("a"), CountWindows(1, 1))
GRAPH = chain(("A", OPERATOR), ("B", OPERATOR))
SILENT = over_words(GRAPH, 0, "a", crashes=1)
"""No event comes."""
ONE_EVENT = over_words(GRAPH, 1, "a", crashes=1)
CLASS = OperatorClass.REPEATABLE

PROTOCOL = Family(
    "groups",
    "",
    "",
    Behaviour(
        deploy, boot, step, recover, gauges=lambda *_: Gauges(buffered=0), show=show, size=size
    ),
    properties=(),
).design(
    scopes=(PinnedScope("one event", ONE_EVENT, CLASS, guarantee=Guarantee.GAP),),
    claims={CLASS: Guarantee.GAP},
)
SINGLE = PROTOCOL.vary(assumes=Assumptions(Failures.SINGLE))
REFUTED = PROTOCOL.vary(properties=(NEVER_BOTH,))


def deploying(protocol: Protocol, **changes: Any) -> Protocol:
    """The protocol with other fields of its deployment."""
    return protocol.vary(deploy=lambda design, scope: deploy(design, scope)._replace(**changes))
