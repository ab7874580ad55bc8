"""Amnesia (Hwang et al., Section 4): restart from nothing and go on.

The smallest complete protocol.  Check it with `asif check docs/examples/amnesia.py`: it
is refuted, with gap recovery.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from asif.protocol import (
    CRASHED,
    SPANNED,
    Answer,
    Arrival,
    Behaviour,
    Body,
    Case,
    CountWindows,
    Deployment,
    Emit,
    Family,
    Gauges,
    Guarantee,
    Input,
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


class Clock(NamedTuple):
    """A source's state: the time of its last event."""

    now: int = 0


def deploy(_design: None, scope: Scope) -> Deployment:
    return deploy_graph(scope.graph)


def boot(site: Site) -> Any:  # also after a crash: all that was in the window is forgotten
    if site.role is Role.SOURCE:
        return Clock()
    return None if site.role is Role.SINK else site.spec.engine.begin()


def step(site: Site, state: Any, input_: Input) -> Answer:
    match input_:
        case Arrival(gap, type_, data):
            now = state.now + gap
            body = Body(now, type_, data)
            return Clock(now), tuple(Send(succ, body) for succ in site.succs)
        case Received(sender, body) if site.role is Role.SINK:
            return state, (Emit((site.preds.index(sender), body)),)
        case Received(_, body):
            state, matches, _ = site.spec.engine.feed(state, body)
            outputs = [Body(body.time, site.spec.emits, match) for match in matches]
            return state, tuple(Send(succ, out) for out in outputs for succ in site.succs)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def gauges(site: Site, state: Any) -> Gauges:
    return Gauges(windows=int(bool(state) and site.role is Role.OPERATOR))


# One window that never ends, so that the engine's state is all the state there is.
ONE = chain(("A", Operator(sequence("a", "b"), CountWindows(9, 9))))
SMALL = over_words(ONE, 2)
TWO_EVENTS = Case("two events", SMALL, OperatorClass.DETERMINISTIC)
AMNESIA = Family(
    "amnesia",
    "Amnesia",
    "Hwang et al., Section 4",
    Behaviour(
        deploy,
        boot,
        step,
        gauges=gauges,
        show=lambda value: value.type if isinstance(value, Body) else "",
    ),
    claims=Guarantee.GAP,
)
PROTOCOL = AMNESIA.design(
    scopes=(TWO_EVENTS.fails(52, 4, Guarantee.GAP),), must_occur=(CRASHED, SPANNED)
)
