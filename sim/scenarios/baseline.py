"""The scenario without protection, with the same work on the same nodes.

Rule of this file: no protocol by name; what a protocol deploys says which nodes there are.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
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
    """The graph with the operators that are none of the nodes in the node before them; all in one
    if one alone is a node.

    Of several nodes, an operator behind a source, or behind several of them, stays where it is.
    """
    specs = graph.specs
    deployed = [name for name, spec in graph.nodes if spec not in (SOURCE, SINK) and name in nodes]
    at: dict[NodeName, NodeName] = {}
    for name in graph.order():
        before = {at[pred] for pred in graph.preds(name)}
        outside = name in nodes or len(before) != 1 or specs[name] is SINK
        home = name if outside else before.pop()
        at[name] = name if specs[home] is SOURCE else home
        if len(deployed) == 1 and specs[name] not in (SOURCE, SINK):
            at[name] = deployed[0]
    ends = dict.fromkeys((at[start], at[end]) for start, end in graph.edges)
    edges = tuple((start, end) for start, end in ends if start != end)
    preds = {name: [start for start, end in edges if end == name] for name in at}
    united = ((name, _spec(name, graph, at, preds[name])) for name, _ in graph.nodes)
    return Graph(tuple(one for one in united if at[one[0]] == one[0]), edges)


def _spec(
    node: NodeName, graph: Graph, at: Mapping[NodeName, NodeName], preds: Sequence[NodeName]
) -> Any:
    """The operator of a node; a network of boxes if several are there.  preds: of the node."""
    inside = [name for name in at if at[name] == node]
    if len(inside) < 2:
        return graph.specs[node]
    inputs = (
        Arc(INPUT, name, preds.index(at[pred]), edge)
        for name in inside
        for edge, pred in enumerate(graph.preds(name))
        if at[pred] != node
    )
    arcs = (
        Arc(name, succ, edge=graph.preds(succ).index(name))
        if at[succ] == node
        else Arc(name, OUTPUT)
        for name in inside
        for succ in graph.succs(name)
    )
    return Network(
        tuple((name, _box(graph.specs[name])) for name in inside), (*inputs, *dict.fromkeys(arcs))
    )


def _box(operator: Operator | Box) -> Box:
    return CepBox(operator) if isinstance(operator, Operator) else operator
