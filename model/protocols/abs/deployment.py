"""The deployment of asynchronous barrier snapshotting: a coordinator beside the graph.

Rule of this file: no step of a node.
LOG.io, Sections 6.1 and 8.1.1.
"""

from __future__ import annotations

from typing import NamedTuple

from model.boxes.box import Box
from model.cep.box import CepBox
from model.cep.operator import Operator
from model.core import Deployment, NodeName, Role, Scope, Site
from model.errors import map_all, refuse
from model.parts import deploy_graph
from model.protocols.abs.design import AbsDesign, CoordinatorStorage, Pauses, Places
from model.protocols.abs.places import with_places

OVERSEER = "coordinator"
EPOCH, PAUSE = "epoch", "pause"
TIMERS = {
    EPOCH: "From the first record of an epoch to the source's wish to end it.",
    PAUSE: "From the end of an epoch to the earliest beginning of the next, if `pauses` says so.",
}


class PipelineView(NamedTuple):
    """What a node knows of the pipeline.  number: of a source among the sources."""

    design: AbsDesign
    readers: tuple[NodeName, ...]
    writers: tuple[NodeName, ...]
    sinks: tuple[NodeName, ...]
    tasks: tuple[NodeName, ...]
    number: int = 0

    @property
    def pauses(self) -> bool:
        """Do sources wait for a pause after each epoch?"""
        return self.design.pauses is Pauses.MINIMUM


def deploy(design: AbsDesign, scope: Scope) -> Deployment:
    """The deployment: the graph, and a coordinator with channels to and from each node but sinks.

    Raises Invalid for an operator that is neither a box nor a CEP operator with one input, and for
    a source that no operator reads.
    """
    graph = scope.graph
    deployment = deploy_graph(graph)
    by_role: dict[Role, list[NodeName]] = {role: [] for role in Role}
    for site in deployment.sites:
        by_role[site.role].append(site.name)
    readers, tasks, sinks = (tuple(by_role[role]) for role in Role)
    writers = tuple(name for name in tasks if {*graph.succs(name)} & {*sinks})
    job = PipelineView(design, readers, writers, sinks, tasks)
    sites = map_all(lambda site: _placed(site, job), deployment.sites)
    nodes = (*readers, *tasks)
    overseer = Site(OVERSEER, Role.OPERATOR, None, nodes, nodes, job)
    ends = [(name, OVERSEER) for name in nodes] + [(OVERSEER, name) for name in nodes]
    fails = design.coordinator is not CoordinatorStorage.NEVER_FAILS
    prompt = ({OVERSEER} if design.prompt_store and not fails else set()) | (
        {*sinks} if design.prompt_system else set()
    )
    deployed = deployment._replace(
        sites=(*sites, overseer),
        channels=(*deployment.channels, *ends),
        crashable=deployment.crashable | ({OVERSEER} if fails else set()),
        watched=frozenset((name, OVERSEER) for name in tasks),
        prompt=frozenset(prompt),
        storing=frozenset({OVERSEER} - prompt),
        leaders=frozenset({OVERSEER}),
    )
    return with_places(deployed, tasks) if design.places is Places.OTHERS else deployed


def _placed(site: Site, job: PipelineView) -> Site:
    """The site with what it knows, and with its operator as a box."""
    if site.name == OVERSEER:
        refuse("abs", [f"a node has the name {OVERSEER!r}, which is the coordinator's"])
    if site.role is Role.SOURCE:
        if {*site.succs} & {*job.sinks}:
            refuse("abs", [f"{site.name} goes to a sink; give an operator that writes"])
        return site._replace(config=job._replace(number=job.readers.index(site.name)))
    if site.role is Role.OPERATOR and isinstance(site.spec, Operator):
        site = site._replace(spec=CepBox(site.spec))
    if site.role is Role.OPERATOR and not (
        isinstance(site.spec, Box) and site.spec.edges in (None, len(site.preds))
    ):
        why = (
            f"{site.name} is a {type(site.spec).__name__} with {len(site.preds)} inputs; "
            "give a box with so many inputs, or a CEP operator with one"
        )
        refuse("abs", [why])
    return site._replace(config=job)
