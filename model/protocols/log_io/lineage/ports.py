"""From lineage scopes to ports: the paths of a scope, and the ports that lie on them.

Rule of this file: graphs and ports; no table.
LOG.io, Section 3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from model.core import NodeName
from model.errors import Invalid
from model.graph import SINK, SOURCE, Graph
from model.protocols.log_io.design import (
    Connection,
    LineageCapture,
    LineageScope,
    OutputPort,
    Ports,
)

Path = tuple[Connection, ...]


def connections_of(connections: Iterable[Connection], port: OutputPort) -> Iterator[Connection]:
    """The connections that begin at an output port."""
    for sender, receiver in connections:
        if sender == port.node and port.to in (None, receiver):
            yield sender, receiver


def paths(connections: tuple[Connection, ...], scope: LineageScope) -> tuple[Path, ...]:
    """The data lineage paths of a scope, each with its connections from start to end."""
    ends = frozenset(connections_of(connections, scope.end))

    def onward(path: Path) -> Iterator[Path]:
        if path[-1] in ends:
            yield path
        for following in connections:
            if following[0] == path[-1][1]:
                yield from onward((*path, following))

    return tuple(
        path for first in connections_of(connections, scope.start) for path in onward((first,))
    )


def ports_of(connections: tuple[Connection, ...], scopes: tuple[LineageScope, ...]) -> Ports:
    """The ports with capture enabled.  Raises Invalid for a scope that passes through no operator.

    "If there exists a subsequence (OP.in, OP.out) in a data lineage path", capture is enabled for
    both.  A relationship is of any port in IN and any port in OUT of an operator, so several scopes
    have more of them than their paths.
    """
    ins: set[Connection] = set()
    outs: set[Connection] = set()
    starts: set[Connection] = set()
    for scope in scopes:
        found = [path for path in paths(connections, scope) if len(path) > 1]
        if not found:
            raise Invalid(
                f"lineage scope from {scope.start.node} to {scope.end.node}: no path from one "
                "output port to the other passes through an operator; give two ports on a path"
            )
        for path in found:
            starts.add(path[0])
            for before, after in pairwise(path):
                ins.add(before)
                outs.add(after)
    ends = {end for scope in scopes for end in connections_of(connections, scope.end)}
    return Ports(frozenset(ins), frozenset(outs), frozenset(starts), frozenset(ends))


def deployed_ports(
    capture: LineageCapture,
    graph: Graph,
    readers: dict[NodeName, NodeName],
    acting: frozenset[NodeName],
) -> Ports:
    """The ports with capture enabled; a reader stands for its source.

    A scope between operators that the graph does not have enables none.
    """

    def named(connections: Iterable[Connection]) -> frozenset[Connection]:
        return frozenset((readers.get(u, u), v) for u, v in connections)

    edges = tuple((u, v) for u, v in graph.edges if v not in acting)
    specs = graph.specs
    if capture.scopes is None:
        ins = (edge for edge in edges if specs[edge[1]] is not SINK)
        return Ports(named(ins), named(edge for edge in edges if specs[edge[0]] is not SOURCE))
    known = [one for one in capture.scopes if specs.keys() >= {one.start.node, one.end.node}]
    return Ports(*map(named, ports_of(edges, tuple(known))))
