"""The recovery of a middle operator or writer of LOG.io.

Rule of this file: each step names its algorithm and step; effects stand in the paper's order.
LOG.io, Algorithms 7, 8 and 9.
"""

from __future__ import annotations

from model.boxes.triggered import Functions
from model.core import REPLAYED, RESENT, RESTORED, Answer, Effect, Note, Received, Send, Site
from model.protocols.log_io.design import Array, Delivery, Inputs, Known, Order, PortOrder, Writes
from model.protocols.log_io.messages import Peek, Put, Restored
from model.protocols.log_io.operators.generation import context_of
from model.protocols.log_io.operators.operator import begin, go_on
from model.protocols.log_io.places import AHEAD
from model.protocols.log_io.quantities import PENDING, note
from model.protocols.log_io.replaying import operators as replays
from model.protocols.log_io.scaling.roles import reads
from model.protocols.log_io.states import Operator, Recovering
from model.protocols.log_io.tables import LoggedEvent
from model.protocols.log_io.writing.writes import hand_on


def restore(site: Site, found: Restored, recovering: Recovering) -> Answer:
    """The operator as it is again, once the log has answered."""
    design = site.spec.design
    state = _restored_context(site, found)
    outputs = (row for row in found.outputs if row.body is not None)
    sends = [row for row in outputs if row.receiver not in site.spec.sinks]
    writes = [row for row in found.outputs if row.receiver in site.spec.sinks]
    replayed = len(found.assigned)
    effects: list[Effect] = [Note(RESTORED), *note(RESENT, len(sends)), *note(REPLAYED, replayed)]
    checks = design.writes is Writes.CHECKABLE
    if not checks:
        effects += note(PENDING, len(writes))
    state, more = hand_on(site, state, [*sends, *writes], checks)  # Algorithms 7 and 8
    effects += more
    rows = _in_order(site, found.assigned)
    held: list[Received | LoggedEvent] = [*rows]  # Algorithm 9, step 2
    if design.inputs is Inputs.EVENT_LOG:
        held += (Received(row.sender, Put(row.number, row.data)) for row in found.unassigned)
    held += recovering.held  # Algorithm 9, step 3: go on with Algorithm 2
    state = state._replace(held=tuple(held))
    if design.replaying is not None:
        effects += replays.ask(site, replays.lacking(state))  # Algorithm 11, step 3
        state, more = replays.replay(site, state, found.sets)  # Algorithm 10, steps 2 to 4
        effects += more
    state, all_ = go_on(site, state, tuple(effects))
    return state, (*all_, *_reconnect(site, state))


def _in_order(site: Site, rows: tuple[LoggedEvent, ...]) -> tuple[LoggedEvent, ...]:
    """The rows by assignment, sender, number and function."""
    box, design = site.spec.box, site.spec.design
    if isinstance(box, Functions) and design.order is Order.FUNCTIONS:
        among = len(box.parts)
        rows = tuple(sorted(rows, key=lambda row: (row.sender, row.number, row.inset % among)))
    if design.ports is PortOrder.ROUND_ROBIN:
        by_port = {name: {row.number for row in rows if row.sender == name} for name in site.preds}
        turns = {
            (name, number): turn
            for name, numbers in by_port.items()
            for turn, number in enumerate(sorted(numbers))
        }
        return tuple(sorted(rows, key=lambda row: (turns[row.sender, row.number], row.sender)))
    return tuple(sorted(rows, key=lambda row: row.order))


def _restored_context(site: Site, found: Restored) -> Operator:
    """Algorithm 9, step 1."""
    design, state = site.spec.design, begin(site)
    stored = found.context or context_of(state)
    greatest, sent = dict(found.greatest), dict(found.sent)
    logged = tuple(greatest.get(name, 0) for name in site.preds)
    known = tuple(sent.get(name, 0) for name in site.succs)
    return Operator(
        box=stored.box,
        last=stored.last if design.greatest is Known.CONTEXT else logged,
        sent=stored.sent if design.sent is Known.CONTEXT else known,
        insets=stored.insets,
        newest=stored.newest,
        alone=stored.alone,
        array=stored.last if design.array is Array.OWN else None,
    )


def _reconnect(site: Site, state: Operator) -> tuple[Effect, ...]:
    """A restarted operator asks its lasting connections for what they hold."""
    if site.spec.design.connection is Delivery.LOSSY:
        return ()
    known = (pred for pred in site.preds if reads(site, state, pred))
    return tuple(Send(f"{pred}{AHEAD}{site.name}", Peek()) for pred in known)
