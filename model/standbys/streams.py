"""Output streams: a node may have several, each with readers of its own.

Rule of this file: no queue and no message; it says which outputs a stream has, and where a graph
has streams.
Hwang et al., Sections 3.1 and 5.2.1: "for each output stream".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.boxes.stateless import Filter
from model.graph import Graph
from model.predicates import Predicate


@dataclass(frozen=True)
class OutputStream(Filter):
    """In a graph: an output stream of the node above, and no node of its own.  It has the outputs
    that match."""


def without_streams(graph: Graph) -> Graph:
    """The graph in which the readers of a stream stand below the node itself."""
    producers = _producers(graph)
    edges = (
        (producers.get(above, above), below)
        for above, below in graph.edges
        if below not in producers
    )
    return Graph(tuple(one for one in graph.nodes if one[0] not in producers), tuple(edges))


def streams_of(graph: Graph) -> Mapping[tuple[str, str], Predicate]:
    """For each node and reader of one of its streams: the outputs that the stream has."""
    producers, specs = _producers(graph), graph.specs
    return {
        (producers[above], below): specs[above].predicate
        for above, below in graph.edges
        if above in producers
    }


def _producers(graph: Graph) -> Mapping[str, str]:
    """The node of each output stream."""
    return {
        name: graph.preds(name)[0] for name, spec in graph.nodes if isinstance(spec, OutputStream)
    }
