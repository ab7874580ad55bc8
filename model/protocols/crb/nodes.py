"""The nodes of checkpoint roll-backward: a replayable source, operators, a sink.

Rule of this file: no claim which choice is right (model.protocols.crb.variants).  A node is a
value; what it stores, and when, is here.

Theory of operation (Sebepou and Magoutis, CEC, 2011, Sections I and II.A):

1. An operator stores its whole state at once: the windows, their position in each input, and the
   output queue.  The last checkpoint is the node's durable value.
2. When a checkpoint begins is a timer, which is set while there is something new: the world decides
   when it runs out, which covers every interval.  One checkpoint is under way at a time.
3. A checkpoint is written in two halves, each of them a `Save`: the windows with their position,
   then the output queue.
4. With copy-on-write the write in flight is a timer, and its completion is the timer's end.  A
   crash loses the write.
5. When a checkpoint is stored, the operator acknowledges its positions to the producers, which let
   go of the tuples before them.
6. A restarted operator loads the last checkpoint, and asks each producer for the tuples after its
   position.
7. Downstream asks the restarted operator for the outputs after the last one that it has.
8. An operator with several inputs takes their tuples in the order of time, whatever the order of
   arrival, so that outputs that are made again are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from model.boxes.box import NOTHING_OF, Item, Lineage, Of, Out
from model.core import (
    CHECKPOINTED,
    RESTORED,
    Effect,
    Emit,
    Input,
    NodeName,
    Note,
    Observation,
    Received,
    Role,
    Save,
    Scope,
    Send,
    SetTimer,
    Site,
    Step,
    TimerFired,
)
from model.costs import Amount, Gauges, Memory
from model.events import BEGINNING, Body, Event
from model.log import Log
from model.parts import contents, open_windows
from model.protocols.crb.design import (
    Acknowledges,
    CrbDesign,
    Instant,
    Mode,
    Parts,
    Previous,
    Queue,
    Reminds,
    Replays,
    RestartAnswers,
    Resumes,
)
from model.protocols.crb.messages import (
    BEHIND,
    HELD_BACK,
    NOT_ASKED,
    OVERTAKEN,
    SCRATCH,
    TORN,
    CrbOperator,
    CrbSink,
    OperatorCheckpoint,
    Output,
    Stable,
    State,
)
from model.queues import (
    STALE_NOTE,
    Inlet,
    QueueState,
    Replay,
    Replayed,
    Restarted,
    Stamp,
    Trim,
    log_source,
    serve,
    trim,
)

CHECKPOINT, STORE = "checkpoint", "store"
TIMERS = {
    CHECKPOINT: "From the first tuple that no checkpoint has to the next checkpoint.",
    STORE: "From a checkpoint to the moment when it is stored.",
}


def boot(site: Site) -> State:
    if site.role is Role.SOURCE:
        return QueueState()
    return CrbSink() if site.role is Role.SINK else _load(site, Stable(_nothing(site)))


def _nothing(site: Site) -> OperatorCheckpoint:
    """The checkpoint of an operator that has seen nothing."""
    edges = len(site.preds)
    return OperatorCheckpoint(site.spec.begin(edges), (0,) * edges, (BEGINNING,) * edges)


def _load(site: Site, stable: Stable) -> CrbOperator:
    """The state as of the last checkpoint."""
    box, places, times, queue = stable.whole
    if stable.half is not None and site.config.design.parts is Parts.APART:
        box, places, times, _ = stable.half
    inlets = tuple(map(Inlet, places, times))
    return CrbOperator(inlets, box, queue, None, None, stable)


def step(site: Site, state: State, input_: Input) -> Step:
    match state, input_:
        case QueueState(), _:
            return log_source(site, state, input_)
        case CrbOperator() | CrbSink(), Received(sender, Restarted()):
            inlet = _inlet(site, state, sender)
            request = inlet.request or _request(site.config.design, inlet)
            after = _connect(site, state, sender, inlet._replace(request=request))
            return Step(after, (Send(sender, request),))
        case CrbOperator() | CrbSink(), Received(sender, Replayed() as answer):
            return _begin(site, state, sender, answer)
        case CrbOperator() | CrbSink(), Received(sender, Event() | Output() as tuple_):
            if not _inlet(site, state, sender).is_next(tuple_):
                return Step(state, (STALE_NOTE,))
            if isinstance(state, CrbSink):
                return _take(site, state, sender, tuple_)
            return _process(site, state, sender, tuple_)
        case CrbOperator(), Received(_, Replay() as request):
            return _answer(site, state, request)
        case CrbOperator(), Received(_, Trim(place)):
            queue, notes = trim(state.queue, place)
            return Step(state._replace(queue=queue), notes)
        case CrbOperator(), TimerFired(timer) if timer == CHECKPOINT:
            return _capture(site, state)
        case CrbOperator(captured=OperatorCheckpoint() as captured), TimerFired(timer) if (
            timer == STORE
        ):
            return _store(site, state, captured)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_} in {type(state).__name__}")


# --- a consumer ------------------------------------------------------------------------------
def _inlet(site: Site, state: CrbOperator | CrbSink, sender: NodeName) -> Inlet:
    """A consumer's end of its connection to this producer."""
    return state.inlet if isinstance(state, CrbSink) else state.inlets[site.preds.index(sender)]


def _connect(
    site: Site, state: CrbOperator | CrbSink, sender: NodeName, inlet: Inlet
) -> CrbOperator | CrbSink:
    """The state with another end of the connection to this producer."""
    if isinstance(state, CrbSink):
        return CrbSink(inlet)
    return _set_inlet(state, site.preds.index(sender), inlet)


def _set_inlet(state: CrbOperator, edge: int, inlet: Inlet) -> CrbOperator:
    return state._replace(inlets=(*state.inlets[:edge], inlet, *state.inlets[edge + 1 :]))


def _request(design: CrbDesign, inlet: Inlet) -> Replay:
    """What a consumer asks of a producer that has restarted."""
    match design.resumes:
        case Resumes.NUMBER:
            return Replay(inlet.place)
        case Resumes.LATER:
            return Replay(inlet.time, Stamp.TIME)
        case Resumes.SINCE:
            return Replay(inlet.time, Stamp.TIME, inclusive=True)
        case Resumes.EVERYTHING:
            return Replay(0)


def _made_of(site: Site, sender: NodeName, tuple_: Event | Output) -> Lineage:
    if isinstance(tuple_, Output):
        return tuple_.of
    return frozenset([Of(site.config.sources.index(sender), tuple_.sn[0] - 1)])


def _take(site: Site, state: CrbSink, sender: NodeName, tuple_: Event | Output) -> Step:
    inlet = state.inlet.take(tuple_)
    emit = Emit((site.preds.index(sender), tuple_.body), _made_of(site, sender, tuple_))
    return Step(CrbSink(inlet), (emit, Send(sender, Trim(inlet.place))))


def _begin(site: Site, state: CrbOperator | CrbSink, sender: NodeName, answer: Replayed) -> Step:
    """Take what follows; an operator that was loaded is restored once all producers answered."""
    before = _inlet(site, state, sender)
    waited, inlet = before.request is not None, before.begin(answer)
    state = _connect(site, state, sender, inlet)
    effects: list[Effect] = []
    if waited and inlet.request is None and site.config.design.reminds is Reminds.ANSWERED:
        effects.append(Send(sender, Trim(_safe(site, state, sender))))
    if isinstance(state, CrbOperator) and state.loaded and not _waits(state):
        return Step(state._replace(loaded=False), (*effects, Note(RESTORED)))
    return Step(state, tuple(effects))


def _waits(state: CrbOperator) -> bool:
    """Has a producer not answered the restart yet?"""
    return any(inlet.request is not None for inlet in state.inlets)


def _safe(site: Site, state: CrbOperator | CrbSink, sender: NodeName) -> int:
    """The last place up to which the node needs no tuple of this producer again."""
    if isinstance(state, CrbSink):
        return state.inlet.place
    return state.stable.whole.places[site.preds.index(sender)]


# --- an operator -----------------------------------------------------------------------------
def _process(site: Site, state: CrbOperator, sender: NodeName, tuple_: Event | Output) -> Step:
    """Feed the box; of several allowed answers it gives the first."""
    edge = site.preds.index(sender)
    fed, *_ = site.spec.feed(state.box, Item(edge, tuple_.body, _made_of(site, sender, tuple_)))
    state = _set_inlet(state, edge, state.inlets[edge].take(tuple_))._replace(box=fed.state)
    return _end(*_put_out(site, state, fed.outs))


def _put_out(
    site: Site, state: CrbOperator, outs: Iterable[Out]
) -> tuple[CrbOperator, list[Effect]]:
    """Keep the outputs, and send those that downstream wants."""
    queue, owed, (succ,) = state.queue, state.owed, site.succs
    effects: list[Effect] = []
    for body, of in outs:
        output = Output((queue.place + 1,), body, of)
        if owed is not None and owed.wants(output):
            effects.append(Send(succ, Replayed(owed, queue.place)))
            owed = None
        effects.append(Send(succ, output) if owed is None else Note(HELD_BACK))
        queue = QueueState(queue.place + 1, body.time, queue.kept.append(output))
        if owed is not None and _is_made(site.config.design, queue, owed):
            effects.append(Send(succ, Replayed(owed, output.sn[0])))
            owed = None
    return state._replace(queue=queue, owed=owed), effects


def _is_made(design: CrbDesign, queue: QueueState, owed: Replay) -> bool:
    """Is the next output the first one that downstream asks for, whatever its time?"""
    return design.answers is RestartAnswers.MADE_AGAIN and _wants_next(queue, owed)


def _wants_next(queue: QueueState, request: Replay) -> bool:
    earliest = Output((queue.place + 1,), Body(queue.now, "earliest"), NOTHING_OF)
    return request.wants(earliest)


def _answer(site: Site, state: CrbOperator, request: Replay) -> Step:
    """Send again what downstream asks for; first make again what it does not ask for."""
    queue = state.queue
    if _wants_next(queue, request):
        return Step(state._replace(owed=None), serve(queue, site.succs[0], request).effects)
    return Step(state._replace(owed=request))


def _end(state: CrbOperator, effects: Iterable[Effect]) -> Step:
    """The step, with the timer of the next checkpoint if there is something new."""
    if state.captured is None and state.place > state.stable.whole.place:
        effects = (*effects, SetTimer(CHECKPOINT))
    return Step(state, tuple(effects))


# --- checkpoints -----------------------------------------------------------------------------
def _now(state: CrbOperator) -> OperatorCheckpoint:
    places = tuple(inlet.place for inlet in state.inlets)
    times = tuple(inlet.time for inlet in state.inlets)
    return OperatorCheckpoint(state.box, places, times, state.queue)


def _capture(site: Site, state: CrbOperator) -> Step:
    design, captured = site.config.design, _now(state)
    effects: list[Effect] = []
    if design.acknowledges is Acknowledges.CAPTURED:
        effects += _acknowledge(site, captured.places)
    if design.mode is Mode.SYNCHRONOUS:
        stored, more = _store(site, state, captured)
        return Step(stored, (*effects, *more))
    return Step(state._replace(captured=captured), (*effects, SetTimer(STORE)))


def _acknowledge(site: Site, places: tuple[int, ...]) -> list[Effect]:
    """Let each producer let go of the tuples up to the place."""
    return [Send(pred, Trim(place)) for pred, place in zip(site.preds, places, strict=True)]


def _store(site: Site, state: CrbOperator, captured: OperatorCheckpoint) -> Step:
    """Write the checkpoint in two halves, and acknowledge what it holds."""
    design, now = site.config.design, _now(state)
    box = captured.box if design.windows is Instant.CAPTURE else now.box
    at = captured if design.position is Instant.CAPTURE else now
    queue = now.queue if design.queue is Queue.COMPLETION else captured.queue
    if design.queue is Queue.NEVER:
        queue = queue._replace(kept=Log())
    new = OperatorCheckpoint(box, at.places, at.times, queue)
    old = state.stable.whole if design.previous is Previous.KEPT else _nothing(site)
    half, whole = Stable(old, new._replace(queue=QueueState())), Stable(new)
    effects: list[Effect] = [Note(OVERTAKEN, now.place - captured.place), Save(half), Save(whole)]
    effects.append(Note(CHECKPOINTED))
    if design.acknowledges is Acknowledges.STORED:
        effects += _acknowledge(site, new.places)
    return _end(state._replace(captured=None, stable=whole), effects)


def recover(site: Site, durable: Stable | None) -> Step:
    """Load the last whole checkpoint, ask upstream for what came later, and report downstream."""
    design, stable = site.config.design, durable or Stable(_nothing(site))
    state = _load(site, stable)
    inlets, asks = [], []
    for pred, (place, time, _) in zip(site.preds, state.inlets, strict=True):
        after = place if design.stamp is Stamp.PLACE else time
        request = Replay(after, design.stamp, design.replays is Replays.FROM)
        inlets.append(Inlet(0, time, request))
        asks.append(Send(pred, request))
    state = state._replace(inlets=(*inlets,), owed=NOT_ASKED, loaded=True)
    effects: list[Effect] = []
    if stable.half is not None:
        effects.append(Note(TORN))
    if not stable.whole.place:
        effects.append(Note(SCRATCH))
    asks.append(Send(site.succs[0], Restarted()))
    return Step(state, (*effects, *asks))


# --- what is shown ---------------------------------------------------------------------------
def gauges(site: Site, state: State) -> Gauges:
    """The gauges of a node.  buffered: events or outputs that it keeps.  progress: the place of the
    newest input in the state; 0 until upstream has answered a restart."""
    match state:
        case QueueState(place, _, kept):
            return Gauges(len(kept), None, place)
        case CrbOperator(_, box, queue):
            own = ((BEHIND, max(0, state.place - state.stable.whole.place)),)
            return Gauges(len(queue.kept), open_windows(box), state.place, own)
        case CrbSink():
            return Gauges()
        case _:
            raise AssertionError(f"{site.name}: {state} is no state of a node")


def memory(_site: Site, state: State) -> Memory:
    """What is stored is on a disk; a checkpoint that is being stored is a copy in memory."""
    match state:
        case QueueState(_, _, kept):
            return Memory(Amount(len(kept)))
        case CrbOperator(_, box, queue, captured=captured):
            buffers = Amount(len(queue.kept))
            if captured is None:
                return Memory(buffers, state=contents(box))
            events, items = contents(captured.box)
            return Memory(buffers, Amount(events + len(captured.queue.kept), items), contents(box))
        case _:
            return Memory()


def needed(scope: Scope, _seen: Observation) -> Mapping[NodeName, int]:
    """The most that nodes keep at rest: nothing, since everything is in a checkpoint or taken."""
    return dict.fromkeys((name for name, _ in scope.graph.nodes), 0)
