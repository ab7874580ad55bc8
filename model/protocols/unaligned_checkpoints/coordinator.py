"""The coordinator of unaligned checkpoints, with the storage of the parts.

Rule of this file: no step of another node.  The coordinator never crashes, and takes at once
all messages; the family abs has designs whose coordinator crashes.  At most one checkpoint is under
way.  Every restart after a crash begins a run, and the layout gives the number of instances in it.
FLIP-76; FLIP-160 (a restart with the instances that there are).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.core import CHECKPOINTED, Effect, Lost, NodeName, Note, Received, Send, Site, Step
from model.protocols.unaligned_checkpoints.design import Finishes
from model.protocols.unaligned_checkpoints.instances import PipelinePlan
from model.protocols.unaligned_checkpoints.messages import (
    ABORTED,
    BEGUN_CHECKPOINTS,
    FINISHED_CHECKPOINTS,
    INJECTED,
    RELOCATED,
    RESCALED,
    RESUMED,
    SAVED_BY_USER,
    CheckpointDone,
    CheckpointDue,
    CheckpointPart,
    GoBack,
    InjectBarriers,
    InstancePart,
    InstanceUp,
    KeeperState,
    SavepointDue,
)
from model.protocols.unaligned_checkpoints.redistribution import share_out
from model.protocols.unaligned_checkpoints.savepoints import GoesBack, StopCommits
from model.queues import STALE_NOTE
from model.uploads import PartUpload, PartUploaded, StoredPart


def oversee(site: Site, state: KeeperState, input_: Received) -> Step:
    match input_.message:
        case CheckpointDue(run, number):
            if run != state.run or number <= state.number + state.begun:
                return Step(state, (STALE_NOTE,))
            return _begin(site, state._replace(due=True))
        case CheckpointPart() | StoredPart() as part:
            return _store(site, state, input_.sender, part)
        case PartUpload(run, number):
            return Step(state, (Send(input_.sender, PartUploaded(run, number)),))
        case SavepointDue():
            return _take_wish(site, state)
        case Lost(node):
            state, notes = _abort(state)
            return Step(state._replace(down=state.down | {node}), notes)
        case InstanceUp():
            state = state._replace(down=state.down - {input_.sender})
            return Step(state) if state.down else _go_back(site, state)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _begin(site: Site, state: KeeperState) -> Step:
    """Have the sources inject barriers, if there is something new or the user wishes a savepoint,
    and no checkpoint is under way."""
    if not (state.due or state.wished) or state.begun or state.down:
        return Step(state)
    order = InjectBarriers(state.run, state.number + 1, state.wished)
    sends = tuple(Send(reader, order) for reader in site.config.readers)
    state = state._replace(begun=True, due=False, wished=False, saving=state.wished)
    return Step(state, (Note(BEGUN_CHECKPOINTS), *sends))


def _abort(state: KeeperState) -> Step:
    """End a checkpoint that is under way, and the wish of a savepoint."""
    notes = (Note(ABORTED),) if state.begun else ()
    return Step(state._replace(begun=False, coming=(), wished=False, saving=False), notes)


def _take_wish(site: Site, state: KeeperState) -> Step:
    """The user asks for a savepoint, or for the next job; not while a node is down."""
    if state.down:
        return Step(state, (STALE_NOTE,))
    if state.saved is None:
        return _begin(site, state._replace(wished=True))
    (number, parts), (state, notes) = state.saved, _abort(state)
    state = state._replace(number=number, parts=parts, saved=None)
    state, restart = _go_back(site, state)
    return Step(state, (*notes, Note(RESUMED), *restart))


def _store(
    site: Site, state: KeeperState, sender: NodeName, message: CheckpointPart | StoredPart
) -> Step:
    """Store a part; the checkpoint is complete when all parts are there."""
    run, number, part = message
    if run != state.run or number != state.number + 1 or state.down:
        return Step(state, (STALE_NOTE,))
    job = site.config
    known = {**dict(state.coming), sender: part}
    names = job.working(run)
    state = state._replace(coming=tuple((name, known[name]) for name in names if name in known))
    late = {*job.sinks} if job.design.finishes is Finishes.WITHOUT_SINKS else set()
    if {*names} - {*known} - late:
        return Step(state, (Note(CHECKPOINTED),))
    return _complete(site, state)


def _complete(site: Site, state: KeeperState) -> Step:
    """Sources let go of the records of the checkpoint, and sinks commit."""
    if state.saving:
        return _save(site, state)
    done = CheckpointDone(state.run, state.number + 1)
    state = state._replace(number=done.number, begun=False, parts=state.coming, coming=())
    sends = tuple(Send(name, done) for name in (*site.config.readers, *site.config.sinks))
    state, more = _begin(site, state)
    return Step(state, (Note(CHECKPOINTED), Note(FINISHED_CHECKPOINTS), *sends, *more))


def _save(site: Site, state: KeeperState) -> Step:
    """The savepoint is complete: sinks commit it, and the next job begins from it; or the job goes
    on, and the user has the savepoint."""
    job, before = site.config, state
    savepoints = job.design.savepoints
    done = CheckpointDone(state.run, state.number + 1, saves=True)
    readers = job.readers if savepoints.goes_back is GoesBack.LAST else ()
    sinks = job.sinks if savepoints.commits is StopCommits.FIRST else ()
    sends = tuple(Send(name, done) for name in (*readers, *sinks))
    state = state._replace(number=done.number, parts=state.coming)
    state = state._replace(begun=False, saving=False, coming=())
    notes = (Note(CHECKPOINTED), Note(SAVED_BY_USER))
    if job.goes_on:
        state, more = _begin(site, state._replace(saved=(state.number, state.parts)))
        return Step(state, (*notes, *sends, *more))
    state, restart = _go_back(site, state)
    if savepoints.goes_back is GoesBack.CHECKPOINT:
        state = state._replace(number=before.number, parts=before.parts)
    return Step(state, (*notes, *sends, Note(RESUMED), *restart))


def _go_back(site: Site, state: KeeperState) -> Step:
    """Begin all nodes in a new run from the last complete checkpoint."""
    job, run = site.config, state.run + 1
    parts = share_out(job, state.parts, run)
    sends = tuple(Send(name, GoBack(run, state.number, parts.get(name))) for name in site.succs)
    state = state._replace(run=run, begun=False, due=False, coming=())
    return Step(state, (*_notes(job, parts, run), *sends))


def _notes(job: PipelinePlan, parts: Mapping[NodeName, Any], run: int) -> tuple[Effect, ...]:
    """Count the records that are injected, and those of them that have another instance now."""
    taken = [
        (name, one)
        for name, part in parts.items()
        if isinstance(part, InstancePart)
        for one in part.inputs
    ]
    moved = [one for name, one in taken if one.receiver != name]
    rescaled = any(
        job.parallelism(node, run) != job.parallelism(node, run - 1) for node in job.tasks
    )
    counts = ((INJECTED, len(taken)), (RELOCATED, len(moved)), (RESCALED, int(rescaled)))
    return tuple(Note(counted, times) for counted, times in counts if times)
