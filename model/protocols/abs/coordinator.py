"""The coordinator of asynchronous barrier snapshotting, with the snapshot storage.

Rule of this file: no step of a source, an operator or the external system.

The paper has no word on a failure of the coordinator; it may fail if the design says so.  Its
durable value is the snapshot storage, and each save is a crash point.  An epoch ends when a source
reports new records, and one epoch is under way at a time: the world decides when a report comes,
which covers every interval.
LOG.io, Sections 1 and 8.1.1.
"""

from __future__ import annotations

from typing import Any

from model.core import CHECKPOINTED, Effect, Lost, NodeName, Note, Received, Save, Send, Site, Step
from model.protocols.abs.design import (
    Completes,
    CoordinatorRestart,
    CoordinatorStorage,
    Decides,
)
from model.protocols.abs.messages import (
    ABANDONED,
    BEGUN,
    EPOCHS,
    RETURNED,
    AskRun,
    EndEpoch,
    EpochComplete,
    EpochDue,
    EpochPart,
    Kept,
    OverseerState,
    Reborn,
    RollBack,
    RunIs,
    TaskPart,
)
from model.queues import STALE_NOTE
from model.uploads import PartUpload, PartUploaded, StoredPart

Parts = tuple[tuple[NodeName, Any], ...]


def oversee(site: Site, state: OverseerState, input_: Received) -> Step:
    match input_.message:
        case EpochDue(run):
            if run != state.run or (state.begun and site.config.pauses):
                return Step(state, (STALE_NOTE,))
            return _end_epoch(site, state._replace(due=True))
        case EpochPart() | StoredPart() as part:
            return _store(site, state, input_.sender, part)
        case PartUpload(run, epoch):
            return Step(state, (Send(input_.sender, PartUploaded(run, epoch)),))
        case Lost(node):
            return _abandon(state, node)
        case Reborn():
            return _restart(site, state, input_.sender)
        case RunIs(node, run):
            return _take_run(site, state, node, run)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def recover_overseer(site: Site, kept: Kept | None) -> Step:
    """The first step after a crash of the coordinator, which does not know which nodes are down;
    each of them reports when it is up again."""
    run, epoch, parts = kept or Kept()
    state = OverseerState(run, epoch, parts=parts)
    effects: tuple[Effect, ...]
    match site.config.design.returns:
        case CoordinatorRestart.ROLLS_BACK:
            state, effects = roll_back(site, state)
        case CoordinatorRestart.ASKS:
            effects = tuple(Send(name, AskRun()) for name in site.succs)
            state = state._replace(down=frozenset(site.succs))
        case CoordinatorRestart.GOES_ON:
            state, effects = _end_epoch(site, state._replace(due=True))
    return Step(state, (Note(RETURNED), *effects))


def _keep(site: Site, state: OverseerState) -> tuple[Save, ...]:
    """Make durable what survives a crash."""
    keeps = site.config.design.coordinator
    if keeps in (CoordinatorStorage.NEVER_FAILS, CoordinatorStorage.NOTHING):
        return ()
    run = state.run if keeps is CoordinatorStorage.EPOCHS_AND_RUNS else 0
    return (Save(Kept(run, state.epoch, state.parts)),)


def _end_epoch(site: Site, state: OverseerState) -> Step:
    """Have the sources inject markers, if there is something new and no epoch is under way (1: "at
    the end of each epoch, source operators inject a marker")."""
    if not state.due or state.begun or state.down:
        return Step(state)
    order = EndEpoch(state.run, state.epoch + 1)
    sends = tuple(Send(reader, order) for reader in site.config.readers)
    return Step(state._replace(begun=True, due=False), (Note(BEGUN), *sends))


def _store(
    site: Site, state: OverseerState, sender: NodeName, message: EpochPart | StoredPart
) -> Step:
    """Store a snapshot.  8.1.1: "an epoch is said to be complete once ..."."""
    run, epoch, part = message
    if run != state.run or state.down:
        return Step(state, (STALE_NOTE,))
    if epoch == state.epoch:  # the writers were faster: Completes.WRITERS
        state = state._replace(parts=_with(site, state.parts, sender, part))
        return Step(state, _keep(site, state))
    state = state._replace(coming=_with(site, state.coming, sender, part))
    stored = {name for name, _ in state.coming}
    job = site.config
    awaited = {Completes.ALL: site.succs, Completes.WRITERS: job.writers}[job.design.completes]
    if not stored.issuperset(awaited):
        return Step(state, (Note(CHECKPOINTED),))
    return _complete(site, state)


def _with(site: Site, parts: Parts, sender: NodeName, part: Any) -> Parts:
    """The snapshots with one more, in the order of the nodes."""
    known = {**dict(parts), sender: part}
    return tuple((name, known[name]) for name in site.succs if name in known)


def _in_flight(parts: Parts) -> bool:
    """Do the snapshots have records on their way (9.1)?  Their outputs are in no epoch yet, and a
    source may have nothing more to report."""
    return any(isinstance(part, TaskPart) and part.flight for _, part in parts)


def _complete(site: Site, state: OverseerState) -> Step:
    """The epoch is complete.  8.1.1: "once a global epoch is reached, all the pre-committed changes
    are fully committed"; sources let go of its records."""
    parts = state.parts
    for name, part in state.coming:
        parts = _with(site, parts, name, part)
    more, job = _in_flight(parts), site.config
    due = state.due or (more and not job.pauses)
    state = state._replace(epoch=state.epoch + 1, begun=False, due=due, parts=parts, coming=())
    done = EpochComplete(state.run, state.epoch, more and job.pauses)
    sends = tuple(Send(name, done) for name in (*job.readers, *job.writers))
    stored: tuple[Effect, ...] = _keep(site, state)
    first = job.design.decides is Decides.STORED_FIRST
    effects = (*stored, *sends) if first else (*sends, *stored)
    state, begins = _end_epoch(site, state)
    return Step(state, (Note(CHECKPOINTED), Note(EPOCHS), *effects, *begins))


def _abandon(state: OverseerState, node: NodeName) -> Step:
    """A node has failed: the epoch under way will not be complete (1: "a failure of one operator
    stops the processing and triggers a restart of the pipeline")."""
    notes = (Note(ABANDONED),) if state.begun else ()
    return Step(state._replace(begun=False, down=state.down | {node}, coming=()), notes)


def _restart(site: Site, state: OverseerState, node: NodeName) -> Step:
    """Once all nodes are up, restart them "from the last complete epoch" (8.1.1)."""
    state = state._replace(down=state.down - {node})
    return Step(state) if state.down else roll_back(site, state)


def _take_run(site: Site, state: OverseerState, node: NodeName, run: int) -> Step:
    """A node has answered a restarted coordinator; the new run has a higher number than all."""
    if node not in state.down:
        return Step(state, (STALE_NOTE,))
    return _restart(site, state._replace(run=max(state.run, run)), node)


def roll_back(site: Site, state: OverseerState) -> Step:
    """Restart all nodes in a new run, whose number is durable before any node knows it."""
    again = _in_flight(state.parts)
    state = state._replace(run=state.run + 1, begun=False, due=again, coming=())
    parts = dict(state.parts)
    sends = [Send(name, RollBack(state.run, state.epoch, parts.get(name))) for name in site.succs]
    kept = _keep(site, state)
    state, more = _end_epoch(site, state)
    return Step(state, (*kept, *sends, *more))
