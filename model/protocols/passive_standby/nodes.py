"""The nodes of passive standby: a replayable source, process pairs, a sink.

Rule of this file: no claim which choice is right (model.protocols.passive_standby.variants).

A checkpoint begins when a timer runs out, which is set while there is something new; the sweep line
then passes one operator of the node with each timer.  The secondary acknowledges to upstream what
it holds.  When it hears that its primary is lost, it presents itself downstream, sends what it has
in its output queue and asks upstream for the tuples that are kept there.
Hwang et al., Sections 2, 5.1 and 6.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from model.boxes.box import Box, Item
from model.boxes.network import INPUT, OUTPUT, Network
from model.core import (
    CHECKPOINTED,
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
    Last,
    Output,
    Queue,
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
    trim,
    waits,
)
from model.parts import contents, open_windows
from model.protocols.passive_standby.design import (
    Alone,
    Design,
    Forwards,
    Line,
    Releases,
    Renewal,
)
from model.protocols.passive_standby.messages import (
    CROSSED,
    LOST_COPY,
    Checkpoint,
    Copy,
    Primary,
    Secondary,
    Spare,
    Stage,
    State,
    Stored,
)

CHECKPOINT = "checkpoint"
TIMERS = {
    CHECKPOINT: "From the first change that no checkpoint has to the next step of the sweep line.",
    ACKNOWLEDGE: "From a tuple to the acknowledgement of a sink.",
}


def deploy(design: Design, scope: Scope) -> Deployment:
    return deploy_pairs("passive-standby", design, scope)


def boxes(spec: Any) -> tuple[Box, ...]:
    """The operators inside a node, which stand one after the other."""
    if isinstance(spec, Network):
        names = [name for name, _ in spec.boxes]
        ends = [(arc.source, arc.target) for arc in spec.arcs]
        if ends == [*zip([INPUT, *names], [*names, OUTPUT], strict=True)]:
            return tuple(box for _, box in spec.boxes)
    return (spec,)


def boot(site: Site) -> State:
    if site.role is Role.SOURCE:
        return SourceQueue(open_queue(site))
    if site.role is Role.SINK:
        return SinkInlets(open_inlets(site))
    copy = _empty(site)
    if site.config.second:
        return Secondary(copy)
    spare = Spare.READY if site.config.other else Spare.NONE
    return Primary(*copy, spare, (copy.stages, 0))


def _empty(site: Site) -> Copy:
    """The state before the first tuple."""
    edges = len(site.preds)
    stages = tuple(Stage(box.begin(1 if at else edges)) for at, box in enumerate(boxes(site.spec)))
    return Copy(open_inlets(site), stages, open_queue(site))


def recover(site: Site, _durable: None) -> Answer:
    """Come back as the secondary of the other replica."""
    return Secondary(None), (Note(REJOINED), Send(site.config.other, Rejoined()))


def step(site: Site, state: State, input_: Input) -> Answer:
    match state:
        case SourceQueue():
            return step_source(site, state, input_)
        case SinkInlets():
            return step_sink(site, state, input_)
        case Primary():
            return _lead(site, state, input_)
        case Secondary():
            return _follow(site, state, input_)
    raise TypeError(f"{site.name}: {state} is no state of a node")


# --- a primary -------------------------------------------------------------------------------
def _lead(site: Site, state: Primary, input_: Input) -> Step:
    match input_:
        case Received(sender, Output() as output):
            return _process(site, state, sender, output)
        case Received(sender, Begin() as message):
            edge = edge_of(site, sender)
            inlet = state.inlets[edge]
            last = (Send(sender, Last(inlet.last)),) if message.asks else ()
            return _end(state, set_inlet(state, edge, begin(inlet, sender, message)), last)
        case Received(sender, Ack() as ack):
            queue, notes = hear(state.queue, sender, ack)
            return _end(state, state._replace(queue=queue), notes)
        case Received(sender, Connect() as request):
            queue, effects = connect(state.queue, sender, request)
            return _end(state, state._replace(queue=queue), effects)
        case Received(sender, Last(place)):
            return _resume(site, state, sender, place)
        case Received(_, Rejoined()):
            return _renew(site, state)
        case Received(_, Stored(number)):
            return Step(*_release(site, state._replace(safe=max(state.safe, number))))
        case Received(_, Lost()):
            state, effects = _stop_line(site, state._replace(spare=Spare.NONE))
            return Step(state, effects)
        case Received(sender, Deposed()):
            return Step(Secondary(None), (Note(REJOINED), Send(sender, Rejoined())))
        case Received(_, Checkpoint()):
            return Step(state, (Note(STALE),))
        case TimerFired(timer) if timer == CHECKPOINT:
            return _sweep(site, state)
        case TimerFired():
            return Step(state, acknowledge(state.inlets))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _process(site: Site, state: Primary, sender: NodeName, output: Output) -> Step:
    edge, design = edge_of(site, sender), site.config.design
    inlet, known = receive(design.late, state.inlets[edge], sender, output)
    if known is not None:
        return Step(state, known)
    after = set_inlet(state, edge, inlet)
    after, effects = _run(site, after, 0, Item(edge, output.body, output.of))
    after, sends = _release(site, after)
    if design.releases is Releases.PROCESSED or not site.config.other:
        sends = (*sends, SetTimer(ACKNOWLEDGE))
    return _end(state, after, (*effects, *sends))


def _run(site: Site, state: Primary, at: int, item: Item) -> tuple[Primary, tuple[Effect, ...]]:
    """Let the operator in place `at` process an item, and those after it what it makes.

    Of several allowed answers the box gives the first.
    """
    operators = boxes(site.spec)
    if at == len(operators):
        queue = state.queue
        output = Output(queue.place + 1, item.body, item.of)
        return state._replace(queue=put(queue, output)), ()
    stage = state.stages[at]
    behind = len(state.behind.stages) if state.behind else 0
    if at and at == behind and site.config.design.line is Line.BARRED:
        stage = stage._replace(waiting=(*stage.waiting, item))
        return state._replace(stages=_with(state.stages, at, stage)), ()
    fed, *_ = operators[at].feed(stage.inner, item)
    state = state._replace(stages=_with(state.stages, at, stage._replace(inner=fed.state)))
    effects: tuple[Effect, ...] = (Note(CROSSED),) if at < behind else ()
    for out in fed.outs:
        state, more = _run(site, state, at + 1, Item(0, *out))
        effects += more
    return state, effects


def _release(site: Site, state: Primary) -> tuple[Primary, tuple[Effect, ...]]:
    """Send downstream what may leave and has not left."""
    if waits(state.queue):
        return state, (Note(WITHHELD),)
    design, queue = site.config.design, state.queue
    free = design.alone is Alone.ALL or not site.config.other
    alone = state.spare is Spare.NONE and free
    number = queue.place if alone or design.forwards is Forwards.ALL else state.safe
    leaving = tuple(o for o in queue.kept if state.forwarded < o.place <= number)
    held = (Note(WITHHELD),) if number < queue.place else ()
    forwarded = max(state.forwarded, number)
    return state._replace(forwarded=forwarded), (*held, *send(queue, leaving))


def _end(before: Primary, after: Primary, effects: Iterable[Effect]) -> Step:
    """The step, with the timer of the next checkpoint if something has changed."""
    if after.spare is not Spare.NONE and after != before:
        effects = (*effects, SetTimer(CHECKPOINT))
    return Step(after, tuple(effects))


def _with(stages: tuple[Stage, ...], at: int, stage: Stage) -> tuple[Stage, ...]:
    return (*stages[:at], stage, *stages[at + 1 :])


# --- checkpoints -----------------------------------------------------------------------------
def _sweep(site: Site, state: Primary) -> Step:
    """Move the sweep line behind one more operator; after the last one, send the checkpoint."""
    if state.spare is Spare.NONE:
        return Step(state)
    at = len(state.behind.stages) if state.behind else 0
    begun = Copy(state.inlets, (), state.queue)
    behind = state.behind or begun
    behind = behind._replace(stages=(*behind.stages, Stage(state.stages[at].inner)))
    if at + 1 < len(state.stages):
        return Step(state._replace(behind=behind), (SetTimer(CHECKPOINT),))
    return _ship(site, state, behind._replace(queue=state.queue))


def _ship(site: Site, state: Primary, copy: Copy) -> Step:
    """Send the checkpoint; what waited before the sweep line goes on."""
    design, (queue, (stages, number)) = site.config.design, (copy.queue, state.shipped)
    complete = state.spare is Spare.NEW and design.renewal is not Renewal.DELTA
    pairs = zip(copy.stages, stages, strict=True)
    changed = tuple(one if complete or one != old else None for one, old in pairs)
    new = tuple(o for o in queue.kept if complete or o.place > number)
    message = Checkpoint(complete, copy.inlets, changed, queue.readers, queue.place, new)
    after = state._replace(shipped=(copy.stages, queue.place), spare=Spare.READY)
    if design.forwards is Forwards.SENT:
        after = after._replace(safe=queue.place)
    after, effects = _stop_line(site, after)
    changed_since = after.stages != copy.stages or after.inlets != copy.inlets
    again = state.behind is not None and (changed_since or after.queue != queue)
    timer = (SetTimer(CHECKPOINT),) if again else ()
    return Step(after, (Note(CHECKPOINTED), Send(site.config.other, message), *effects, *timer))


def _stop_line(site: Site, state: Primary) -> tuple[Primary, tuple[Effect, ...]]:
    """End a checkpoint: what waited before the sweep line goes on."""
    waiting = [stage.waiting for stage in state.stages]
    stages = tuple(Stage(stage.inner) for stage in state.stages)
    state = state._replace(stages=stages, behind=None)
    effects: tuple[Effect, ...] = ()
    for at, items in enumerate(waiting):
        for item in items:
            state, more = _run(site, state, at, item)
            effects += more
    state, sends = _release(site, state)
    return state, (*effects, *sends)


def _renew(site: Site, state: Primary) -> Step:
    """The other replica is a new secondary: it gets the complete state in a checkpoint."""
    state, effects = _stop_line(site, state._replace(spare=Spare.NEW))
    idle = site.config.design.renewal is Renewal.NOTHING
    return Step(state, effects if idle else (*effects, SetTimer(CHECKPOINT)))


# --- a secondary -----------------------------------------------------------------------------
def _follow(site: Site, state: Secondary, input_: Input) -> Step:
    match input_:
        case Received(_, Checkpoint() as checkpoint):
            return _store(site, state, checkpoint)
        case Received(_, Lost()):
            return _take_over(site, state)
        case Received() | TimerFired():  # for a primary that is no more
            return Step(state, (Note(STALE),))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _store(site: Site, state: Secondary, checkpoint: Checkpoint) -> Step:
    """Apply the checkpoint, and acknowledge to upstream what it holds."""
    old = _empty(site) if state.copy is None or checkpoint.complete else state.copy
    kept = old.queue.kept.extend(checkpoint.outputs)
    queue, _ = trim(Queue(checkpoint.readers, checkpoint.number, kept))
    pairs = zip(checkpoint.stages, old.stages, strict=True)
    stages = tuple(before if new is None else new for new, before in pairs)
    copy = Copy(checkpoint.inlets, stages, queue)
    effects: list[Effect] = []
    if site.config.design.releases is Releases.COPIED:
        effects += acknowledge(copy.inlets)
    if site.config.design.forwards is Forwards.STORED:
        effects.append(Send(site.config.other, Stored(checkpoint.number)))
    return Step(Secondary(copy), tuple(effects))


def _take_over(site: Site, state: Secondary) -> Step:
    """Become the primary: go on from the last checkpoint."""
    design, other = site.config.design, site.config.other
    effects: list[Effect] = [Note(TOOK_OVER), Note(RESTORED)]
    if state.copy is None:
        effects.append(Note(LOST_COPY))
    inlets, stages, queue = state.copy or _empty(site)
    if design.deposes is Deposes.YES:
        effects.append(Send(other, Deposed()))
    asks, start = design.again is not Again.ALL, queue.place - len(queue.kept)
    queue = ask(queue) if asks else queue
    forwarded = start if asks else queue.place
    shipped = (stages, queue.place)
    primary = Primary(inlets, stages, queue, Spare.NONE, shipped, queue.place, forwarded)
    for reader in queue.readers:
        effects.append(Send(reader.target, Begin(start, asks, design.again)))
        if not asks:
            effects += (Send(reader.target, output) for output in queue.kept)
    effects += (Send(name, Connect()) for names in site.config.above for name in names)
    return Step(primary, tuple(effects))


def _resume(site: Site, state: Primary, sender: NodeName, place: int) -> Step:
    """Once all readers have answered, send each of them what it does not have."""
    queue = answer(site.config.design.again, state.queue, sender, place)
    known = sum(1 for output in queue.kept if output.place <= place)
    state, sends = _release(site, state._replace(queue=queue))
    return Step(state, (Note(DISCARDED, known), *sends))


# --- what is shown ---------------------------------------------------------------------------
def gauges(_site: Site, state: State) -> Gauges:
    match state:
        case SourceQueue(queue):
            return Gauges(len(queue.kept), None, queue.place)
        case Primary(inlets, stages, queue):
            windows = [open_windows(stage.inner) for stage in stages]
            known = [count for count in windows if count is not None]
            places = tuple((inlet.connection, inlet.place) for inlet in inlets)
            return Gauges(len(queue.kept), sum(known) if known else None, places)
        case SinkInlets():
            return Gauges()
        case _:  # a secondary
            return Gauges(0)


def memory(_site: Site, state: State) -> Memory:
    match state:
        case SourceQueue(queue):
            return Memory(Amount(len(queue.kept)))
        case Primary(_, stages, queue):
            return Memory(Amount(len(queue.kept)), state=contents(tuple(s.inner for s in stages)))
        case Secondary(Copy(_, stages, queue)):
            events, items = contents(tuple(stage.inner for stage in stages))
            return Memory(savepoints=Amount(events + len(queue.kept), items))
        case _:
            return Memory()


def needed(scope: Scope, _seen: Observation) -> Mapping[NodeName, int]:
    """The most that nodes keep at rest: nothing, since the secondaries have everything."""
    return dict.fromkeys((name for name, _ in scope.graph.nodes), 0)
