"""Operator graphs: sources, CEP operators and sinks, joined by edges; a networkx DAG underneath.

Rule of this file: no unchecked Graph; code that receives a Graph need not check the graph again.
Lima et al., Section II, Fig. 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from model.errors import Invalid

if TYPE_CHECKING:  # processes that hold values and no graph start sooner
    import networkx as nx


class Endpoint(Enum):
    """The two ends of a graph.  A SOURCE produces events, keeps unacknowledged events and does not
    fail (it is replayable); a SINK consumes events, acknowledges each and does not fail."""

    SOURCE = "source"
    SINK = "sink"


SOURCE, SINK = Endpoint.SOURCE, Endpoint.SINK


@dataclass(frozen=True, slots=True)
class Graph:
    """An operator graph.

    nodes: (name, SOURCE | SINK | an operator).  edges: (from, to); edge order is queue order.

    Raises Invalid for a cycle, an unknown or doubled node or edge, a source with inputs, a sink
    with outputs, an operator with neither.
    """

    nodes: tuple[tuple[str, Any], ...]
    edges: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        names = [name for name, _ in self.nodes]
        for name in names:
            if names.count(name) > 1:
                raise Invalid(f"graph: node {name!r} appears twice; names must differ")
        for edge in self.edges:
            for end in edge:
                if end not in names:
                    raise Invalid(f"graph: edge {edge[0]} -> {edge[1]} names unknown node {end!r}")
            if self.edges.count(edge) > 1:
                raise Invalid(f"graph: edge {edge[0]} -> {edge[1]} appears twice")
        above = {name: self.preds(name) for name in names}
        try:
            TopologicalSorter(above).prepare()
        except CycleError as error:
            around = " -> ".join(error.args[1])
            raise Invalid(f"graph: cycle {around}; an operator graph must be acyclic") from None
        for name, spec in self.nodes:
            preds, succs = self.preds(name), self.succs(name)
            if spec is SOURCE and preds:
                raise Invalid(f"graph: source {name!r} has an input from {preds[0]!r}")
            if spec is SINK and succs:
                raise Invalid(f"graph: sink {name!r} has an output to {succs[0]!r}")
            if spec is not SOURCE and not preds:
                raise Invalid(f"graph: {name!r} has no input edge")
            if spec is not SINK and not succs:
                raise Invalid(f"graph: {name!r} has no output edge")

    def networkx(self) -> nx.DiGraph[str]:
        import networkx as nx

        dag: nx.DiGraph[str] = nx.DiGraph()
        dag.add_nodes_from(name for name, _ in self.nodes)
        dag.add_edges_from(self.edges)
        return dag

    @property
    def specs(self) -> Mapping[str, Any]:
        return dict(self.nodes)

    def preds(self, name: str) -> tuple[str, ...]:
        return tuple(u for u, v in self.edges if v == name)

    def succs(self, name: str) -> tuple[str, ...]:
        return tuple(v for u, v in self.edges if u == name)

    def descendants(self, name: str) -> frozenset[str]:
        import networkx as nx

        return frozenset(nx.descendants(self.networkx(), name))

    def order(self) -> tuple[str, ...]:
        """The names of all nodes, upstream first; among equals in the order given."""
        import networkx as nx

        names = [name for name, _ in self.nodes]
        return tuple(nx.lexicographical_topological_sort(self.networkx(), key=names.index))

    def merges_at_or_below(self, name: str) -> bool:
        """Does `name` or an operator below it merge several inputs, so that it needs watermarks?"""
        below = {name} | self.descendants(name)
        specs = self.specs
        return any(specs[n] not in (SOURCE, SINK) and len(self.preds(n)) > 1 for n in below)


NO_GRAPH = Graph((), ())
"""No stream: of a protocol that has properties alone, such as a commit of several databases."""


def chain(*operators: tuple[str, Any], source: str = "source", sink: str = "sink") -> Graph:
    """The graph source -> operators in turn -> sink."""
    names = [source, *(name for name, _ in operators), sink]
    return Graph(((source, SOURCE), *operators, (sink, SINK)), tuple(pairwise(names)))
