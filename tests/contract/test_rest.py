"""Runs that never rest are findings, each with the shortest way in and the steps that repeat."""

from __future__ import annotations

from typing import Any

import pytest

COMMON = """
def deploy(_design, scope):
    return deploy_graph(scope.graph, replies=True)

SEEN = Property("outputs are a list", When.ALWAYS, lambda scope, seen: True)

def made(step, boot=lambda site: 0):
    return amnesia.PROTOCOL.vary(family="endless", deploy=deploy, boot=boot, step=step, show=str,
        recover=lambda site, durable: (0, ()), gauges=lambda *_: NO_GAUGES, properties=(SEEN,),
        must_occur=(), variants=(), mutants=(),
    )
"""
GREETERS = """
def step(site, state, input_):
    match site.role, input_:
        case Role.SOURCE, Arrival():
            return state, (Send(site.succs[0], "hello"),)
        case (Role.SOURCE | Role.OPERATOR), Received(sender, _):
            return state, (Send(sender, "hello to you"),)
    return state, ()

PROTOCOL = made(step)
"""
"""Source and operator greet each other for ever: the third message is as the first."""
RETRANSMISSION = """
def step(site, state, input_):
    match site.role, input_:
        case Role.SOURCE, Arrival():
            return state, (SetTimer("again"),)
        case Role.SOURCE, TimerFired():
            return state, (Send(site.succs[0], "event"), SetTimer("again"))
    return state, ()

PROTOCOL = made(step)
"""
"""The source sends its event again and again; nobody acknowledges it."""
COUNTED = """
def step(site, state, input_):
    match site.role, input_:
        case Role.SOURCE, Arrival():
            return state, (Send(site.succs[0], 3),)
        case (Role.SOURCE | Role.OPERATOR), Received(sender, left) if left:
            return state, (Send(sender, left - 1),)
    return state, ()

PROTOCOL = made(step)
"""
"""They greet each other three times."""


@pytest.mark.parametrize(
    ("text", "circle"),
    [
        (GREETERS, 2),
        # `.ci/run` has the greeters, whose worlds are few.
        pytest.param(RETRANSMISSION, 2, marks=pytest.mark.exhaustive),
    ],
)
def test_a_run_without_end_is_refuted_with_its_diagram(asif: Any, text: str, circle: int) -> None:
    # Nobody takes the events of the second one as fast as they are sent: its worlds have no end.
    ended = asif(COMMON + text, "check", "FILE", "--limit", "4000", "--examples", "1")
    assert (ended.code, ended.result["outcome"]) == (1, "refuted")
    (scope,) = ended.result["scopes"]
    found = scope["counterexample"]
    assert found["circle"] == found["story"]["circle"] == circle
    assert "comes to rest" in found["property"]
    assert ended.out.count("↻") == circle + 1  # and in the legend


def test_greetings_that_end_are_no_such_run(asif: Any) -> None:
    (scope,) = asif(COMMON + COUNTED, "check", "FILE").result["scopes"]
    assert scope["counterexample"] is None
    assert scope["complete"]
