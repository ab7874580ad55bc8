"""The sample of a protocol that duties look at: a small scope, random runs, a small workload.

Rule of this file: no protocol is named; the same protocol gives the same sample.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from model.actions import Action, Crash, Disturb, Suspect
from model.choices import enabled
from model.core import Arrival, Effect, Guarantee, Inputs, Role, Scope
from model.evidence import Outcome, PinnedScope
from model.protocol import Failures, Protocol
from model.system import System
from model.world import World, apply, initial, response
from proofs.explore.explorer import Exploration, Trace, explore
from sim.inputs.streams import Workload, deployable, graph_for
from sim.untimed.crashes import UntimedCrash

WORLDS = 3_000
"""The worlds after which an exploration ends, however large the scope is."""
RUNS, STEPS = 8, 120
"""Random runs of a protocol, and the actions of each at most."""
RESTART_AFTER = 4


@dataclass(frozen=True)
class Sample:
    """A protocol, and whatever a duty asks about it, made once.

    called: the name by which every process finds the protocol (model.registry.subject).
    """

    protocol: Protocol
    called: str

    @property
    def holds(self) -> bool:
        return self.protocol.evidence.expected is Outcome.HOLDS

    @property
    def is_precise(self) -> bool:
        """Does the protocol hold, and promise the output of a run without failures?"""
        return self.holds and {*self.protocol.promise.claims.values()} == {Guarantee.PRECISE}

    @cached_property
    def smallest(self) -> PinnedScope:
        """The scope with the fewest worlds; one with crashes, where the protocol has any."""
        scopes = self.protocol.evidence.scopes
        return min(scopes, key=lambda p: (not p.scope.crashes, not p.quick, p.worlds or 10**9))

    @cached_property
    def explored(self) -> Exploration:
        return explore(self.protocol, self.smallest.scope, limit=WORLDS)

    @cached_property
    def traces(self) -> tuple[Trace, ...]:
        """Random runs, each as long as anything may happen, but at most STEPS."""
        system = System(self.protocol, self.smallest.scope)
        return tuple(_run(system, random.Random(seed)) for seed in range(RUNS))

    def edges(self) -> Iterator[tuple[System, World, Action, World]]:
        """The steps of the random runs."""
        for system, actions, worlds in self.traces:
            for before, action, after in zip(worlds, actions, worlds[1:], strict=False):
                yield system, before, action, after

    @cached_property
    def effects(self) -> tuple[Effect, ...]:
        """The effects of all steps of the random runs, those of faults left out."""
        return tuple(
            effect
            for system, before, action, _ in self.edges()
            if not isinstance(action, Crash | Suspect | Disturb)
            for effect in response(system, before, action).effects
        )

    @cached_property
    def workload(self) -> Workload:
        """24 events in a graph of three operators, or in its first one if the protocol deploys one.

        Raises Invalid if the protocol deploys neither.
        """
        draw = random.Random(1)
        events = tuple(Arrival(draw.randint(0, 2), draw.choice("ab")) for _ in range(24))
        graph = graph_for("a, b", 4, 2)
        whole = Workload("24 events", "a, b", graph, {"source": events})
        return deployable(whole, self.protocol)

    @cached_property
    def schedules(self) -> tuple[tuple[UntimedCrash, ...], ...]:
        """Crashes of every node that may crash, as many in one run as the protocol assumes."""
        protocol = self.protocol
        system = deployed(protocol, self.workload, 0)
        nodes = [node for node in system.sites if node in system.deployment.crashable]
        if protocol.promise.assumes.failures is Failures.NONE:
            return ()
        if protocol.promise.assumes.failures is Failures.SINGLE:
            return tuple((UntimedCrash(node, 8),) for node in nodes)
        # After so many effects; a node that protects nothing has few of them, and so has one that
        # works while another one stands by.
        operators = [site for site in system.sites.values() if site.role is Role.OPERATOR]
        graph = {node for node, _ in self.workload.graph.nodes}
        alone = {site.name for site in operators} <= graph
        protects = protocol.promise.protects
        effects = [at % 3 if protects and alone else 0 for at in range(len(nodes))]
        return (
            tuple(UntimedCrash(node, 5 + 3 * at, effects[at]) for at, node in enumerate(nodes)),
        )


def deployed(protocol: Protocol, of: Workload, crashes: int) -> System:
    """The protocol in a scope in which the workload is what may happen."""
    inputs = tuple(
        (source, Inputs(tuple(dict.fromkeys(word)), len(word)))
        for source, word in of.events.items()
    )
    return System(protocol, Scope(of.graph, inputs, crashes))


def _run(system: System, chance: random.Random) -> Trace:
    worlds: list[World] = [initial(system)]
    actions: list[Action] = []
    while len(actions) < STEPS and (ready := enabled(system, worlds[-1])):
        actions.append(chance.choice(ready))
        worlds.append(apply(system, worlds[-1], actions[-1]))
    return Trace(system, tuple(actions), tuple(worlds))
