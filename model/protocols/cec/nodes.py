"""The nodes of continuous eventual checkpointing: a replayable source, operators, a sink.

Rule of this file: no claim which choice is right (model.protocols.cec.variants).  A node is a
value; what it writes to its log, and when, is here.

The log is the node's durable value.  A write is one `Save`, or two if a crash may tear it.  A write
that is still outstanding is a timer, and its completion is the timer's end: writes complete in any
order, and a crash loses those that are outstanding.  The background path is a timer, too: the world
decides when it runs out, which covers every CI, CP and policy.
Sebepou and Magoutis, CEC, 2011.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Any, NamedTuple

from model.boxes.aggregate import Aggregate, Pane, Panes
from model.boxes.box import Box, Item, Lineage, Of
from model.boxes.join import Join
from model.boxes.stateless import Union
from model.cep.box import CepBox
from model.cep.operator import Operator
from model.core import (
    CHECKPOINTED,
    RESTORED,
    Arrival,
    Deployment,
    Effect,
    Emit,
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
    TimerFired,
)
from model.costs import Amount, Gauges, Memory
from model.errors import Invalid
from model.events import BEGINNING, Event
from model.parts import contents, deploy_graph
from model.protocols.cec.design import (
    Bound,
    Checked,
    Design,
    Forward,
    InputTrim,
    Interleaving,
    Load,
)
from model.protocols.cec.disk import (
    READ,
    WRITE,
    acknowledge,
    outstanding,
    read,
    send_again,
    store,
    write,
)
from model.protocols.cec.keyed import key_of
from model.protocols.cec.messages import (
    CUT,
    EARLY,
    EXTENT,
    IGNORED,
    NO_WINDOWS,
    SCANNED,
    TO_REPLAY,
    Disk,
    Logged,
    NodeState,
    Segment,
    SinkState,
    State,
)
from model.protocols.cec.operator import checkpoint, eligible, ignoring, process, rewrite
from model.protocols.cec.scan import Found, reconstruct, repair
from model.queues import (
    STALE_NOTE,
    Entry,
    Inlet,
    Inlets,
    QueueState,
    Replay,
    Replayed,
    Restarted,
    Stamp,
    Trim,
    produce,
    serve,
    trim,
)

CHECK = "check"
TIMERS = {
    CHECK: "From a tuple to a checkpoint of the window with the oldest footprint.",
    WRITE.removesuffix(":"): "From an outstanding write to its completion, if several may be.",
    READ: "From one read of the log to the next one, if it is sent again read by read.",
}


def deploy(design: Design, scope: Scope) -> Deployment:
    """The deployment; raises Invalid for timeouts, for several outputs of a node or inputs of a
    sink, and for an operator whose state depends on the order in which inputs come."""
    deployment = deploy_graph(scope.graph, replies=True)
    sites = [_settle(site) for site in deployment.sites]
    trims = any(site.spec.trims for site in sites if site.role is Role.OPERATOR)
    sources = tuple(site.name for site in sites if site.role is Role.SOURCE)
    config = Config(design, trims, sources)
    return deployment._replace(sites=tuple(site._replace(config=config) for site in sites))


class Config(NamedTuple):
    """trims: do consumers acknowledge, so that producers let go?  sources: of the deployment."""

    design: Design
    trims: bool
    sources: tuple[NodeName, ...] = ()


def _settle(site: Site) -> Site:
    """The site with its operator as a Logged one."""
    inputs, outputs = len(site.preds), len(site.succs)
    if outputs > 1 or (inputs > 1 and site.role is Role.SINK):
        raise Invalid(
            f"cec: {site.name} has {inputs} inputs and {outputs} outputs; give nodes with one "
            "output, and sinks with one input"
        )
    if site.role is not Role.OPERATOR:
        return site
    spec = site.spec
    if isinstance(spec, Operator):
        spec = CepBox(spec)
    logged = spec if isinstance(spec, Logged) else Logged(spec, checks=True, trims=True)
    box: Any = logged.inner
    waits = not isinstance(box, Box) or type(box).expire is not Box.expire
    if waits and not (isinstance(box, Aggregate | Join) and not box.timeout):
        raise Invalid(
            f"cec: {site.name} is a {type(box).__name__}; give an operator without timeouts"
        )
    if inputs > 1 and not (logged.ordered or isinstance(box, Join | Union)):
        raise Invalid(
            f"cec: {site.name} is a {type(box).__name__} with {inputs} inputs; give a Join, a "
            "Union, or an Ordered operator"
        )
    return site._replace(spec=logged)


def boot(site: Site) -> State:
    if site.role is Role.SOURCE:
        return QueueState()
    if site.role is Role.SINK:
        return SinkState()
    inputs = len(site.preds)
    return NodeState(Inlets((Inlet(),) * inputs, ((),) * inputs), released=(0,) * inputs)


def step(site: Site, state: State, input_: Input) -> Step:
    match state, input_:
        case QueueState(), Arrival():
            return produce(state, input_, site.succs)
        case QueueState(), Received(sender, Replay() as request):
            return serve(state, sender, request)
        case QueueState(), Received(_, Trim(place)):
            return trim(state, place)
        case SinkState(), Received(sender, message):
            return _take(site, state, sender, message)
        case NodeState(), Received(_, Replay() as request):
            state, effects = send_again(site, state, request)
            return Step(state, (*effects,))
        case NodeState(), Received(_, Trim(place)):
            return _end(site, *acknowledge(site, state, place))
        case NodeState(inlets), Received(sender, Restarted()):
            edge = site.preds.index(sender)
            end, ask = _ask(site, inlets.ends[edge])
            return Step(state._replace(inlets=inlets.connect(edge, end)), (Send(sender, ask),))
        case NodeState(inlets), Received(sender, Replayed() as answer):
            edge = site.preds.index(sender)
            end = inlets.ends[edge].begin(answer)
            return _begin(state._replace(inlets=inlets.connect(edge, end)))
        case NodeState(), Received(sender, message):
            return _receive(site, state, sender, message)
        case NodeState(), TimerFired(timer) if timer == CHECK:
            return _check(site, state)
        case NodeState(), TimerFired(timer) if timer == READ:
            state, effects = read(site, state)
            return Step(state, (*effects,))
        case NodeState(), TimerFired(timer):
            return _complete(site, state, int(timer.removeprefix(WRITE)))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_} in {type(state).__name__}")


# --- input -----------------------------------------------------------------------------------
def _events(
    site: Site, sender: NodeName, message: Event | Segment
) -> Iterable[tuple[Event, Lineage]]:
    """The tuples in a message; control records are none."""
    if isinstance(message, Event):
        yield message, frozenset([Of(site.config.sources.index(sender), message.sn[0] - 1)])
    else:
        for record in message.records:
            if record.out is not None:
                yield Event((record.results,), record.out.body), record.out.of


def _follows(design: Design, inlet: Inlet, event: Event) -> bool:
    """Does the connection bring the event now?  Published forwarding does not keep the order."""
    if design.forward is Forward.COMPLETED:
        return inlet.request is None
    return inlet.is_next(event)


def _ask(site: Site, inlet: Inlet) -> tuple[Inlet, Replay]:
    """The request of a consumer whose producer has restarted."""
    request = inlet.request
    if request is None:
        by = site.config.design.resume
        request = Replay(inlet.place if by is Stamp.PLACE else inlet.time, by)
    return inlet._replace(request=request), request


def _begin(state: NodeState) -> Step:
    """Take what follows; a restarted node is restored once every producer has answered."""
    if not state.loaded or any(end.request is not None for end in state.inlets.ends):
        return Step(state)
    return Step(state._replace(loaded=False), (Note(RESTORED),))


def _receive(site: Site, state: NodeState, sender: NodeName, message: Event | Segment) -> Step:
    edge, ordered = site.preds.index(sender), site.spec.ordered
    effects: list[Effect] = []
    for event, of in _events(site, sender, message):
        if not _follows(site.config.design, state.inlets.ends[edge], event):
            effects.append(STALE_NOTE)
            continue
        state = state._replace(inlets=state.inlets.add(edge, event, of))
        inlets, entry = state.inlets.take(ordered=ordered)
        while entry is not None:
            state, added = _enter(site, state._replace(inlets=inlets), entry)
            effects += added
            inlets, entry = state.inlets.take(ordered=ordered)
    return _end(site, state, effects)


def _enter(site: Site, state: NodeState, entry: Entry) -> tuple[NodeState, list[Effect]]:
    """A tuple enters the operator."""
    design, box, (event, of, edge) = site.config.design, site.spec.inner, entry
    stamp, before = design.stamp.of(event), state.segments
    effects: list[Effect] = []
    if state.due:
        state, effects = _background(site, state._replace(due=False), stamp)
    if isinstance(box, Aggregate) and ignoring(
        design, state, key_of(box, Item(0, event.body)), stamp
    ):
        effects.append(Note(IGNORED))
    state, records = process(design, box, state, event, of, edge)
    state = state._replace(stamp=max(state.stamp, stamp))
    state, added = write(site, state, records)
    if site.spec.checks:
        state = state._replace(mark=before)
    return state, [*effects, *added]


def _background(site: Site, state: NodeState, stamp: int) -> tuple[NodeState, list[Effect]]:
    """A G_check with this stamp."""
    state, records = checkpoint(site.config.design, site.spec.inner, state, stamp)
    state, effects = write(site, state, records)
    return state, [Note(CHECKPOINTED), *effects] if records else []


def _check(site: Site, state: NodeState) -> Step:
    """The timer of the background path ran out."""
    if site.config.design.checked is Checked.ENTERING:
        return Step(state._replace(due=True))
    return _end(site, *_background(site, state, state.stamp))


def _complete(site: Site, state: NodeState, place: int) -> Step:
    """A write is complete."""
    state, effects = store(site, state, place)
    return _end(site, state, [*effects, *outstanding(site, state)])


def _end(site: Site, state: NodeState, effects: Iterable[Effect]) -> Step:
    """The step, with the acknowledgement that it allows, and the timer of the background path."""
    after: list[Effect] = []
    for edge, place in enumerate(_released(site, state) if site.config.trims else ()):
        if place > state.released[edge]:
            released = (*state.released[:edge], place, *state.released[edge + 1 :])
            state = state._replace(released=released)
            after.append(Send(site.preds[edge], Trim(place)))
    if site.spec.checks and not state.due and eligible(site.config.design, state) is not None:
        after.append(SetTimer(CHECK))
    return Step(state, (*effects, *after))


def _released(site: Site, state: NodeState) -> tuple[int, ...]:
    """The places up to which upstream may let go, by input."""
    if site.config.design.input_trim is InputTrim.PROCESSED:
        return state.inlets.places
    if state.waiting or not state.disk.log:  # a footprint may not be stored yet
        return ()
    newest = state.disk.log.last().records[-1]
    feet = ((window.foot, window.places) for window in state.windows)
    stamp, places = min(feet, default=(newest.stamp, newest.places))
    return places or (stamp,) * len(site.preds)


# --- recovery --------------------------------------------------------------------------------
def recover(site: Site, durable: Disk | None) -> Step:
    """Restart a node: reconstruct the eventual checkpoint, load it, ask both neighbours.

    II.B; III (recovery path); IX (recovery).
    """
    design, box = site.config.design, site.spec.inner
    disk, cut = repair(design, durable or Disk())
    log = disk.log
    found = reconstruct(design, box, log)
    segments = log.last().place if log else disk.begins - 1
    stamp = found.newest if found.start is None else found.start
    inlets = _reconnect(design, found, len(site.preds), stamp)
    state = NodeState(
        inlets=inlets,
        windows=found.windows,
        turns=found.turns,
        floors=found.floors,
        stamp=stamp,
        until=found.newest,
        segments=segments,
        results=found.results,
        disk=disk,
        sent=None,
        mark=segments if site.spec.checks else 0,
        released=(0,) * len(site.preds),
        loaded=True,
    )
    effects: list[Effect] = [Note(SCANNED, found.scanned)]
    if found.scanned < sum(len(segment.records) for segment in log):
        effects.append(Note(EARLY))
    if log and not found.windows:
        effects.append(Note(NO_WINDOWS))
    if cut:
        effects.append(Note(CUT, cut))
    if design.load is Load.WRITES:
        for number in range(1, len(found.windows) + 1):
            state, record = rewrite(state, number)
            state, written = write(site, state, [record])
            effects += written
    asks = [Send(pred, end.request) for pred, end in zip(site.preds, inlets.ends, strict=True)]
    return _end(site, state, [*effects, *asks, Send(site.succs[0], Restarted())])


def _reconnect(design: Design, found: Found, inputs: int, stamp: int) -> Inlets:
    """The inlets of a restarted operator, each with what it asks for."""
    until = found.until if design.interleaving is Interleaving.LOGGED else ()
    inclusive = design.replay is Bound.WITH
    if found.places:
        asked = [(place, Replay(place, Stamp.PLACE, inclusive)) for place in found.places]
    else:
        asked = [(0, Replay(found.start, design.stamp, inclusive))] * inputs
    time = stamp if design.stamp is Stamp.TIME else BEGINNING
    ends = tuple(Inlet(place, time, request) for place, request in asked)
    return Inlets(ends, ((),) * inputs, until)


# --- the sink --------------------------------------------------------------------------------
def _take(site: Site, state: SinkState, sender: NodeName, message: Any) -> Step:
    inlet = state.inlet
    if isinstance(message, Restarted):
        inlet, request = _ask(site, inlet)
        return Step(SinkState(inlet), (Send(sender, request),))
    if isinstance(message, Replayed):
        return Step(SinkState(inlet.begin(message)))
    effects: list[Effect] = []
    for event, of in _events(site, sender, message):
        if _follows(site.config.design, inlet, event):
            inlet = inlet.take(event)
            effects.append(Emit((site.preds.index(sender), event.body), of))
        else:
            effects.append(STALE_NOTE)
    if site.config.trims and inlet.place > state.inlet.place:
        effects.append(Send(sender, Trim(inlet.place)))
    return Step(SinkState(inlet), tuple(effects))


# --- what is shown ---------------------------------------------------------------------------
def gauges(site: Site, state: State) -> Gauges:
    """The gauges of a node.  buffered: events or segments that it keeps.  progress: the place of
    the newest input in the state; published forwarding keeps no order, so none at a sink."""
    match state:
        case QueueState(place, _, kept):
            return Gauges(len(kept), None, place)
        case SinkState():
            return Gauges()
        case NodeState():
            own = ((EXTENT, extent(state)), (TO_REPLAY, _to_replay(state)))
            return Gauges(len(state.disk.log), len(state.windows), sum(state.inlets.places), own)
        case _:
            raise AssertionError(f"{site.name}: {state} is no state of a node")


def memory(_site: Site, state: State) -> Memory:
    """The log is on a disk; segments on their way there, and the windows, are in memory."""
    match state:
        case QueueState(_, _, kept):
            return Memory(Amount(len(kept)))
        case NodeState():
            waiting = sum(len(segment.records) for segment in state.waiting)
            held = [_contents(window.pane) for window in state.windows]
            events = sum(amount.events for amount in held)
            items = sum(amount.items for amount in held) + len(state.turns) + len(state.floors)
            return Memory(savepoints=Amount(0, waiting), state=Amount(events, items))
        case _:
            return Memory()


def _contents(pane: Any) -> Amount:
    """What a window holds; of another operator than an aggregate the pane is the whole state."""
    if pane is None:
        return Amount(0, 1)
    return contents(Panes((pane,)) if isinstance(pane, Pane) else pane)


def extent(state: NodeState) -> int:
    """How many records a scan of the log would go through now."""
    oldest = min((window.at for window in state.windows), default=state.segments)
    recent = takewhile(lambda segment: segment.place >= oldest, reversed(state.disk.log))
    return sum(len(segment.records) for segment in recent)


def _to_replay(state: NodeState) -> int:
    """How many tuples a restart would ask upstream for now, if stamps are places."""
    return max(0, state.stamp - min((window.foot for window in state.windows), default=state.stamp))


def needed(scope: Scope, seen: Observation) -> Mapping[NodeName, int]:
    """The most that nodes keep at rest: producers what the footprints need, and the newest."""
    graph = scope.graph
    found: dict[NodeName, int] = {}
    trims = any(isinstance(spec, Logged) and spec.trims for _, spec in graph.nodes)
    if not trims:
        return {}
    for name, state in seen.states:
        if isinstance(state, NodeState):
            ends = zip(graph.preds(name), state.inlets.ends, state.released, strict=True)
            found |= {pred: end.place - released for pred, end, released in ends}
            oldest = min((window.at for window in state.windows), default=state.segments)
            found[name] = state.segments - oldest + 1
    return found
