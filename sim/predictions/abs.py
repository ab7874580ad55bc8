"""What ABS does whose epochs are the micro-batches of an engine: Spark's own checkpoint.

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
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from model.boxes.triggered import Triggered
from model.core import REPLAYED, Arrival, Inputs, Note, Scope, Send
from model.errors import Invalid
from model.events import Body
from model.graph import chain
from model.oracle import oracle
from model.protocol import Protocol
from model.protocols.abs.messages import Prepared
from model.protocols.abs.protocol import PROTOCOL
from model.system import System
from model.world import (
    Deliver,
    Inject,
    Restart,
    Timeout,
    apply,
    initial,
    progress,
    real_effects,
    response,
)

SOURCE, QUERY, SINK = "source", "query", "book"
PAIRS = Triggered((2,), group="type", of="time")
"""Two events of one type, by their places in the stream."""
GRAPH = chain((QUERY, PAIRS), source=SOURCE, sink=SINK)


class SinkKind(StrEnum):
    """What the sink does with a batch; each is a variant of the model."""

    PLAIN = "plain"
    """It writes every batch, in one transaction: `abs:transactional`."""
    IDEMPOTENT = "idempotent"
    """It writes no batch id twice: `abs:checked`."""

    @property
    def protocol(self) -> Protocol:
        name = {SinkKind.PLAIN: "abs:transactional", SinkKind.IDEMPOTENT: "abs:checked"}[self]
        return PROTOCOL.named(name)


class CrashPoint(StrEnum):
    """The points of a batch."""

    MADE = "before the sink's write"
    """The sink has the rows of the batch, and has written none."""
    WRITTEN = "after the sink's write"
    """The rows are written; the batch is not committed: the epoch is not complete."""


class CrashPlan(NamedTuple):
    """A crash to come, in batch 0, 1, ...; the batch has to write something."""

    point: CrashPoint
    batch: int

    def __str__(self) -> str:
        return f"{self.point}, batch {self.batch + 1}"


class Predicted(NamedTuple):
    """rows: that the sink has written, in order.  replayed: events that were sent again."""

    rows: tuple[Body, ...]
    replayed: int


def expected(types: str) -> tuple[Body, ...]:
    """The rows after a run without failures, from the oracle."""
    ((outs,),) = oracle(GRAPH, {SOURCE: [Arrival(1, type_) for type_ in types]}).values()
    return outs


def predict(
    types: str, ends: Sequence[int], crashes: Sequence[CrashPlan], sink: SinkKind
) -> Predicted:
    """The prediction for events of these types, one a letter, in batches with these ends.

    crashes: in the order in which they come.  Raises Invalid if one never comes.
    """
    alphabet = tuple(Arrival(1, type_) for type_ in sorted({*types}))
    scope = Scope(GRAPH, ((SOURCE, Inputs(alphabet, len(types))),))
    system = System(sink.protocol, scope)
    world, left, replayed = initial(system), [*crashes], 0
    for batch, (begin, end) in enumerate(pairwise((0, *ends))):
        for type_ in types[begin:end]:
            world = apply(system, world, Inject(SOURCE, Arrival(1, type_)))
        while actions := [one for name in system.sites for one in progress(system, world, name)]:
            action = min(actions, key=_order)
            effects = response(system, world, action).effects
            replayed += sum(
                one.times for one in effects if isinstance(one, Note) and one.what == REPLAYED
            )
            at = [
                number
                for number, effect in enumerate(real_effects(effects))
                if isinstance(effect, Send) and isinstance(effect.message, Prepared)
            ]
            if at and left and left[0].batch == batch:
                after = at[0] if left.pop(0).point is CrashPoint.MADE else at[0] + 1
                action = action._replace(crash_after=after)
            world = apply(system, world, action)
    if left:
        raise Invalid(f"{left[0]}: the batch writes nothing, or there is no such batch")
    return Predicted(tuple(body for _, body, *_ in world.outputs[0]), replayed)


def _order(action: Deliver | Timeout | Restart) -> int:
    """An epoch ends when all events have been processed."""
    return isinstance(action, Timeout)


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
