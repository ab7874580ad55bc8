"""The deployment of LOG.io: its sites, what each is for, and the channels between them.

Rule of this file: no step of a node.
LOG.io, Section 2: a reader behind each source, a log for all, a lasting connection for each edge.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Any, NamedTuple

from model.boxes.box import Box
from model.boxes.stateless import AnyOf, Relay
from model.cep.box import CepBox
from model.cep.operator import Operator as CepOperator
from model.core import Deployment, NodeName, Role, Scope, Site
from model.errors import Invalid
from model.graph import SINK, SOURCE, Graph
from model.protocols.log_io.design import Delivery, Design, Reads
from model.protocols.log_io.places import (
    AHEAD,
    CONTROLLER,
    DISPATCHER,
    LEAVES,
    LOG,
    MERGER,
    SERVICE,
    STAYS,
)
from model.protocols.log_io.scaling.controller import CONNECTIONS
from model.protocols.log_io.scaling.roles import PLACES, Place
from model.protocols.log_io.scaling.share import Share


class Part(Enum):
    """What a site is for."""

    INPUT = "the external system behind a source"
    OUTPUT = "the external system behind a sink"
    READER = "a source operator with a replayable read action"
    ACTION = "a source operator with a read action that is not replayable"
    OPERATOR = "a middle operator or a writer"
    LOG = "the log database"
    CONNECTION = "a lasting connection"
    SERVICE = "an external service that side-effect reads ask"
    CONTROLLER = "the controller of replicas"


class Job(NamedTuple):
    """box: of an operator.  sinks: the sinks among its successors.  place: in scaling.  absent: a
    connection is not there at first."""

    design: Design
    part: Part
    box: Any = None
    sinks: frozenset[NodeName] = frozenset()
    place: Place | None = None
    absent: bool = False


Channel = tuple[NodeName, NodeName]


def reader_of(source: NodeName) -> NodeName:
    return f"{source}-reader"


def deploy(design: Design, scope: Scope) -> Deployment:
    """The deployment of a graph.  Raises Invalid if LOG.io cannot run it."""
    graph, specs = scope.graph, scope.graph.specs
    if not specs.keys() >= PLACES.keys():
        design = replace(design, scaling=None)
    acting = _acting(design, graph)
    readers = {
        name: reader_of(name)
        for name, spec in graph.nodes
        if spec is SOURCE and not acting.intersection(graph.succs(name))
    }
    connections = [
        (readers.get(u, u), v) for u, v in graph.edges if specs[v] is not SINK and v not in acting
    ]
    sites: list[Site] = []
    channels: list[Channel] = []
    for name, _ in graph.nodes:
        more, between = _place(design, graph, name, readers, acting)
        sites += more
        channels += between
    alone = [Site(LOG, Role.OPERATOR, Job(design, Part.LOG), (), ())]
    if design.connection is Delivery.LOSSY:
        channels += connections
        connections = []
    if design.scaling is not None:
        alone.append(Site(CONTROLLER, Role.OPERATOR, Job(design, Part.CONTROLLER), (), ()))
        asked = (DISPATCHER, MERGER, *([LEAVES] if design.scaling.adds else []))
        channels += _both_ways(asked, CONTROLLER)
        channels += [(CONTROLLER, name) for name in CONNECTIONS]
    asking = [site.name for site in sites if isinstance(site.spec.box, AnyOf)]
    if asking:
        alone.append(Site(SERVICE, Role.OPERATOR, Job(design, Part.SERVICE), (), ()))
        channels += _both_ways(asking, SERVICE)
    for u, v in connections:
        name = f"{u}{AHEAD}{v}"
        absent = design.scaling is not None and design.scaling.adds and name in CONNECTIONS
        job = Job(design, Part.CONNECTION, absent=absent)
        alone.append(Site(name, Role.OPERATOR, job, (), ()))
        channels += [(u, name), (name, v), (v, name)]
    sites += alone
    crashable = [site.name for site in sites if site.spec.part in CRASHABLE]
    channels += _both_ways(crashable, LOG)
    return Deployment(
        tuple(sites),
        tuple(channels),
        frozenset(crashable),
        watched=frozenset((v, f"{u}{AHEAD}{v}") for u, v in connections),
        prompt=frozenset(
            site.name
            for site in sites
            if site.spec.part in PROMPT and (site.name != LOG or design.prompt)
        ),
    )


CRASHABLE = (Part.READER, Part.ACTION, Part.OPERATOR, Part.CONTROLLER)
PROMPT = (Part.OUTPUT, Part.LOG, Part.CONNECTION, Part.SERVICE)


def _both_ways(names: list[NodeName] | tuple[NodeName, ...], hub: NodeName) -> list[Channel]:
    return [ends for name in names for ends in ((name, hub), (hub, name))]


def _place(
    design: Design,
    graph: Graph,
    name: NodeName,
    readers: dict[NodeName, NodeName],
    acting: frozenset[NodeName],
) -> tuple[list[Site], list[Channel]]:
    """The sites of a node of the graph, and its channels to external systems."""
    spec, succs = graph.specs[name], graph.succs(name)
    preds = tuple(readers.get(pred, pred) for pred in graph.preds(name))
    behind = frozenset(one for one in succs if graph.specs[one] is SINK)
    if name in acting:
        site = Site(name, Role.OPERATOR, Job(design, Part.ACTION, spec), preds, succs)
        return [site], _both_ways([preds[0]], name)
    if spec is SINK:
        site = Site(name, Role.SINK, Job(design, Part.OUTPUT), preds, ())
        return [site], _both_ways(preds, name)
    if spec is not SOURCE:
        place = PLACES.get(name) if design.scaling is not None else None
        job = Job(design, Part.OPERATOR, _box(design, name, spec, len(preds)), behind, place)
        return [Site(name, Role.OPERATOR, job, preds, succs)], []
    if name not in readers:
        return [Site(name, Role.SOURCE, Job(design, Part.INPUT), (), succs)], []
    if behind:
        raise Invalid(f"log-io: an edge goes from {name} to a sink; give an operator first")
    reader = readers[name]
    return [
        Site(name, Role.SOURCE, Job(design, Part.INPUT), (), (reader,)),
        Site(reader, Role.OPERATOR, Job(design, Part.READER), (name,), succs),
    ], _both_ways([name], reader)


def _acting(design: Design, graph: Graph) -> frozenset[NodeName]:
    """The operators that are source operators with a read action that is not replayable."""
    if design.reads is Reads.REPLAYABLE:
        return frozenset()
    specs = graph.specs
    found = {
        name
        for name, spec in graph.nodes
        if isinstance(spec, AnyOf) and all(specs[pred] is SOURCE for pred in graph.preds(name))
    }
    for name in sorted(found):
        (source, *others), succs = graph.preds(name), graph.succs(name)
        if others or graph.succs(source) != (name,) or any(specs[one] is SINK for one in succs):
            raise Invalid(f"log-io: {name} reads; give it one source alone, and no sink")
    return frozenset(found)


def _box(design: Design, name: NodeName, spec: Any, inputs: int) -> Box:
    if design.scaling is not None and name in (STAYS, LEAVES):
        # The graph says which events a replica gets while there are two.
        return spec.box if isinstance(spec, Share) else Relay()
    if isinstance(spec, CepOperator):
        if inputs > 1:  # LOG.io takes events as they arrive (Section 2.1), not in time order
            raise Invalid(f"log-io: {name} has {inputs} inputs in time order; give it one")
        return CepBox(spec)
    if isinstance(spec, Box):
        return spec
    raise Invalid(f"log-io: {name} is of type {type(spec).__name__}; give a box or a CEP operator")
