"""The unprotected run has the nodes of the protected one, and its work and bytes follow by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from model.boxes.aggregate import Aggregate
from model.boxes.box import Item
from model.boxes.network import INPUT, OUTPUT, Arc, Network
from model.boxes.stateless import Map, Relay
from model.core import NodeName
from model.events import Body
from model.graph import SINK, SOURCE, Graph, chain
from model.oracle import oracle
from model.parts import contents
from sim.inputs.streams import arrivals
from sim.scenarios.baseline import unite
from sim.scenarios.overrides import overrides
from sim.scenarios.run import simulate
from sim.scenarios.scenario import read

LINE = chain(("A", Relay()), ("B", Map("b")), ("C", Map("c")))


@pytest.mark.parametrize("nodes", [{"A", "B", "C"}, {"A", "B", "C", "beside"}, {"B", "C"}])
def test_nodes_of_their_own_stay(nodes: set[NodeName]) -> None:
    """Also an operator that is no node, behind a source."""
    assert unite(LINE, nodes) == LINE


@pytest.mark.parametrize("nodes", [{"A"}, {"A", "B"}, {"A", "C"}])
def test_operators_in_one_node_do_what_they_did(nodes: set[NodeName]) -> None:
    united = unite(LINE, nodes)
    assert [name for name, _ in united.nodes] == ["source", *sorted(nodes), "sink"]
    events = {"source": arrivals([0, 1, 2], ["x", "y", "x"])}
    assert oracle(united, events) == oracle(LINE, events)


def test_outputs_leave_a_node_where_they_did() -> None:
    """B is in the node of A, whose outputs go to the sink, too."""
    nodes = (("source", SOURCE), ("A", Relay()), ("B", Map("b")), ("sink", SINK))
    graph = Graph(nodes, (("source", "A"), ("A", "B"), ("B", "sink")))
    spec = dict(unite(graph, {"A"}).nodes)["A"]
    arcs = (Arc(INPUT, "A"), Arc("A", "B"), Arc("B", OUTPUT))
    assert spec == Network((("A", Relay()), ("B", Map("b"))), arcs)


def test_several_boxes_hold_what_each_of_them_holds() -> None:
    box = Aggregate("list", 3, 3, of="time")
    state: Any = box.begin(1)
    for time in range(2):
        state = box.feed(state, Item(0, Body(time, "a", ())))[0].state
    one = contents(state)
    assert one.items > 0
    assert contents((state, state)) == (2 * one.events, 2 * one.items)


def test_a_query_of_micro_batches_is_compared_with_one_node() -> None:
    """2,000 events of 0.2 ms and 100 bytes are the work without protection.  Protection is, for
    each batch, 0.77 s and three writes of 12 ms; and the service of messages."""
    free = ("stream.events=2000", "failures=[]", "costs.storage.bandwidth_bytes_per_s=1e300")
    scenario = read(Path("docs/scenarios/micro-batch.toml"), overrides(free))
    result = simulate(scenario)
    bare, ready = result.unprotected, result.without_failures
    assert bare.busy_s == pytest.approx(2_000 * 0.2e-3)
    assert bare.link_bytes == 100 * (2_000 + ready.outputs)
    batches = ready.traffic["events"].messages
    service = batches * (0.77 + 3 * 0.012) + ready.service_control_s
    assert ready.busy_s - bare.busy_s == pytest.approx(service)
