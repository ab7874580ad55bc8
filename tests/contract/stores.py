"""Operators that write to one store, which answers at once: a protocol of the tests.

Rule of this file: as few effects as show every order of a write, its answer and a crash, and no
property about outputs.
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
    Received,
    Role,
    Save,
    Scope,
    Send,
    SetTimer,
    Site,
    TimerFired,
)
from model.costs import Gauges
from model.events import Body
from model.evidence import PinnedScope
from model.family import Family
from model.graph import chain
from model.parts import deploy_graph, over_words
from model.protocol import Behaviour, Protocol

STORE = "store"


def deploy(_design: None, scope: Scope) -> Deployment:
    """The graph, a store beside its operators, and one failure group of all operators."""
    line = deploy_graph(scope.graph)
    ends = [(name, STORE) for name in sorted(line.crashable)]
    group = (Group(line.crashable),) if len(line.crashable) > 1 else ()
    return line._replace(
        sites=(*line.sites, Site(STORE, Role.OPERATOR, None, (), ())),
        channels=(*line.channels, *ends, *((store, name) for name, store in ends)),
        together=group,
        watched=frozenset(ends),
        prompt=frozenset({STORE}),
    )


def step(site: Site, state: int, input_: Input) -> Answer:
    """Writes come before, between and after other effects; the store counts them."""
    match input_:
        case Arrival() as arrival:
            sends = tuple(Send(succ, Body(state, arrival.type)) for succ in site.succs)
            return state + 1, sends
        case Received(_, Lost()):
            return state + 100, ()
        case Received(sender, _) if site.name == STORE:
            return state + 1, (Send(sender, state),)
        case Received(sender, message) if site.role is Role.SINK:
            return state, (Emit((site.preds.index(sender), message)),)
        case Received("store", message) if message % 2:
            sends = tuple(Send(succ, Body(message, "stored")) for succ in site.succs)
            return state + 10, (*sends, Save(state))
        case Received("store", _):
            return state + 20, ()
        case Received(_, Body(_, "a") as message):
            sends = tuple(Send(succ, message) for succ in site.succs)
            return state + 1, (Send(STORE, 1), *sends, Send(STORE, 2))
        case Received():
            return state + 1, (SetTimer("tell"), Send(STORE, 3))
        case TimerFired():
            return state, tuple(Send(succ, Body(state, "told")) for succ in site.succs)
    raise AssertionError(input_)


def recover(_site: Site, durable: int | None) -> Answer:
    return durable or 0, (Send(STORE, 0), Save((durable or 0) + 1000))


def show(value: Any) -> str:
    return str(value) if isinstance(value, int) else ""


OPERATOR = Operator(sequence("a"), CountWindows(1, 1))
CLASS = OperatorClass.REPEATABLE
ONE_EVENT = over_words(chain(("A", OPERATOR)), 1, "ab", crashes=1)
TWO = over_words(chain(("A", OPERATOR), ("B", OPERATOR)), 1, "a", crashes=1)

PROTOCOL = Family(
    "stores",
    "",
    "",
    Behaviour(deploy, lambda _: 0, step, recover, gauges=lambda *_: Gauges(buffered=0), show=show),
    properties=(),
).design(
    scopes=(PinnedScope("one event", ONE_EVENT, CLASS, guarantee=Guarantee.GAP),),
    claims={CLASS: Guarantee.GAP},
)


def deploying(**changes: Any) -> Protocol:
    """The protocol with other fields of its deployment."""
    return PROTOCOL.vary(deploy=lambda design, scope: deploy(design, scope)._replace(**changes))
