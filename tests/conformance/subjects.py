"""What the suite runs every protocol on: a small scope, random runs through it, a small workload.

Rule of this file: nothing here names a protocol; a family is under test because it is registered.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache

import pytest

from model.core import Arrival, Guarantee, Inputs, Role, Scope
from model.evidence import Outcome, PinnedScope
from model.oracle import oracle
from model.protocol import Failures, Protocol
from model.registry import protocols
from model.system import System
from model.world import Action, World, apply, enabled, initial
from proofs.explore.explorer import Exploration, Trace, explore
from sim.inputs.streams import Workload, deployable, graph_for
from sim.outputs import Outputs
from sim.untimed.crashes import UntimedCrash

PROTOCOLS = protocols()
NAMES = sorted(PROTOCOLS)
QUICK = [
    name for name in NAMES if PROTOCOLS[name].evidence.expected is Outcome.HOLDS or ":" not in name
]


def each(quick: Sequence[str]) -> pytest.MarkDecorator:
    """A test of every protocol, of which `make test` runs these."""
    marks = {name: () if name in quick else pytest.mark.exhaustive for name in NAMES}
    return pytest.mark.parametrize(
        "name", [pytest.param(name, marks=marks[name]) for name in NAMES]
    )


EVERY = each(QUICK)
"""A test of every protocol.  `make test` leaves out variants that are refuted: they differ in one
choice from what holds, and the report that `.ci/run` makes explores each until it is refuted."""
FAMILIES = each([name for name in NAMES if ":" not in name])
"""The same, where variants take long and are much alike: `make test` leaves them all out."""
WORLDS = 3_000
"""After so many an exploration ends, however large the scope is."""
RUNS, STEPS = 8, 120
"""Random runs of a protocol, and the actions of each at most."""
RESTART_AFTER = 4


def smallest(protocol: Protocol) -> PinnedScope:
    """The scope with the fewest worlds; one with crashes, where the protocol has any."""
    return min(
        protocol.evidence.scopes,
        key=lambda p: (not p.scope.crashes, not p.quick, p.states or 10**9),
    )


@cache
def explored(name: str) -> Exploration:
    protocol = PROTOCOLS[name]
    return explore(protocol, smallest(protocol).scope, limit=WORLDS)


@cache
def traces(name: str) -> tuple[Trace, ...]:
    """Random runs, each of them as long as anything may happen, but at most STEPS."""
    system = System(PROTOCOLS[name], smallest(PROTOCOLS[name]).scope)
    return tuple(_run(system, random.Random(seed)) for seed in range(RUNS))


def _run(system: System, chance: random.Random) -> Trace:
    worlds: list[World] = [initial(system)]
    actions: list[Action] = []
    while len(actions) < STEPS and (ready := enabled(system, worlds[-1])):
        actions.append(chance.choice(ready))
        worlds.append(apply(system, worlds[-1], actions[-1]))
    return Trace(system, tuple(actions), tuple(worlds))


def edges(name: str) -> Iterator[tuple[System, World, Action, World]]:
    """Those of the random runs."""
    for system, actions, worlds in traces(name):
        for before, action, after in zip(worlds, actions, worlds[1:], strict=False):
            yield system, before, action, after


@cache
def workload(name: str) -> Workload:
    """24 events in a graph of three operators, or in its first one if the protocol deploys one."""
    draw = random.Random(1)
    events = tuple(Arrival(draw.randint(0, 2), draw.choice("ab")) for _ in range(24))
    graph = graph_for("a, b", 4, 2)
    return deployable(Workload("24 events", "a, b", graph, {"source": events}), PROTOCOLS[name])


def expected(of: Workload) -> Outputs:
    return tuple(oracle(of.graph, of.events).values())


def schedules(name: str) -> tuple[tuple[UntimedCrash, ...], ...]:
    """Crashes of every node that may crash, as many in one run as the protocol assumes."""
    protocol = PROTOCOLS[name]
    system = deployed(protocol, workload(name), 0)
    nodes = [node for node in system.sites if node in system.deployment.crashable]
    if protocol.promise.assumes.failures is Failures.NONE:
        return ()
    if protocol.promise.assumes.failures is Failures.SINGLE:
        return tuple((UntimedCrash(node, 8),) for node in nodes)
    # After so many effects; a node that protects nothing has few of them, and so has one that works
    # while another one stands by.
    operators = [site for site in system.sites.values() if site.role is Role.OPERATOR]
    alone = {site.name for site in operators} <= {*of_graph(name)}
    effects = [at % 3 if protocol.promise.protects and alone else 0 for at in range(len(nodes))]
    return (tuple(UntimedCrash(node, 5 + 3 * at, effects[at]) for at, node in enumerate(nodes)),)


def of_graph(name: str) -> tuple[str, ...]:
    """The nodes of the workload's graph."""
    return tuple(node for node, _ in workload(name).graph.nodes)


def deployed(protocol: Protocol, of: Workload, crashes: int) -> System:
    """The protocol in a scope in which the workload is what may happen."""
    inputs = tuple(
        (source, Inputs(tuple(dict.fromkeys(word)), len(word)))
        for source, word in of.events.items()
    )
    return System(protocol, Scope(of.graph, inputs, crashes))


def followed(system: System, actions: Sequence[Action]) -> World:
    """The world that the actions lead to, each of them enabled when it is taken."""
    world = initial(system)
    for action in actions:
        assert action in enabled(system, world)
        world = apply(system, world, action)
    return world


def holds(protocol: Protocol) -> bool:
    return protocol.evidence.expected is Outcome.HOLDS


def is_precise(protocol: Protocol) -> bool:
    """Does the protocol hold, and promise the output of a run without failures?"""
    return holds(protocol) and {*protocol.promise.claims.values()} == {Guarantee.PRECISE}
