"""A relay that counts its restarts, in all and without an answer between: a protocol of the tests.

Rule of this file: its properties say which failures were granted, and nothing about outputs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows
from model.core import (
    Answer,
    Arrival,
    Deployment,
    Emit,
    Guarantee,
    Input,
    Observation,
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
from model.events import Body
from model.evidence import PinnedScope
from model.family import Family
from model.graph import chain
from model.parts import deploy_graph, over_words
from model.protocol import Assumptions, Behaviour, Failures


class Restarts(NamedTuple):
    """in_a_row: since the source last answered; most: the largest number of these so far."""

    total: int = 0
    in_a_row: int = 0
    most: int = 0


class Hello(NamedTuple):
    """The relay has restarted."""


class Answered(NamedTuple):
    """The source has heard of it."""


def deploy(_design: None, scope: Scope) -> Deployment:
    return deploy_graph(scope.graph, replies=True)


def boot(site: Site) -> Any:
    return Restarts() if site.role is Role.OPERATOR else 0


def recover(site: Site, durable: Restarts | None) -> Answer:
    before = durable or Restarts()
    row = before.in_a_row + 1
    after = Restarts(before.total + 1, row, max(before.most, row))
    return after, (Save(after), *(Send(pred, Hello()) for pred in site.preds))


def step(site: Site, state: Any, input_: Input) -> Answer:
    match site.role, input_:
        case Role.SOURCE, Arrival(gap, type_, data):
            body = Body(state + gap, type_, data)
            return body.time, tuple(Send(succ, body) for succ in site.succs)
        case Role.SOURCE, Received(sender, Hello()):
            return state, (Send(sender, Answered()),)
        case Role.OPERATOR, Received(_, Body() as body):
            return state, tuple(Send(succ, body) for succ in site.succs)
        case Role.OPERATOR, Received(_, Answered()):
            after = state._replace(in_a_row=0)
            return after, (Save(after),)
        case Role.SINK, Received(sender, Body() as body):
            return state, (Emit((site.preds.index(sender), body)),)
        case _:  # an operator may hear of an operator's restart
            return state, ()


def _counts(seen: Observation) -> list[Restarts]:
    return [state for _, state in seen.states if isinstance(state, Restarts)]


NOT_TWICE = Property(
    "at rest, no node has restarted twice",
    When.QUIESCENT,
    lambda _, seen: all(count.total < 2 for count in _counts(seen)),
    nodes=True,
)
ANSWERED = Property(
    "at rest, no node has restarted twice without an answer",
    When.QUIESCENT,
    lambda _, seen: all(count.most < 2 for count in _counts(seen)),
    nodes=True,
)
RELAY = chain(("A", Operator(sequence("a"), CountWindows(1, 1))))
TWO_CRASHES = over_words(RELAY, 1, "a", crashes=2)
CLASS = OperatorClass.REPEATABLE

SINGLE = Family(
    "restarts",
    "",
    "",
    Behaviour(deploy, boot, step, recover),
    assumes=Assumptions(Failures.SINGLE),
    properties=(ANSWERED,),
).design(
    scopes=(PinnedScope("two crashes", TWO_CRASHES, CLASS, guarantee=Guarantee.GAP),),
    claims={CLASS: Guarantee.GAP},
)
ANY = SINGLE.vary(assumes=Assumptions(Failures.ANY))
TWICE = SINGLE.vary(properties=(NOT_TWICE,))
