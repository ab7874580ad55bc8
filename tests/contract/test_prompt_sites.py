"""Prompt sites: what they are sent they take within the action, in every driver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.choices import enabled, progress
from model.core import Property, Scope, When
from model.evidence import Outcome
from model.oracle import by_edge
from model.protocol import Assumptions, Failures
from model.system import System
from model.world import World, act, apply, initial, unfold
from proofs.explore.edges import edges
from proofs.explore.explorer import Trace, explore
from proofs.explore.random_walk import walks
from proofs.explore.story import story
from sim.inputs.streams import Workload
from sim.timed.costs import Costs
from sim.timed.failures import TimedCrash
from sim.untimed.crashes import UntimedCrash
from tests.contract.stores import ONE_EVENT, PROTOCOL, STORE, TWO, deploying
from tests.proofs.test_searches import both, reachable
from tests.sim import test_timed, test_untimed

SCOPES = (ONE_EVENT, replace(TWO, victims=frozenset("A")), replace(TWO, victims=frozenset("B")))
SLOW = deploying(prompt=frozenset())
SINGLE = PROTOCOL.vary(assumes=Assumptions(Failures.SINGLE))


@pytest.mark.parametrize("protocol", [PROTOCOL, SINGLE])
@pytest.mark.parametrize("scope", SCOPES)
def test_both_searches_visit_the_worlds_of_the_model(protocol: Any, scope: Scope) -> None:
    system = System(protocol, scope)
    worlds = reachable(system)
    assert both(protocol, scope).states == len(worlds)
    found = {(before, action, after) for before, action, after in edges(protocol, scope)}
    assert found == {(w, a, apply(system, w, a)) for w in worlds for a in enabled(system, w)}


def test_no_world_has_a_message_that_a_prompt_site_has_not_taken() -> None:
    system = System(PROTOCOL, ONE_EVENT)
    for world in reachable(system):
        assert not progress(system, world, STORE)


def without_delay(system: System, world: World) -> set[World]:
    """The worlds of the slow store in which it alone acts until it has nothing to take."""
    taking = progress(system, world, STORE)
    if not taking:
        return {world}
    return set().union(*(without_delay(system, act(system, world, a)) for a in taking))


def test_a_prompt_store_is_a_slow_one_that_goes_first() -> None:
    """Its worlds are those of the slow store, if nobody else acts while it has messages."""
    for scope in SCOPES:
        slow = System(SLOW, scope)
        seen = {initial(slow)}
        frontier = [*seen]
        while frontier:
            after = {
                w
                for world in frontier
                for a in enabled(slow, world)
                for w in without_delay(slow, apply(slow, world, a))
            }
            frontier = [*(after - seen)]
            seen |= after
        assert seen == {*reachable(System(PROTOCOL, scope))}
        assert explore(SLOW, scope).states > len(seen)


def test_walks_visit_explored_worlds_alone() -> None:
    never = Property("no third crash", When.ALWAYS, lambda *_: True)
    assert walks(PROTOCOL.vary(properties=(never,)), ONE_EVENT, 200, 1).property is None


def test_the_steps_of_a_store_are_moments_of_their_own() -> None:
    system = System(PROTOCOL, ONE_EVENT)
    world, actions, worlds = initial(system), [], [initial(system)]
    while taken := [a for a in enabled(system, world) if not getattr(a, "crash_after", None)]:
        if type(taken[0]).__name__ == "Crash":
            break
        actions.append(taken[0])
        world = apply(system, world, taken[0])
        worlds.append(world)
    told = story(Trace(system, tuple(actions), tuple(worlds)))
    parts = sum(len([*unfold(system, w, a)]) for w, a in zip(worlds, actions, strict=False))
    assert len(told.moments) == parts > len(actions)
    store = [moment for moment in told.moments if moment.node == STORE]
    assert len(store) == 2  # the writes of A
    assert all(moment.from_ and moment.sends for moment in store)


@pytest.mark.slow
@settings(max_examples=200)
@given(test_timed.cases())
def test_every_timed_run_is_one_that_the_world_allows(
    case: tuple[Workload, Costs, tuple[TimedCrash, ...]],
) -> None:
    test_timed.assert_same(PROTOCOL, case)


@settings(max_examples=200)
@given(test_untimed.cases(8), st.integers(0, 3))
def test_every_untimed_run_is_one_that_the_world_allows(
    case: tuple[Workload, list[UntimedCrash]], away: int
) -> None:
    workload, plans = case
    done = test_untimed.driven(PROTOCOL, workload, plans, away)
    if done is None:
        return
    found, actions = done
    world = test_untimed.followed(PROTOCOL, workload, actions)
    system = System(PROTOCOL, Scope(workload.graph, ()))
    assert found.outputs == tuple(
        by_edge(outputs, len(system.sites[name].preds))
        for name, outputs in zip(system.sink_at, world.outputs, strict=True)
    )


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ("prompt=frozenset({'stor'})", "which is no site; did you mean 'store' or 'source'?"),
        ("prompt=frozenset({'A'})", "that may crash; a prompt site never does"),
        ("prompt=frozenset({'source'})", "that is a source; a prompt site only takes"),
        (
            "prompt=frozenset({'store', 'sink'}), channels=(('store', 'sink'), ('sink', 'store')), "
            "watched={*()}",
            "between the prompt sites sink, store in a circle",
        ),
    ],
)
def test_a_bad_deployment_is_one_line(changes: str, line: str, asif: Callable[..., Any]) -> None:
    text = f"from tests.contract.stores import deploying\nPROTOCOL = deploying({changes})\n"
    assert line in asif(text, "check", "FILE", "--examples", "1").line


def test_a_prompt_site_that_saves_is_a_failing_step() -> None:
    recover = PROTOCOL.behaviour.restart

    def step(site: Any, state: Any, input_: Any) -> Any:
        return (
            recover(site, state)
            if site.name == STORE
            else PROTOCOL.behaviour.step(site, state, input_)
        )

    found = explore(PROTOCOL.vary(step=step, recover=recover), ONE_EVENT)
    assert found.counterexample is not None
    assert found.outcome is Outcome.REFUTED
