"""The recovery of a middle operator or writer of LOG.io.

Rule of this file: each step names its algorithm and step; effects stand in the paper's order.
LOG.io, Algorithms 7, 8 and 9; Algorithms 10 and 11 where replay operators are.
"""

from __future__ import annotations

from model.core import (
    REPLAYED,
    RESENT,
    RESTORED,
    Answer,
    Effect,
    NodeName,
    Note,
    Received,
    Send,
    Site,
)
from model.protocols.log_io.design import Delivery, Known, WriteSupport
from model.protocols.log_io.messages import Peek, Put, Restored
from model.protocols.log_io.operators.generation import context_of
from model.protocols.log_io.operators.operator import begin, go_on
from model.protocols.log_io.quantities import PENDING, note
from model.protocols.log_io.replaying import operators as replays
from model.protocols.log_io.roles import reads
from model.protocols.log_io.states import Recovering, RunningOperator
from model.protocols.log_io.tables import LoggedEvent
from model.protocols.log_io.writing.writes import hand_on


def restore(site: Site, found: Restored, recovering: Recovering) -> Answer:
    """The operator as it is again, once the log has answered."""
    design = site.spec.design
    state = _restored_context(site, found)  # Algorithm 9, step 1
    outputs = (row for row in found.outputs if row.body is not None)  # Algorithm 10, step 1
    sends = [row for row in outputs if row.receiver not in site.spec.sinks]  # Algorithm 7, step 1
    writes = [
        row for row in found.outputs if row.receiver in site.spec.sinks
    ]  # Algorithm 8, step 1
    replayed = len(found.assigned)
    effects: list[Effect] = [Note(RESTORED), *note(RESENT, len(sends)), *note(REPLAYED, replayed)]
    checks = design.writes is WriteSupport.CHECKABLE
    if not checks:
        effects += note(PENDING, len(writes))
    # Algorithm 7, steps 1 and 2; Algorithm 8, step 2; Algorithm 10, step 5
    state, more = hand_on(site, state, [*sends, *writes], checks)  # Algorithms 7 and 8
    effects += more
    rows = _in_order(site, found.assigned)
    held: list[Received | LoggedEvent] = [*rows]  # Algorithm 9, step 2
    if design.connection is Delivery.LOSSY:
        lost = found.unassigned
        held += (Received(row.sender, Put(row.number, row.data)) for row in lost)
    held += recovering.held  # Algorithm 9, step 3: go on with Algorithm 2
    state = state._replace(held=tuple(held))
    state, more = replays.restore(site, state, found.sets)
    state, all_ = go_on(site, state, (*effects, *more))
    return state, (*all_, *_reconnect(site, state))


def _in_order(site: Site, rows: tuple[LoggedEvent, ...]) -> tuple[LoggedEvent, ...]:
    """The rows by assignment, sender, number and function: as before the failure."""

    def turn(row: LoggedEvent) -> tuple[NodeName, int, int]:
        place = row.inset % site.spec.logic.functions
        return row.sender, row.number, place

    rows = tuple(sorted(rows, key=turn))
    return tuple(sorted(rows, key=lambda row: row.order))


def _restored_context(site: Site, found: Restored) -> RunningOperator:
    """Algorithm 9, step 1, and Algorithm 11, step 2: the context from STATE, and what EVENT_LOG has
    besides.

    No effect of a read action is discarded: the one that is executed again replaces it.
    """
    design, state = site.spec.design, begin(site)
    stored = found.context or context_of(site, state)
    greatest = dict(found.greatest)
    logged = tuple(greatest.get(name, 0) for name in site.preds)
    return RunningOperator(
        box=stored.box,
        last=stored.last if design.greatest is Known.CONTEXT else logged,
        sent=stored.sent,
        insets=stored.insets,
        newest=stored.newest,
        alone=stored.alone,
        array=stored.last if design.greatest is Known.EVENT_LOG else None,
    )


def _reconnect(site: Site, state: RunningOperator) -> tuple[Effect, ...]:
    """A restarted operator asks its lasting connections for what they hold."""
    if site.spec.design.connection is Delivery.LOSSY:
        return ()
    known = zip(site.preds, site.spec.ins, strict=True)
    return tuple(Send(one, Peek()) for pred, one in known if reads(site, state, pred))
