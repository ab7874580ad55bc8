"""The nodes of continuous eventual checkpointing: a replayable source, operators, a sink.

Rule of this file: no claim which choice is right (model.protocols.cec.variants).  A node is a
value; what it writes to its log, and when, is here.

Theory of operation (Sebepou and Magoutis, CEC, 2011):

1. An operator writes three kinds of records to its log: a window opened (G_open), a window was
   checkpointed in the background (G_check), a window closed with a result (R) (Section II.B).
2. The newest G record of a window is its footprint.  The footprints of all open windows are
   together an eventual checkpoint: each is of another time.
3. A result is sent downstream when it is stored.  The log is the output queue, too.
4. Each record says how many windows were open (N).  A scan from the end of the log stops when it
   has found N footprints: the records that it read are the extent.
5. In the background a node checkpoints the window with the oldest footprint, so that extent and
   replay stay short (Section III).  Here this path is a timer: the world decides when it runs out,
   which covers every CI, CP and policy.
6. A restarted node scans its log, loads the windows, and asks upstream for the tuples after the
   oldest footprint (Section II.B).  It asks with a `Replay`, and reports `Restarted` downstream.
7. A window ignores the replayed tuples that its footprint includes already.
8. Downstream asks for the results after the last one that it has; they come from the log
   (Section IX, "Catching up").
9. An operator with several inputs records the place in each, and replays the tuples in the order
   of before (Section V).
10. Consumers acknowledge, so that producers and the log let go (Section II).

The log is the node's durable value.  A write is one `Save`, or two if a crash may tear it.  A write
that is still outstanding is a timer, and its completion is the timer's end: writes complete in any
order, and a crash loses those that are outstanding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from model.boxes.aggregate import Aggregate
from model.boxes.box import Item
from model.core import (
    CHECKPOINTED,
    RESTORED,
    Deployment,
    Effect,
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
from model.errors import map_all
from model.events import Event
from model.parts import deploy_graph
from model.protocols.cec import consumers
from model.protocols.cec.deployment import CecConfig, settle
from model.protocols.cec.design import (
    CecDesign,
    Checked,
    CutRecords,
    InputTrim,
    Load,
)
from model.protocols.cec.disk import (
    GROUP,
    READ,
    WRITE,
    acknowledge,
    close,
    outstanding,
    read,
    send_again,
    store,
    write,
)
from model.protocols.cec.keyed import key_of
from model.protocols.cec.measures import extent, pane_contents, to_replay
from model.protocols.cec.messages import (
    CUT,
    EARLY,
    EXTENT,
    IGNORED,
    NO_WINDOWS,
    SCANNED,
    TO_REPLAY,
    CecSink,
    Disk,
    LoggedBox,
    NodeState,
    Segment,
    State,
)
from model.protocols.cec.operator import checkpoint, eligible, ignoring, process, rewrite
from model.protocols.cec.scan import reconstruct, repair
from model.queues import (
    STALE_NOTE,
    Entry,
    Inlet,
    Inlets,
    QueueState,
    Replay,
    Replayed,
    Restarted,
    Trim,
    log_source,
)
from model.timers import parse_timer

CHECK = "check"
TIMERS = {
    CHECK: "From a tuple to a checkpoint of the window with the oldest footprint.",
    WRITE: "From an outstanding write to its completion, if several may be.",
    READ: "From one read of the log to the next one, if it is sent again read by read.",
    GROUP: "From the first record of a stream event to its end, if it may hold several tuples'.",
}


def deploy(design: CecDesign, scope: Scope) -> Deployment:
    """The deployment; raises Refused for timeouts, for several outputs of a node or inputs of a
    sink, and for an operator whose state depends on the order in which inputs come."""
    deployment = deploy_graph(scope.graph, replies=True)
    sites = map_all(settle, deployment.sites)
    trims = any(site.spec.trims for site in sites if site.role is Role.OPERATOR)
    sources = tuple(site.name for site in sites if site.role is Role.SOURCE)
    config = CecConfig(design, trims, sources)
    return deployment._replace(sites=tuple(site._replace(config=config) for site in sites))


def boot(site: Site) -> State:
    if site.role is Role.SOURCE:
        return QueueState()
    if site.role is Role.SINK:
        return CecSink()
    inputs, outputs = len(site.preds), len(site.succs)
    return NodeState(
        Inlets((Inlet(),) * inputs, ((),) * inputs),
        sent=(0,) * outputs,
        released=(0,) * inputs,
        acknowledged=(0,) * outputs,
    )


def step(site: Site, state: State, input_: Input) -> Step:
    match state, input_:
        case QueueState(), _:
            return log_source(site, state, input_)
        case CecSink(), Received(sender, message):
            return consumers.take(site, state, sender, message)
        case NodeState(), Received(consumer, Replay() as request):
            state, effects = send_again(site, state, consumer, request)
            return Step(state, (*effects,))
        case NodeState(), Received(consumer, Trim(place)):
            return _end(site, *acknowledge(site, state, consumer, place))
        case NodeState(inlets), Received(sender, Restarted()):
            edge = site.preds.index(sender)
            end, ask = consumers.ask(site, inlets.ends[edge])
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
        case NodeState(), TimerFired(timer) if timer == GROUP:
            return _end(site, *close(site, state))
        case NodeState(), TimerFired(timer):
            return _complete(site, state, int(parse_timer(timer).key))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_} in {type(state).__name__}")


# --- input -----------------------------------------------------------------------------------
def _begin(state: NodeState) -> Step:
    """Take what follows; a restarted node is restored once every producer has answered."""
    if not state.loaded or any(end.request is not None for end in state.inlets.ends):
        return Step(state)
    return Step(state._replace(loaded=False), (Note(RESTORED),))


def _receive(site: Site, state: NodeState, sender: NodeName, message: Event | Segment) -> Step:
    edge, ordered = site.preds.index(sender), site.spec.ordered
    effects: list[Effect] = []
    for event, of in consumers.events_in(site, sender, message):
        if not consumers.follows(site.config.design, state.inlets.ends[edge], event):
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
    if not site.spec.persists:  # a restart begins with nothing
        return ()
    if state.waiting or state.grouped:  # a footprint may not be stored yet
        return ()
    if not state.disk.log:
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
    disk, cut = repair(design, durable or Disk(), indexed=site.spec.indexed)
    log = disk.log
    found = reconstruct(design, box, log)
    segments = log.last().place if log else disk.begins - 1
    stamp = found.newest if found.start is None else found.start
    inlets = consumers.reconnect(design, found, len(site.preds), stamp)
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
        sent=(None,) * len(site.succs),
        mark=segments if site.spec.checks else 0,
        released=(0,) * len(site.preds),
        acknowledged=(0,) * len(site.succs),
        loaded=True,
    )
    effects: list[Effect] = [Note(SCANNED, found.scanned)]
    if found.scanned < sum(len(segment.records) for segment in log):
        effects.append(Note(EARLY))
    if log and not found.windows:
        effects.append(Note(NO_WINDOWS))
    if cut:
        effects.append(Note(CUT, cut))
        if design.discard is CutRecords.STORED:
            effects.append(Save(disk))
    if design.load is Load.WRITES:
        for number in range(1, len(found.windows) + 1):
            state, record = rewrite(state, number)
            state, written = write(site, state, [record])
            effects += written
    asks = [Send(pred, end.request) for pred, end in zip(site.preds, inlets.ends, strict=True)]
    news = [Send(succ, Restarted()) for succ in site.succs]
    return _end(site, state, [*effects, *asks, *news])


# --- what is shown ---------------------------------------------------------------------------
def gauges(site: Site, state: State) -> Gauges:
    """The gauges of a node.  buffered: events or segments that it keeps.  progress: the place of
    the newest input in the state; published forwarding keeps no order, so none at a sink."""
    match state:
        case QueueState(place, _, kept):
            return Gauges(len(kept), None, place)
        case CecSink():
            return Gauges()
        case NodeState():
            own = ((EXTENT, extent(state)), (TO_REPLAY, to_replay(state)))
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
            waiting += len(state.grouped)
            held = [pane_contents(window.pane) for window in state.windows]
            events = sum(amount.events for amount in held)
            items = sum(amount.items for amount in held) + len(state.turns) + len(state.floors)
            return Memory(savepoints=Amount(0, waiting), state=Amount(events, items))
        case _:
            return Memory()


def needed(scope: Scope, seen: Observation) -> Mapping[NodeName, int]:
    """The most that nodes keep at rest: producers what the footprints need, and the newest."""
    graph = scope.graph
    found: dict[NodeName, int] = {}
    trims = any(isinstance(spec, LoggedBox) and spec.trims for _, spec in graph.nodes)
    if not trims:
        return {}
    for name, state in seen.states:
        if isinstance(state, NodeState):
            ends = zip(graph.preds(name), state.inlets.ends, state.released, strict=True)
            kept = {pred: end.place - released for pred, end, released in ends}
            oldest = min((window.at for window in state.windows), default=state.segments)
            kept[name] = state.segments - oldest + 1
            found |= {node: max(most, found.get(node, 0)) for node, most in kept.items()}
    return found
