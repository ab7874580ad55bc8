"""The bounds of scopes: events, times, faults, graphs, and the types that no event has.

Rule of this file: it reads scopes and deployments; it explores nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from itertools import combinations
from typing import Any

from model.comparison import Shape
from model.core import Inputs, Scope
from model.evidence import PinnedScope
from model.graph import NO_GRAPH, SINK, SOURCE, Graph
from model.predicates import Type, Where
from model.properties import shapes
from model.protocol import Protocol
from model.results.reach import GraphFeature, LeakComparison, ReachBounds
from model.system import System

MOST_TIMES = 10_000
"""More times of events of a source than these are not listed."""


def bounds_of(protocol: Protocol, pinned: Sequence[PinnedScope]) -> ReachBounds:
    """The bounds of these scopes together; there is at least one."""
    scopes = [one.scope for one in pinned]
    systems = [System(protocol, scope) for scope in scopes]
    inputs = [one for scope in scopes for _, one in scope.inputs]
    arrivals = [one for given in inputs for one in given.alphabet if given.length]
    types = {one.type for one in arrivals}
    attributes = {name for one in arrivals for name, *_ in one.data}
    victims = {name for system in systems for name in system.victims if system.scope.crashes}
    crashable = {name for system in systems for name in system.deployment.crashable}
    sites = {name for one in systems for name in {*one.sites}.difference(one.prompt)}
    returning = [one.scope.crashes for one in systems if one.victims & one.returning]
    crashes = max(one.crashes for one in scopes)
    wanted = [*_inside(tuple(spec for scope in scopes for _, spec in scope.graph.nodes))]
    named = {one.name for one in wanted if isinstance(one, Type)}
    made = {one for one in wanted if isinstance(one, str)}
    asked = {one.attribute for one in wanted if isinstance(one, Where)}
    leaks = protocol.behaviour.needed and not all(scope.crashes for scope in scopes)
    return ReachBounds(
        sources=max(len(scope.inputs) for scope in scopes),
        sinks=max(sum(spec is SINK for _, spec in scope.graph.nodes) for scope in scopes),
        events=max((one.length for one in inputs), default=0),
        types=tuple(sorted(types)),
        attributes=tuple(sorted(attributes)),
        untried_types=tuple(sorted(named - types - made)),
        untried_attributes=tuple(sorted(asked - attributes - made)),
        gaps=tuple(sorted({one.gap for one in arrivals})),
        last_time=max((_last_time(one) for one in inputs), default=0),
        ties=any(one.length > 1 and any(not a.gap for a in one.alphabet) for one in inputs),
        ties_between=any(map(_ties_between, scopes)),
        crashes=crashes if victims else 0,
        restarts=max(returning, default=0),
        victims=tuple(sorted(victims)),
        spared=tuple(sorted(sites - victims)),
        crashable=not crashable <= victims,
        suspicions=crashes if protocol.promise.assumes.suspicions else 0,
        early=max(scope.early for scope in scopes),
        may_early=any(system.deployment.patient for system in systems),
        disturbances=max(scope.disturbances for scope in scopes),
        may_disturb=any(system.deployment.links for system in systems),
        classes=tuple(sorted({one.operators for one in pinned if one.operators is not None})),
        graphs=tuple(one for one in GraphFeature if any(one in _features(s) for s in scopes)),
        compared_as=_compared_as(scopes),
        leaks=LeakComparison.WITHOUT_CRASHES if leaks else LeakComparison.NEVER,
    )


def _compared_as(scopes: Sequence[Scope]) -> tuple[Shape, ...]:
    """The shapes of all sinks, in the order of their list."""
    found = {how.shape for scope in scopes for how in shapes(scope)}
    return tuple(one for one in Shape if one in found)


def _last_time(inputs: Inputs) -> int:
    return inputs.length * max((one.gap for one in inputs.alphabet), default=0)


def _times(inputs: Inputs) -> set[int]:
    """The times that events of a source may have."""
    gaps = {one.gap for one in inputs.alphabet}
    times, last = set[int](), {0}
    for _ in range(inputs.length):
        last = {time + gap for time in last for gap in gaps}
        times |= last
        if len(times) > MOST_TIMES:
            break
    return times


def _ties_between(scope: Scope) -> bool:
    times = [_times(inputs) for _, inputs in scope.inputs]
    return any(one & other for one, other in combinations(times, 2))


def _inside(value: Any) -> Iterator[Any]:
    """The predicates and the texts within the operators of graphs."""
    if isinstance(value, Type | Where | str):
        yield value
    elif isinstance(value, tuple | frozenset):
        for one in value:
            yield from _inside(one)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _inside(getattr(value, field.name))


def _features(scope: Scope) -> Iterable[GraphFeature]:
    graph = scope.graph
    if graph == NO_GRAPH:
        return
    operators = [name for name, spec in graph.nodes if spec not in (SOURCE, SINK)]
    if len(operators) == 1:
        yield GraphFeature.ONE
    if any(one in operators and other in operators for one, other in graph.edges):
        yield GraphFeature.CHAIN
    if any(len(graph.preds(name)) > 1 for name in operators):
        yield GraphFeature.MERGE
    if any(len(graph.succs(name)) > 1 for name, _ in graph.nodes):
        yield GraphFeature.FORK
    if any(_meets_again(graph, name) for name, _ in graph.nodes):
        yield GraphFeature.DIAMOND


def _meets_again(graph: Graph, name: str) -> bool:
    """Do two ways from a node lead to one operator?"""
    below = [{one, *graph.descendants(one)} for one in graph.succs(name)]
    return any(
        graph.specs[both] is not SINK
        for one, other in combinations(below, 2)
        for both in one & other
    )
