"""The nodes of progressive recovery: where they stand, and who takes which input.

Rule of this file: no claim which choice is right (model.protocols.progressive.variants).  A node of
the graph is a partition.

Theory of operation (Su and Zhou, Progressive Recovery, 2016, Section 4):

1. A source punctuates its stream: a punctuation ends a batch (source.py).
2. A partition processes batch by batch.  At the end of a batch it stores its part of the checkpoint
   with that number, and reports it (partition.py).
3. When all partitions have stored their parts, the coordinator announces the global checkpoint as
   complete.  Sources let go of the tuples that it contains (coordinator.py).
4. After failures the coordinator waits for a while, and counts them: many failures are correlated.
5. After few failures all partitions go back to the last global checkpoint at once.
6. After many failures recovery is progressive: the partitions that are back go on without the
   others, and those rejoin when they are back.
7. An epoch numbers the recoveries.  A tuple of an old epoch is refused.
8. The application keeps results until their checkpoint is complete, where the design says so
   (application.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.boxes.box import Box
from model.cep.box import CepBox
from model.cep.operator import Operator
from model.core import Deployment, Group, Input, NodeName, Observation, Role, Scope, Site, Step
from model.costs import Amount, Gauges, Memory
from model.errors import Invalid, map_all, refuse
from model.graph import Graph
from model.parts import contents, deploy_graph, open_windows
from model.protocols.progressive import application, coordinator, partition, source
from model.protocols.progressive.design import Batches, ProgressiveDesign, Replacements
from model.protocols.progressive.messages import (
    COORDINATOR,
    Application,
    CoordinatorState,
    Members,
    PartitionState,
    ProgressiveConfig,
    PunctuatingSource,
    State,
)
from model.protocols.progressive.routes import routes_of

TIMERS = {
    source.PUNCTUATE: "From data to a punctuation, which begins a global checkpoint.",
    coordinator.WINDOW: "From a failure to the start of its recovery; further ones are counted.",
}


# --- where nodes stand -----------------------------------------------------------------------
def deploy(design: ProgressiveDesign, scope: Scope) -> Deployment:
    """A site for each node of the graph, and the coordinator, who watches the partitions.

    Any two partitions may fail together, and all of them.  Raises Invalid for an operator that is
    no box, and for a CEP operator with several inputs: it is defined in the order of time, and
    partitions take a tuple of each input in turn.
    """
    members = _members(scope.graph)
    if design.batches is Batches.MARKED and len(members.sources) > 1:
        raise Invalid(
            f"progressive: {len(members.sources)} sources end their batches each by itself; "
            "end them at punctuations, which the coordinator aligns"
        )
    base = deploy_graph(scope.graph)
    graph = scope.graph
    sites = (
        *map_all(lambda site: _site(design, members, graph, site), base.sites),
        _coordinator(design, members),
    )
    back = ((v, u) for u, v in scope.graph.edges if v in members.partitions)
    orders = ((COORDINATOR, site.name) for site in base.sites)
    reporting = (*members.partitions, *members.sinks)
    if len(members.sources) > 1:
        reporting = (*members.sources, *reporting)
    reports = ((name, COORDINATOR) for name in reporting)
    returning = {site.name for site in sites}
    if design.replacements is Replacements.NEVER:
        returning -= {*members.partitions}
    return Deployment(
        sites,
        (*base.channels, *back, *orders, *reports),
        base.crashable | {COORDINATOR},
        together=_groups(members.partitions),
        watched=frozenset((name, COORDINATOR) for name in members.partitions),
        returning=frozenset(returning),
    )


def _members(graph: Graph) -> Members:
    by_role: dict[Role, list[NodeName]] = {role: [] for role in Role}
    for site in deploy_graph(graph).sites:
        by_role[site.role].append(site.name)
    return Members(*(tuple(by_role[role]) for role in Role))


def _site(design: ProgressiveDesign, members: Members, graph: Graph, site: Site) -> Site:
    number = members.sources.index(site.name) if site.role is Role.SOURCE else 0
    config = ProgressiveConfig(design, members, number, routes_of(graph, site.name))
    site = site._replace(config=config)
    if site.role is Role.SOURCE and design.idle:
        return site._replace(timers=(source.PUNCTUATE,))
    if site.role is not Role.OPERATOR:
        return site
    if not isinstance(site.spec, Box | Operator):
        kind = type(site.spec).__name__
        refuse("progressive", [f"{site.name} is a {kind}; give a box or CEP operator"])
    if not isinstance(site.spec, Operator):
        return site
    if len(site.preds) > 1:
        why = (
            f"{site.name} has {len(site.preds)} inputs, which a CEP operator takes in the order of "
            "time, and a partition in turn; give it one input, or a join"
        )
        refuse("progressive", [why])
    return site._replace(spec=CepBox(site.spec))


def _coordinator(design: ProgressiveDesign, members: Members) -> Site:
    below = (*members.sources, *members.partitions, *members.sinks)
    return Site(COORDINATOR, Role.OPERATOR, None, (), below, ProgressiveConfig(design, members))


def _groups(names: tuple[NodeName, ...]) -> tuple[Group, ...]:
    """The groups that fail together: any two, and all."""
    pairs = [frozenset((one, two)) for at, one in enumerate(names) for two in names[at + 1 :]]
    whole = [frozenset(names)] if len(names) > 1 else []
    return tuple(Group(members) for members in dict.fromkeys([*pairs, *whole]))


# --- what they do ----------------------------------------------------------------------------
def boot(site: Site) -> State:
    match site.role:
        case _ if site.name == COORDINATOR:
            return coordinator.boot()
        case Role.SOURCE:
            return source.boot(site)
        case Role.OPERATOR:
            return partition.boot(site)
        case Role.SINK:
            return application.boot(site)


def recover(site: Site, durable: Any) -> Step:
    if site.name == COORDINATOR:
        return coordinator.recover(site, durable)
    return partition.recover(site, durable)


def step(site: Site, state: State, input_: Input) -> Step:
    match state:
        case PunctuatingSource():
            return source.step(site, state, input_)
        case PartitionState():
            return partition.step(site, state, input_)
        case Application():
            return application.step(site, state, input_)
        case CoordinatorState():
            return coordinator.step(site, state, input_)


# --- what is shown ---------------------------------------------------------------------------
def gauges(_site: Site, state: State) -> Gauges:
    """The gauges of a node.  buffered: items that it keeps to send them again.  progress: of a
    partition the number of its epoch, 0 until a rollback, and the items taken since its start."""
    match state:
        case PunctuatingSource(_, number, _, _, kept):
            return Gauges(len(kept), None, number)
        case PartitionState(epoch, box, inboxes, _, _, kept):
            taken = 0 if epoch is None else sum(inbox.place for inbox in inboxes)
            progress = (epoch.number if epoch else 0, taken)
            return Gauges(len(kept), open_windows(box), progress)
        case Application() | CoordinatorState():
            return Gauges()


def memory(_site: Site, state: State) -> Memory:
    """What the memory of a node holds; checkpoints are on a disk."""
    match state:
        case PunctuatingSource(kept=kept):
            return Memory(Amount(len(kept)))
        case PartitionState(box=box, inboxes=inboxes, kept=kept):
            events, items = contents(box)
            waiting = sum(len(inbox.held) for inbox in inboxes)
            return Memory(Amount(len(kept)), state=Amount(events + waiting, items))
        case Application(held=held):
            return Memory(Amount(len(held)))
        case CoordinatorState(stored=stored):
            return Memory(state=Amount(0, len(stored)))


def needed(scope: Scope, _seen: Observation) -> Mapping[NodeName, int]:
    """The most that nodes keep at rest: nothing, since everything is in a global checkpoint."""
    return dict.fromkeys((name for name, _ in scope.graph.nodes), 0)
