"""The operators of asynchronous barrier snapshotting; one that puts out to a sink is a writer.

Rule of this file: no claim which choice is right (variants.py), and no step of another node.
Nothing is saved on an operator: snapshots are with the coordinator.
LOG.io, Sections 1, 8.1.1 and 9.1.
"""

from __future__ import annotations

from model.boxes.box import Item, Out
from model.core import RESTORED, Effect, Input, NodeName, Note, Received, Send, Site, Step
from model.protocols.abs.deployment import OVERSEER
from model.protocols.abs.design import Alignment, Generations, WriteMode
from model.protocols.abs.messages import (
    ALIGNED,
    EARLY_RECORDS,
    IN_FLIGHT,
    AskRun,
    CommitEpoch,
    EpochComplete,
    EpochMarker,
    EpochPart,
    Prepared,
    RollBack,
    RunIs,
    SettleEpoch,
    StreamRecord,
    TaskPart,
    TaskState,
    WriteAction,
)
from model.queues import STALE_NOTE
from model.uploads import PartUploaded, Snapshots, StoredPart, upload


def operate(site: Site, state: TaskState, input_: Input) -> Step:
    match input_:
        case Received(_, RollBack() as order):
            return _roll_back(site, state, order)
        case Received(_, EpochComplete(run, epoch)):
            return _commit(site, state, run, epoch)
        case Received(_, PartUploaded(run, epoch)):
            return _report(state, run, epoch)
        case Received(_, AskRun()):
            return Step(state, (Send(OVERSEER, RunIs(site.name, state.run)),))
        case Received(sender, message):
            return _drain(site, state._replace(held=(*state.held, (sender, message))))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def load(site: Site, run: int, epoch: int, part: TaskPart | None) -> TaskState:
    """An operator as of an epoch; without a snapshot as of the beginning."""
    box, taken, made, _ = part or TaskPart(site.spec.begin(len(site.preds)))
    return TaskState(run, epoch, box, taken, made)


def _drain(site: Site, state: TaskState) -> Step:
    """Process the messages that need not wait, until all do."""
    effects: list[Effect] = []
    while (at := _ready(site, state)) is not None:
        sender, message = state.held[at]
        state = state._replace(held=(*state.held[:at], *state.held[at + 1 :]))
        if message.run < state.run and site.config.design.generations is Generations.DROPPED:
            effects.append(STALE_NOTE)
            continue
        if isinstance(message, EpochMarker):
            state, more = _mark(site, state, sender, message)
        else:
            state, more = _process(site, state, sender, message)
        effects += more
    if state.held:
        effects.append(Note(EARLY_RECORDS if state.held[-1][1].run > state.run else ALIGNED))
    return Step(state, tuple(effects))


def _ready(site: Site, state: TaskState) -> int | None:
    """The first of the held messages that need not wait.  8.1.1: "it blocks the channel from where
    the new marker has been received"."""
    design = site.config.design
    if state.run < 0:
        return None
    for at, (sender, message) in enumerate(state.held):
        if message.run < state.run:
            return at
        if message.run > state.run and design.generations is Generations.DROPPED:
            continue
        if sender not in state.marked or design.alignment is not Alignment.STRICT:
            return at
    return None


def _process(site: Site, state: TaskState, sender: NodeName, record: StreamRecord) -> Step:
    """Feed the box; of several allowed answers the one that the run chooses."""
    notes: tuple[Effect, ...] = ()
    if state.open is not None and sender not in state.marked:
        opened = state.open._replace(flight=(*state.open.flight, (sender, record)))
        state, notes = state._replace(open=opened), (Note(IN_FLIGHT),)
    item = Item(site.preds.index(sender), record.body, record.of)
    answers = site.spec.feed(state.box, item)
    fed = answers[state.run % len(answers)]
    state = state._replace(box=fed.state, taken=state.taken + 1)
    state, effects = _put_out(site, state, fed.outs)
    return Step(state, (*notes, *effects))


def _put_out(site: Site, state: TaskState, outs: tuple[Out, ...]) -> Step:
    """Send the outputs to operators; write them, or keep them for the transaction."""
    job, effects = site.config, []
    for out in outs:
        state = state._replace(made=state.made + 1)
        for succ in site.succs:
            if succ not in job.sinks:
                effects.append(Send(succ, StreamRecord(state.run, *out)))
            elif job.design.writes in (WriteMode.AT_ONCE, WriteMode.IDEMPOTENT):
                effects.append(Send(succ, WriteAction(state.made, out)))
        if site.name in job.writers and job.design.writes not in (
            WriteMode.AT_ONCE,
            WriteMode.IDEMPOTENT,
        ):
            state = state._replace(outs=(*state.outs, out))
    return Step(state, tuple(effects))


def _mark(site: Site, state: TaskState, sender: NodeName, marker: EpochMarker) -> Step:
    """A marker has come: is it time for the snapshot?  8.1.1: an operator "waits for the same
    marker to be received from all its input channels"."""
    alignment = site.config.design.alignment
    early = alignment in (Alignment.FIRST, Alignment.UNALIGNED)
    first, marked = not state.marked, state.marked | {sender}
    last = marked.issuperset(site.preds)
    state = state._replace(marked=frozenset() if last else marked)
    effects: tuple[Effect, ...] = ()
    if first if early else last:
        state, effects = _capture(site, state, marker)
    if state.open is None or not (last or alignment is not Alignment.UNALIGNED):
        return Step(state, effects)
    state, hands = _hand_over(site, state, marker, state.open)
    return Step(state, (*effects, *hands))


def _hand_over(site: Site, state: TaskState, marker: EpochMarker, part: TaskPart) -> Step:
    """Store the snapshot; an asynchronous one is reported when the storage has it."""
    run, epoch = marker
    state = state._replace(open=None)
    snapshots = site.config.design.snapshots
    if snapshots is Snapshots.SYNCHRONOUS:
        return Step(state, (Send(OVERSEER, EpochPart(run, epoch, part)),))
    report, effects = upload(snapshots, OVERSEER, StoredPart(run, epoch, part))
    return Step(state._replace(upload=report), effects)


def _report(state: TaskState, run: int, epoch: int) -> Step:
    """Report the snapshot that the storage has."""
    if state.upload is None or state.upload[:2] != (run, epoch):
        return Step(state, (STALE_NOTE,))
    return Step(state._replace(upload=None), (Send(OVERSEER, state.upload),))


def _capture(site: Site, state: TaskState, marker: EpochMarker) -> Step:
    """Broadcast the marker, then pre-commit what was put out (8.1.1, in this order)."""
    job = site.config
    writes = job.design.writes
    effects: list[Effect] = [
        Send(succ, marker._replace(run=state.run)) for succ in site.succs if succ not in job.sinks
    ]
    if state.outs or (site.name in job.writers and writes is WriteMode.CHECKED):
        prepared = Prepared(marker.epoch, state.outs, state.made)
        effects += [Send(succ, prepared) for succ in site.succs if succ in job.sinks]
    part = TaskPart(state.box, state.taken, state.made)
    return Step(state._replace(epoch=marker.epoch, open=part, outs=()), tuple(effects))


def _commit(site: Site, state: TaskState, run: int, epoch: int) -> Step:
    """8.1.1: "once a global epoch is reached, all the pre-committed changes are ... committed"."""
    if run != state.run:
        return Step(state, (STALE_NOTE,))
    return Step(state, _to_system(site, CommitEpoch(epoch)))


def _to_system(site: Site, message: CommitEpoch | SettleEpoch) -> tuple[Send, ...]:
    """The message to each external system of a writer that commits in two phases."""
    job = site.config
    if job.design.writes is not WriteMode.TWO_PHASES:
        return ()
    return tuple(Send(succ, message) for succ in site.succs if succ in job.sinks)


def _roll_back(site: Site, state: TaskState, order: RollBack) -> Step:
    """Go on from the snapshot in a new run; first the records that were on their way (9.1)."""
    run, epoch, part = order
    held = tuple(one for one in state.held if one[1].run >= run)
    flight = () if part is None else part.flight
    again = tuple((sender, record._replace(run=run)) for sender, record in flight)
    loaded = load(site, run, epoch, part)._replace(held=(*again, *held))
    settle = _to_system(site, SettleEpoch(epoch))
    state, effects = _drain(site, loaded)
    return Step(state, (*settle, Note(RESTORED), *effects))
