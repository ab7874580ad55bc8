"""Instances of operators: their names, the keys that they own, and their number in each run.

Rule of this file: no step of a node, and no record on its way (redistribution.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from model.boxes.aggregate import Aggregate
from model.boxes.box import attribute
from model.core import NodeName
from model.errors import Invalid
from model.events import Body
from model.graph import SINK, SOURCE, Graph
from model.protocols.unaligned_checkpoints.design import UnalignedDesign
from model.protocols.unaligned_checkpoints.savepoints import AfterSavepoint

OVERSEER = "coordinator"
INTERVAL, SAVEPOINT = "checkpoint", "savepoint"
KEY_GROUPS = 4
"""As many groups have all keys; a group is the smallest part of the state that moves."""


class InstancePlace(NamedTuple):
    """An instance of a node of the graph.  Sources and sinks have one instance."""

    node: NodeName
    number: int = 0

    @property
    def name(self) -> NodeName:
        return f"{self.node}.{self.number}" if self.number else self.node


class PipelinePlan(NamedTuple):
    """The part that all nodes know: the design, the graph, its sources, operators and sinks, and
    the place of each instance by name."""

    design: UnalignedDesign
    graph: Graph
    readers: tuple[NodeName, ...]
    tasks: tuple[NodeName, ...]
    sinks: tuple[NodeName, ...]
    places: Mapping[NodeName, InstancePlace]

    @property
    def goes_on(self) -> bool:
        """Does the job go on after its savepoint?  Its sources read a log again from there."""
        savepoints = self.design.savepoints
        return savepoints is not None and savepoints.after is AfterSavepoint.GOES_ON

    def instances(self, node: NodeName, run: int) -> tuple[NodeName, ...]:
        """The instances of a node that work in this run."""
        return tuple(InstancePlace(node, at).name for at in range(self.parallelism(node, run)))

    def parallelism(self, node: NodeName, run: int) -> int:
        layout = self.design.layout
        return layout[run % len(layout)] if is_keyed(self.graph.specs[node]) else 1

    def working(self, run: int) -> tuple[NodeName, ...]:
        """All sources, instances and sinks that work in this run."""
        tasks = tuple(name for node in self.tasks for name in self.instances(node, run))
        return (*self.readers, *tasks, *self.sinks)

    def inputs(self, name: NodeName, run: int) -> tuple[NodeName, ...]:
        """The instances from which this one has channels in this run."""
        preds = self.graph.preds(self.places[name].node)
        return tuple(one for node in preds for one in self.instances(node, run))

    def outputs(self, name: NodeName, run: int) -> tuple[NodeName, ...]:
        """The instances to which this one has channels in this run."""
        succs = self.graph.succs(self.places[name].node)
        return tuple(one for node in succs for one in self.instances(node, run))

    def edge(self, sender: NodeName, receiver: NodeName) -> int:
        """The number of the input edge of the receiver's node."""
        preds = self.graph.preds(self.places[receiver].node)
        return preds.index(self.places[sender].node)

    def owner(self, node: NodeName, body: Body, run: int) -> NodeName:
        """The instance of the node that takes this record in this run."""
        return self.owner_of(node, key_of(self.graph.specs[node], body), run)

    def owner_of(self, node: NodeName, key: Any, run: int) -> NodeName:
        """The instance that has the state of this key in this run: key groups are in ranges."""
        return InstancePlace(node, key_group(key) * self.parallelism(node, run) // KEY_GROUPS).name


def plan(design: UnalignedDesign, graph: Graph) -> PipelinePlan:
    """The plan, with as many instances of each operator as any run has."""
    readers = tuple(name for name, spec in graph.nodes if spec is SOURCE)
    sinks = tuple(name for name, spec in graph.nodes if spec is SINK)
    tasks = tuple(name for name, _ in graph.nodes if name not in {*readers, *sinks})
    places = [
        InstancePlace(name, at)
        for name, spec in graph.nodes
        for at in range(max(design.layout) if is_keyed(spec) else 1)
    ]
    by_name = {place.name: place for place in places}
    if len(by_name) < len(places):
        raise Invalid("unaligned-checkpoints: a node has the name of an instance of another node")
    return PipelinePlan(design, graph, readers, tasks, sinks, by_name)


def is_keyed(spec: Any) -> bool:
    """Has the operator a state for each key, so that instances may share the keys?  Where an item
    of any key closes windows, one instance has all of them."""
    return isinstance(spec, Aggregate) and spec.group is not None and not spec.any_closes


def key_of(spec: Any, body: Body) -> Any:
    """The key of a record at an operator; None at one that is not keyed."""
    return attribute(body, spec.group) if is_keyed(spec) else None


def key_group(key: Any) -> int:
    """The group of a key; the same in every process."""
    return 0 if key is None else sum(repr(key).encode()) % KEY_GROUPS
