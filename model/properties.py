"""The properties of every recovery protocol: the output is as if nothing had failed.

Rule of this file: no look inside; a property sees only an Observation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeAlias

from model.boxes.box import Out, bodies
from model.comparison import SEQUENCE, Compare
from model.core import Arrival, Guarantee, Observation, Property, Scope, When
from model.graph import SINK
from model.oracle import allowed, outs_by_edge
from model.recovery import beside

Outs: TypeAlias = tuple[Out, ...]


@lru_cache(maxsize=1 << 16)
def allowed_outputs(
    scope: Scope, arrivals: tuple[tuple[Arrival, ...], ...]
) -> tuple[tuple[Outs, ...], ...]:
    """Every output that these arrivals allow: that of each input edge of each sink."""
    names = [name for name, _ in scope.inputs]
    given = dict(zip(names, arrivals, strict=True))
    found = (
        tuple(outs for edges in expected.values() for outs in edges)
        for expected in allowed(scope.graph, given)
    )
    return tuple(dict.fromkeys(found))


def comparisons(scope: Scope, seen: Observation) -> Iterator[list[tuple[Outs, Outs]]]:
    """For each allowed output of all sinks together, the pairs (expected, observed): one for every
    input edge of every sink of the graph.  Other sinks come after these, and are not compared."""
    graph = scope.graph
    sinks = [name for name, spec in graph.nodes if spec is SINK]
    observed = [
        outs
        for name, outputs in zip(sinks, seen.outputs, strict=False)
        for outs in outs_by_edge(outputs, len(graph.preds(name)))
    ]
    for expected in allowed_outputs(scope, seen.arrivals):
        yield [*zip(expected, observed, strict=True)]


@lru_cache(maxsize=1 << 10)
def shapes(scope: Scope) -> tuple[Compare, ...]:
    """How the outputs compare, for every input edge of every sink of the graph."""
    how = dict(scope.sinks)
    sinks = [name for name, spec in scope.graph.nodes if spec is SINK]
    return tuple(how.get(name, SEQUENCE) for name in sinks for _ in scope.graph.preds(name))


def _no_surprise(scope: Scope, seen: Observation) -> bool:
    how = shapes(scope)
    return any(
        all(
            one.is_begun(bodies(want), bodies(got))
            for one, (want, got) in zip(how, pairs, strict=True)
        )
        for pairs in comparisons(scope, seen)
    )


def _complete(scope: Scope, seen: Observation) -> bool:
    how = shapes(scope)
    return any(
        all(
            one.content(bodies(want)) == one.content(bodies(got))
            for one, (want, got) in zip(how, pairs, strict=True)
        )
        for pairs in comparisons(scope, seen)
    )


AS_IF = Property("outputs are a prefix of the failure-free outputs", When.ALWAYS, _no_surprise)
COMPLETE = Property("at rest, all failure-free outputs have been seen", When.QUIESCENT, _complete)


@dataclass(frozen=True, slots=True)
class AtLeast:
    """The condition that the recovery type is this one or a stronger one."""

    weakest: Guarantee

    def __call__(self, scope: Scope, seen: Observation) -> bool:
        return guarantee(scope, seen) <= self.weakest


def at_least(weakest: Guarantee) -> Property:
    """The property that at rest the recovery type is this one or a stronger one."""
    name = f"at rest, the recovery is {weakest.name.lower()}"
    return Property(name, When.QUIESCENT, AtLeast(weakest))


def compares_outputs(property_: Property) -> bool:
    """Is it a property of this file: does it compare the outputs with the allowed ones alone?"""
    return property_ in (AS_IF, COMPLETE) or isinstance(property_.holds, AtLeast)


def guarantee(scope: Scope, seen: Observation) -> Guarantee:
    """The strongest recovery type that a quiescent observation allows."""
    how = shapes(scope)
    return min(
        max(
            (beside(want, got, one) for one, (want, got) in zip(how, pairs, strict=True)),
            default=Guarantee.PRECISE,
        )
        for pairs in comparisons(scope, seen)
    )


NOTHING_LOST = replace(at_least(Guarantee.DIVERGENT), name="at rest, nothing is lost")
"""Rollback recovery: the effects of all inputs are forwarded (Hwang et al., Section 3.1)."""
