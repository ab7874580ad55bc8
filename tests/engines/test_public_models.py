"""Two public TLA+ models beside ours: projected on their variables, states are TLC's states.

Rule of this file: a world counts if it lies between two actions of the specification: the input has
arrived, no answer is on its way, and nobody is down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from model.choices import enabled
from model.registry import subject
from model.system import System
from model.world import DOWN, World, apply, initial

ENGINES = "docs/how-to/engines"
INVARIANT = frozenset({"committed", "aborted"})


def worlds(system: System) -> Iterator[World]:
    """Every reachable world."""
    seen = {initial(system)}
    frontier = [*seen]
    while frontier:
        yield from frontier
        after = (apply(system, w, action) for w in frontier for action in enabled(system, w))
        frontier = [*dict.fromkeys(world for world in after if world not in seen)]
        seen.update(frontier)


def projected(name: str, crashes: int, project: Callable[[dict[str, Any], World], Any]) -> set[Any]:
    """The states of the specification that `project` makes of node states and world, or None."""
    protocol = subject(f"{ENGINES}/{name}").protocol
    scope = replace(protocol.evidence.scopes[0].scope, crashes=crashes)
    system = System(protocol, scope)
    names = [site.name for site in system.deployment.sites]
    found = (
        project(dict(zip(names, (node.state for node in world.nodes), strict=True)), world)
        for world in worlds(system)
    )
    return {state for state in found if state is not None}


def two_phase(states: dict[str, Any], _world: World) -> Any:
    """rmState, tmState, tmPrepared, msgs."""
    managers = {name: states[name] for name in ("one", "two", "three")}
    tm = states["tm"]
    votes = frozenset(name for name, manager in managers.items() if manager.voted)
    sent = votes if tm.state == "init" else votes | {tm.state}
    return tuple(manager.state for manager in managers.values()), tm.state, tm.prepared, sent


def exactly_once(states: dict[str, Any], world: World) -> Any:
    """PC, Buffer, Token, OutputTopic, CommittedConsumerOffset, CurrentToken."""
    processes = {name: state for name, state in states.items() if name in ("one", "two")}
    if not world.arrivals[0] or any(world.channels) or DOWN in processes.values():
        return None
    broker = states["broker"]
    tokens = dict(broker.tokens)
    each = tuple((p.pc, p.buffer, tokens.get(name)) for name, p in processes.items())
    return each, world.outputs, broker.offset, broker.token


def test_two_phase_has_the_states_that_tlc_finds() -> None:
    """288 with three managers: the manifest of tlaplus/Examples."""
    states = projected("two_phase.py", 0, two_phase)
    assert len(states) == 288
    assert not any({*managers} >= INVARIANT for managers, *_ in states)


def test_an_early_commit_is_inconsistent_on_the_way() -> None:
    states = projected("two_phase.py:early", 0, two_phase)
    assert sum({*managers} >= INVARIANT for managers, *_ in states) == 48


@pytest.mark.parametrize(
    ("name", "crashes", "count"),
    [
        ("exactly_once.py:apart", 0, 5),  # the published graph 3.2
        ("exactly_once.py:transaction", 1, 5),  # the published graph 3.6
        ("exactly_once.py:zombies", 2, 27),
        ("exactly_once.py", 0, 43),
        ("exactly_once.py", 1, 159),
    ],
)
def test_exactly_once_has_the_states_of_the_specification(
    name: str, crashes: int, count: int
) -> None:
    assert len(projected(name, crashes, exactly_once)) == count
