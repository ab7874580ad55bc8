"""What the lemma says of a progressive recovery is so in the explored runs of the model."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from operator import le
from typing import Any, NamedTuple

import pytest

from model.core import NodeName
from model.evidence import Case
from model.graph import Graph
from model.protocols.progressive import partition, scopes
from model.protocols.progressive.design import Ends, ProgressiveDesign
from model.protocols.progressive.family import PROGRESSIVE_RECOVERY
from model.protocols.progressive.messages import (
    COORDINATOR,
    CoordinatorPhase,
    CoordinatorState,
    Members,
    PartitionState,
    PunctuatingSource,
)
from model.system import System
from model.world import World
from proofs.explore.edges import edges
from proofs.lemmas.progressive.buffers import system
from proofs.prove.conformance import Comparison, Coverage, Formulas, Mismatch, Path
from proofs.prove.lemma import all_given
from proofs.prove.structure import Structure

FORMULAS = Formulas(system(all_given, ProgressiveDesign()))
NUMBERS = range(1, 9)
"""No node of these scopes sends more items after a punctuation."""
WORLDS = 6_000
"""So many worlds of a scope: each action of a recovery is among them."""
FIRST, SECOND, SIDE = (
    scopes.A_CHAIN_THE_FIRST_TWICE,
    scopes.A_CHAIN_THE_SECOND_TWICE,
    scopes.A_TRIANGLE_THE_SIDE_TWICE,
)
Table = dict[str, Any]


class Item(NamedTuple):
    """The n-th item after the punctuation on a channel; punctuations count as items."""

    n: int
    by: NodeName
    to: NodeName


class Observer(NamedTuple):
    """The symbols of the lemma in the worlds of a system."""

    system: System

    @property
    def members(self) -> Members:
        members: Members = self.system.sites[COORDINATOR].config.members
        return members

    def state(self, world: World, name: NodeName) -> Any:
        return world.nodes[self.system.node_at[name]].state

    def phase(self, world: World) -> CoordinatorPhase | None:
        """None while the coordinator is down."""
        state = self.state(world, COORDINATOR)
        return state.phase if isinstance(state, CoordinatorState) else None

    def table(self, world: World, rigid: Structure, start: int) -> Table:
        """A recovery from the start-th punctuation."""
        items, nodes = rigid.sorts["item"], rigid.sorts["node"]
        leader = self.state(world, COORDINATOR)
        own = {name: self.items_of(world, name, leader.epoch.number, start) for name in nodes}
        ended = leader.phase is not CoordinatorPhase.RUNNING
        partitions = self.members.partitions
        return {
            "made": {item: item.n in own[item.by][0] for item in items},
            "kept": {item: item.n in own[item.by][1] for item in items},
            "down": {name: name in leader.down for name in nodes},
            "stored": {
                name: (ended and name in partitions) or (name, start + 1) in leader.stored
                for name in nodes
            },
            "ended": ended,
        }

    def items_of(
        self, world: World, name: NodeName, epoch: int, start: int
    ) -> tuple[set[int], set[int]]:
        """The numbers after the punctuation: of what is made, and of what is kept."""
        state, first = self.state(world, name), self.first(world, name, start)
        if isinstance(state, PunctuatingSource):  # it has what is still to come, too
            to_come = {n for n in NUMBERS if n > state.number - first}
            return {*NUMBERS}, {item.number - first for item in state.kept} | to_come
        if not isinstance(state, PartitionState) or state.epoch is None:
            return set(), set()
        if state.epoch.number != epoch:
            return set(), set()
        made = {*range(1, state.number - first + 1)}
        assert made <= {*NUMBERS}
        return made, {item.number - first for item in state.kept}

    def first(self, world: World, name: NodeName, start: int) -> int:
        """The number of the start-th punctuation, as a partition that reads it has stored it."""
        readers = [v for v in self.system.sites[name].succs if v in self.members.partitions]
        if start == 0 or not readers:
            return 0
        edge = self.system.sites[readers[0]].preds.index(name)
        parts = world.nodes[self.system.node_at[readers[0]]].durable
        place: int = next(part.places[edge] for part in parts if part.k == start)
        return place


@cache
def rigid_of(graph: Graph, members: Members) -> Structure:
    channels = [(u, v) for u, v in graph.edges if v in members.partitions]
    items = [Item(n, u, v) for n, (u, v) in product(NUMBERS, channels)]
    nodes = (*members.sources, *members.partitions)
    symbols = {
        "le#item": le,
        "by": {item: item.by for item in items},
        "to": {item: item.to for item in items},
        "source": {name: name in members.sources for name in nodes},
        "contained": dict.fromkeys(items, False),
    }
    return Structure({"item": items, "node": nodes}, symbols)


def between(before: Table, after: Table) -> Iterator[Table]:
    """The states from one to the other: a step may make several items, fail, and end."""
    now = before
    for item in after["made"]:
        if after["made"][item] and not now["made"][item]:
            now = {name: {**now[name], item: True} if name == "made" else now[name] for name in now}
            now["kept"] = {**now["kept"], item: after["kept"][item]}
            yield now
    for node in dict.fromkeys(item.by for item in now["made"]):
        if any(item.by == node and now["made"][item] > after["made"][item] for item in now["made"]):
            gone = {item: False for item in now["made"] if item.by == node}
            now = {**now, "made": {**now["made"], **gone}, "kept": {**now["kept"], **gone}}
            yield now
    yield {**after, "ended": before["ended"]}
    yield after


def paths(design: ProgressiveDesign, case: Case) -> Iterator[Path]:
    """All edges of progressive recoveries, and their beginnings."""
    scope = case.scope
    protocol = PROGRESSIVE_RECOVERY.design("to compare", design)
    see = Observer(System(protocol, scope))
    rigid = rigid_of(scope.graph, see.members)
    for before, _, after in edges(protocol, scope, limit=WORLDS):
        phases = see.phase(before), see.phase(after)
        if phases[1] is None or CoordinatorPhase.RUNNING not in phases:
            continue
        if phases[0] is CoordinatorPhase.RUNNING:
            start = see.state(before, COORDINATOR).epoch.start
            first, last = (see.table(world, rigid, start) for world in (before, after))
            yield Path(rigid, (first, *between(first, last)))
        else:
            start = see.state(after, COORDINATOR).epoch.start
            yield Path(rigid, (see.table(after, rigid, start),), initial=True)


def mismatch(design: ProgressiveDesign, case: Case, account: Coverage) -> Mismatch | None:
    comparison = Comparison(FORMULAS)
    found = (comparison.compare(path, account) for path in paths(design, case))
    return next((one for one in found if one), None)


@pytest.mark.slow
def test_recoveries_are_as_the_lemma_has_them() -> None:
    account = Coverage()
    for case in (FIRST, SECOND, SIDE):
        found = mismatch(ProgressiveDesign(threshold=0), case, account)
        assert found is None, f"{case.name}: {found.what}"
    assert account.alone == {"make", "fail", "notice", "rejoin", "acknowledge", "end"}


def test_a_failure_that_cancels_nothing_does_not_conform() -> None:
    design = ProgressiveDesign(threshold=0, ends=Ends.CHECKPOINT)
    assert mismatch(design, SECOND, Coverage()) is not None


def test_a_partition_that_keeps_nothing_does_not_conform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partition, "_is_buffering", lambda *_: False)
    assert mismatch(ProgressiveDesign(threshold=0), SECOND, Coverage()) is not None
