"""ABS whose epochs are the micro-batches of an engine: Spark's own checkpoint.

Rule of this file: it plays the model's own nodes (model.protocols.abs.nodes); of the engine it
knows where batches end.

A batch is an epoch: the source injects the marker behind its last event.  A crashed batch runs
again with the same events, since the engine has logged its end before it ran: in the model nothing
comes before the epoch is complete.
LOG.io, Sections 8.1.1 and 9.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from model.actions import OwnStep
from model.boxes.triggered import Triggered
from model.core import REPLAYED, Arrival, Inputs, Scope, Send
from model.errors import Invalid
from model.events import Body
from model.graph import chain
from model.oracle import oracle
from model.play import Play, timers_last
from model.protocol import Protocol
from model.protocols.abs.messages import Prepared
from model.protocols.abs.protocol import PROTOCOL
from model.world import real_effects
from sim.predictions.crashes import BatchCrash

SOURCE, QUERY, SINK = "source", "query", "book"
PAIRS = Triggered((2,), group="type", of="time")
"""Two events of one type, by their places in the stream."""
GRAPH = chain((QUERY, PAIRS), source=SOURCE, sink=SINK)


class EpochSink(StrEnum):
    """How the sink writes a batch; each way is a variant of the model."""

    PLAIN = "plain"
    """It writes every batch, in one transaction: `abs:transactional`."""
    IDEMPOTENT = "idempotent"
    """It writes no batch id twice: `abs:checked`."""

    @property
    def protocol(self) -> Protocol:
        name = {EpochSink.PLAIN: "abs:transactional", EpochSink.IDEMPOTENT: "abs:checked"}[self]
        return PROTOCOL.named(name)


class EpochPoint(StrEnum):
    """The points of a batch."""

    MADE = "before the sink's write"
    """The sink has the rows of the batch, and has written none."""
    WRITTEN = "after the sink's write"
    """The rows are written; the batch is not committed: the epoch is not complete."""


class EpochPrediction(NamedTuple):
    """rows: that the sink has written, in order.  replayed: events that were sent again."""

    rows: tuple[Body, ...]
    replayed: int


def expected(types: str) -> tuple[Body, ...]:
    """The rows after a run without failures, from the oracle."""
    ((outs,),) = oracle(GRAPH, {SOURCE: [Arrival(1, type_) for type_ in types]}).values()
    return outs


def predict(
    types: str, ends: Sequence[int], crashes: Sequence[BatchCrash[EpochPoint]], sink: EpochSink
) -> EpochPrediction:
    """The prediction for events of these types, one a letter, in batches with these ends.

    crashes: in the order in which they come.  Raises Invalid if one never comes.
    """
    alphabet = tuple(Arrival(1, type_) for type_ in sorted({*types}))
    scope = Scope(GRAPH, ((SOURCE, Inputs(alphabet, len(types))),))
    play, left = Play(sink.protocol, scope), [*crashes]
    for batch, (begin, end) in enumerate(pairwise((0, *ends))):
        play.inject(SOURCE, *(Arrival(1, type_) for type_ in types[begin:end]))
        while left and left[0].batch == batch:
            # An epoch ends when all events have been processed.
            if play.settle(timers_last, partial(_struck, play, left[0].point)) is None:
                break
            left.pop(0)
        play.settle(timers_last)
    if left:
        raise Invalid(f"{left[0]}: the batch writes nothing, or there is no such batch")
    replayed = sum(times for (_, what), times in play.notes.items() if what == REPLAYED.name)
    return EpochPrediction(tuple(body for _, body, *_ in play.outputs(SINK)), replayed)


def _struck(play: Play, point: EpochPoint, action: OwnStep) -> int | None:
    """The number of effects of the action before the point; None if it does not write a batch."""
    for number, effect in enumerate(real_effects(play.effects(action))):
        if isinstance(effect, Send) and isinstance(effect.message, Prepared):
            return number if point is EpochPoint.MADE else number + 1
    return None


# --- the time of a recovery ------------------------------------------------------------------
class RestartParts(NamedTuple):
    """A recovery that was measured; seconds.  made_s: from the start of the query until the sink
    has the batch that crashed.  write_s: until it has written the batch.  rows: of it."""

    rows: int
    made_s: float
    write_s: float

    @property
    def total_s(self) -> float:
        return self.made_s + self.write_s


class RestartCosts(NamedTuple):
    """Seconds.  made_s: until the sink has the batch.  row_s: for each row that it writes."""

    made_s: float
    row_s: float

    def recovery_s(self, rows: int) -> float:
        return self.made_s + self.row_s * rows


def calibrate(runs: Sequence[RestartParts]) -> RestartCosts:
    """The costs that these runs had; each of them writes rows."""
    return RestartCosts(
        median(run.made_s for run in runs),
        sum(run.write_s for run in runs) / sum(run.rows for run in runs),
    )
