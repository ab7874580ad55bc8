"""The nodes of progressive recovery: sources, partitions of operators, the application.

Rule of this file: no claim which choice is right (model.protocols.progressive.variants), and no
decision of the coordinator (coordinator.py).

A node of the graph is a partition.  A punctuation ends a batch, so the batches of a replay are
those of the run before.  A source punctuates at a timer, which is set while there is something new:
the world decides when it runs out, which covers every period.
Su and Zhou, Progressive Recovery, 2016, Section 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile, zip_longest
from typing import NamedTuple

from model.boxes.box import Box, Of
from model.boxes.box import Item as BoxItem
from model.cep.box import CepBox
from model.cep.operator import Operator
from model.core import (
    CHECKPOINTED,
    DISCARDED,
    REPLAYED,
    RESTORED,
    Arrival,
    Deployment,
    Effect,
    Emit,
    Gauges,
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
from model.errors import Invalid
from model.events import Body
from model.graph import Graph
from model.log import Log
from model.parts import deploy_graph, open_windows
from model.protocols.progressive import coordinator
from model.protocols.progressive.coordinator import COORDINATOR, Members
from model.protocols.progressive.design import (
    Accepts,
    Buffering,
    Design,
    Fence,
    Order,
    Outputs,
    Punctuates,
    Sinks,
)
from model.protocols.progressive.messages import (
    ROLLED_BACK,
    WITHDRAWN,
    Back,
    Completed,
    CoordinatorState,
    DataTuple,
    Due,
    Durable,
    Epoch,
    Held,
    Inbox,
    Item,
    LocalCheckpoint,
    PartitionState,
    Punctuate,
    Punctuation,
    Resend,
    Resume,
    Rollback,
    RolledBack,
    SinkState,
    SourceState,
    State,
    Stored,
)
from model.queues import STALE_NOTE

PUNCTUATE = "punctuate"


class Config(NamedTuple):
    """The knowledge of a node besides its site.  source: the number of a source among all."""

    design: Design
    members: Members
    source: int = 0


# --- where nodes stand -----------------------------------------------------------------------
def deploy(design: Design, scope: Scope) -> Deployment:
    """A site for each node of the graph, and the coordinator, who watches the partitions.

    Any two partitions may fail together, and all of them.  Raises Invalid for an operator that is
    no box.
    """
    members = _members(scope.graph)
    base = deploy_graph(scope.graph)
    sites = (*(_site(design, members, site) for site in base.sites), _coordinator(design, members))
    back = ((v, u) for u, v in scope.graph.edges if v in members.partitions)
    orders = ((COORDINATOR, site.name) for site in base.sites)
    reporting = (*members.partitions, *members.sinks)
    if len(members.sources) > 1:
        reporting = (*members.sources, *reporting)
    reports = ((name, COORDINATOR) for name in reporting)
    return Deployment(
        sites,
        (*base.channels, *back, *orders, *reports),
        base.crashable | {COORDINATOR},
        together=_groups(members.partitions),
        watched=frozenset((name, COORDINATOR) for name in members.partitions),
    )


def _members(graph: Graph) -> Members:
    by_role: dict[Role, list[NodeName]] = {role: [] for role in Role}
    for site in deploy_graph(graph).sites:
        by_role[site.role].append(site.name)
    return Members(*(tuple(by_role[role]) for role in Role))


def _site(design: Design, members: Members, site: Site) -> Site:
    source = members.sources.index(site.name) if site.role is Role.SOURCE else 0
    site = site._replace(config=Config(design, members, source))
    if site.role is not Role.OPERATOR:
        return site
    if not isinstance(site.spec, Box | Operator):
        raise Invalid(
            f"progressive: {site.name} is a {type(site.spec).__name__}; give a box or CEP operator"
        )
    return site._replace(spec=CepBox(site.spec)) if isinstance(site.spec, Operator) else site


def _coordinator(design: Design, members: Members) -> Site:
    below = (*members.sources, *members.partitions, *members.sinks)
    return Site(COORDINATOR, Role.OPERATOR, None, (), below, Config(design, members))


def _groups(names: tuple[NodeName, ...]) -> tuple[frozenset[NodeName], ...]:
    """The groups that fail together: any two, and all."""
    pairs = [frozenset((one, two)) for at, one in enumerate(names) for two in names[at + 1 :]]
    return tuple(dict.fromkeys([*pairs, *([frozenset(names)] if len(names) > 1 else [])]))


def boot(site: Site) -> State:
    if site.name == COORDINATOR:
        return coordinator.boot()
    match site.role:
        case Role.SOURCE:
            return SourceState()
        case Role.SINK:
            edges = len(site.preds)
            return SinkState(Epoch(), (0,) * edges, (0,) * edges, (0,) * edges)
        case Role.OPERATOR:
            return _load(site, (), Epoch())


def recover(site: Site, durable: Durable | tuple[LocalCheckpoint, ...] | None) -> Step:
    """Report to the coordinator, and wait for a rollback."""
    if site.name == COORDINATOR:
        assert durable is None or isinstance(durable, Durable)
        return coordinator.recover(site.config.design, site.config.members, durable)
    assert not isinstance(durable, Durable)
    stored = durable or ()
    state = _load(site, stored, Epoch())._replace(epoch=None, stored=stored)
    return Step(state, (Send(COORDINATOR, Back()),))


def step(site: Site, state: State, input_: Input) -> Step:
    match state, input_:
        case CoordinatorState(), _:
            return coordinator.step(site.config.design, site.config.members, state, input_)
        case SourceState(), _:
            return _source_step(site, state, input_)
        case PartitionState(), Received(sender, DataTuple() | Punctuation() as item):
            return _receive(site, state, sender, item)
        case PartitionState(), Received(_, Rollback() as order):
            return _roll_back(site, state, order)
        case PartitionState(), Received(_, Completed() as completed):
            return _end_recovery(site, state, completed)
        case PartitionState(), Received(consumer, Resend() as request):
            return Step(state, _resend(state, consumer, request))
        case SinkState(), Received(sender, DataTuple() | Punctuation() as item):
            return _take(site, state, sender, item)
        case SinkState(), Received(_, Completed(_, k)):
            return _commit(state, k)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_} in {type(state).__name__}")


# --- a source --------------------------------------------------------------------------------
def _source_step(site: Site, state: SourceState, input_: Input) -> Step:
    match input_:
        case Arrival(gap, type_, data):
            number, now = state.number + 1, state.now + gap
            of = frozenset([Of(site.config.source, _count(state))])
            item = DataTuple(state.epoch, number, Body(now, type_, data), of)
            state, effects = _send_new(site, state._replace(now=now), item)
            return Step(state, (*effects, *_timer(site, state)))
        case TimerFired():
            if not _timer(site, state):  # another source was first
                return Step(state)
            state, effects = _punctuate(site, state)
            if len(site.config.members.sources) > 1:
                effects = (*effects, Send(COORDINATOR, Due(state.k)))
            return Step(state, effects)
        case Received(_, Punctuate(k)):
            every: list[Effect] = []
            while state.k < k:
                state, effects = _punctuate(site, state)
                every += effects
            return Step(state, tuple(every))
        case Received(_, Completed(_, k)):
            state = state._replace(kept=_trim(state.kept, k))
            new = state.kept and isinstance(state.kept.last(), DataTuple)
            return Step(state, _timer(site, state) if new else ())
        case Received(_, Resume(epoch)):
            return _resume(site, state, epoch)
        case Received(consumer, Resend() as request):
            return Step(state, _resend(state, consumer, request))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _count(state: SourceState) -> int:
    """How many tuples the source has sent: its other items are punctuations."""
    return state.number - state.k


def _send_new(site: Site, state: SourceState, item: Item) -> Step:
    state = state._replace(number=item.number, kept=state.kept.append(item))
    return Step(state, tuple(Send(succ, item) for succ in site.succs))


def _punctuate(site: Site, state: SourceState) -> Step:
    k = state.k + 1
    return _send_new(site, state._replace(k=k), Punctuation(state.epoch, state.number + 1, k))


def _resume(site: Site, state: SourceState, epoch: Epoch) -> Step:
    """Send again what came after the start of the epoch."""
    kept = _trim(state.kept, epoch.start)
    again = [item._replace(epoch=epoch) for item in kept]
    effects: list[Effect] = [Note(REPLAYED, sum(isinstance(item, DataTuple) for item in again))]
    effects += (Send(succ, item) for item in again for succ in site.succs)
    several = len(site.config.members.sources) > 1
    punctuates = site.config.design.punctuates is Punctuates.DATA_OR_RECOVERY
    state = state._replace(epoch=epoch, kept=kept)
    if punctuates and (epoch.progressive or several):
        effects += _timer(site, state)
    return Step(state, tuple(effects))


def _timer(site: Site, state: SourceState) -> tuple[SetTimer, ...]:
    """The timer of the next punctuation, which may wait until no checkpoint is under way."""
    overlap = site.config.design.overlap
    under_way = any(isinstance(item, Punctuation) for item in state.kept)
    return (SetTimer(PUNCTUATE),) if overlap or not under_way else ()


def _trim(kept: Log[Item], k: int) -> Log[Item]:
    """The items after the k-th punctuation; all of them if it is not there."""
    punctuations = (item for item in kept if isinstance(item, Punctuation) and item.k == k)
    place = next((item.number for item in punctuations), 0)
    return kept.trim(lambda item: item.number <= place)


def _resend(
    state: SourceState | PartitionState, consumer: NodeName, request: Resend
) -> tuple[Effect, ...]:
    """Send again what the consumer asks for; nothing if one of the two is to be rolled back."""
    if state.epoch is None or state.epoch.number != request.epoch.number:
        return (STALE_NOTE,)
    again = [item._replace(epoch=state.epoch) for item in state.kept if item.number > request.after]
    tuples = sum(isinstance(item, DataTuple) for item in again)
    return (Note(REPLAYED, tuples), *(Send(consumer, item) for item in again))


# --- a partition: input ----------------------------------------------------------------------
def _receive(site: Site, state: PartitionState, sender: NodeName, item: Item) -> Step:
    design, edge = site.config.design, site.preds.index(sender)
    if state.epoch is None or _is_old(design, item.epoch, state.epoch):
        return Step(state, (STALE_NOTE,))
    inbox = state.inboxes[edge]
    if not _is_accepted(design, item.number, inbox.place):
        return Step(state, (_refused(item.number, inbox.place),))
    place = max(item.number, inbox.place)
    inboxes = _with(state.inboxes, edge, Inbox(place, (*inbox.held, item)))
    return _drain(site, state._replace(inboxes=inboxes))


def _is_old(design: Design, epoch: Epoch, own: Epoch) -> bool:
    """Is the item of another epoch?  One of a newer epoch comes only to who has failed since."""
    return design.fence is Fence.EPOCH and epoch.number != own.number


def _is_accepted(design: Design, number: int, place: int) -> bool:
    match design.accepts:
        case Accepts.NEXT:
            return number == place + 1
        case Accepts.UNSEEN:
            return number > place
        case Accepts.ALL:
            return True


def _refused(number: int, place: int) -> Note:
    return Note(DISCARDED) if number <= place else STALE_NOTE


# --- a partition: processing -----------------------------------------------------------------
def _drain(site: Site, state: PartitionState) -> Step:
    """Process what can be processed, and store a checkpoint where all inputs are punctuated."""
    every: list[Effect] = []
    while True:
        if all(_batch_ended(inbox) for inbox in state.inboxes):
            state, effects = _process(site, state, _in_turn(state.inboxes))
            state, more = _store(site, state)
            every += (*effects, *more)
            continue
        if not _is_ordered(site, state) and (ready := [*_unordered(state.inboxes)]):
            state, effects = _process(site, state, ready)
            every += effects
        return Step(state, tuple(every))


def _is_ordered(site: Site, state: PartitionState) -> bool:
    order = site.config.design.order
    on = order is Order.ALWAYS or (order is Order.RECOVERY and state.recovering)
    return on and len(site.preds) > 1


def _batch_ended(inbox: Inbox) -> bool:
    return any(isinstance(item, Punctuation) for item in inbox.held)


def _batch(inbox: Inbox) -> tuple[DataTuple, ...]:
    """The tuples before the first punctuation."""
    tuples = takewhile(lambda item: isinstance(item, DataTuple), inbox.held)
    return tuple(item for item in tuples if isinstance(item, DataTuple))


def _in_turn(inboxes: tuple[Inbox, ...]) -> Iterator[tuple[int, DataTuple]]:
    """The batch of each input, a tuple of each in turn (round-robin)."""
    for turn in zip_longest(*map(_batch, inboxes)):
        yield from ((edge, item) for edge, item in enumerate(turn) if item is not None)


def _unordered(inboxes: tuple[Inbox, ...]) -> Iterator[tuple[int, DataTuple]]:
    """What may be processed at once: the tuples before the first punctuation of each input."""
    for edge, inbox in enumerate(inboxes):
        yield from ((edge, item) for item in _batch(inbox))


def _process(site: Site, state: PartitionState, tuples: Iterable[tuple[int, DataTuple]]) -> Step:
    """Process these tuples, which are the first ones of their inputs."""
    assert state.epoch is not None
    box = state.box
    every: list[Effect] = []
    counts = [0] * len(state.inboxes)
    number, kept = state.number, state.kept
    for edge, item in tuples:
        counts[edge] += 1
        fed, *_ = site.spec.feed(box, BoxItem(edge, item.body, item.of))
        box = fed.state
        for out in fed.outs:
            number += 1
            sent = DataTuple(state.epoch, number, out.body, out.of)
            every += (Send(succ, sent) for succ in site.succs)
            kept = kept.append(sent) if _is_buffering(site, state) else kept
    inboxes = tuple(
        inbox._replace(held=inbox.held[count:])
        for inbox, count in zip(state.inboxes, counts, strict=True)
    )
    state = state._replace(box=box, inboxes=inboxes, number=number, kept=kept)
    return Step(state, tuple(every))


def _is_buffering(site: Site, state: PartitionState) -> bool:
    buffering = site.config.design.buffering
    return buffering is Buffering.UPSTREAM or (buffering is Buffering.ADAPTIVE and state.recovering)


def _store(site: Site, state: PartitionState) -> Step:
    """Store a checkpoint, acknowledge it and punctuate the output."""
    epoch = state.epoch
    assert epoch is not None
    heads = [inbox.held[0] for inbox in state.inboxes]
    first = heads[0]
    assert isinstance(first, Punctuation)
    sent = Punctuation(epoch, state.number + 1, first.k)
    part = LocalCheckpoint(first.k, state.box, tuple(head.number for head in heads), sent.number)
    older = (one for one in state.stored if one.k < first.k)
    stored = (*_needed(site.config.design, older, first.k), part)
    kept = state.kept.append(sent) if _is_buffering(site, state) else state.kept
    state = state._replace(
        inboxes=tuple(inbox._replace(held=inbox.held[1:]) for inbox in state.inboxes),
        number=sent.number,
        kept=kept,
        stored=stored,
    )
    acknowledge = Send(COORDINATOR, Stored(epoch, first.k))
    sends = (Send(succ, sent) for succ in site.succs)
    return Step(state, (Save(stored), Note(CHECKPOINTED), acknowledge, *sends))


def _needed(design: Design, older: Iterable[LocalCheckpoint], k: int) -> Iterable[LocalCheckpoint]:
    """The parts that a rollback may need: all, or that of the checkpoint before the k-th, which is
    complete if no two checkpoints are under way at a time."""
    return older if design.overlap else (one for one in older if one.k == k - 1)


# --- a partition: recovery -------------------------------------------------------------------
def _load(site: Site, stored: tuple[LocalCheckpoint, ...], epoch: Epoch) -> PartitionState:
    """The state as of the checkpoint at the start of the epoch.

    Where this checkpoint is missing, an older one or the first state takes its place.
    """
    known = [part for part in stored if part.k <= epoch.start]
    edges = len(site.preds)
    at = known[-1] if known else LocalCheckpoint(0, site.spec.begin(edges), (0,) * edges, 0)
    inboxes = tuple(Inbox(place) for place in at.places)
    return PartitionState(epoch, at.box, inboxes, at.number, epoch.progressive, Log(), (at,))


def _roll_back(site: Site, state: PartitionState, order: Rollback) -> Step:
    """Go back, unless an order that came to the same node before it failed has done it already; who
    rejoins asks for what it missed."""
    effects: list[Effect] = []
    if state.epoch is None or state.epoch.number != order.epoch.number:
        effects.append(Note(ROLLED_BACK if state.epoch else RESTORED))
        effects.append(Send(COORDINATOR, RolledBack(order.epoch)))
        state = _load(site, state.stored, order.epoch)
    if order.rejoin:
        asked = zip(site.preds, state.inboxes, strict=True)
        effects += (Send(pred, Resend(order.epoch, inbox.place)) for pred, inbox in asked)
    return Step(state, tuple(effects))


def _end_recovery(site: Site, state: PartitionState, completed: Completed) -> Step:
    """Forget older checkpoints; turn buffer and order off if this ends the recovery."""
    stored = tuple(part for part in state.stored if part.k >= completed.k)
    state = state._replace(stored=stored, kept=_trim(state.kept, completed.k))
    if state.epoch is None or state.epoch.number != completed.epoch.number:
        return Step(state)
    state = state._replace(recovering=False)
    if not _is_buffering(site, state):
        state = state._replace(kept=Log())
    return _drain(site, state)


# --- the application -------------------------------------------------------------------------
def _take(site: Site, state: SinkState, sender: NodeName, item: Item) -> Step:
    design, edge = site.config.design, site.preds.index(sender)
    effects: list[Effect] = []
    if design.fence is Fence.EPOCH and item.epoch.number < state.epoch.number:
        return Step(state, (STALE_NOTE,))
    if design.fence is Fence.EPOCH and item.epoch.number > state.epoch.number:
        state, joined = _join(state, item.epoch)
        effects += joined
    place = state.places[edge]
    if place is not None and not _is_accepted(design, item.number, place):
        return Step(state, (*effects, _refused(item.number, place)))
    state = state._replace(places=_with(state.places, edge, item.number))
    take = _mark if isinstance(item, Punctuation) else _pass_on
    state, more = take(design, state, edge, item)  # type: ignore[arg-type]
    return Step(state, (*effects, *more))


def _join(state: SinkState, epoch: Epoch) -> Step:
    """Go over to a newer epoch: what its start contains is handed on, what came later is not."""
    state, effects = _commit(state, epoch.start)
    edges = len(state.places)
    withdrawn = (Note(WITHDRAWN, len(state.held)),) if state.held else ()
    state = state._replace(
        epoch=epoch, places=(None,) * edges, marks=(epoch.start,) * edges, held=()
    )
    return Step(state, (*effects, *withdrawn))


def _pass_on(design: Design, state: SinkState, edge: int, item: DataTuple) -> Step:
    match design.outputs:
        case Outputs.COMMITTED:
            held = Held(state.marks[edge] + 1, edge, item)
            return Step(state._replace(held=(*state.held, held)))
        case Outputs.NUMBERED if item.number <= state.passed[edge]:
            return Step(state, (Note(DISCARDED),))
        case _:
            passed = _with(state.passed, edge, max(item.number, state.passed[edge]))
            return Step(state._replace(passed=passed), (Emit((edge, item.body), item.of),))


def _mark(design: Design, state: SinkState, edge: int, item: Punctuation) -> Step:
    marks = _with(state.marks, edge, item.k)
    state, before = state._replace(marks=marks), min(state.marks)
    if design.sinks is Sinks.SILENT or min(marks) == before:
        return Step(state)
    return Step(state, (Send(COORDINATOR, Stored(item.epoch, min(marks))),))


def _commit(state: SinkState, k: int) -> Step:
    """Hand on the results that the k-th checkpoint contains."""
    due = [held for held in state.held if held.k <= k]
    later = tuple(held for held in state.held if held.k > k)
    emits = (Emit((held.edge, held.tuple.body), held.tuple.of) for held in due)
    return Step(state._replace(held=later), tuple(emits))


def _with(items: tuple, at: int, item: object) -> tuple:  # type: ignore[type-arg]
    return (*items[:at], item, *items[at + 1 :])


# --- what is shown ---------------------------------------------------------------------------
def gauges(site: Site, state: State) -> Gauges:
    """The gauges of a node.  buffered: items that it keeps to send them again.  progress: of a
    partition the number of its epoch, 0 until a rollback, and the items taken since its start."""
    match state:
        case SourceState(_, number, _, _, kept):
            return Gauges(len(kept), None, number)
        case PartitionState(epoch, box, inboxes, _, _, kept):
            taken = 0 if epoch is None else sum(inbox.place for inbox in inboxes)
            progress = (epoch.number if epoch else 0, taken)
            return Gauges(len(kept), open_windows(box), progress)
        case SinkState() | CoordinatorState():
            return Gauges()
        case _:
            raise AssertionError(f"{site.name}: {state} is no state of a node")


def needed(scope: Scope, _seen: Observation) -> Mapping[NodeName, int]:
    """The most that nodes keep at rest: nothing, since everything is in a global checkpoint."""
    return dict.fromkeys((name for name, _ in scope.graph.nodes), 0)
