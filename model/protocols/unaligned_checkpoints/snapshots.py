"""The snapshots of instances: barriers that overtake records, or wait behind them.

Rule of this file: no record is processed here.
FLIP-76: at the first barrier an instance hands the barrier on, and stores its state with all
records that the barrier has overtaken and those that come before the barriers of other inputs.
"""

from __future__ import annotations

from model.core import Effect, NodeName, Note, Send, Site, Step
from model.protocols.unaligned_checkpoints.design import Captures, Overtaking
from model.protocols.unaligned_checkpoints.instances import OVERSEER
from model.protocols.unaligned_checkpoints.messages import (
    OVERTAKEN,
    WAITED,
    BufferedRecord,
    CheckpointBarrier,
    CheckpointPart,
    FlowRecord,
    InstancePart,
    InstanceState,
)
from model.protocols.unaligned_checkpoints.savepoints import SavepointBarriers
from model.queues import STALE_NOTE
from model.uploads import Snapshots, StoredPart, upload


def overtakes(site: Site, barrier: CheckpointBarrier) -> bool:
    """Does the barrier overtake records at this instance?"""
    job = site.config
    if barrier.saves:
        return bool(job.design.savepoints.barriers is SavepointBarriers.OVERTAKING)
    if job.design.overtaking is Overtaking.NOT_AT_WRITERS:
        return not {*job.graph.succs(job.places[site.name].node)} & {*job.sinks}
    return bool(job.design.overtaking is Overtaking.ALL)


def blocked(state: InstanceState) -> frozenset[NodeName]:
    """The inputs whose records wait for the barriers of other inputs; none if the barrier that has
    come overtakes, since its snapshot is open then."""
    return state.marked if state.open is None else frozenset()


def note_arrival(site: Site, state: InstanceState, sender: NodeName, record: FlowRecord) -> Step:
    """Take a record that comes before the barrier of its input into the open snapshot."""
    if state.open is None or sender in state.marked:
        return Step(state)
    if site.config.design.captures in (Captures.AT_FIRST_BARRIER, Captures.NO_INPUTS):
        return Step(state)
    late = BufferedRecord(sender, site.name, record)
    opened = state.open._replace(inputs=(*state.open.inputs, late))
    return Step(state._replace(open=opened), (Note(OVERTAKEN),))


def arrive(site: Site, state: InstanceState, sender: NodeName, barrier: CheckpointBarrier) -> Step:
    """Take a barrier at once if it overtakes; else put it behind the records of its input."""
    if overtakes(site, barrier):
        return _mark_overtaking(site, state, sender, barrier)
    return settle(site, state._replace(inbox=(*state.inbox, (sender, barrier))))


def _mark_overtaking(
    site: Site, state: InstanceState, sender: NodeName, barrier: CheckpointBarrier
) -> Step:
    first, marked = not state.marked, state.marked | {sender}
    last = marked.issuperset(site.config.inputs(site.name, state.run))
    state = state._replace(marked=frozenset() if last else marked)
    effects: tuple[Effect, ...] = ()
    if first:
        part = _capture(site, state)
        count = len(part.inputs) + len(part.outputs)
        sends = _barriers(site, state, barrier)
        state = state._replace(number=barrier.number, open=part)
        notes = (Note(OVERTAKEN, count),) if count and not barrier.saves else ()
        effects = (*notes, *sends)
    if not last:
        return Step(state, effects)
    assert state.open is not None
    state, stores = _hand_over(site, state._replace(open=None), barrier, state.open)
    return Step(state, (*effects, *stores))


def _hand_over(
    site: Site, state: InstanceState, barrier: CheckpointBarrier, part: InstancePart
) -> Step:
    """Store the snapshot; an asynchronous one is reported when the storage has it.  A savepoint has
    no records on their way."""
    number, snapshots = barrier.number, site.config.design.snapshots
    part = InstancePart(part.keys) if barrier.saves else part
    if snapshots is Snapshots.SYNCHRONOUS:
        return Step(state, (Send(OVERSEER, CheckpointPart(state.run, number, part)),))
    report, effects = upload(snapshots, OVERSEER, StoredPart(state.run, number, part))
    return Step(state._replace(upload=report), effects)


def report(state: InstanceState, run: int, number: int) -> Step:
    """Report the snapshot that the storage has."""
    if state.upload is None or state.upload[:2] != (run, number):
        return Step(state, (STALE_NOTE,))
    return Step(state._replace(upload=None), (Send(OVERSEER, state.upload),))


def _capture(site: Site, state: InstanceState) -> InstancePart:
    """The snapshot at the first barrier, with all records in the buffers."""
    captures = site.config.design.captures
    inputs = tuple(BufferedRecord(sender, site.name, one) for sender, one in state.inbox)
    outputs = tuple(BufferedRecord(site.name, receiver, one) for receiver, one in state.outbox)
    if captures is Captures.ALL_BUT_RESTORED:
        inputs = tuple(one for one in inputs if one.record.run == state.run)
    return InstancePart(
        state.keys,
        () if captures is Captures.NO_INPUTS else inputs,
        () if captures is Captures.NO_OUTPUTS else outputs,
    )


def _barriers(site: Site, state: InstanceState, barrier: CheckpointBarrier) -> tuple[Send, ...]:
    """Hand the barrier on, past the output buffers."""
    return tuple(Send(name, barrier) for name in site.config.outputs(site.name, state.run))


def settle(site: Site, state: InstanceState) -> Step:
    """Take the barriers that have become the first of their inputs, where they do not overtake."""
    if state.open is not None:
        return Step(state)
    effects: list[Effect] = []
    while (at := _first_barrier(state)) is not None:
        sender, barrier = state.inbox[at]
        inbox = (*state.inbox[:at], *state.inbox[at + 1 :])
        state = state._replace(inbox=inbox, marked=state.marked | {sender})
        if state.marked.issuperset(site.config.inputs(site.name, state.run)):
            state, more = _snapshot(site, state, barrier)
            effects += more
    waiting = any(sender in state.marked for sender, _ in state.inbox)
    return Step(state, (*effects, *((Note(WAITED),) if waiting else ())))


def _first_barrier(state: InstanceState) -> int | None:
    """The place of a barrier in front of which no message of its input is left.  A savepoint also
    waits for the records that a restart has put into the buffers, of whatever input."""
    before = set(state.marked)
    for at, (sender, message) in enumerate(state.inbox):
        if sender not in before and isinstance(message, CheckpointBarrier):
            return None if message.saves and _restored(state) else at
        before.add(sender)
    return None


def _restored(state: InstanceState) -> list[tuple[NodeName, FlowRecord]]:
    """The records of an earlier run in the input buffers, with their senders."""
    records = [(name, one) for name, one in state.inbox if isinstance(one, FlowRecord)]
    return [(name, one) for name, one in records if one.run < state.run]


def _snapshot(site: Site, state: InstanceState, barrier: CheckpointBarrier) -> Step:
    """Store the state after all barriers; the barrier waits behind the outputs.  A restored record
    of an instance that is no more comes behind no barrier, so it is part of the snapshot."""
    restored = (BufferedRecord(sender, site.name, one) for sender, one in _restored(state))
    part = InstancePart(state.keys, tuple(restored))
    state = state._replace(number=barrier.number, marked=frozenset())
    sends = _barriers(site, state, barrier)
    state, stores = _hand_over(site, state, barrier, part)
    if not state.outbox:
        return Step(state, (*sends, *stores))
    behind = tuple((one.to, one.message) for one in sends)
    return Step(state._replace(outbox=(*state.outbox, *behind)), stores)
