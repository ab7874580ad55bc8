"""Writes in groups: one message and one acknowledgement for several writes.

Rule of this file: each step names its algorithm; no write is alone, unless its group is.
LOG.io, Section 3.5.3: "If they are executed as a group, we require getting a successful
acknowledgment for the group."
"""

from __future__ import annotations

from collections.abc import Sequence

from model.core import Effect, NodeName, Send, Site
from model.protocols.log_io.design import Grouped, Groups, Transfer
from model.protocols.log_io.messages import (
    CheckGroup,
    ExecutedGroup,
    GroupedWrite,
    Write,
    WriteGroup,
)
from model.protocols.log_io.places import LOG
from model.protocols.log_io.quantities import TAKEN_EFFECT, note
from model.protocols.log_io.states import Pending, RunningOperator
from model.protocols.log_io.tables import LoggedEvent


def begin(
    site: Site, state: RunningOperator, rows: Sequence[LoggedEvent], check: bool
) -> tuple[RunningOperator, tuple[Effect, ...]]:
    """Writes are pending; those to an external system that has no group under way are sent."""
    idle = {row.receiver for row in rows} - {write.sink for write in state.pending}
    new = (Pending(row.receiver, row.number, row.data, check, row.group) for row in rows)
    state = state._replace(pending=(*state.pending, *new))
    return state, tuple(effect for sink in sorted(idle) for effect in _next(site, state, sink))


def _next(site: Site, state: RunningOperator, sink: NodeName) -> tuple[Effect, ...]:
    """Let the next group be executed, or ask for its status first (Algorithm 8, step 2)."""
    pending = [write for write in state.pending if write.sink == sink]
    if site.spec.design.groups.grouped is Grouped.OUTPUT_SET:
        pending = [write for write in pending if write.group == pending[0].group]
    if not pending:
        return ()
    writes = tuple(Write(write.number, write.body) for write in pending)
    if pending[0].check:
        return (Send(sink, CheckGroup(writes)),)
    return send(site.spec.design.groups, sink, writes)


def send(groups: Groups, sink: NodeName, writes: tuple[Write, ...]) -> tuple[Effect, ...]:
    """Execute a group (Algorithm 5, step 1)."""
    if groups.transfer is Transfer.ATOMIC:
        return (Send(sink, WriteGroup(writes)),)
    *parts, last = writes
    return (*(Send(sink, GroupedWrite(*part)) for part in parts), Send(sink, last))


def succeed(
    site: Site, state: RunningOperator, sink: NodeName, number: int
) -> tuple[RunningOperator, tuple[Effect, ...]]:
    """The external system has executed a group: one transaction (Algorithm 5, step 3)."""
    done = [write for write in state.pending if write.sink == sink and write.number <= number]
    left = tuple(write for write in state.pending if write not in done)
    state = state._replace(pending=left)
    executed = Send(LOG, ExecutedGroup(sink, tuple(write.number for write in done)))
    confirmed = note(TAKEN_EFFECT, sum(write.check for write in done))
    return state, (*confirmed, executed, *_next(site, state, sink))
