"""The coordinator of asynchronous barrier snapshotting, with the snapshot storage.

Rule of this file: no step of a source, an operator or the external system.

The coordinator never fails; the paper has no word on its failure.  An epoch ends when a source
reports new records, and one epoch is under way at a time: the world decides when a report comes,
which covers every interval.
LOG.io, Sections 1 and 8.1.1.
"""

from __future__ import annotations

from typing import Any

from model.core import CHECKPOINTED, Effect, Lost, NodeName, Note, Received, Send, Site, Step
from model.protocols.abs.design import Completes
from model.protocols.abs.messages import (
    ABANDONED,
    EPOCHS,
    EndEpoch,
    EpochComplete,
    EpochDue,
    EpochPart,
    OverseerState,
    Reborn,
    RollBack,
    TaskPart,
)
from model.queues import STALE_NOTE

Parts = tuple[tuple[NodeName, Any], ...]


def oversee(site: Site, state: OverseerState, input_: Received) -> Step:
    match input_.message:
        case EpochDue(run):
            if run != state.run:
                return Step(state, (STALE_NOTE,))
            return _end_epoch(site, state._replace(due=True))
        case EpochPart() as part:
            return _store(site, state, input_.sender, part)
        case Lost(node):
            return _abandon(state, node)
        case Reborn():
            return _restart(site, state, input_.sender)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _end_epoch(site: Site, state: OverseerState) -> Step:
    """Have the sources inject markers, if there is something new and no epoch is under way (1: "at
    the end of each epoch, source operators inject a marker")."""
    if not state.due or state.begun or state.down:
        return Step(state)
    order = EndEpoch(state.run, state.epoch + 1)
    sends = tuple(Send(reader, order) for reader in site.config.readers)
    return Step(state._replace(begun=True, due=False), sends)


def _store(site: Site, state: OverseerState, sender: NodeName, message: EpochPart) -> Step:
    """Store a snapshot.  8.1.1: "an epoch is said to be complete once ..."."""
    run, epoch, part = message
    if run != state.run or state.down:
        return Step(state, (STALE_NOTE,))
    if epoch == state.epoch:  # the writers were faster: Completes.WRITERS
        return Step(state._replace(parts=_with(site, state.parts, sender, part)))
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
    again = _in_flight(parts)
    state = state._replace(
        epoch=state.epoch + 1, begun=False, due=state.due or again, parts=parts, coming=()
    )
    done = EpochComplete(state.run, state.epoch)
    effects: list[Effect] = [Note(CHECKPOINTED), Note(EPOCHS)]
    effects += [Send(name, done) for name in (*site.config.readers, *site.config.writers)]
    state, more = _end_epoch(site, state)
    return Step(state, (*effects, *more))


def _abandon(state: OverseerState, node: NodeName) -> Step:
    """A node has failed: the epoch under way will not be complete (1: "a failure of one operator
    stops the processing and triggers a restart of the pipeline")."""
    notes = (Note(ABANDONED),) if state.begun else ()
    return Step(state._replace(begun=False, down=state.down | {node}, coming=()), notes)


def _restart(site: Site, state: OverseerState, node: NodeName) -> Step:
    """Once all nodes are up, restart them "from the last complete epoch" (8.1.1)."""
    state = state._replace(down=state.down - {node})
    if state.down:
        return Step(state)
    again = _in_flight(state.parts)
    state = state._replace(run=state.run + 1, begun=False, due=again, coming=())
    parts = dict(state.parts)
    sends = [Send(name, RollBack(state.run, state.epoch, parts.get(name))) for name in site.succs]
    state, more = _end_epoch(site, state)
    return Step(state, (*sends, *more))
