"""The explorer: pinned counts, expected verdicts, and that it explores what model.world says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import pytest

from docs.examples.amnesia import PROTOCOL as AMNESIA
from model.choices import enabled
from model.core import (
    Answer,
    Arrival,
    Deployment,
    Emit,
    Guarantee,
    Input,
    Inputs,
    Received,
    Scope,
    Send,
    Site,
    Step,
    When,
)
from model.events import Body
from model.evidence import Outcome, PinnedScope
from model.graph import chain
from model.observations import observe
from model.protocol import Protocol
from model.registry import protocols
from model.system import System
from model.world import World, apply, initial
from proofs.explore.collapse import Collapsed
from proofs.explore.explorer import Exploration, explore

PROTOCOLS = protocols()
MAIN = PROTOCOLS["upstream-backup"]
LARGE = 10_000
"""Worlds of a scope from which on whoever changes the family explores it; so are those that have no
number."""


def cost(pinned: PinnedScope) -> Sequence[pytest.MarkDecorator]:
    """Exhaustive are large scopes, and quick ones that the report explores whole, and compares with
    the same numbers."""
    reported = pinned.quick and pinned.expect is Outcome.HOLDS
    large = (pinned.states or LARGE) >= LARGE
    return (pytest.mark.exhaustive,) if reported or large else ()


PINNED = [
    pytest.param(name, pinned, id=f"{name}-{pinned.name}", marks=cost(pinned))
    for name, protocol in PROTOCOLS.items()
    for pinned in protocol.evidence.scopes
]


def scope_called(name: str) -> PinnedScope:
    return next(pinned for pinned in MAIN.evidence.scopes if pinned.name == name)


@cache
def explored(name: str, pinned_name: str) -> Exploration:
    """Each scope of the corrected protocol is looked at by two tests."""
    protocol = PROTOCOLS[name]
    (pinned,) = (one for one in protocol.evidence.scopes if one.name == pinned_name)
    limit = max(600_000, pinned.states or 0) if pinned.expect is Outcome.REFUTED else None
    return explore(protocol, pinned.scope, limit=limit)


@pytest.mark.parametrize(("name", "pinned"), PINNED)
def test_every_scope_is_as_pinned(name: str, pinned: PinnedScope) -> None:
    refuted = pinned.expect is Outcome.REFUTED
    found = explored(name, pinned.name)
    assert found.outcome is pinned.expect
    assert found.guarantee is pinned.guarantee
    if pinned.states is not None:
        assert found.complete
        assert found.states == pinned.states
    if refuted:
        assert found.counterexample is not None
        assert len(found.counterexample.trace.actions) == pinned.steps


def test_every_scope_of_the_corrected_protocol_pins_its_states() -> None:
    assert [pinned.name for pinned in MAIN.evidence.scopes if pinned.states is None] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "name", "length", "crashes"),
    [
        (MAIN, "two output edges, one event", 1, 1),
        (MAIN, "diamond, any two crash", 1, 1),
        (MAIN, "adjacent operators, two crashes", 2, 1),
        (MAIN, "count windows, events skipped, two crashes", 3, 1),
        (MAIN, "count windows, events skipped, two crashes", 2, 3),
        (MAIN, "two input edges", 1, 1),
        (PROTOCOLS["micro-batch"], "a running count, two crashes", 2, 2),
        (PROTOCOLS["micro-batch:foreach-batch"], "time windows on a grid", 1, 2),
    ],
)
def test_collapsed_worlds_are_the_worlds_of_the_model(
    protocol: Protocol, name: str, length: int, crashes: int
) -> None:
    """Same worlds, same edges: breadth first over model.world, and over packed integers."""
    scope = next(pinned.scope for pinned in protocol.evidence.scopes if pinned.name == name)
    inputs = tuple((source, inputs._replace(length=length)) for source, inputs in scope.inputs)
    system = System(protocol, replace(scope, inputs=inputs, crashes=crashes))
    assert same_worlds(system) == explore(protocol, system.scope).states


class Left(NamedTuple):
    number: int


class Right(NamedTuple):
    number: int


def test_messages_that_differ_in_their_type_alone_are_two() -> None:
    """As tuples they are equal; each means another thing to the sink."""

    def step(site: Site, state: Any, input_: Input) -> Step:
        match input_:
            case Arrival() as arrival:
                kind = Left if arrival.type == "l" else Right
                return Step(state, (Send("A", kind(1)),))
            case Received(_, message) if site.succs:
                return Step(state, (Send("sink", message),))
            case Received(_, message):
                return Step(state, (Emit((0, Body(1, type(message).__name__, ()))),))
        raise AssertionError(input_)

    alphabet = (Arrival(1, "l"), Arrival(1, "r"))
    scope = Scope(chain(("A", None)), (("source", Inputs(alphabet, 2)),), 0)
    assert same_worlds(System(AMNESIA.vary(boot=lambda _: None, step=step), scope)) > 20


def test_what_a_sink_has_given_out_survives_its_crashes() -> None:
    """No crash takes it back, also one that mutes the sink, which answers here."""

    def deploy(_design: None, scope: Scope) -> Deployment:
        found = AMNESIA.deploy(scope)
        channels = (*found.channels, ("sink", "A"))
        return found._replace(channels=channels, crashable=frozenset({"A", "sink"}))

    def step(site: Site, state: Any, input_: Input) -> Answer:
        match input_:
            case Received("sink", _):
                return state, ()
            case Received(sender, _) if not site.succs:
                state, effects = AMNESIA.behaviour.step(site, state, input_)
                return state, (*effects, Send(sender, "taken"))
        return AMNESIA.behaviour.step(site, state, input_)

    (pinned, *_) = AMNESIA.evidence.scopes
    scope = replace(pinned.scope, crashes=2)
    assert same_worlds(System(AMNESIA.vary(deploy=deploy, step=step), scope)) > 100


def same_worlds(system: System) -> int:
    """How many worlds: those of model.world, and the packed ones, step by step."""
    collapsed = Collapsed(system)
    seen: set[World] = {initial(system)}
    packed = {collapsed.initial}
    frontier, packed_frontier = list(seen), list(packed)
    while frontier:
        after = {apply(system, world, a) for world in frontier for a in enabled(system, world)}
        packed_after = set()
        for world in packed_frontier:
            numbers = collapsed.numbers(world)
            for view in collapsed.views:
                moves = collapsed.moves(view, view.pick(numbers))
                packed_after |= {
                    collapsed.successor(world, numbers, move)
                    for move in moves.own + moves.inputs + moves.faults
                }
        assert {collapsed.world(world) for world in packed_after} == after
        frontier = [world for world in after if world not in seen]
        packed_frontier = [world for world in packed_after if world not in packed]
        seen.update(frontier)
        packed.update(packed_frontier)
    assert len(packed) == len(seen)
    return len(seen)


@pytest.mark.parametrize("name", ["pairs", "counted-windows", "scalar"])
def test_counterexamples_are_runs_of_the_model_that_end_in_the_violation(name: str) -> None:
    protocol = PROTOCOLS[f"upstream-backup:{name}"]
    pinned = next(p for p in protocol.evidence.scopes if p.expect is Outcome.REFUTED)
    found = explore(protocol, pinned.scope, until=Guarantee.PRECISE).counterexample
    assert found is not None
    system, worlds = found.trace.system, found.trace.worlds
    assert worlds[0] == initial(system)
    for (before, after), action in zip(pairwise(worlds), found.trace.actions, strict=True):
        assert action in enabled(system, before)
        assert apply(system, before, action) == after
    assert not found.property.holds(system.scope, observe(worlds[-1]))
    always = [p for p in protocol.promise.properties if p.when is found.property.when]
    for world in worlds[:-1]:
        if found.property.when is When.ALWAYS:
            assert all(p.holds(system.scope, observe(world)) for p in always)


def test_no_run_shorter_than_the_counterexample_violates_anything() -> None:
    """Iterated over all runs of the model itself, without remembering worlds across depths."""
    protocol = PROTOCOLS["upstream-backup:pairs"]
    pinned = next(p for p in protocol.evidence.scopes if p.name.startswith("two matches"))
    scope = replace(pinned.scope, crashes=0)
    found = explore(protocol, scope, until=Guarantee.PRECISE)
    assert found.counterexample is not None
    length = len(found.counterexample.trace.actions)
    system = System(protocol, scope)
    level = {initial(system)}
    always = [p for p in protocol.promise.properties if p.when is When.ALWAYS]
    for _ in range(length):
        for world in level:
            seen = observe(world)
            assert all(p.holds(scope, seen) for p in always)
        level = {apply(system, world, a) for world in level for a in enabled(system, world)}
    assert any(
        not p.holds(scope, observe(world)) for world in level for p in protocol.promise.properties
    )


def test_an_early_stop_is_said_to_be_one() -> None:
    found = explore(MAIN, scope_called("count windows").scope, limit=1_000)
    assert not found.complete
    assert found.states > 1_000


POINTS = 28
"""Crash points of the corrected protocol."""
ENOUGH = (
    *("any match, several in one iteration", "adjacent operators, time windows"),
    *("two output edges, two crashes", "adjacent operators, two crashes"),
    "diamond, two events, two crashes",
)
"""Scopes in which each is hit."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "names",
    [
        ENOUGH,
        # No other scope has another one; the report explores all of these.
        pytest.param(
            [one.name for one in MAIN.evidence.scopes if one.quick], marks=pytest.mark.exhaustive
        ),
    ],
    ids=["enough", "all"],
)
def test_all_crash_points_of_the_corrected_protocol_are_hit(names: Sequence[str]) -> None:
    points: set[str] = set()
    hit: set[str] = set()
    for name in names:
        found = explored(MAIN.name, name)
        points.update(map(str, found.points))
        hit.update(map(str, found.hit))
    assert len(points) == POINTS
    assert points == hit
