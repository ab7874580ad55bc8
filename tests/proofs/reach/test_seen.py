"""The shapes that a search has met, equal to those of every step that the model takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docs.examples import forgetful, mindful, relay
from model.actions import Action, Crash, Deliver, Inject, Reread, Restart, Timeout
from model.core import Scope
from model.log import Log
from model.protocol import Protocol
from model.system import System
from model.timers import parse_timer
from model.world import DOWN, Node, World, struck
from proofs.explore.edges import edges
from proofs.explore.explorer import explore
from proofs.explore.reach.growth import GrowingValue
from proofs.explore.reach.seen import Met, NodeShape, SeenShapes
from proofs.explore.reach.shape import saved_shape, shape
from tests.proofs.test_reduction import WORLDS, drawn

EMPTY: Log[int] = Log()


# --- shapes ----------------------------------------------------------------------------------
class Phase(Enum):
    IDLE = 1


class Inner(NamedTuple):
    items: frozenset[int] = frozenset()
    flag: bool = False


@dataclass(frozen=True)
class Outer:
    number: int
    inner: Inner
    phase: Phase
    log: Log[int] = EMPTY
    last: str | None = None


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "None"),
        (True, "True"),
        (0, "number 0"),
        (7, "number"),
        ("", "empty str"),
        ("text", "str"),
        (Phase.IDLE, "IDLE"),
        ((), "no values"),
        ((1,), "1 value"),
        ((1, 2), "2+ values"),
        (EMPTY.extend([1, 2, 3]), "2+ values"),
        ((1, "a", ()), "([0], [1])"),
        (Inner(), "Inner()"),
        (Inner(frozenset({1}), flag=True), "Inner(items: 1, flag)"),
        (
            Outer(2, Inner(frozenset({1, 2})), Phase.IDLE, EMPTY.append(1)),
            "Outer(number, inner.items: 2+, phase IDLE, log: 1)",
        ),
    ],
)
def test_the_shape_of_a_value(value: Any, words: str) -> None:
    assert shape(value) == words


NUMBERS = st.integers(1, 9)


@given(st.lists(NUMBERS, min_size=2), st.lists(NUMBERS, min_size=2), NUMBERS, NUMBERS)
def test_two_values_with_one_shape_differ_in_contents_alone(
    one: list[int], other: list[int], number: int, another: int
) -> None:
    first, second = Inner(frozenset(range(len(one)))), Inner(frozenset(range(len(other))))
    left = Outer(number, first, Phase.IDLE, EMPTY.extend(one))
    right = Outer(another, second, Phase.IDLE, EMPTY.extend(other))
    assert shape(left) == shape(right)
    assert shape(left) != shape(replace(right, number=0))
    assert shape(left) != shape(replace(right, log=Log()))
    assert shape(left) != shape(replace(right, inner=Inner(frozenset({1}))))


# --- shapes that a search has met ------------------------------------------------------------
def node_shape(system: System, name: str, node: Node) -> NodeShape:
    if node.state is DOWN:
        saved = saved_shape(system.sites[name], node.durable)
        return NodeShape(name, f"down, saved {saved}")
    return NodeShape(name, shape(node.state))


def kind_of(system: System, world: World, action: Action) -> str | None:
    """The kind of the input of a step; None for a fault."""
    match action:
        case Deliver(node, sender):
            message = world.channels[system.channel_at[sender, node]][0]
            return f"{type(message).__name__} from {sender}"
        case Timeout(_, timer):
            return f"timer {parse_timer(timer).kind}"
        case Inject(_, arrival):
            return f"input {arrival.type}"
    if type(action) is Restart:
        return "restart"
    return "input again" if type(action) is Reread else None


def met_by_the_model(protocol: Protocol, scope: Scope) -> tuple[set[Any], set[Any], set[Any]]:
    """The shapes, the inputs and the crashes of all steps of the model, prompt sites left out."""
    system = System(protocol, scope)
    states, met, crashed = set[Any](), set[Any](), set[Any]()
    for before, action, after in edges(protocol, scope):
        for world in (before, after):
            states |= {
                node_shape(system, name, node)
                for name, node in zip(system.sites, world.nodes, strict=True)
            }
        here = node_shape(system, action.node, before.nodes[system.node_at[action.node]])
        kind = kind_of(system, before, action)
        if kind is not None:
            met.add(Met(*here, kind))
        if isinstance(action, Crash):
            for name in struck(system, before, action):
                crashed.add(node_shape(system, name, before.nodes[system.node_at[name]]))
    return states, met, crashed


def assert_met(protocol: Protocol, scope: Scope, limit: int | None = None) -> SeenShapes | None:
    found = explore(protocol, scope, limit=limit, reduce=False, shapes=True)
    if not found.complete:
        return None
    assert found.shapes is not None
    states, met, crashed = met_by_the_model(protocol, scope)
    prompt = System(protocol, scope).prompt  # these take messages within the steps of others

    def without(some: Iterable[Any]) -> set[Any]:
        return {one for one in some if one.node not in prompt}

    assert without(found.shapes.states) == without(states) or not states
    assert without(found.shapes.met) == without(met)
    assert found.shapes.crashed == crashed
    return found.shapes


def test_a_search_has_met_the_steps_of_the_model() -> None:
    checked = [one for seed in range(120) for one in [assert_met(*drawn(seed), WORLDS)] if one]
    assert sum(bool(one.crashed) for one in checked) >= 20
    assert sum(one.crashed < one.crashable for one in checked) >= 5


@pytest.mark.parametrize("protocol", [relay.PROTOCOL, mindful.PROTOCOL, relay.LAZY])
def test_it_has_met_the_steps_of_an_example(protocol: Protocol) -> None:
    for pinned in protocol.evidence.scopes:
        assert assert_met(protocol, pinned.scope) is not None


def test_a_reduced_search_has_met_no_more() -> None:
    (scope,) = (one.scope for one in relay.LAZY.evidence.scopes)
    with_all = explore(relay.LAZY, scope, reduce=False, shapes=True).shapes
    fewer = explore(relay.LAZY, scope, shapes=True).shapes
    assert with_all is not None
    assert fewer is not None
    assert fewer.states <= with_all.states
    assert fewer.met <= with_all.met


# --- growth ----------------------------------------------------------------------------------
def growth(protocol: Protocol) -> tuple[GrowingValue, ...]:
    found = explore(protocol, protocol.evidence.scopes[-1].scope, shapes=True).shapes
    assert found is not None
    return found.growing


def test_a_source_that_keeps_all_grows() -> None:
    whole = GrowingValue("source", "", saved=False, most=2, always=True)
    assert growth(mindful.PROTOCOL) == growth(forgetful.PROTOCOL) == (whole,)


def test_what_is_trimmed_does_not_grow() -> None:
    assert growth(relay.PROTOCOL) == growth(relay.LAZY) == ()
