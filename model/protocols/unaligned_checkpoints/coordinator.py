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
    CheckpointDone,
    CheckpointDue,
    CheckpointPart,
    GoBack,
    InjectBarriers,
    InstancePart,
    InstanceUp,
    KeeperState,
)
from model.protocols.unaligned_checkpoints.redistribution import share_out
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
        case Lost(node):
            notes = (Note(ABORTED),) if state.begun else ()
            down = state.down | {node}
            return Step(state._replace(begun=False, down=down, coming=()), notes)
        case InstanceUp():
            state = state._replace(down=state.down - {input_.sender})
            return Step(state) if state.down else _go_back(site, state)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _begin(site: Site, state: KeeperState) -> Step:
    """Have the sources inject barriers, if there is something new and no checkpoint under way."""
    if not state.due or state.begun or state.down:
        return Step(state)
    order = InjectBarriers(state.run, state.number + 1)
    sends = tuple(Send(reader, order) for reader in site.config.readers)
    return Step(state._replace(begun=True, due=False), (Note(BEGUN_CHECKPOINTS), *sends))


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
    done = CheckpointDone(state.run, state.number + 1)
    state = state._replace(number=done.number, begun=False, parts=state.coming, coming=())
    sends = tuple(Send(name, done) for name in (*site.config.readers, *site.config.sinks))
    state, more = _begin(site, state)
    return Step(state, (Note(CHECKPOINTED), Note(FINISHED_CHECKPOINTS), *sends, *more))


def _go_back(site: Site, state: KeeperState) -> Step:
    """Restart all nodes in a new run from the last complete checkpoint."""
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
