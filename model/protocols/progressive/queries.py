"""The property of queries: one without a failed partition goes on.

Rule of this file: no state of a node; it sees which partitions are up, and the results.
Su and Zhou, Progressive Recovery, 2016, Sections 1 and 3: "gradually increase the number of
recovered queries"; a query is recovered "if and only if all of its failed partitions are" (5).
"""

from __future__ import annotations

from collections.abc import Iterator

from model.core import NodeName, Observation, Property, Scope, When
from model.graph import SINK, Graph
from model.properties import comparisons


def _goes_on(scope: Scope, seen: Observation) -> bool:
    """Has every query whose partitions are all up all of its results?"""
    up = {name for name, _ in seen.states}
    edges = [*_query_edges(scope.graph, up)]
    return any(
        all(want == got for (want, got), asked in zip(pairs, edges, strict=True) if asked)
        for pairs in comparisons(scope, seen)
    )


def _query_edges(graph: Graph, up: set[NodeName]) -> Iterator[bool]:
    """For each input edge of each sink: is all above the sink up?"""
    for name, spec in graph.nodes:
        if spec is SINK:
            whole = _above(graph, name) <= up
            yield from (whole for _ in graph.preds(name))


def _above(graph: Graph, name: NodeName) -> set[NodeName]:
    found = {*graph.preds(name)}
    return found.union(*(_above(graph, pred) for pred in found))


GOES_ON = Property(
    "at rest, every query whose partitions are up has all of its results",
    When.QUIESCENT,
    _goes_on,
    nodes=True,
)
