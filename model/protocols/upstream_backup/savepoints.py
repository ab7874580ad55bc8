"""An operator with numbered outputs, skip ranges and savepoints: what upstream backup restores.

Rule of this file: no buffers, channels or neighbours (model.protocols.upstream_backup.nodes).
Everything that changes an operator's state is here, in `push`, `save`, `notice` and `restore`;
model.cep.operator does what an event does to windows and engines.
Lima et al., Section III.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from model.cep.numbering import TRIGGERED, Numbering, Opening, State, Trigger
from model.cep.operator import CepState, Iteration, Operator, process
from model.cep.savepoint import Layout, Place, Savepoint
from model.cep.skips import Ranges, Skips
from model.cep.windows import Splitter
from model.events import NOTHING, SN, Event
from model.log import Log
from model.protocols.upstream_backup.layouts import (
    Drawing,
    KeptWindow,
    ReplayBoundaries,
    Script,
    WindowRecord,
    draw,
    rest,
    restore_counts,
)


class Skipping(Enum):
    """The ways to keep skip ranges."""

    OFF = "off"
    PER_EDGE = "per input edge"
    COALESCED = "one array for all input edges, as published"


@dataclass(frozen=True, slots=True)
class Scheme:
    """The choices that the paper leaves open or gets wrong, each as a value."""

    numbering: Numbering = TRIGGERED
    skipping: Skipping = Skipping.PER_EDGE
    drawing: Drawing = Drawing.LAYOUT


class Queued(NamedTuple):
    """An event for which the answer "has an engine used it?" is still open (serial processing).

    kept: whether the event opened or closed a window.
    """

    place: Place
    kept: bool


class Produced(NamedTuple):
    """A complex event not yet acknowledged.  retained: the first window that was not closed when
    the event was produced."""

    sn: SN
    retained: int


class NumberedOperator(NamedTuple):
    """The state of an operator with numbers, skip ranges and savepoints.

    cep: the operator itself.  records: one for each open window, oldest first.  closed: windows
    kept, oldest first.  last: the last event consumed, one for each edge.  skipped: how many events
    are in `skips`.  queue: serial processing only, as cep.queue.
    """

    cep: CepState
    records: tuple[WindowRecord, ...]
    closed: Log[KeptWindow]
    sequencer: State
    last: tuple[SN, ...]
    pending: Log[Produced]
    skips: tuple[Skips, ...]
    skipped: int
    script: Script | None
    queue: Log[Queued] = Log()

    @property
    def open(self) -> tuple[KeptWindow, ...]:
        """The open windows, oldest first."""
        pairs = zip(self.records, self.cep.open, strict=True)
        return tuple(KeptWindow(*record, inner) for record, inner in pairs)


def origin(scheme: Scheme, edges: int) -> Savepoint:
    """The savepoint of an operator that has done nothing yet."""
    return Savepoint(scheme.numbering.origin, (NOTHING,) * edges)


def restore(scheme: Scheme, savepoint: Savepoint) -> NumberedOperator:
    """`restore` of libgem: the state from which a replay starts."""
    first = savepoint.seed.window
    return NumberedOperator(
        cep=CepState(opened=first - 1),
        records=(),
        closed=Log(),
        sequencer=scheme.numbering.resume(savepoint.seed),
        last=savepoint.trim,
        pending=Log(),
        skips=_no_skips(scheme, len(savepoint.trim)),
        skipped=0,
        script=Script(first, savepoint.layout) if savepoint.layout else None,
    )


def push(
    operator: Operator, scheme: Scheme, state: NumberedOperator, edge: int, event: Event
) -> tuple[NumberedOperator, tuple[Event, ...]]:
    """Process one input event; returns the state and the complex events, numbered, in order
    (III-B1)."""
    place = (edge, event.sn)
    cep, script = state.cep, state.script
    if script and event.sn > script.layout.frontier[edge]:
        cep, script = restore_counts(cep, script), None
    boundaries = ReplayBoundaries(script, place, operator.splitter) if script else None
    cep, happened = process(operator, cep, event.body, boundaries)

    # Number the complex events.
    produced = happened.produced
    sequencer, numbers = scheme.numbering.number(
        state.sequencer,
        Trigger(event.body.time, edge, event.sn),
        tuple([window for window, _ in produced]),
    )
    outputs = tuple([Event(sn, body) for sn, (_, body) in zip(numbers, produced, strict=True)])
    pending = state.pending
    first: dict[int, SN] = {}
    unclosed = cep.open[0].number if cep.open else cep.opened + 1
    for sn, (window, _) in zip(numbers, produced, strict=True):
        first.setdefault(window, sn)
        pending = pending.append(Produced(sn, min(unclosed, window)))

    closed, records = state.closed, state.records
    if happened.opened:
        records = (*records, WindowRecord(cep.opened, place, state.last, state.sequencer))
    if first or happened.expired or happened.filled:
        stamped = {record.number: _stamp(record, first) for record in records}
        closed = closed.extend(KeptWindow(*stamped[w.number], w) for w in happened.expired)
        closed = closed.extend(KeptWindow(*stamped[w.number], w, place) for w in happened.filled)
        records = tuple(stamped[window.number] for window in cep.open)

    queue = state.queue.append(Queued(place, _shapes_layout(happened)))
    skips, skipped = state.skips, state.skipped
    for used in happened.settled:
        queued, queue = queue.first(), queue.rest()
        needed = used or queued.kept
        skips = _enter(scheme, skips, queued.place, needed)
        skipped += not needed and scheme.skipping is not Skipping.OFF
    last = (*state.last[:edge], event.sn, *state.last[edge + 1 :])
    return NumberedOperator(
        cep, records, closed, sequencer, last, pending, skips, skipped, script, queue
    ), outputs


def _shapes_layout(happened: Iteration) -> bool:
    """Does the layout of windows depend on the event?"""
    return bool(happened.opened or happened.expired or happened.filled)


def _stamp(record: WindowRecord, first: dict[int, SN]) -> WindowRecord:
    if record.first is None and record.number in first:
        return record._replace(first=first[record.number])
    return record


# --- savepoints ------------------------------------------------------------------------------
def save(
    scheme: Scheme, splitter: Splitter, state: NumberedOperator, acked: SN
) -> tuple[NumberedOperator, Savepoint, tuple[Ranges, ...]] | None:
    """`save` of libgem: the savepoint for the newest complex event up to `acked` (III-B2).

    None if no complex event waits for this acknowledgement.  The skip ranges come by input edge.
    """
    theta: Produced | None = None
    for produced in state.pending:
        if produced.sn > acked:
            break
        theta = produced
    if theta is None:
        return None
    retained = theta.retained
    closed = state.closed.trim(lambda window: window.number < retained)
    windows = (*closed, *state.open)
    replay_start = windows[0]
    earliest = min(window.first for window in windows if window.first is not None)
    seed = scheme.numbering.seed(Opening(replay_start.number, replay_start.sequencer), earliest)
    savepoint = Savepoint(seed, replay_start.before)
    if state.script:
        state = state._replace(script=rest(state.script, replay_start.number))
    state = state._replace(closed=closed, pending=state.pending.trim(lambda p: p.sn <= acked))
    return notice(scheme, splitter, state, savepoint)


def notice(
    scheme: Scheme, splitter: Splitter, state: NumberedOperator, savepoint: Savepoint
) -> tuple[NumberedOperator, Savepoint, tuple[Ranges, ...]]:
    """The state after a report, the savepoint with the present layout, and the skip ranges since
    the last report.

    A report alone is the skip notice at the end of Section IV; `save` ends with a report.
    """
    ranges = _ranges(scheme, state, savepoint.trim)
    layout = _layout(scheme, splitter, state)
    edges = len(savepoint.trim)
    state = state._replace(skips=_no_skips(scheme, edges), skipped=0)
    return state, savepoint._replace(layout=layout), ranges


def _layout(scheme: Scheme, splitter: Splitter, state: NumberedOperator) -> Layout | None:
    if scheme.drawing is Drawing.NOTHING or not splitter.counts:
        return None
    if state.script is not None:
        return state.script.layout
    windows, newest = (*state.closed, *state.open), state.cep.newest
    if newest is None or not windows:
        return None
    return draw(scheme.drawing, windows, newest, state.last)


# --- skip ranges -----------------------------------------------------------------------------
def _no_skips(scheme: Scheme, edges: int) -> tuple[Skips, ...]:
    arrays = {Skipping.OFF: 0, Skipping.COALESCED: 1, Skipping.PER_EDGE: edges}
    return (Skips(),) * arrays[scheme.skipping]


def _enter(
    scheme: Scheme, skips: tuple[Skips, ...], place: Place, needed: bool
) -> tuple[Skips, ...]:
    """The skip ranges with the event at `place`.  needed: whether a replay needs the event."""
    if scheme.skipping is Skipping.OFF:
        return skips
    edge, sn = place
    if scheme.skipping is Skipping.COALESCED:
        edge = 0
    entry = skips[edge].keep() if needed else skips[edge].skip(sn)
    return (*skips[:edge], entry, *skips[edge + 1 :])


def _ranges(scheme: Scheme, state: NumberedOperator, trim: tuple[SN, ...]) -> tuple[Ranges, ...]:
    if scheme.skipping is Skipping.PER_EDGE:
        return tuple(skips.after(sn) for skips, sn in zip(state.skips, trim, strict=True))
    if scheme.skipping is Skipping.COALESCED:
        everywhere = tuple(sorted(state.skips[0].after(min(trim))))
        return (everywhere,) * len(trim)
    return ((),) * len(trim)
