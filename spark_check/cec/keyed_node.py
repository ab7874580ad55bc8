"""The part of an operator's node that one key has: its windows, and the records that it makes.

Rule of this file: no Spark, and no rule of the protocol: model.protocols.cec.operator decides the
effect of a tuple on windows, the tuples to ignore and the contents of a G_check.

An engine runs the keys of an operator in parallel tasks, so that nobody there knows how many
windows of other keys are open.  A record of one key therefore says by how much it changes N, and
who writes the batch to the log adds these changes up in the order of the tuples.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from model.boxes.aggregate import Aggregate
from model.boxes.box import NOTHING_OF
from model.events import Body, Event
from model.protocols.cec.design import MENDED, CecDesign
from model.protocols.cec.messages import NodeState, Record
from model.protocols.cec.operator import checkpoint, eligible, ignoring, process
from model.protocols.cec.scan import EventualCheckpoint

ANY_SEGMENT = 1 << 62
"""A mark behind all segments: the stamps of footprints alone decide which windows are due."""
NEW = NodeState(mark=ANY_SEGMENT)


class KeyedQuery(NamedTuple):
    """The aggregate, the protocol, and how many tuples old a footprint becomes before its window is
    checkpointed (U of the paper's policy)."""

    box: Aggregate
    patience: int
    design: CecDesign = MENDED


class InputRow(NamedTuple):
    """A tuple.  place: in the stream, from 1.  Keys are the types of events."""

    place: int
    time: int
    key: str

    def event(self) -> Event:
        return Event((self.place,), Body(self.time, self.key))


class Made(NamedTuple):
    """A record of one key.  change: of N.  foot, i: its order among records of the same stamp: the
    stamp of the footprint that it replaces, then the order in which one tuple made them."""

    record: Record
    change: int
    foot: int
    i: int


class Advanced(NamedTuple):
    """ignored: how many tuples were below a floor."""

    state: NodeState
    made: list[Made]
    ignored: int


def advance(query: KeyedQuery, state: NodeState, rows: Iterable[InputRow], now: int) -> Advanced:
    """The key after the tuples of a batch, in any order; and its records for the log.

    now: the place up to which all tuples of the stream were processed before the batch.
    """
    state, made = make_checkpoints(query, state, now)
    ignored = 0
    for row in sorted(rows):
        windows = len(state.windows)
        ignored += bool(ignoring(query.design, state, row.key, row.place))
        state, records = process(query.design, query.box, state, row.event(), NOTHING_OF)
        for i, record in enumerate(records):
            made.append(Made(record, record.n - windows, record.stamp, i))
            windows = record.n
    return Advanced(_between_batches(state), made, ignored)


def make_checkpoints(query: KeyedQuery, state: NodeState, now: int) -> tuple[NodeState, list[Made]]:
    """The key after a G_check of each window whose footprint is old."""
    made: list[Made] = []
    state = state._replace(stamp=now)
    while (window := eligible(query.design, state)) and window.foot + query.patience <= now:
        windows = len(state.windows)
        state, (record,) = checkpoint(query.design, query.box, state, now)
        made.append(Made(record, record.n - windows, window.foot, window.opened))
    return _between_batches(state), made


def _between_batches(state: NodeState) -> NodeState:
    """The memory of a key; a key about which nothing is known is as one that never came."""
    if not (state.windows or state.turns or state.floors):
        return NEW
    return NEW._replace(
        windows=state.windows, turns=state.turns, floors=state.floors, until=state.until
    )


def due(query: KeyedQuery, state: NodeState) -> int | None:
    """The place at which the key's oldest footprint will be old."""
    return min((window.foot + query.patience for window in state.windows), default=None)


def load(found: EventualCheckpoint) -> Mapping[Any, NodeState]:
    """An eventual checkpoint by key."""
    keys = {window.key for window in found.windows} | {floor.key for floor in found.floors}
    states = dict.fromkeys(keys, NEW._replace(until=found.newest))
    for window in found.windows:
        one = states[window.key]
        states[window.key] = one._replace(windows=(*one.windows, window))
    for floor in found.floors:
        one = states[floor.key]
        states[floor.key] = one._replace(floors=(*one.floors, floor))
    for key, next_ in found.turns:
        states[key] = states[key]._replace(turns=((key, next_),))
    return states
