"""The deployment of LOG.io: its sites, what each is for, and the channels between them.

Rule of this file: no step of a node.
LOG.io, Section 2: a reader behind each source, a log for all, a lasting connection for each edge.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import Any, NamedTuple

from model.boxes.box import Box
from model.boxes.stateless import AnyOf
from model.cep.box import CepBox
from model.cep.operator import Operator as CepOperator
from model.core import Deployment, NodeName, Role, Scope, Site
from model.errors import Invalid, Refused, map_all
from model.graph import SINK, SOURCE, Graph
from model.protocols.log_io.design import (
    Delivery,
    LogIoDesign,
    Reads,
)
from model.protocols.log_io.lineage.ports import deployed_ports
from model.protocols.log_io.operators.logic import Logic, logic_of
from model.protocols.log_io.places import (
    CONTROLLER,
    DEPLOYER,
    ENGINE,
    LOG,
    SERVICE,
    connection,
    hands,
)
from model.protocols.log_io.replaying.engine import replay_operators_before
from model.protocols.log_io.roles import Place, places
from model.protocols.log_io.scaling.controller import connections
from model.protocols.log_io.scaling.keyed import Keyed, is_keyed
from model.protocols.log_io.scaling.share import box_of
from model.protocols.log_io.takeover import with_second
from model.protocols.log_io.writing.lookup import Lookup


class SiteKind(Enum):
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
    DEPLOYER = "the deployment engine, which starts a second process"
    HAND = "the part of a slow external system that does its work"


class SiteSpec(NamedTuple):
    """The spec of a site.

    logic: of an operator.  box: of a source operator whose read action is not replayable.  asks:
    the site that read actions ask; empty: there are none.  sinks: the sinks among the successors.
    read_back: those of them that another successor reads.  replays: is it a replay operator?
    place: its role in scaling.  moves_state: of a dispatcher, do its replicas have a global state?
    ins: by predecessor, the site from which its events come.  outs: by
    successor, the site that takes the events.  Each of these is a connection if connections last.
    receiver: of a connection.  absent: a connection is not there at first.  process: of one of two
    processes, the name of their operator.
    """

    design: LogIoDesign
    part: SiteKind
    logic: Logic | None = None
    box: AnyOf | None = None
    asks: NodeName = ""
    sinks: frozenset[NodeName] = frozenset()
    read_back: frozenset[NodeName] = frozenset()
    replays: bool = False
    place: Place | None = None
    moves_state: bool = False
    ins: tuple[NodeName, ...] = ()
    outs: tuple[NodeName, ...] = ()
    receiver: NodeName = ""
    absent: bool = False
    process: NodeName = ""


Channel = tuple[NodeName, NodeName]


def reader_of(source: NodeName) -> NodeName:
    return f"{source}-reader"


def deploy(design: LogIoDesign, scope: Scope) -> Deployment:
    """The deployment of a graph.  Raises Invalid if LOG.io cannot run it."""
    graph = scope.graph
    design = _of_graph(design, graph)
    _check(design)
    acting = _acting(design, graph)
    readers = {
        name: reader_of(name)
        for name, spec in graph.nodes
        if spec is SOURCE and not acting.intersection(graph.succs(name))
    }
    if design.lineage is not None:
        ports = deployed_ports(design.lineage, graph, readers, acting)
        design = replace(design, lineage=replace(design.lineage, ports=ports))
    sites: list[Site] = []
    channels: list[Channel] = []
    names = (name for name, _ in graph.nodes)
    for more, between in map_all(lambda one: _place(design, graph, one, readers, acting), names):
        sites += more
        channels += between
    edges = [
        (readers.get(u, u), v)
        for u, v in graph.edges
        if graph.specs[v] is not SINK and v not in acting
    ]
    lasting = edges if design.connection is Delivery.LASTING else []
    channels += [] if lasting else edges
    sites = [_connect(site, lasting) for site in sites]
    watched = [(v, connection(u, v)) for u, v in lasting]
    alone = [Site(LOG, Role.OPERATOR, SiteSpec(design, SiteKind.LOG), (), ())]
    for sites_, between, notices in (
        _scaling(design),
        _engine(design, graph),
        _service(design, sites),
        _hands(design, graph),
        _connections(design, lasting),
    ):
        alone += sites_
        channels += between
        watched += notices
    sites += alone
    crashable = [site.name for site in sites if site.spec.part in CRASHABLE]
    channels += _both_ways(crashable, LOG)
    deployment = Deployment(
        tuple(sites),
        tuple(channels),
        frozenset(crashable),
        watched=frozenset(watched),
        connections=frozenset(connection(u, v) for u, v in lasting),
        prompt=frozenset(
            site.name
            for site in sites
            if site.spec.part in PROMPT and (site.name != LOG or design.prompt)
        ),
        storing=frozenset() if design.prompt else frozenset({LOG}),
    )
    if design.processes is None:
        return deployment
    deployer = Site(DEPLOYER, Role.OPERATOR, SiteSpec(design, SiteKind.DEPLOYER), (), ())
    return with_second(deployment, design.processes.operator, deployer)


def _of_graph(design: LogIoDesign, graph: Graph) -> LogIoDesign:
    """The design without what the graph has no node for."""
    known = graph.specs.keys()
    if design.scaling is not None and not known >= places(design.scaling.replicas).keys():
        design = replace(design, scaling=None)
    if design.replaying is not None and not known & design.replaying.operators:
        design = replace(design, replaying=None)
    if design.processes is not None and design.processes.operator not in known:
        design = replace(design, processes=None)
    return design


Surroundings = tuple[list[Site], list[Channel], list[Channel]]
"""Sites beside the graph, their channels, and those of them that are watched."""


def _scaling(design: LogIoDesign) -> Surroundings:
    scaling = design.scaling
    if scaling is None:
        return [], [], []
    _, _, second, merger, _ = replicas = scaling.replicas
    asked = (replicas.dispatcher, merger, *([second] if scaling.adds else []))
    between = [(CONTROLLER, name) for name in connections(replicas)]
    site = Site(CONTROLLER, Role.OPERATOR, SiteSpec(design, SiteKind.CONTROLLER), (), ())
    return [site], [*_both_ways(asked, CONTROLLER), *between], []


def _engine(design: LogIoDesign, graph: Graph) -> Surroundings:
    """The engine, and the operators behind replay operators, which it knows."""
    if design.replaying is None:
        return [], [], []
    config = replay_operators_before(design.replaying, graph)
    site = Site(ENGINE, Role.OPERATOR, SiteSpec(design, SiteKind.ENGINE), (), (), config)
    names = sorted({name for ends in config for name in (ends[0], *ends[1])})
    return [site], _both_ways(names, ENGINE), [(name, ENGINE) for name in names]


def _service(design: LogIoDesign, sites: list[Site]) -> Surroundings:
    """The external service that side-effect reads and read actions of sources ask."""
    asking = [site.name for site in sites if site.spec.asks == SERVICE]
    if not asking:
        return [], [], []
    site = Site(SERVICE, Role.OPERATOR, SiteSpec(design, SiteKind.SERVICE), (), ())
    return [site], _both_ways(asking, SERVICE), []


def _hands(design: LogIoDesign, graph: Graph) -> Surroundings:
    """The hands of slow external systems, which know at once of a crash of who writes."""
    if design.slow is None:
        return [], [], []
    sinks = [name for name, spec in graph.nodes if spec is SINK]
    both = [(sink, hand) for sink in sinks for hand in hands(design.slow, sink)]
    sites = [Site(hand, Role.OPERATOR, SiteSpec(design, SiteKind.HAND), (), ()) for _, hand in both]
    channels = [ends for sink, hand in both for ends in ((sink, hand), (hand, sink))]
    return sites, channels, [ends for ends in graph.edges if ends[1] in sinks]


def _connections(design: LogIoDesign, lasting: list[Channel]) -> Surroundings:
    late = connections(design.scaling.replicas) if design.scaling and design.scaling.adds else ()
    sites: list[Site] = []
    channels: list[Channel] = []
    for u, v in lasting:
        name = connection(u, v)
        job = SiteSpec(design, SiteKind.CONNECTION, receiver=v, absent=name in late)
        sites.append(Site(name, Role.OPERATOR, job, (), ()))
        channels += [(u, name), (name, v), (v, name)]
    return sites, channels, []


def _connect(site: Site, lasting: list[Channel]) -> Site:
    """The site with the names of the connections at its ports."""
    name = site.name
    ins = (connection(one, name) if (one, name) in lasting else one for one in site.preds)
    outs = (connection(name, one) if (name, one) in lasting else one for one in site.succs)
    return site._replace(spec=site.spec._replace(ins=tuple(ins), outs=tuple(outs)))


def _check(design: LogIoDesign) -> None:
    """Raise Invalid for choices that the model does not have together."""
    if design.scaling is not None and design.replaying is not None:
        raise Invalid(
            "log-io: replicas that come and go log their outputs; give no replay operator"
        )
    if design.processes is not None and (
        design.scaling or design.replaying or design.slow or design.groups
    ):
        raise Invalid(
            "log-io: an operator with two processes writes one by one to prompt external systems; "
            "give no replicas, no replay operator, no slow system and no groups"
        )
    if design.connection is Delivery.LOSSY and (design.scaling or design.replaying):
        raise Invalid("log-io: scaling and replay operators need lasting connections")


CRASHABLE = (SiteKind.READER, SiteKind.ACTION, SiteKind.OPERATOR, SiteKind.CONTROLLER)
PROMPT = (
    *(SiteKind.OUTPUT, SiteKind.LOG, SiteKind.CONNECTION, SiteKind.SERVICE, SiteKind.ENGINE),
    SiteKind.DEPLOYER,
)


def _both_ways(names: list[NodeName] | tuple[NodeName, ...], hub: NodeName) -> list[Channel]:
    return [ends for name in names for ends in ((name, hub), (hub, name))]


def _place(
    design: LogIoDesign,
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
        job = SiteSpec(design, SiteKind.ACTION, box=spec, asks=SERVICE)
        site = Site(name, Role.OPERATOR, job, preds, succs)
        return [site], _both_ways([preds[0]], name)
    if spec is SINK:
        site = Site(name, Role.SINK, SiteSpec(design, SiteKind.OUTPUT), preds, ())
        return [site], _both_ways(preds, name)
    if spec is not SOURCE:
        job = _operator(design, graph, name, len(preds))
        looks = _both_ways([name], job.asks) if job.asks not in ("", SERVICE) else []
        return [Site(name, Role.OPERATOR, job, preds, succs)], looks
    if name not in readers:
        return [Site(name, Role.SOURCE, SiteSpec(design, SiteKind.INPUT), (), succs)], []
    if behind:
        raise Refused("log-io", [f"an edge goes from {name} to a sink; give an operator first"])
    reader = readers[name]
    return [
        Site(name, Role.SOURCE, SiteSpec(design, SiteKind.INPUT), (), (reader,)),
        Site(reader, Role.OPERATOR, SiteSpec(design, SiteKind.READER), (name,), succs),
    ], _both_ways([name], reader)


def _operator(design: LogIoDesign, graph: Graph, name: NodeName, inputs: int) -> SiteSpec:
    """The job of a middle operator or writer."""
    scaling, replaying = design.scaling, design.replaying
    place = None if scaling is None else places(scaling.replicas).get(name)
    logic = logic_of(_box(place, name, graph.specs[name], inputs))
    if logic.overlaps and (inputs > 1 or place in (Place.FIRST, Place.SECOND)):
        raise Invalid(
            f"log-io: the Input Sets of {name} overlap; give it one input, and no replica that "
            "comes or goes"
        )
    keyed = scaling is not None and place is not None and is_keyed(scaling.replicas, graph)
    if keyed and place in (Place.FIRST, Place.SECOND):
        logic = Keyed(logic)
    sinks = frozenset(one for one in graph.succs(name) if graph.specs[one] is SINK)
    return SiteSpec(
        design,
        SiteKind.OPERATOR,
        logic=logic,
        asks=logic.asks,
        sinks=sinks,
        read_back=_read_back(graph, name, sinks),
        replays=replaying is not None and name in replaying.operators,
        place=place,
        moves_state=keyed,
    )


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


def _acting(design: LogIoDesign, graph: Graph) -> frozenset[NodeName]:
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


def _box(place: Place | None, name: NodeName, spec: Any, inputs: int) -> Box:
    if place in (Place.FIRST, Place.SECOND):
        return box_of(name, spec)
    if isinstance(spec, CepOperator):
        if inputs > 1:  # LOG.io takes events as they arrive (Section 2.1), not in time order
            raise Refused("log-io", [f"{name} has {inputs} inputs in time order; give it one"])
        return CepBox(spec)
    if isinstance(spec, Box):
        return spec
    kind = type(spec).__name__
    raise Refused("log-io", [f"{name} is of type {kind}; give a box or a CEP operator"])
