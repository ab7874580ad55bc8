"""The deployment of uncoordinated checkpoints: a recovery manager beside the graph.

Rule of this file: no step of a node.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from model.boxes.box import Box
from model.cep.box import CepBox
from model.cep.operator import Operator
from model.core import Deployment, NodeName, Role, Scope, Site
from model.errors import map_all, refuse
from model.graph import SINK, SOURCE, Graph
from model.parts import deploy_graph
from model.protocols.uncoordinated.design import Exchange, LineDesign
from model.protocols.uncoordinated.messages import TaskCheckpoint

MANAGER = "manager"
CHECKPOINT, GRANT = "checkpoint", "grant"
TIMERS = {
    CHECKPOINT: "From the first change after a checkpoint to the operator's next checkpoint.",
    GRANT: "From a processed message to the credit for it.",
}


class Bond(NamedTuple):
    """An edge to an operator.

    name: of the sender; sender, receiver: their places among the operators, None for a source.
    edge: the sender's place among the inputs of the receiver; branch: the receiver's place among
    the operators below the sender.
    """

    name: NodeName
    sender: int | None
    receiver: int
    edge: int
    branch: int


class Dataflow(NamedTuple):
    """What a node knows of the dataflow.

    below: the operators that a node sends to; above: the inputs of an operator that are operators;
    sinks: those that it puts out to.  number: of a source among the sources.  tasks, readers: all
    operators and sources; bonds and beginning (the first checkpoints): of the manager alone.
    """

    design: LineDesign
    readers: tuple[NodeName, ...] = ()
    tasks: tuple[NodeName, ...] = ()
    below: tuple[NodeName, ...] = ()
    above: tuple[NodeName, ...] = ()
    sinks: tuple[NodeName, ...] = ()
    number: int = 0
    bonds: tuple[Bond, ...] = ()
    beginning: tuple[TaskCheckpoint, ...] = ()


def deploy(design: LineDesign, scope: Scope) -> Deployment:
    """The deployment: the graph, and a manager with channels to and from each operator, and to each
    source; with credits also a channel up for each channel between two operators.

    Raises Invalid for an operator that is neither a box nor a CEP operator with one input, and for
    a source that no operator reads.
    """
    graph = scope.graph
    deployed = deploy_graph(graph)
    sites = map_all(lambda site: _placed(site, graph, design), deployed.sites)
    readers, tasks, sinks = (
        tuple(site.name for site in sites if site.role is role) for role in Role
    )
    beginning = tuple(begin(site) for site in sites if site.role is Role.OPERATOR)
    job = Dataflow(design, readers, tasks, bonds=bonds(graph), beginning=beginning)
    nodes = (*readers, *tasks)
    between = tuple(ends for ends in graph.edges if {*tasks}.issuperset(ends))
    up = tuple((receiver, sender) for sender, receiver in between)
    return deployed._replace(
        sites=(*sites, Site(MANAGER, Role.OPERATOR, None, tasks, nodes, job)),
        channels=(
            *deployed.channels,
            *(up if design.exchange is Exchange.CREDITS else ()),
            *((name, MANAGER) for name in tasks),
            *((MANAGER, name) for name in nodes),
        ),
        prompt=frozenset({MANAGER, *sinks}),
    )


@lru_cache(maxsize=64)
def bonds(graph: Graph) -> tuple[Bond, ...]:
    """The edges to operators, in the order of the graph."""
    tasks = operators(graph)
    return tuple(
        Bond(
            sender,
            tasks.index(sender) if sender in tasks else None,
            tasks.index(receiver),
            graph.preds(receiver).index(sender),
            [name for name in graph.succs(sender) if name in tasks].index(receiver),
        )
        for sender, receiver in graph.edges
        if receiver in tasks
    )


def operators(graph: Graph) -> tuple[NodeName, ...]:
    """The names of the operators, in the order of the graph."""
    return tuple(name for name, spec in graph.nodes if spec not in (SOURCE, SINK))


def begin(site: Site) -> TaskCheckpoint:
    """The checkpoint of an operator before its first message."""
    inputs, below = len(site.preds), len(site.config.below)
    return TaskCheckpoint(
        0, site.spec.begin(inputs), (0,) * inputs, granted=(0,) * inputs, credited=(0,) * below
    )


def _placed(site: Site, graph: Graph, design: LineDesign) -> Site:
    """The site with what it knows, and with its operator as a box."""
    if site.name == MANAGER:
        refuse("uncoordinated", [f"a node has the name {MANAGER!r}, which is the manager's"])
    specs = graph.specs
    sinks = tuple(name for name in site.succs if specs[name] is SINK)
    below = tuple(name for name in site.succs if name not in sinks)
    above = tuple(name for name in site.preds if specs[name] is not SOURCE)
    readers = [name for name, spec in graph.nodes if spec is SOURCE]
    if site.role is Role.SOURCE:
        if sinks:
            refuse("uncoordinated", [f"{site.name} goes to a sink; give an operator between"])
        return site._replace(config=Dataflow(design, below=below, number=readers.index(site.name)))
    if site.role is Role.OPERATOR and isinstance(site.spec, Operator):
        site = site._replace(spec=CepBox(site.spec))
    if site.role is Role.OPERATOR and not (
        isinstance(site.spec, Box) and site.spec.edges in (None, len(site.preds))
    ):
        why = (
            f"{site.name} is a {type(site.spec).__name__} with {len(site.preds)} inputs; "
            "give a box with so many inputs, or a CEP operator with one"
        )
        refuse("uncoordinated", [why])
    return site._replace(config=Dataflow(design, below=below, above=above, sinks=sinks))
