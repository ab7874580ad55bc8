"""The consequences of a crash at a given point of a micro-batch, found in a run of the model.

Rule of this file: no knowledge in advance.  A run without failures goes up to the point, the query
crashes there, more events arrive, and the result describes the recovery run.

A real engine can crash at the same points (spark_check), so that both answer the same questions:
which batches run again, with which events, and what does the outside see?
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from model.actions import OwnStep
from model.boxes.box import bodies
from model.core import Arrival, Guarantee, Inputs, Save, Scope, Send
from model.graph import chain
from model.observations import observe
from model.play import Play, timers_last
from model.properties import comparisons, guarantee
from model.protocol import Protocol
from model.protocols.micro_batch.messages import (
    Batch,
    CheckpointDirectory,
    Read,
    Rows,
    Write,
    empty,
)
from model.protocols.micro_batch.scopes import counting_operator
from model.world import real_effects

SOURCE, QUERY, SINK = "source", "query", "sink"
EVENT = Arrival(1, "event")


class CrashPoint(Enum):
    """A point of batch N.  A design that writes in another order has another order of points."""

    BEFORE_OFFSETS = "before offsets"
    AFTER_OFFSETS = "after offsets"
    MID_BATCH = "mid-batch"
    AFTER_STATE = "after state"
    AFTER_SINK = "after sink commit"
    BEFORE_COMMIT = "before commit log"
    AFTER_COMMIT = "after commit log"


class Stores(NamedTuple):
    """The durable data at the crash: the last batch in each store (-1: none), and the
    acknowledgement.

    offsets: the last entry of the offset log, with its range.  sink: the last batch that the sink
    took.  acked: the offset up to which the source may trim.
    """

    offsets: Batch
    state: int
    commit: int
    sink: Batch
    acked: int


class CrashReplay(NamedTuple):
    """A crash, and the run after it.

    batch: the batch that the crash hit, with the events that it had or was about to have.  ran:
    batches that ran after the restart, in order.  surplus: rows that the outside saw wrongly or too
    often.  missing: rows that the outside never saw.
    """

    point: CrashPoint
    batch: Batch
    stores: Stores
    ran: tuple[Batch, ...]
    guarantee: Guarantee
    surplus: int
    missing: int

    @property
    def again(self) -> Batch | None:
        """The batch that ran under the id of the batch hit; None if no batch did."""
        return next((batch for batch in self.ran if batch.id == self.batch.id), None)

    @property
    def same_range(self) -> bool | None:
        """Did the batch then have the same events?  None if it did not run again."""
        return None if self.again is None else self.again == self.batch


def replay_crash(
    protocol: Protocol, point: CrashPoint, sizes: Sequence[int] = (2, 2), late: int = 1
) -> CrashReplay:
    """Crash the query once, at `point` of the last of the batches with `sizes` events.

    protocol: micro-batch or one of its variants.  late: events that arrive while the query is down.
    The operator is a running count: every event gives a row, and an event that is counted twice
    shows.  Raises ValueError for sizes that are no batches (no size, or a size below 1).
    """
    if not sizes or min(sizes) < 1:
        raise ValueError(f"sizes {tuple(sizes)}: give at least one batch, each of 1 event or more")
    play = Play(protocol, _scope(sum(sizes) + late))
    hit = Batch(len(sizes) - 1, sum(sizes[:-1]), sum(sizes))
    for size in sizes[:-1]:
        play.inject(SOURCE, *[EVENT] * size)
        play.settle(timers_last)
    play.inject(SOURCE, *[EVENT] * sizes[-1])
    _crash_at(play, point, hit.id)
    stores = _stores(play)
    play.inject(SOURCE, *[EVENT] * late)
    ran = [batch for action in play.steps(timers_last) for batch in _reads(play, action)]
    seen = observe(play.world)
    (((want, got),),) = comparisons(play.system.scope, seen)
    return CrashReplay(
        point=point,
        batch=hit,
        stores=stores,
        ran=tuple(ran),
        guarantee=guarantee(play.system.scope, seen),
        surplus=(Counter(bodies(got)) - Counter(bodies(want))).total(),
        missing=(Counter(bodies(want)) - Counter(bodies(got))).total(),
    )


def _scope(length: int) -> Scope:
    inputs = Inputs((EVENT,), length)
    return Scope(chain((QUERY, counting_operator(length))), ((SOURCE, inputs),), crashes=1)


# --- the run ---------------------------------------------------------------------------------
_ENTRIES: Mapping[CrashPoint, tuple[Callable[[CheckpointDirectory], int], int]] = {
    CrashPoint.BEFORE_OFFSETS: (lambda checkpoint: checkpoint.planned.id, 0),
    CrashPoint.AFTER_OFFSETS: (lambda checkpoint: checkpoint.planned.id, 1),
    CrashPoint.AFTER_STATE: (lambda checkpoint: checkpoint.versions[-1].batch, 1),
    CrashPoint.BEFORE_COMMIT: (lambda checkpoint: checkpoint.committed, 0),
    CrashPoint.AFTER_COMMIT: (lambda checkpoint: checkpoint.committed, 1),
}
"""For each point an entry of the checkpoint, and whether the point is before (0) or after (1)."""


def _crash_at(play: Play, point: CrashPoint, batch: int) -> None:
    """Crash the query at the point of the batch with this id.

    The trigger fires last, so that a batch has all events that have arrived.
    """
    for action in play.steps(timers_last):
        place = _place(play, action, point, batch)
        if place is None:
            continue
        if place == 0:
            play.crash(QUERY)
        elif place == len(real_effects(play.effects(action))):
            play.do(action)
            play.crash(QUERY)
        else:
            play.do(action._replace(crash_after=place))
        return
    raise ValueError(f"{play.system.protocol.name} has no point {point.value!r}")


def _place(play: Play, action: OwnStep, point: CrashPoint, batch: int) -> int | None:
    """The number of effects of the action before the point; None if the point is elsewhere."""
    effects = real_effects(play.effects(action))
    if point in _ENTRIES:
        entry, after = _ENTRIES[point]
        places = (
            at + after
            for at, effect in enumerate(effects)
            if isinstance(effect, Save) and entry(effect.value) == batch
        )
        return next(places, None)
    match point, play.message(action):
        case CrashPoint.MID_BATCH, Rows(seen) if seen.id == batch:
            return 0
        case CrashPoint.AFTER_SINK, Write(seen) if seen.id == batch:
            return len(effects)
    return None


def _stores(play: Play) -> Stores:
    source, query, sink = map(play.node, (SOURCE, QUERY, SINK))
    checkpoint = query.durable or empty(())
    return Stores(
        offsets=checkpoint.planned.part(0),
        state=checkpoint.versions[-1].batch,
        commit=checkpoint.committed,
        sink=sink.state.batch,
        acked=source.state.latest - len(source.state.kept),
    )


def _reads(play: Play, action: OwnStep) -> list[Batch]:
    """The batches that the action begins to run."""
    messages = [effect.message for effect in play.effects(action) if isinstance(effect, Send)]
    return [message.batch for message in messages if isinstance(message, Read)]
