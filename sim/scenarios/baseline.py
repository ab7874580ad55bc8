"""The scenario without protection, with the same work on the same nodes.

Rule of this file: no protocol by name; what a protocol deploys says which nodes there are.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Any

from model.boxes.box import Box
from model.boxes.network import INPUT, OUTPUT, Arc, Network
from model.cep.box import CepBox
from model.cep.operator import Operator
from model.core import NodeName, Scope
from model.graph import SINK, SOURCE, Graph
from model.registry import unprotected
from model.system import System
from sim.scenarios.scenario import Scenario


def baseline(scenario: Scenario) -> Scenario:
    """The scenario under the protocol that protects nothing.

    If the protocol runs several operators in one node, the baseline does so, too: nothing is sent
    between them, and an event is work once.
    """
    workload = scenario.workload
    nodes = System(scenario.protocol, Scope(workload.graph, (), 0)).sites
    graph = unite(workload.graph, nodes)
    return replace(scenario, protocol=unprotected(), workload=replace(workload, graph=graph))


def unite(graph: Graph, nodes: Container[NodeName]) -> Graph:
    """The graph with the operators that are none of the nodes in the node before them.

    An operator behind a source, or behind several nodes, stays where it is.
    """
    at: dict[NodeName, NodeName] = {}
    for name in graph.order():
        before = {at[pred] for pred in graph.preds(name)}
        outside = name in nodes or len(before) != 1 or graph.specs[name] is SINK
        home = name if outside else before.pop()
        at[name] = name if graph.specs[home] is SOURCE else home
    specs = tuple((name, _spec(name, graph, at)) for name, _ in graph.nodes if at[name] == name)
    edges = ((at[start], at[end]) for start, end in graph.edges)
    return Graph(specs, tuple(edge for edge in edges if edge[0] != edge[1]))


def _spec(node: NodeName, graph: Graph, at: Mapping[NodeName, NodeName]) -> Any:
    """The operator of a node; a network of boxes if several are there."""
    inside = [name for name in at if at[name] == node]
    if len(inside) == 1:
        return graph.specs[node]
    inputs = (Arc(INPUT, node, port, port) for port, _ in enumerate(graph.preds(node)))
    arcs = (
        Arc(name, succ if at[succ] == node else OUTPUT)
        for name in inside
        for succ in graph.succs(name)
    )
    return Network(tuple((name, _box(graph.specs[name])) for name in inside), (*inputs, *arcs))


def _box(operator: Operator | Box) -> Box:
    return CepBox(operator) if isinstance(operator, Operator) else operator
