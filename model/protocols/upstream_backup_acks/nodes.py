"""The nodes of upstream backup by acknowledgements: a source, process pairs, a sink.

Rule of this file: no claim which choice is right (model.protocols.upstream_backup_acks.variants).

Theory of operation (Hwang et al., Section 5.2; process pairs: model.standbys):

1. The primary processes tuples.  The secondary holds nothing; where determinants are logged, it
   holds these.
2. Upstream keeps each tuple until no reader needs it for a restart: it is the backup.
3. Each output has a cause: for each input the oldest tuple that it needs (5.2.2).
4. A node acknowledges when a timer runs out, at two levels.  Level 0: the tuples that it has
   received.  Level 1: the tuples that it needs no more.
5. Level 1 follows from the readers: the latest output that no reader needs any more maps to its
   cause, and all tuples before the cause are released.
6. When the secondary receives `Lost`, it begins empty and presents itself downstream.  It asks
   upstream for all tuples that are kept there, and processes them again.
7. Its readers receive outputs again.  They know duplicates by the marks that travel with an output
   (Section 6), or keep the duplicates (rollback recovery).
8. Section 6, arbitrary networks: the primary logs the order of its inputs at the secondary, and an
   output leaves when its determinants are there.  The new primary follows that order first.
"""

from __future__ import annotations

from collections.abc import Mapping

from model.boxes.box import inputs_in
from model.core import (
    Answer,
    Deployment,
    Effect,
    Input,
    NodeName,
    Note,
    Observation,
    Received,
    Role,
    Scope,
    Send,
    SetTimer,
    Site,
    Step,
)
from model.costs import Amount, Gauges, Memory
from model.parts import contents, open_windows
from model.protocols.upstream_backup_acks.design import Cuts, Labels, UpstreamBackupAcksDesign
from model.protocols.upstream_backup_acks.determinants import release, release_all, renew, restrict
from model.protocols.upstream_backup_acks.indicators import duplicate_rule, needed_by_restart
from model.protocols.upstream_backup_acks.journal import (
    Arrived,
    Journal,
    Label,
    Renewed,
    admit,
    begin_at,
    follow,
)
from model.protocols.upstream_backup_acks.messages import State, UpstreamPrimary, Waiting
from model.protocols.upstream_backup_acks.processing import go_on, process
from model.standbys import consumers, deployment, ends, producers, replicas
from model.standbys.choices import Determinants
from model.standbys.consumers import ACKNOWLEDGE
from model.standbys.deployment import edge_of
from model.standbys.messages import (
    REJOINED,
    Ack,
    Begin,
    Connect,
    Determinant,
    Logged,
    Output,
    Rejoined,
)

TIMERS = {ACKNOWLEDGE: "From something new to the next acknowledgements of a node."}


def deploy(design: UpstreamBackupAcksDesign, scope: Scope) -> Deployment:
    return deployment.deploy("upstream-backup-acks", design, scope)


def boot(site: Site) -> State:
    if site.role is not Role.OPERATOR:
        return ends.boot(site)
    if site.config.second:
        return Waiting(cut=(1,) * len(site.preds) if _logs(site) else ())
    return _empty(site)


def _empty(site: Site) -> UpstreamPrimary:
    """The state before the first tuple."""
    edges = len(site.preds)
    return UpstreamPrimary(
        consumers.open_ends(site),
        site.spec.begin(edges),
        producers.open_queue(site),
        (Label(),) * edges,
        ((),) * edges,
        journal=Journal(bool(site.config.other), (1,) * edges) if _logs(site) else None,
    )


def _logs(site: Site) -> bool:
    return site.config.design.determinants is not Determinants.NONE


def recover(site: Site, _durable: None) -> Answer:
    """Come back as the secondary of the other replica."""
    asks = (Send(site.config.other, Rejoined()),) if _logs(site) else ()
    return Waiting(cut=(1,) * len(site.preds) if asks else ()), (Note(REJOINED), *asks)


def step(site: Site, state: State, input_: Input) -> Answer:
    if isinstance(state, UpstreamPrimary):
        return replicas.lead(PRIMARY, site, state, input_)
    if isinstance(state, Waiting):
        return replicas.follow(site, state, input_, _take_over, _wait)
    return ends.step(site, state, input_, duplicate_rule(site))


# --- a primary -------------------------------------------------------------------------------
def _process(site: Site, state: UpstreamPrimary, sender: NodeName, output: Output) -> Answer:
    edge, late = edge_of(site, sender), site.config.design.late
    repeats = duplicate_rule(site)
    inlet, known = consumers.receive(late, state.inlets[edge], sender, output, repeats)
    after = consumers.set_inlet(state, edge, inlet)
    if known is not None:
        return _end(site, state, after, known)
    former = sender != inlet.producer
    arrived = Arrived(edge, Label(inlet.connection - former, output.place), output)
    if after.journal is None:
        return _end(site, state, *process(site, after, arrived))
    return _end(site, state, *go_on(site, after._replace(journal=admit(after.journal, arrived))))


def _begin(
    site: Site,
    before: UpstreamPrimary,
    after: UpstreamPrimary,
    effects: tuple[Effect, ...],
    received: Received,
) -> Answer:
    """After a producer has begun: the tuples whose turn it is now."""
    if after.journal is not None:
        edge, start = edge_of(site, received.sender), received.message.start
        journal = begin_at(after.journal, edge, start)
        after, more = go_on(site, after._replace(journal=journal))
        effects = (*effects, *more)
    return _end(site, before, after, effects)


def _end(
    _site: Site,
    before: UpstreamPrimary,
    after: UpstreamPrimary,
    effects: tuple[Effect, ...],
    _received: Received | None = None,
) -> Answer:
    """The step, with the timer of the next acknowledgements if something has changed."""
    return Step(after, (*effects, *((SetTimer(ACKNOWLEDGE),) if after != before else ())))


def _resume(_site: Site, state: UpstreamPrimary, sender: NodeName, _place: int) -> Answer:
    """Of several replicas of a reader the one that leads answers: it gets the stream."""
    queue, effects = producers.connect(state.queue, sender, Connect())
    return Step(state._replace(queue=queue), effects)


def _renew(site: Site, state: UpstreamPrimary, sender: NodeName) -> Answer:
    return _end(site, state, *renew(site, state, sender))


def _go_on_alone(site: Site, state: UpstreamPrimary) -> Answer:
    return _end(site, state, *release_all(state))


def _lead(site: Site, state: UpstreamPrimary, input_: Input) -> Answer:
    if isinstance(input_, Received) and isinstance(input_.message, Logged):
        return _end(site, state, *release(state, input_.message))
    raise TypeError(f"{site.name}: nothing to do with {input_}")


def _acknowledge(site: Site, state: UpstreamPrimary, _timer: str) -> Answer:
    """Acknowledge to all upstream nodes at both levels."""
    design = site.config.design
    causes, needed, notes = needed_by_restart(site, state)
    state = state._replace(causes=causes)
    if state.journal is not None and design.cuts is Cuts.STORED:
        state, needed = restrict(state, needed)
    sends = []
    for inlet, label in zip(state.inlets, needed, strict=True):
        known = design.labels is Labels.PLACE or label.connection == inlet.connection
        released = max(0, label.place - 1) if known else 0
        sends.append(Send(inlet.producer, Ack(inlet.place, released)))
    return Step(state, (*notes, *sends))


PRIMARY = replicas.Conduct(
    process=_process,
    fired=_acknowledge,
    resume=_resume,
    renew=_renew,
    alone=_go_on_alone,
    own=_lead,
    recover=recover,
    begun=_begin,
    heard=_end,
)


# --- a secondary -----------------------------------------------------------------------------
def _wait(site: Site, state: Waiting, received: Received) -> Answer:
    match received:
        case Received(sender, Determinant(_, outputs) as one):
            entries, cut = follow(*state, one)
            if site.config.design.cuts is Cuts.SENT:
                entries, cut = (*state.entries, (one.edge, one.place)), state.cut
            return Step(Waiting(entries, cut), (Send(sender, Logged(outputs, cut)),))
        case Received(_, Renewed(entries, cut)):
            return Step(Waiting(entries, cut))
        case _:
            return replicas.stale(state)


def _take_over(site: Site, state: Waiting) -> Answer:
    """Become the primary: begin empty, with all tuples that upstream keeps.

    Where a reader has two replicas, the one that leads answers, and gets the outputs.
    """
    primary = _empty(site)
    if primary.journal is not None:
        journal = Journal(spare=False, cut=state.cut, order=state.entries)
        newest = tuple((at - 1,) if at > 1 else () for at in state.cut)
        primary = primary._replace(journal=journal, newest=newest)
    effects = replicas.succeed(site)
    readers = []
    for reader in primary.queue.readers:
        several = len(reader.names) > 1
        effects += (Send(name, Begin(0, several)) for name in reader.names)
        readers.append(reader._replace(target="") if several else reader)
    effects += consumers.request(site)
    queue = primary.queue._replace(readers=tuple(readers))
    return Step(primary._replace(queue=queue), tuple(effects))


# --- what is shown ---------------------------------------------------------------------------
def gauges(_site: Site, state: State) -> Gauges:
    match state:
        case UpstreamPrimary(inlets, inner, queue):
            places = tuple((inlet.connection, inlet.place) for inlet in inlets)
            return Gauges(len(queue.kept), open_windows(inner), places)
        case Waiting():
            return Gauges(0)
        case _:
            return ends.gauges(state)


def memory(_site: Site, state: State) -> Memory:
    match state:
        case UpstreamPrimary(_, inner, queue):
            return Memory(Amount(len(queue.kept)), state=contents(inner))
        case Waiting():
            return Memory()
        case _:
            return ends.memory(state)


def needed(scope: Scope, seen: Observation) -> Mapping[NodeName, int]:
    """The most that nodes keep at rest: nothing, if no operator downstream holds a tuple.

    For the other nodes nothing is said.
    """
    holding = {
        name
        for name, state in seen.states
        if isinstance(state, UpstreamPrimary) and any(inputs_in(state.inner))
    }
    graph = scope.graph
    return {name: 0 for name, _ in graph.nodes if holding.isdisjoint(graph.descendants(name))}
