"""The nodes of active standby: a source, process pairs of which both process, a sink.

Rule of this file: no claim which choice is right (model.protocols.active_standby.variants).

Upstream sends each tuple to both replicas.  The secondary logs its outputs, and trims them by the
high watermarks of what downstream has.  When it hears that its primary is lost, it presents itself
downstream and sends what it has logged.
Hwang et al., Sections 2, 5.3 and 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from model.boxes.box import Item, Lineage, Of, inputs_in
from model.core import (
    DISCARDED,
    RESTORED,
    STALE,
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
from model.log import Log
from model.pairs import (
    ACKNOWLEDGE,
    REJOINED,
    TOOK_OVER,
    WITHHELD,
    Ack,
    Again,
    Begin,
    Connect,
    Deposed,
    Deposes,
    Determinant,
    Determinants,
    Last,
    Logged,
    Marks,
    Output,
    Rejoined,
    SinkInlets,
    SourceQueue,
    acknowledge,
    answer,
    ask,
    begin,
    connect,
    deploy_pairs,
    edge_of,
    hear,
    open_inlets,
    open_queue,
    put,
    receive,
    send,
    set_inlet,
    step_sink,
    step_source,
    waits,
)
from model.parts import contents, open_windows
from model.protocols.active_standby.design import (
    Design,
    Joins,
    Renewal,
    Serves,
    Trims,
)
from model.protocols.active_standby.messages import (
    UNREADY,
    Copied,
    Joining,
    Replica,
    State,
    Trim,
)
from model.queues import TRIMMED

TIMERS = {ACKNOWLEDGE: "From a tuple to the next acknowledgement of a node."}


def deploy(design: Design, scope: Scope) -> Deployment:
    return deploy_pairs("active-standby", design, scope)


def boot(site: Site) -> State:
    if site.role is Role.SOURCE:
        return SourceQueue(open_queue(site, both=True))
    if site.role is Role.SINK:
        return SinkInlets(open_inlets(site))
    return _empty(site, leads=not site.config.second)


def _empty(site: Site, *, leads: bool) -> Replica:
    """The state before the first tuple."""
    inlets, edges = open_inlets(site), len(site.preds)
    queue = open_queue(site, both=True)
    spare = leads and bool(site.config.other)
    return Replica(inlets, site.spec.begin(edges), queue, leads, spare, ((),) * edges)


def recover(site: Site, _durable: None) -> Answer:
    """Come back as the secondary of the other replica."""
    design = site.config.design
    copied = design.renewal is Renewal.COPY
    request = Connect(design.renewal is not Renewal.NEW)
    effects: list[Effect] = [Note(REJOINED)]
    if not copied or design.joins is Joins.AT_ONCE:
        effects.append(Send(site.config.other, Rejoined()))
    effects += (Send(name, request) for names in site.config.above for name in names)
    state = Joining(tuple(range(len(site.preds)))) if copied else _empty(site, leads=False)
    return state, tuple(effects)


def step(site: Site, state: State, input_: Input) -> Answer:
    match state:
        case SourceQueue():
            return step_source(site, state, input_)
        case SinkInlets():
            return step_sink(site, state, input_)
        case Replica():
            return _process(site, state, input_)
        case Joining():
            return _join(site, state, input_)
    raise TypeError(f"{site.name}: {state} is no state of a node")


# --- both replicas ---------------------------------------------------------------------------
def _process(site: Site, state: Replica, input_: Input) -> Step:
    match input_:
        case Received(sender, Output() as output):
            return _take(site, state, sender, output)
        case Received(sender, Begin() as message):
            edge = edge_of(site, sender)
            inlet = state.inlets[edge]
            last = (Send(sender, Last(inlet.last)),) if message.asks else ()
            return Step(set_inlet(state, edge, begin(inlet, sender, message)), last)
        case TimerFired():
            return Step(state, acknowledge(state.inlets))
        case _:
            return (_lead if state.leads else _follow)(site, state, input_)


def _take(site: Site, state: Replica, sender: NodeName, output: Output) -> Step:
    edge, determinants = edge_of(site, sender), site.config.design.determinants
    inlet, known = receive(site.config.design.late, state.inlets[edge], sender, output)
    if known is not None:
        return Step(state, known)
    state = set_inlet(state, edge, inlet)
    pending = [*state.pending]
    pending[edge] = (*pending[edge], output)
    state = state._replace(pending=tuple(pending))
    free = determinants is Determinants.NONE
    state, effects = _advance(site, state, edge if free or state.leads else None)
    return Step(state, (*effects, SetTimer(ACKNOWLEDGE)))


def _advance(site: Site, state: Replica, edge: int | None) -> tuple[Replica, tuple[Effect, ...]]:
    """Process the tuples that wait: in the order of the determinants, then, if `edge` is an input,
    all the others, those of this input first."""
    effects: list[Effect] = []
    while state.order and state.pending[state.order[0]]:
        state, more = _run(site, state._replace(order=state.order[1:]), state.order[0])
        effects += more
    while edge is not None and not state.order and any(state.pending):
        at = edge if state.pending[edge] else next(i for i, p in enumerate(state.pending) if p)
        state, more = _run(site, state, at)
        effects += more
    return state, tuple(effects)


def _run(site: Site, state: Replica, edge: int) -> tuple[Replica, tuple[Effect, ...]]:
    """Process the next tuple of an input; a primary sends what it makes, or keeps it back.

    Of several allowed answers the box gives the first.
    """
    design = site.config.design
    first, *rest = state.pending[edge]
    pending = (*state.pending[:edge], (*rest,), *state.pending[edge + 1 :])
    of = first.of | {Of(-1 - edge, first.place)}
    fed, *_ = site.spec.feed(state.inner, Item(edge, first.body, of))
    queue = state.queue
    for out in fed.outs:
        ghost = frozenset(one for one in out.of if one.edge >= 0)
        marks = _marks(site, state, out.of, of)
        queue = put(queue, Output(queue.place + 1, out.body, ghost, marks))
        state = state._replace(queue=queue)
    state = state._replace(pending=pending, inner=fed.state)
    if not state.leads:
        return state, ()
    effects: tuple[Effect, ...] = ()
    if state.spare and design.determinants is not Determinants.NONE:
        effects = (Send(site.config.other, Determinant(edge, queue.place)),)
        if design.determinants is Determinants.SENT:
            state = state._replace(safe=queue.place)
    state, sends = _release(site, state)
    return state, (*effects, *sends)


def _marks(site: Site, state: Replica, of: Lineage, processed: Lineage) -> Marks:
    """The watermarks of an output: the high ones, and those that are served.

    of: what the output was made of.  processed: the tuple that the box processed; `state` is that
    before it.  For an input that the output was not made of, the high one is that of the output
    before it.
    """
    edges = range(len(site.preds))
    before = state.queue.kept.last().marks if state.queue.kept else (0,) * len(edges)
    high = tuple(max(_places(of, edge), default=before[edge]) for edge in edges)
    if site.config.design.serves is Serves.HIGH:
        return (*high, *high)
    held = processed.union(inputs_in(state.inner))
    return (*high, *(min(_places(held, edge), default=0) for edge in edges))


def _places(of: Lineage, edge: int) -> list[int]:
    """The places of the tuples of an input in a lineage."""
    return [one.place for one in of if one.edge == -1 - edge]


def _release(site: Site, state: Replica) -> tuple[Replica, tuple[Effect, ...]]:
    """Send downstream what may leave and has not left."""
    if waits(state.queue):
        return state, (Note(WITHHELD),)
    queue = state.queue
    free = site.config.design.determinants is Determinants.NONE or not state.spare
    number = queue.place if free else state.safe
    leaving = [o for o in queue.kept if state.forwarded < o.place <= number]
    held = (Note(WITHHELD),) if number < queue.place else ()
    state = state._replace(forwarded=max(number, state.forwarded))
    return state, (*held, *send(queue, _bare(leaving)))


def _bare(outputs: Iterable[Output]) -> list[Output]:
    """The outputs as they leave: watermarks stay between the replicas."""
    return [output._replace(marks=()) for output in outputs]


# --- a primary -------------------------------------------------------------------------------
def _lead(site: Site, state: Replica, input_: Input) -> Step:
    match input_:
        case Received(sender, Ack() as ack):
            return _hear(site, state, sender, ack)
        case Received(sender, Connect() as request):
            queue, effects = connect(state.queue, sender, request)
            return Step(state._replace(queue=queue), effects)
        case Received(sender, Last(place)):
            return _resume(site, state, sender, place)
        case Received(_, Logged(output)):
            return Step(*_release(site, state._replace(safe=max(state.safe, output))))
        case Received(sender, Rejoined()):
            state = state._replace(spare=True, safe=state.queue.place)
            if site.config.design.renewal is not Renewal.COPY:
                return Step(state)
            copied = Copied(state.inlets, state.inner, state.queue)
            return Step(state, (Send(sender, copied),))
        case Received(_, Lost()):
            return Step(*_release(site, state._replace(spare=False)))
        case Received(_, Deposed()):
            return Step(*recover(site, None))
        case Received():  # from a primary that this node has taken for dead
            return Step(state, (Note(STALE),))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _hear(site: Site, state: Replica, sender: NodeName, ack: Ack) -> Step:
    """Trim the queue; the secondary learns up to which output all readers are served."""
    before = state.queue
    queue, notes = hear(before, sender, ack)
    state = state._replace(queue=queue)
    served = [output for output in before.kept if output.place <= queue.received]
    if not (served and state.spare):
        return Step(state, notes)
    marks = served[-1].marks[len(site.preds) :]
    return Step(state, (*notes, Send(site.config.other, Trim(marks))))


def _resume(site: Site, state: Replica, sender: NodeName, place: int) -> Step:
    """Once all readers have answered, send each of them what it does not have."""
    queue = answer(site.config.design.again, state.queue, sender, place)
    known = sum(1 for output in queue.kept if output.place <= place)
    state, sends = _release(site, state._replace(queue=queue))
    return Step(state, (Note(DISCARDED, known), *sends))


# --- a secondary -----------------------------------------------------------------------------
def _follow(site: Site, state: Replica, input_: Input) -> Step:
    match input_:
        case Received(_, Trim(marks)):
            rule = site.config.design.trims
            kept = [o for o in state.queue.kept if not _is_duplicate(rule, o.marks, marks)]
            gone = len(state.queue.kept) - len(kept)
            empty: Log[Output] = Log()
            queue = state.queue._replace(kept=empty.extend(kept))
            return Step(state._replace(queue=queue), (Note(TRIMMED, gone),) if gone else ())
        case Received(sender, Determinant(edge, outputs)):
            state = state._replace(order=(*state.order, edge))
            state, effects = _advance(site, state, None)
            return Step(state, (*effects, Send(sender, Logged(outputs))))
        case Received(_, Lost()):
            return _take_over(site, state)
        case Received():  # for a primary that is no more
            return Step(state, (Note(STALE),))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _is_duplicate(rule: Trims, marks: Marks, served: Marks) -> bool:
    pairs = [*zip(marks, served, strict=False)]
    if rule is Trims.ANY_LOWER:
        return any(mark < bound for mark, bound in pairs)
    if rule is Trims.NONE_GREATER:
        return all(mark <= bound for mark, bound in pairs)
    return all(mark < bound for mark, bound in pairs)


def _take_over(site: Site, state: Replica) -> Step:
    """Become the primary: send what is logged, and go on."""
    design = site.config.design
    asks, queue = design.again is not Again.ALL, state.queue
    start = queue.kept.first().place - 1 if queue.kept else queue.place
    effects: list[Effect] = [Note(TOOK_OVER), Note(RESTORED)]
    if design.deposes is Deposes.YES:
        effects.append(Send(site.config.other, Deposed()))
    forwarded = start if asks else queue.place
    state = state._replace(
        queue=ask(queue) if asks else queue,
        leads=True,
        safe=queue.place,
        forwarded=forwarded,
        spare=False,
    )
    for reader in queue.readers:
        effects.append(Send(reader.target, Begin(start, asks, design.again)))
        if not asks:
            effects += (Send(reader.target, output) for output in _bare(queue.kept))
    state, more = _advance(site, state, 0)
    return Step(state, (*effects, *more))


def _join(site: Site, state: Joining, input_: Input) -> Step:
    """Wait for the state of the primary; then process what has come since."""
    match input_:
        case Received(_, Copied(inlets, inner, queue)):
            pending: tuple[tuple[Output, ...], ...] = ((),) * len(inlets)
            replica = Replica(inlets, inner, queue, False, False, pending)
            effects: list[Effect] = []
            for sender, message in state.came:
                replica, more = _process(site, replica, Received(sender, message))
                effects += more
            return Step(replica, (*effects, SetTimer(ACKNOWLEDGE)))
        case Received(_, Lost()):
            step = _take_over(site, _empty(site, leads=False))
            return step._replace(effects=(Note(UNREADY), *step.effects))
        case Received(sender, Begin() as message):
            left = tuple(edge for edge in state.unconnected if edge != edge_of(site, sender))
            came = (*state.came, (sender, message))
            last = state.unconnected and not left and site.config.design.joins is Joins.CONNECTED
            asks = (Send(site.config.other, Rejoined()),) if last else ()
            return Step(Joining(left, came), asks)
        case Received(sender, Output()) if edge_of(site, sender) in state.unconnected:
            return Step(state, (Note(STALE),))  # upstream sends it again
        case Received(sender, Output() | Determinant() | Trim() as message):
            return Step(state._replace(came=(*state.came, (sender, message))))
        case _:
            return Step(state, (Note(STALE),))


# --- what is shown ---------------------------------------------------------------------------
def gauges(_site: Site, state: State) -> Gauges:
    match state:
        case SourceQueue(queue):
            return Gauges(len(queue.kept), None, queue.place)
        case Replica(inlets, inner, queue):
            places = tuple((inlet.connection, inlet.place) for inlet in inlets)
            return Gauges(len(queue.kept), open_windows(inner), places)
        case SinkInlets():
            return Gauges()
        case _:  # a secondary
            return Gauges(0)


def memory(_site: Site, state: State) -> Memory:
    match state:
        case SourceQueue(queue):
            return Memory(Amount(len(queue.kept)))
        case Replica(_, inner, queue):
            return Memory(Amount(len(queue.kept)), state=contents(inner))
        case _:
            return Memory()


def needed(scope: Scope, _seen: Observation) -> Mapping[NodeName, int]:
    """The most that sources and primaries keep at rest: nothing, since all readers have all."""
    return dict.fromkeys((name for name, _ in scope.graph.nodes), 0)
