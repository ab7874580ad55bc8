"""The recovery manager of uncoordinated checkpoints, with the storage of all checkpoints.

Rule of this file: no step of a source, an operator or a sink.  It coordinates no checkpoint: it
takes what comes, finds the recovery line, and deletes what no restart needs.
"""

from __future__ import annotations

from collections.abc import Sequence

from model.core import CHECKPOINTED, NodeName, Note, Received, Send, Site, Step
from model.protocols.uncoordinated.design import Collects
from model.protocols.uncoordinated.lines import Chains, recovery_line
from model.protocols.uncoordinated.messages import (
    ADVANCED,
    UNDONE,
    CheckpointTaken,
    LineManager,
    LineMoved,
    NeedsLine,
    ReturnToLine,
    TaskCheckpoint,
)
from model.queues import STALE_NOTE


def manage(site: Site, state: LineManager, input_: Received) -> Step:
    match input_.message:
        case CheckpointTaken(run, checkpoint):
            if run != state.run:
                return Step(state, (STALE_NOTE,))
            return _store(site, state, input_.sender, checkpoint)
        case NeedsLine():
            return _restart(site, state)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _store(site: Site, state: LineManager, sender: NodeName, checkpoint: TaskCheckpoint) -> Step:
    """Store a checkpoint, and delete those that are behind the line."""
    job = site.config
    before = [own[0] for own in state.stored]
    at = job.tasks.index(sender)
    stored = (
        *state.stored[:at],
        (*state.stored[at], checkpoint),
        *state.stored[at + 1 :],
    )
    stored = _collect(site, stored)
    after = [own[0] for own in stored]
    moved = _moves(site, state.run, before, after)
    notes = (Note(CHECKPOINTED), *((Note(ADVANCED),) if before != after else ()))
    return Step(state._replace(stored=stored), (*notes, *moved))


def _collect(site: Site, stored: Chains) -> tuple[tuple[TaskCheckpoint, ...], ...]:
    """The checkpoints that stay."""
    design = site.config.design
    if design.collects is Collects.ALL_BUT_NEWEST:
        return tuple((own[-1],) for own in stored)
    line = recovery_line(design.line, site.config.bonds, stored)
    return tuple(tuple(own[place:]) for own, place in zip(stored, line, strict=True))


def _moves(
    site: Site, run: int, before: Sequence[TaskCheckpoint], after: Sequence[TaskCheckpoint]
) -> tuple[Send, ...]:
    """A message to each node that may let go of outputs, or pass them on."""
    sends = []
    for name in site.succs:
        move = _line_for(site, run, name, after)
        if move != _line_for(site, run, name, before):
            sends.append(Send(name, move))
    return tuple(sends)


def _line_for(site: Site, run: int, name: NodeName, line: Sequence[TaskCheckpoint]) -> LineMoved:
    """The line as a node sees it: its own outputs there, and those that all receivers have."""
    job = site.config
    made = line[job.tasks.index(name)].made if name in job.tasks else 0
    needed = [line[bond.receiver].received[bond.edge] for bond in job.bonds if bond.name == name]
    return LineMoved(run, made, min(needed, default=0))


def _restart(site: Site, state: LineManager) -> Step:
    """Restart all nodes from the line, in a new run, and forget the checkpoints beyond it."""
    job, run = site.config, state.run + 1
    line = recovery_line(job.design.line, job.bonds, state.stored)
    pairs = [*zip(job.tasks, state.stored, line, strict=True)]
    stored = tuple(own[: place + 1] for _, own, place in pairs)
    undone = [len(own) - 1 - place for _, own, place in pairs]
    note = (Note(UNDONE, sum(undone)),) if any(undone) else ()
    readers = tuple(Send(name, ReturnToLine(run, None)) for name in job.readers)
    tasks = tuple(
        Send(name, ReturnToLine(run, own[place], len(own) - 1 - place))
        for name, own, place in pairs
    )
    return Step(LineManager(run, stored), (*note, *readers, *tasks))
