"""A partition: it processes batches, stores its part of each checkpoint, goes back, and rejoins.

Rule of this file: no decision of the coordinator (coordinator.py).
Su and Zhou, Progressive Recovery, 2016, Section 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile, zip_longest

from model.boxes.box import Item as BoxItem
from model.core import (
    CHECKPOINTED,
    DISCARDED,
    RESTORED,
    Effect,
    Input,
    NodeName,
    Note,
    Received,
    Save,
    Send,
    Site,
    Step,
)
from model.log import Log
from model.protocols.progressive.design import (
    Accepts,
    Buffering,
    Fence,
    Order,
    ProgressiveDesign,
    Suspicion,
)
from model.protocols.progressive.messages import (
    COORDINATOR,
    ROLLED_BACK,
    Back,
    BatchEnd,
    Completed,
    DataTuple,
    Epoch,
    Inbox,
    Inquiry,
    Item,
    LocalCheckpoint,
    PartitionState,
    Punctuation,
    Resend,
    Rollback,
    RolledBack,
    Stored,
)
from model.protocols.progressive.routes import fan_out
from model.protocols.progressive.source import resend, trim
from model.queues import STALE_NOTE
from model.world import replace_item


def boot(site: Site) -> PartitionState:
    return _load(site, (), Epoch())


def recover(site: Site, stored: tuple[LocalCheckpoint, ...] | None) -> Step:
    """Report to the coordinator, and wait for a rollback."""
    state = boot(site)._replace(epoch=None, stored=stored or ())
    return Step(state, (Send(COORDINATOR, Back()),))


def step(site: Site, state: PartitionState, input_: Input) -> Step:
    match input_:
        case Received(sender, DataTuple() | Punctuation() | BatchEnd() as item):
            return _receive(site, state, sender, item)
        case Received(_, Inquiry(order)) if state.epoch is not None:
            return _roll_back(site, state, order)
        case Received(_, Inquiry()):
            return Step(state, (Send(COORDINATOR, Back(asked=True)),))
        case Received(_, Rollback() as order):
            return _roll_back(site, state, order)
        case Received(_, Completed() as completed):
            return _end_recovery(site, state, completed)
        case Received(consumer, Resend() as request):
            return Step(state, resend(site, state, consumer, request))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


# --- input ----------------------------------------------------------------------
def _receive(site: Site, state: PartitionState, sender: NodeName, item: Item) -> Step:
    design, edge = site.config.design, site.preds.index(sender)
    if state.epoch is None or _is_old(design, item.epoch, state.epoch):
        return Step(state, (STALE_NOTE,))
    inbox = state.inboxes[edge]
    if not is_accepted(design, item.number, inbox.place):
        return Step(state, (refused(item.number, inbox.place),))
    place = max(item.number, inbox.place)
    inboxes = replace_item(state.inboxes, edge, Inbox(place, (*inbox.held, item)))
    return _drain(site, state._replace(inboxes=inboxes))


def _is_old(design: ProgressiveDesign, epoch: Epoch, own: Epoch) -> bool:
    """Is the item of another epoch?  One of a newer epoch comes only to who has failed since."""
    return design.fence is Fence.EPOCH and epoch.number != own.number


def is_accepted(design: ProgressiveDesign, number: int, place: int) -> bool:
    match design.accepts:
        case Accepts.NEXT:
            return number == place + 1
        case Accepts.UNSEEN:
            return number > place
        case Accepts.ALL:
            return True


def refused(number: int, place: int) -> Note:
    return Note(DISCARDED) if number <= place else STALE_NOTE


# --- processing -----------------------------------------------------------------
def _drain(site: Site, state: PartitionState) -> Step:
    """Process what can be processed, and store a checkpoint where all inputs are punctuated."""
    every: list[Effect] = []
    while True:
        if all(_batch_ended(inbox) for inbox in state.inboxes):
            state, effects = _process(site, state, _in_turn(state.inboxes))
            ends = _store if isinstance(state.inboxes[0].held[0], Punctuation) else _hand_on_end
            state, more = ends(site, state)
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
    return any(not isinstance(item, DataTuple) for item in inbox.held)


def _batch(inbox: Inbox) -> tuple[DataTuple, ...]:
    """The tuples before the first end of a batch."""
    tuples = takewhile(lambda item: isinstance(item, DataTuple), inbox.held)
    return tuple(item for item in tuples if isinstance(item, DataTuple))


def _in_turn(inboxes: tuple[Inbox, ...]) -> Iterator[tuple[int, DataTuple]]:
    """The batch of each input, a tuple of each in turn (round-robin)."""
    for turn in zip_longest(*map(_batch, inboxes)):
        yield from ((edge, item) for edge, item in enumerate(turn) if item is not None)


def _unordered(inboxes: tuple[Inbox, ...]) -> Iterator[tuple[int, DataTuple]]:
    """The tuples that may be processed at once: before the first end of a batch of each input."""
    for edge, inbox in enumerate(inboxes):
        yield from ((edge, item) for item in _batch(inbox))


def _process(site: Site, state: PartitionState, tuples: Iterable[tuple[int, DataTuple]]) -> Step:
    """Process these tuples, which are the first ones of their inputs."""
    assert state.epoch is not None
    box = state.box
    every: list[Effect] = []
    counts = [0] * len(state.inboxes)
    number, kept, skipped = state.number, state.kept, state.skipped
    for edge, item in tuples:
        counts[edge] += 1
        fed, *_ = site.spec.feed(box, BoxItem(edge, item.body, item.of))
        box = fed.state
        for out in fed.outs:
            number += 1
            sent = DataTuple(state.epoch, number, out.body, out.of)
            sends, skipped = fan_out(site, sent, skipped)
            every += sends
            kept = kept.append(sent) if _is_buffering(site, state) else kept
    inboxes = tuple(
        inbox._replace(held=inbox.held[count:])
        for inbox, count in zip(state.inboxes, counts, strict=True)
    )
    state = state._replace(box=box, inboxes=inboxes, number=number, kept=kept, skipped=skipped)
    return Step(state, tuple(every))


def _is_buffering(site: Site, state: PartitionState) -> bool:
    """Does the partition keep what it sends?  Sinks do not (4): nobody below them asks for it."""
    design, members = site.config.design, site.config.members
    on = design.buffering is Buffering.UPSTREAM or (
        design.buffering is Buffering.ADAPTIVE and state.recovering
    )
    return on and any(succ in members.partitions for succ in site.succs)


def _store(site: Site, state: PartitionState) -> Step:
    """Store a checkpoint, acknowledge it and punctuate the output."""
    epoch = state.epoch
    assert epoch is not None
    heads = [inbox.held[0] for inbox in state.inboxes]
    first = heads[0]
    assert isinstance(first, Punctuation)
    sent = Punctuation(epoch, state.number + 1, first.k)
    places = tuple(head.number for head in heads)
    part = LocalCheckpoint(first.k, state.box, places, sent.number, state.skipped)
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
    sends, _ = fan_out(site, sent, state.skipped)
    return Step(state, (Save(stored), Note(CHECKPOINTED), acknowledge, *sends))


def _hand_on_end(site: Site, state: PartitionState) -> Step:
    """End a batch of the output, which may be empty, where one ends in all inputs."""
    assert state.epoch is not None
    sent = BatchEnd(state.epoch, state.number + 1)
    state = state._replace(
        inboxes=tuple(inbox._replace(held=inbox.held[1:]) for inbox in state.inboxes),
        number=sent.number,
        kept=state.kept.append(sent) if _is_buffering(site, state) else state.kept,
    )
    return Step(state, fan_out(site, sent, state.skipped)[0])


def _needed(
    design: ProgressiveDesign, older: Iterable[LocalCheckpoint], k: int
) -> Iterable[LocalCheckpoint]:
    """The parts that a rollback may need: all, or that of the checkpoint before the k-th, which is
    complete if no two checkpoints are under way at a time."""
    return older if design.overlap else (one for one in older if one.k == k - 1)


# --- recovery -------------------------------------------------------------------
def _load(site: Site, stored: tuple[LocalCheckpoint, ...], epoch: Epoch) -> PartitionState:
    """The state as of the checkpoint at the start of the epoch.

    Where this checkpoint is missing, an older one or the first state takes its place.  Later parts
    stay, as they do on the disk: the order may be older than a checkpoint that they complete.
    """
    known = [part for part in stored if part.k <= epoch.start]
    edges = len(site.preds)
    skipped = (0,) * len(site.config.routes)
    first = LocalCheckpoint(0, site.spec.begin(edges), (0,) * edges, 0, skipped)
    at = known[-1] if known else first
    inboxes = tuple(Inbox(place) for place in at.places)
    kept = (at, *(part for part in stored if part.k > epoch.start))
    on = epoch.progressive
    return PartitionState(epoch, at.box, inboxes, at.number, on, Log(), kept, at.skipped)


def _roll_back(site: Site, state: PartitionState, order: Rollback) -> Step:
    """Go back, unless an order that came to the same node before it failed has done it already; who
    rejoins asks for what it missed."""
    effects: list[Effect] = []
    if state.epoch is None or state.epoch.number != order.epoch.number:
        effects.append(Note(ROLLED_BACK if state.epoch else RESTORED))
        effects.append(Send(COORDINATOR, RolledBack(order.epoch)))
        state = _load(site, state.stored, order.epoch)
    elif site.config.design.suspicion is Suspicion.ASKED:
        effects += _confirm(state, order.epoch)
    if order.rejoin:
        asked = zip(site.preds, state.inboxes, strict=True)
        effects += (Send(pred, Resend(order.epoch, inbox.place)) for pred, inbox in asked)
    return Step(state, tuple(effects))


def _confirm(state: PartitionState, epoch: Epoch) -> tuple[Send, ...]:
    """To the coordinator, which may have taken the sender for dead: it is up, and has these parts
    of later checkpoints.  A part that it has not come to is of an older epoch."""
    parts = (part for part in state.stored if part.number <= state.number)
    stored = (Send(COORDINATOR, Stored(epoch, part.k)) for part in parts if part.k > epoch.start)
    return (Send(COORDINATOR, RolledBack(epoch)), *stored)


def _end_recovery(site: Site, state: PartitionState, completed: Completed) -> Step:
    """Forget older checkpoints; turn buffer and order off if this ends the recovery."""
    stored = tuple(part for part in state.stored if part.k >= completed.k)
    state = state._replace(stored=stored, kept=trim(state.kept, completed.k))
    if state.epoch is None or state.epoch.number != completed.epoch.number:
        return Step(state)
    state = state._replace(recovering=False)
    if not _is_buffering(site, state):
        state = state._replace(kept=Log())
    return _drain(site, state)
