"""The nodes of active standby: a source, process pairs of which both process, a sink.

Rule of this file: no claim which choice is right (model.protocols.active_standby.variants).

Theory of operation (Hwang et al., Section 5.3; process pairs: model.standbys):

1. Each replica is a reader of its own: upstream sends each tuple to both, and keeps it until both
   have acknowledged it.
2. Both replicas process all tuples.  The primary sends its outputs; the secondary logs its own.
3. Each output has a high watermark for each input: the most recent tuple that it was made of.
4. When all readers have an output, the primary reports the watermarks of that output (`Trim`).  The
   secondary discards the logged outputs that are older.
5. When the secondary receives `Lost`, it presents itself downstream, sends the outputs that it has
   logged, and goes on.
6. A crashed replica comes back as the secondary.  It asks upstream for tuples, then the primary for
   a copy of the state, and processes the tuples that came since (`Joining`).
7. Section 6, precise recovery: the new primary asks its readers for the last tuples that they have,
   and sends what comes after these.
8. Section 6, arbitrary networks: the primary reports which input it processed next
   (`Determinant`).  The secondary processes its tuples in that order; an output leaves once the
   secondary has its determinants.
"""

from __future__ import annotations

from collections.abc import Mapping

from model.core import (
    Answer,
    Deployment,
    Effect,
    Input,
    Lost,
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
    TimerFired,
)
from model.costs import Amount, Gauges, Memory
from model.parts import contents, open_windows
from model.protocols.active_standby.design import (
    ActiveStandbyDesign,
    Joins,
    Overdue,
    SecondaryStart,
)
from model.protocols.active_standby.messages import UNREADY, Copied, Joining, Replica, State, Trim
from model.protocols.active_standby.order import advance, bare, release
from model.protocols.active_standby.watermarks import discard, report_served
from model.standbys import consumers, deployment, ends, producers, replicas
from model.standbys.choices import Again, Determinants
from model.standbys.consumers import ACKNOWLEDGE
from model.standbys.deployment import edge_of
from model.standbys.messages import REJOINED, Begin, Determinant, Logged, Output, Rejoined

TIMERS = {ACKNOWLEDGE: "From a tuple to the next acknowledgement of a node."}


def deploy(design: ActiveStandbyDesign, scope: Scope) -> Deployment:
    return deployment.deploy("active-standby", design, scope)


def boot(site: Site) -> State:
    if site.role is not Role.OPERATOR:
        return ends.boot(site, both=True)
    return _empty(site, leads=not site.config.second)


def _empty(site: Site, *, leads: bool) -> Replica:
    """The state before the first tuple."""
    inlets, edges = consumers.open_ends(site), len(site.preds)
    queue = producers.open_queue(site, both=True)
    spare = leads and bool(site.config.other)
    return Replica(inlets, site.spec.begin(edges), queue, leads, spare, ((),) * edges)


def recover(site: Site, _durable: None) -> Answer:
    """Come back as the secondary of the other replica."""
    design = site.config.design
    copied = design.renewal is SecondaryStart.COPY
    effects: list[Effect] = [Note(REJOINED)]
    if not copied or design.joins is Joins.AT_ONCE:
        effects.append(Send(site.config.other, Rejoined()))
    effects += consumers.request(site, kept=design.renewal is not SecondaryStart.NEW)
    state = Joining(tuple(range(len(site.preds)))) if copied else _empty(site, leads=False)
    return state, tuple(effects)


def step(site: Site, state: State, input_: Input) -> Answer:
    if isinstance(state, Replica):
        return _process(site, state, input_)
    if isinstance(state, Joining):
        return _join(site, state, input_)
    return ends.step(site, state, input_)


# --- both replicas ---------------------------------------------------------------------------
def _process(site: Site, state: Replica, input_: Input) -> Answer:
    match input_:
        case Received(_, Output() | Begin()) | TimerFired():
            return replicas.lead(REPLICA, site, state, input_)
        case _ if state.leads:
            return replicas.lead(REPLICA, site, state, input_)
        case _:
            return replicas.follow(site, state, input_, _take_over, _follow)


def _take(site: Site, state: Replica, sender: NodeName, output: Output) -> Answer:
    edge, determinants = edge_of(site, sender), site.config.design.determinants
    inlet, known = consumers.receive(site.config.design.late, state.inlets[edge], sender, output)
    if known is not None:
        return Step(state, known)
    state = consumers.set_inlet(state, edge, inlet)
    pending = [*state.pending]
    pending[edge] = (*pending[edge], output)
    state = state._replace(pending=tuple(pending))
    free = determinants is Determinants.NONE
    state, effects = advance(site, state, edge if free or state.leads else None)
    return Step(state, (*effects, SetTimer(ACKNOWLEDGE)))


def _fire(_site: Site, state: Replica, _timer: str) -> Answer:
    return Step(state, consumers.acknowledge(state.inlets))


# --- a primary -------------------------------------------------------------------------------
def _report_served(
    site: Site,
    before: Replica,
    after: Replica,
    notes: tuple[Effect, ...],
    _received: Received,
) -> Answer:
    """After an acknowledgement the secondary learns up to which output all readers are served."""
    received = after.queue.received
    served = [output for output in before.queue.kept if output.place <= received]
    return Step(after, (*notes, *report_served(site, after, served)))


def _resume(site: Site, state: Replica, sender: NodeName, place: int) -> Answer:
    return replicas.resume(release, site, state, sender, place)


def _renew(site: Site, state: Replica, sender: NodeName) -> Answer:
    """The other replica is back as the secondary: it gets a copy of the state."""
    state = state._replace(spare=True, safe=state.queue.place)
    if site.config.design.renewal is not SecondaryStart.COPY:
        return Step(state)
    copied = Copied(state.inlets, state.inner, state.queue, state.pending)
    return Step(state, (Send(sender, copied),))


def _go_on_alone(site: Site, state: Replica) -> Answer:
    return Step(*release(site, state._replace(spare=False)))


def _lead(site: Site, state: Replica, input_: Input) -> Answer:
    match input_:
        case Received(_, Logged(output)):
            return Step(*release(site, state._replace(safe=max(state.safe, output))))
        case Received():  # from a primary that this node has taken for dead
            return replicas.stale(state)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


REPLICA = replicas.Conduct(
    process=_take,
    fired=_fire,
    resume=_resume,
    renew=_renew,
    alone=_go_on_alone,
    own=_lead,
    recover=recover,
    heard=_report_served,
)


# --- a secondary -----------------------------------------------------------------------------
def _follow(site: Site, state: Replica, received: Received) -> Answer:
    match received:
        case Received(_, Trim(marks)):
            design = site.config.design
            queue, notes = discard(design.trims, state.queue, marks)
            served = marks if design.overdue is Overdue.DROPPED else ()
            return Step(state._replace(queue=queue, served=served), notes)
        case Received(sender, Determinant(edge, outputs)):
            state = state._replace(order=(*state.order, edge))
            state, effects = advance(site, state, None)
            return Step(state, (*effects, Send(sender, Logged(outputs))))
        case _:
            return replicas.stale(state)


def _take_over(site: Site, state: Replica, *notes: Note) -> Answer:
    """Become the primary: send what is logged, and go on."""
    again, queue = site.config.design.again, state.queue
    asks = again is not Again.ALL
    start = queue.kept.first().place - 1 if queue.kept else queue.place
    forwarded = start if asks else queue.place
    state = state._replace(
        queue=producers.ask(queue) if asks else queue,
        leads=True,
        safe=queue.place,
        forwarded=forwarded,
        spare=False,
        served=(),
    )
    effects = replicas.succeed(site)
    effects += replicas.present(again, queue, start, bare(queue.kept))
    state, more = advance(site, state, 0)
    return Step(state, (*notes, *effects, *more))


def _join(site: Site, state: Joining, input_: Input) -> Answer:
    """Wait for the state of the primary; then process what has come since.

    A determinant that comes before the copy is of a tuple that is in the copy.
    """
    match input_:
        case Received(_, Copied(inlets, inner, queue, pending)):
            replica = Replica(inlets, inner, queue, False, False, pending)
            effects: list[Effect] = []
            for sender, message in state.came:
                replica, more = _process(site, replica, Received(sender, message))
                effects += more
            return Step(replica, (*effects, SetTimer(ACKNOWLEDGE)))
        case Received(_, Lost()):
            return _take_over(site, _empty(site, leads=False), Note(UNREADY))
        case Received(sender, Begin() as message):
            left = tuple(edge for edge in state.unconnected if edge != edge_of(site, sender))
            came = (*state.came, (sender, message))
            last = state.unconnected and not left and site.config.design.joins is Joins.CONNECTED
            asks = (Send(site.config.other, Rejoined()),) if last else ()
            return Step(Joining(left, came), asks)
        case Received(sender, Output()) if edge_of(site, sender) in state.unconnected:
            return replicas.stale(state)  # upstream sends it again
        case Received(sender, Output() | Trim() as message):
            return Step(state._replace(came=(*state.came, (sender, message))))
        case _:
            return replicas.stale(state)


# --- what is shown ---------------------------------------------------------------------------
def gauges(_site: Site, state: State) -> Gauges:
    match state:
        case Replica(inlets, inner, queue):
            places = tuple((inlet.connection, inlet.place) for inlet in inlets)
            return Gauges(len(queue.kept), open_windows(inner), places)
        case Joining():
            return Gauges(0)
        case _:
            return ends.gauges(state)


def memory(_site: Site, state: State) -> Memory:
    match state:
        case Replica(_, inner, queue):
            return Memory(Amount(len(queue.kept)), state=contents(inner))
        case Joining():
            return Memory()
        case _:
            return ends.memory(state)


def needed(scope: Scope, _seen: Observation) -> Mapping[NodeName, int]:
    """The most that sources and primaries keep at rest: nothing, since all readers have all."""
    return dict.fromkeys((name for name, _ in scope.graph.nodes), 0)
