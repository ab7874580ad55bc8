"""The deployment of LOG.io: its sites, what each is for, and the channels between them.

Rule of this file: no step of a node.
LOG.io, Section 2: a reader behind each source, a log for all, a lasting connection for each edge.
"""

from __future__ import annotations

from collections.abc import Iterable
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
from model.protocols.log_io.lineage.design import Capture, Connection, Ports
from model.protocols.log_io.lineage.ports import ports_of
from model.protocols.log_io.places import (
    AHEAD,
    CONTROLLER,
    DISPATCHER,
    ENGINE,
    LEAVES,
    LOG,
    MERGER,
    SERVICE,
    STAYS,
)
from model.protocols.log_io.scaling.controller import CONNECTIONS
from model.protocols.log_io.scaling.roles import PLACES, Place
from model.protocols.log_io.scaling.share import Share
from model.protocols.log_io.writing.lookup import Lookup


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
    ENGINE = "the pipeline engine, which asks replay operators"


class Job(NamedTuple):
    """box: of an operator.  sinks: the sinks among its successors.  read_back: those of them that
    another successor reads.  replays: is it a replay operator?  place: in scaling.  absent: a
    connection is not there at first."""

    design: Design
    part: Part
    box: Any = None
    sinks: frozenset[NodeName] = frozenset()
    read_back: frozenset[NodeName] = frozenset()
    replays: bool = False
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
    if design.replaying is not None and not specs.keys() & design.replaying.operators:
        design = replace(design, replaying=None)
    _check(design)
    acting = _acting(design, graph)
    readers = {
        name: reader_of(name)
        for name, spec in graph.nodes
        if spec is SOURCE and not acting.intersection(graph.succs(name))
    }
    if design.lineage is not None:
        ports = _ports(design.lineage, graph, readers, acting)
        design = replace(design, lineage=replace(design.lineage, ports=ports))
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
    watched = [(v, f"{u}{AHEAD}{v}") for u, v in connections]
    if design.replaying is not None:
        engine = _engine(design, graph)
        alone.append(engine)
        names = sorted({name for ends in engine.config for name in (ends[0], *ends[1])})
        channels += _both_ways(names, ENGINE)
        watched += [(name, ENGINE) for name in names]
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
        watched=frozenset(watched),
        connections=frozenset(f"{u}{AHEAD}{v}" for u, v in connections),
        prompt=frozenset(
            site.name
            for site in sites
            if site.spec.part in PROMPT and (site.name != LOG or design.prompt)
        ),
    )


def _check(design: Design) -> None:
    """Raise Invalid for choices that the model does not have together."""
    if design.scaling is not None and design.replaying is not None:
        raise Invalid(
            "log-io: replicas that come and go log their outputs; give no replay operator"
        )
    if design.connection is Delivery.LOSSY and (design.scaling or design.replaying):
        raise Invalid("log-io: scaling and replay operators need lasting connections")


def _ports(
    capture: Capture,
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


CRASHABLE = (Part.READER, Part.ACTION, Part.OPERATOR, Part.CONTROLLER)
PROMPT = (Part.OUTPUT, Part.LOG, Part.CONNECTION, Part.SERVICE, Part.ENGINE)


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
        box = _box(design, name, spec, len(preds))
        read_back = _read_back(graph, name, behind)
        replays = design.replaying is not None and name in design.replaying.operators
        place = PLACES.get(name) if design.scaling is not None else None
        job = Job(design, Part.OPERATOR, box, behind, read_back, replays, place)
        looks = _both_ways([name], box.system) if isinstance(box, Lookup) else []
        return [Site(name, Role.OPERATOR, job, preds, succs)], looks
    if name not in readers:
        return [Site(name, Role.SOURCE, Job(design, Part.INPUT), (), succs)], []
    if behind:
        raise Invalid(f"log-io: an edge goes from {name} to a sink; give an operator first")
    reader = readers[name]
    return [
        Site(name, Role.SOURCE, Job(design, Part.INPUT), (), (reader,)),
        Site(reader, Role.OPERATOR, Job(design, Part.READER), (name,), succs),
    ], _both_ways([name], reader)


def _engine(design: Design, graph: Graph) -> Site:
    """The engine knows, by operator, the replay operators before it, through others of these."""
    assert design.replaying is not None
    operators = design.replaying.operators
    before: dict[NodeName, tuple[NodeName, ...]] = {}
    for name in graph.order():
        preds = [pred for pred in graph.preds(name) if pred in operators]
        if preds and graph.specs[name] is not SINK:
            far = {one for pred in preds for one in before.get(pred, ())}
            before[name] = tuple(sorted(far.union(preds)))
    job = Job(design, Part.ENGINE)
    return Site(ENGINE, Role.OPERATOR, job, (), (), tuple(before.items()))


def _read_back(graph: Graph, name: NodeName, sinks: frozenset[NodeName]) -> frozenset[NodeName]:
    """The sinks of the operator that a successor of it reads."""
    spec = graph.specs[name]
    if isinstance(spec, Lookup):
        written = (graph.preds(name)[0], spec.system)
        if written not in graph.edges or graph.specs[spec.system] is not SINK:
            raise Invalid(
                f"log-io: {name} reads {spec.system!r}; give a sink that {written[0]} has"
            )
    readers = (graph.specs[succ] for succ in graph.succs(name))
    return sinks.intersection(one.system for one in readers if isinstance(one, Lookup))


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
