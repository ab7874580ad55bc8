"""Micro-batches as values: the choices of a design, the states of nodes, their messages.

Rule of this file: no step of a node; model.protocols.micro_batch.nodes has the steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

from model.core import Quantity
from model.costs import NO_STATES, CarriedStates, MessageKind, Size
from model.events import NOTHING, SN, Event
from model.log import Log
from model.protocol import Knob


# --- choices ---------------------------------------------------------------------------------
class SinkRule(Enum):
    """The sink's treatment of a batch that it may have taken before."""

    BY_BATCH = "drops a batch whose id it has taken"
    BY_ROW = "drops rows that it has taken, whatever their batch"
    APPEND = "appends, as a plain foreachBatch does"


class Acks(Enum):
    """The moment at which the source receives commit(end of batch N), and may trim up to there."""

    LAGGING = "when batch N+1 is planned, once its offsets are logged"
    PROMPT = "when batch N is in the commit log"
    EAGER = "when the events of batch N have been read"


class Offsets(Enum):
    """The moment at which the offset log gets its entry N."""

    BEFORE = "before batch N runs"
    AFTER = "when the sink has taken batch N"


class Commits(Enum):
    """The moment at which the commit log gets its entry N."""

    AFTER_SINK = "when the sink has taken batch N"
    BEFORE_SINK = "before batch N is given to the sink"


class Versions(Enum):
    """The effect of the state written by batch N on the state before it."""

    KEPT = "the state before the batch is kept"
    IN_PLACE = "the state before the batch is overwritten"


@dataclass(frozen=True, slots=True)
class MicroBatchDesign:
    """The choices of a design; the defaults are Spark's, with the sink that Spark's guarantee asks
    for.

    first: the most events that admission control lets into the first batch that is planned after a
    restart; None: all.
    """

    sink: SinkRule = SinkRule.BY_BATCH
    acks: Acks = Acks.LAGGING
    offsets: Offsets = Offsets.BEFORE
    commits: Commits = Commits.AFTER_SINK
    versions: Versions = Versions.KEPT
    first: int | None = None


KNOBS = (
    Knob(
        "acks",
        "",
        "When the source may forget a batch: with the plan of the next one, as Spark does, or as "
        "soon as the batch is in the commit log.",
        (("lagging", Acks.LAGGING), ("prompt", Acks.PROMPT)),
    ),
)
"""What users may set: both are right."""


# --- what is counted -------------------------------------------------------------------------
BETWEEN = Quantity("restarts between batches", "restarts", "no batch was under way at the crash")
AGAIN = Quantity("batches run again", "batches", "a batch in the offset log was not committed")
SEVERAL = Quantity("batches of several events", "batches", "a batch had more than one event")
REGROUPED = Quantity(
    "batches written again with other events", "batches", "a known batch id came with other events"
)
TRIMMED = Quantity("events trimmed", "events", "the source forgot an acknowledged event")
QUANTITIES = (BETWEEN, AGAIN, SEVERAL, REGROUPED, TRIMMED)


# --- what nodes hold -------------------------------------------------------------------------
States: TypeAlias = tuple[Any, ...]
"""The states of the operators of a query, in the order of the chain."""


class Batch(NamedTuple):
    """The events with offsets in (start, end]; id: 0, 1, 2, ..."""

    id: int
    start: int
    end: int

    def part(self, _edge: int) -> Batch:
        """The part of the batch that a source has: the batch, which has one source."""
        return self


class WideBatch(NamedTuple):
    """A batch of several sources.  start, end: of all their events together.  ranges: (start, end)
    by source."""

    id: int
    start: int
    end: int
    ranges: tuple[tuple[int, int], ...]

    def part(self, edge: int) -> Batch:
        """The part of the batch that a source has."""
        return Batch(self.id, *self.ranges[edge])


AnyBatch: TypeAlias = Batch | WideBatch


NO_BATCH = Batch(-1, 0, 0)


def next_batch(last: AnyBatch, ends: tuple[int, ...]) -> AnyBatch:
    """The batch after this one, up to these offsets of the sources."""
    if len(ends) == 1:
        return Batch(last.id + 1, last.end, ends[0])
    starts = (end_of(last, edge) for edge, _ in enumerate(ends))
    return WideBatch(last.id + 1, last.end, sum(ends), tuple(zip(starts, ends, strict=True)))


def end_of(batch: AnyBatch, edge: int) -> int:
    """The offset of a source at which the batch ends."""
    return 0 if batch == NO_BATCH else batch.part(edge).end


class Version(NamedTuple):
    """The states of the query's operators after a batch, and the number of the last event in them:
    states of runs that lost different events differ."""

    batch: int
    states: States
    last: SN = NOTHING


class CheckpointDirectory(NamedTuple):
    """The part of the checkpoint directory that a restart reads.

    planned: the last entry of the offset log, with the end of the entry before it as its start.
    versions: the two newest of the state store, newest last.  committed: the last entry of the
    commit log.
    """

    planned: AnyBatch
    versions: tuple[Version, ...]
    committed: int


def empty(states: States) -> CheckpointDirectory:
    """The checkpoint directory of a query that has never run.  states: of its operators."""
    return CheckpointDirectory(NO_BATCH, (Version(NO_BATCH.id, states),), NO_BATCH.id)


class QueryPhase(Enum):
    """WAITING: for new events."""

    WAITING = "waiting"
    READING = "reading"
    WRITING = "writing"


class QueryState(NamedTuple):
    """The state of the query.  running: the batch under way, or the last one.

    Of several sources, until all have answered: ends: the newest offset of each; read: the events
    of each.
    """

    checkpoint: CheckpointDirectory
    running: AnyBatch
    phase: QueryPhase = QueryPhase.WAITING
    ends: tuple[int | None, ...] = ()
    read: tuple[tuple[Event, ...] | None, ...] = ()


class BatchSource(NamedTuple):
    """The state of the source.  asked: the query waits for events after this offset; None: it does
    not wait."""

    latest: int = 0
    now: int = 0
    kept: Log[Event] = Log()
    asked: int | None = 0


class BatchSink(NamedTuple):
    """The last batch and the number of the last row that it has taken."""

    batch: AnyBatch = NO_BATCH
    row: SN = NOTHING


# --- messages --------------------------------------------------------------------------------
# Dataclasses: two tuples with the same items are equal, whatever their types.
@dataclass(frozen=True, slots=True)
class Latest:
    """A message to the query, at a trigger: there are events up to this offset."""

    end: int


@dataclass(frozen=True, slots=True)
class Ask:
    """A message to the source: report the newest offset at the next trigger, if there are events
    after this one.  at_once: do not wait for a trigger.  always: nor for events; another source
    has some."""

    after: int
    at_once: bool = False
    always: bool = False


@dataclass(frozen=True, slots=True)
class Read:
    """A message to a source: send the events of the batch.  leads: it is the first source."""

    batch: Batch
    leads: bool = True


@dataclass(frozen=True, slots=True)
class Rows:
    """A message to the query: those of the batch's events that the source still has."""

    batch: Batch
    events: tuple[Event, ...]
    leads: bool = True


@dataclass(frozen=True, slots=True)
class Commit:
    """A message to the source: the query will not ask again for events up to this offset."""

    end: int


@dataclass(frozen=True, slots=True)
class Write:
    batch: AnyBatch
    rows: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Written:
    batch: AnyBatch


# --- what is shown ---------------------------------------------------------------------------
_LOGS = ("offsets", "state", "commit")


def size(message: Any) -> Size:
    match message:
        case Rows(_, events, leads):
            # A batch costs the query something whatever its events are: one item.
            return Size(MessageKind.EVENT, len(events), int(leads), "events")
        case Write(_, rows):
            return Size(MessageKind.EVENT, len(rows), name="rows")
        case Commit() | Written():
            kind = MessageKind.ACKNOWLEDGEMENT
        case _:
            kind = MessageKind.CONTROL
    return Size(kind, name=type(message).__name__.lower())


def states(value: Any) -> CarriedStates:
    """The states of the query's operators in the state store, whose versions are new writes."""
    match value:
        case QueryState(checkpoint):
            return states(checkpoint)
        case CheckpointDirectory(_, (*_, newest), _) if newest.batch > NO_BATCH.id:
            return CarriedStates(newest.states, write=newest)
        case _:
            return NO_STATES


def show(value: object) -> str:
    """A message, or the last batch in each log of the query's checkpoint, in a few words."""
    match value:
        case Latest(end):
            return f"latest {end}"
        case Ask(after, at_once, always):
            how = " in any case" if always else " at once" if at_once else ""
            return f"latest after {after}{how}?"
        case Read(batch):
            return f"read {_batch(batch)}"
        case Rows(batch, events):
            wanted = batch.end - batch.start
            short = "" if len(events) == wanted else f": {len(events)} of {wanted}"
            return f"events {_batch(batch)}{short}"
        case Commit(end):
            return f"commit {end}"
        case Write(batch, _):
            return f"write {_batch(batch)}"
        case Written(batch):
            return f"written #{batch.id}"
        case QueryState(checkpoint=CheckpointDirectory() as logs) | (CheckpointDirectory() as logs):
            ids = logs.planned.id, logs.versions[-1].batch, logs.committed
            logged = (f"{name} {id_}" for name, id_ in zip(_LOGS, ids, strict=True) if id_ >= 0)
            return ", ".join(logged)
        case _:
            return ""


def _batch(batch: AnyBatch) -> str:
    """The text "#2 3-4" for batch 2 with the events 3 to 4."""
    return f"#{batch.id} {batch.start + 1}-{batch.end}"
