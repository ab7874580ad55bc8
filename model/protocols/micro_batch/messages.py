"""Micro-batches as values: the choices of a design, what nodes hold, what they say to each other.

Rule of this file: nothing is done here.  What nodes do with these values is
model.protocols.micro_batch.nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from model.cep.operator import OperatorState, Scheme, Skipping, origin, restored
from model.core import MessageKind, Quantity, Size
from model.events import NOTHING, SN, Event
from model.log import Log

SCHEME = Scheme(skipping=Skipping.OFF)
"""Rows are numbered by the event that triggered them; sinks that know rows by key compare that."""


# --- choices ---------------------------------------------------------------------------------
class Sink(Enum):
    """What the sink makes of a batch that it may have taken before."""

    BY_BATCH = "drops a batch whose id it has taken"
    BY_ROW = "drops rows that it has taken, whatever their batch"
    APPEND = "appends, as a plain foreachBatch does"


class Acks(Enum):
    """When the source is told commit(end of batch N), and may trim up to there."""

    LAGGING = "when batch N+1 is planned, once its offsets are logged"
    PROMPT = "when batch N is in the commit log"
    EAGER = "when the events of batch N have been read"


class Offsets(Enum):
    """When the offset log gets its entry N."""

    BEFORE = "before batch N runs"
    AFTER = "when the sink has taken batch N"


class Commits(Enum):
    """When the commit log gets its entry N."""

    AFTER_SINK = "when the sink has taken batch N"
    BEFORE_SINK = "before batch N is given to the sink"


class Versions(Enum):
    """What a state written by batch N does to the one before."""

    KEPT = "the state before the batch is kept"
    IN_PLACE = "the state before the batch is overwritten"


@dataclass(frozen=True, slots=True)
class Design:
    """Spark's choices are the defaults, with a sink that Spark's guarantee asks for."""

    sink: Sink = Sink.BY_BATCH
    acks: Acks = Acks.LAGGING
    offsets: Offsets = Offsets.BEFORE
    commits: Commits = Commits.AFTER_SINK
    versions: Versions = Versions.KEPT


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
class Batch(NamedTuple):
    """The events with offsets in (start, end]; id: 0, 1, 2, ..."""

    id: int
    start: int
    end: int


NO_BATCH = Batch(-1, 0, 0)


class Version(NamedTuple):
    """The operator's state after a batch."""

    batch: int
    state: OperatorState


class Checkpoint(NamedTuple):
    """What of the checkpoint directory a restart reads.

    planned: the last entry of the offset log, with the end of the entry before it as its start.
    versions: the two newest of the state store, newest last.  committed: the last entry of the
    commit log.
    """

    planned: Batch
    versions: tuple[Version, ...]
    committed: int


def empty() -> Checkpoint:
    """The checkpoint directory of a query that has never run."""
    return Checkpoint(
        NO_BATCH, (Version(NO_BATCH.id, restored(SCHEME, origin(SCHEME, 1))),), NO_BATCH.id
    )


class Phase(Enum):
    IDLE = "idle"
    READING = "reading"
    WRITING = "writing"


class QueryState(NamedTuple):
    """latest: the newest offset heard of.  running: the batch under way, or the last one."""

    checkpoint: Checkpoint
    running: Batch
    phase: Phase = Phase.IDLE
    latest: int = 0


class SourceState(NamedTuple):
    latest: int = 0
    now: int = 0
    kept: Log[Event] = Log()


class SinkState(NamedTuple):
    """The last batch and the number of the last row that it has taken."""

    batch: Batch = NO_BATCH
    row: SN = NOTHING


# --- what they say ---------------------------------------------------------------------------
# Dataclasses: two tuples with the same items are equal, whatever their types.
@dataclass(frozen=True, slots=True)
class Latest:
    """To the query: there are events up to this offset."""

    end: int


@dataclass(frozen=True, slots=True)
class Ask:
    """To the source: which events are there after this offset?"""

    after: int


@dataclass(frozen=True, slots=True)
class Read:
    batch: Batch


@dataclass(frozen=True, slots=True)
class Rows:
    """To the query: what the source still has of the batch's events."""

    batch: Batch
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Commit:
    """To the source: events up to this offset will not be asked for again."""

    end: int


@dataclass(frozen=True, slots=True)
class Write:
    batch: Batch
    rows: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Written:
    batch: Batch


# --- what is shown ---------------------------------------------------------------------------
_LOGS = ("offsets", "state", "commit")


def size(message: Any) -> Size:
    match message:
        case Rows(_, events):
            return Size(MessageKind.EVENT, len(events), name="events")
        case Write(_, rows):
            return Size(MessageKind.EVENT, len(rows), name="rows")
        case Commit() | Written():
            kind = MessageKind.ACKNOWLEDGEMENT
        case Ask():
            kind = MessageKind.RECOVERY
        case _:
            kind = MessageKind.CONTROL
    return Size(kind, name=type(message).__name__.lower())


def show(value: object) -> str:
    """A message, or the last batch in each log of the query's checkpoint, in a few words."""
    match value:
        case Latest(end):
            return f"latest {end}"
        case Ask(after):
            return f"latest after {after}?"
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
        case QueryState(checkpoint=Checkpoint(planned, versions, committed)):
            ids = planned.id, versions[-1].batch, committed
            logged = (f"{name} {id_}" for name, id_ in zip(_LOGS, ids, strict=True) if id_ >= 0)
            return ", ".join(logged)
        case _:
            return ""


def _batch(batch: Batch) -> str:
    """#2 3-4: batch 2 has the events 3 to 4."""
    return f"#{batch.id} {batch.start + 1}-{batch.end}"
