"""The deployment of unaligned checkpoints: all instances of all runs, and a coordinator.

Rule of this file: no step of a node.  An instance that does not work in a run is an idle slot: it
may crash, and its restart is a restart of the pipeline, as when a machine leaves or comes back.
"""

from __future__ import annotations

from collections.abc import Iterator

from model.boxes.box import Box
from model.cep.box import CepBox
from model.cep.operator import Operator
from model.core import Deployment, NodeName, Role, Scope, Site
from model.errors import refuse
from model.graph import SINK, SOURCE
from model.protocols.unaligned_checkpoints.design import UnalignedDesign
from model.protocols.unaligned_checkpoints.instances import (
    INTERVAL,
    KEY_GROUPS,
    OVERSEER,
    InstancePlace,
    PipelinePlan,
    plan,
)
from model.protocols.unaligned_checkpoints.operators import PROCESS, TRANSMIT

TIMERS = {
    INTERVAL: "From the first record of a checkpoint to the wish of a source or sink to begin it.",
    PROCESS: "From one record of an input buffer to the next: the speed of a task.",
    TRANSMIT: "From one record of an output buffer to the next: the speed of the network.",
}


def deploy(design: UnalignedDesign, scope: Scope) -> Deployment:
    """The deployment: all instances, with channels along the edges of the graph, and a coordinator
    with channels to and from all of them.

    Raises Invalid for an operator that is neither a box nor a CEP operator with one input, for a
    source that no operator reads, and for a name that the family uses.
    """
    job = plan(design, scope.graph)
    _check(job)
    channels = [(one, other) for ends in scope.graph.edges for one, other in _pairs(job, *ends)]
    sites = tuple(_site(job, place, channels) for place in job.places.values())
    names = tuple(job.places)
    tasks = frozenset(name for name, place in job.places.items() if place.node in job.tasks)
    overseer = Site(OVERSEER, Role.OPERATOR, None, names, names, job)
    ends = [(name, OVERSEER) for name in names] + [(OVERSEER, name) for name in names]
    return Deployment(
        (*sites, overseer),
        (*channels, *ends),
        tasks,
        watched=frozenset((name, OVERSEER) for name in tasks),
        prompt=frozenset({OVERSEER}),
        runs={name: (place.node,) for name, place in job.places.items() if place.node in job.tasks},
    )


def _pairs(job: PipelinePlan, one: NodeName, other: NodeName) -> list[tuple[NodeName, NodeName]]:
    """The channels of an edge: from every instance to every instance."""
    ends = [[name for name, at in job.places.items() if at.node == node] for node in (one, other)]
    return [(sender, receiver) for sender in ends[0] for receiver in ends[1]]


def _site(
    job: PipelinePlan, place: InstancePlace, channels: list[tuple[NodeName, NodeName]]
) -> Site:
    spec = job.graph.specs[place.node]
    if isinstance(spec, Operator):
        spec = CepBox(spec)
    role = Role.SOURCE if spec is SOURCE else Role.SINK if spec is SINK else Role.OPERATOR
    preds = tuple(one for one, other in channels if other == place.name)
    succs = tuple(other for one, other in channels if one == place.name)
    return Site(place.name, role, spec, preds, succs, job)


def _check(job: PipelinePlan) -> None:
    refuse("unaligned-checkpoints", _objections(job))


def _objections(job: PipelinePlan) -> Iterator[str]:
    if OVERSEER in job.places:
        yield f"a node has the name {OVERSEER!r}, which is the coordinator's"
    if not 1 <= min(job.design.layout) <= max(job.design.layout) <= KEY_GROUPS:
        yield f"give each run 1 to {KEY_GROUPS} instances of an operator"
    for reader in job.readers:
        if {*job.graph.succs(reader)} & {*job.sinks}:
            yield f"{reader} goes to a sink; give an operator that writes"
    for name in job.tasks:
        spec, inputs = job.graph.specs[name], len(job.graph.preds(name))
        takes = 1 if isinstance(spec, Operator) else spec.edges if isinstance(spec, Box) else 0
        if takes not in (None, inputs):
            yield (
                f"{name} is a {type(spec).__name__} with {inputs} inputs; give a box with this "
                "number of inputs, or a CEP operator with one"
            )
