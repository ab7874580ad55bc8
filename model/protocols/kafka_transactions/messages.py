"""Transactions that consume, process and produce, as values: messages and states of nodes.

Rule of this file: no step of a node (worker.py, coordinator.py, partitions.py).
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from model.boxes.box import Out
from model.core import NodeName, Quantity
from model.costs import NO_STATES, CarriedStates, MessageKind, Size
from model.events import Event
from model.queues import (
    TRIMMED,
    Inlet,
    QueueState,
    Replay,
    Replayed,
    Restarted,
    Trim,
    message_size,
    show_message,
)

# --- quantities ------------------------------------------------------------------------------
COMMIT_MARKED = Quantity(
    "commit markers", "markers", "a transaction has ended, and readers may see it"
)
ABORT_MARKED = Quantity(
    "abort markers", "markers", "a transaction has ended, and its results are gone"
)
REQUEST_REFUSED = Quantity(
    "writes refused", "requests", "a request came from an old epoch or generation"
)
MARKED_AGAIN = Quantity(
    "markers written again", "restarts", "a restarted coordinator ends a transaction"
)
TIMED_OUT = Quantity("transactions timed out", "transactions", "a time-out aborted a transaction")
QUANTITIES = (COMMIT_MARKED, ABORT_MARKED, REQUEST_REFUSED, MARKED_AGAIN, TIMED_OUT, TRIMMED)


# --- messages --------------------------------------------------------------------------------
class TransactionTag(NamedTuple):
    """A transaction of a producer.  number: among those of the epoch."""

    epoch: int = 1
    number: int = 1


class InitProducer(NamedTuple):
    """End the transactions of my predecessor, and give me an epoch."""


class ProducerReady(NamedTuple):
    epoch: int


class ProduceRecord(NamedTuple):
    """A result for the open transaction of the producer."""

    producer: NodeName
    epoch: int
    out: Out


class InputPlace(NamedTuple):
    """How far the input is processed, and the operator there, which Kafka Streams keeps in a topic
    of its own."""

    place: int
    box: Any


class AddPlace(NamedTuple):
    """The place in the input, for the open transaction of the producer; tag: comes back."""

    producer: NodeName
    generation: int
    tag: TransactionTag
    at: InputPlace


class PlaceAdded(NamedTuple):
    """accepted: False: the producer or the member is not the newest one."""

    tag: TransactionTag
    accepted: bool


class SetPlace(NamedTuple):
    """The place in the input, in no transaction."""

    at: InputPlace


class JoinGroup(NamedTuple):
    """The sender takes the partition over: a new generation begins."""


class FetchPlace(NamedTuple):
    """Where does the input begin?"""


class PlaceIs(NamedTuple):
    generation: int
    at: InputPlace


class EndTransaction(NamedTuple):
    """Commit the transaction, or abort it."""

    tag: TransactionTag
    commits: bool


class TransactionEnded(NamedTuple):
    """The end of a transaction, and the epoch for the next one."""

    tag: TransactionTag
    committed: bool
    epoch: int


class ProducerFenced(NamedTuple):
    """Another worker has taken over: the answer of the coordinator or of the group."""


class EndMarker(NamedTuple):
    """The end of the producer's transaction, for a partition; epoch: results of older ones are
    refused."""

    producer: NodeName
    epoch: int
    commits: bool


# --- states of nodes -------------------------------------------------------------------------
class WorkerPhase(Enum):
    """The next message that a worker waits for."""

    IDLE = "it has not taken over, or another one has"
    STARTING = "its epoch"
    FETCHING = "its place in the input"
    RUNNING = "events"
    ADDING = "the group, to take its place"
    ENDING = "the end of its transaction"


class WorkerState(NamedTuple):
    """The state of a worker.

    tag: of the open transaction.  held: events that came while it waited.  commits: does it ask
    for a commit of the transaction, rather than its end?
    """

    phase: WorkerPhase
    inlet: Inlet
    box: Any
    tag: TransactionTag = TransactionTag()
    generation: int = 1
    held: tuple[Event, ...] = ()
    commits: bool = True

    @property
    def place(self) -> int:
        return self.inlet.place - len(self.held)


class ProducerEntry(NamedTuple):
    """A producer, in the log of the coordinator.

    owner: the worker that began last.  last, committed: its last transaction that has ended, and
    how.  complete: False: a partition may lack the marker of it.
    """

    owner: NodeName
    epoch: int = 1
    last: TransactionTag = TransactionTag(0, 0)
    committed: bool = False
    complete: bool = True


class TransactionLog(NamedTuple):
    """The coordinator, and its log, which is its durable value: an entry for each producer."""

    entries: tuple[tuple[NodeName, ProducerEntry], ...]


class PartitionRecord(NamedTuple):
    producer: NodeName
    out: Out
    committed: bool = False


class ResultPartition(NamedTuple):
    """The partition of the results.  epochs: of producers, from their markers.  records: those that
    readers do not see yet."""

    epochs: tuple[tuple[NodeName, int], ...] = ()
    records: tuple[PartitionRecord, ...] = ()


class GroupState(NamedTuple):
    """The group coordinator, with the partition of the places.

    member: the worker that joined last; "": the first one.  pending: by producer, the place that an
    open transaction has.
    """

    at: InputPlace
    generation: int = 1
    member: NodeName = ""
    epochs: tuple[tuple[NodeName, int], ...] = ()
    pending: tuple[tuple[NodeName, InputPlace], ...] = ()


State = QueueState | WorkerState | TransactionLog | ResultPartition | GroupState


# --- display ---------------------------------------------------------------------------------
def size(message: Any) -> Size:
    """The size of a message or a durable value."""
    match message:
        case Event():
            return Size(MessageKind.EVENT, 1, name="events")
        case ProduceRecord():
            return Size(MessageKind.EVENT, 1, name="results")
        case AddPlace() | SetPlace():
            return Size(MessageKind.CHECKPOINT, 0, 1, name="places")
        case TransactionLog():
            return Size(MessageKind.CHECKPOINT, 0, 1, name="transaction log")
        case EndMarker() | EndTransaction():
            return Size(MessageKind.CONTROL, name="ends of transactions")
        case PlaceAdded() | TransactionEnded():
            return Size(MessageKind.ACKNOWLEDGEMENT, name="answers")
        case InitProducer() | ProducerReady() | ProducerFenced() | JoinGroup():
            return Size(MessageKind.RECOVERY, name="takeovers")
        case FetchPlace() | PlaceIs():
            return Size(MessageKind.RECOVERY, name="takeovers")
        case _:
            return message_size(message)


def states(value: Any) -> CarriedStates:
    """The operator's state in a message or a worker's state."""
    match value:
        case AddPlace(at=at) | SetPlace(at) | PlaceIs(_, at):
            return CarriedStates((at.box,))
        case WorkerState(WorkerPhase.IDLE | WorkerPhase.STARTING | WorkerPhase.FETCHING):
            return NO_STATES
        case WorkerState(_, _, box):
            return CarriedStates((box,))
        case _:
            return NO_STATES


def show(value: object) -> str:
    """A message in a few words."""
    match value:
        case Event((place,), body):
            return f"{body.type}{place}"
        case InitProducer():
            return "init"
        case ProducerReady(epoch):
            return f"epoch {epoch}"
        case ProduceRecord(_, epoch, out):
            return f"{out.body.type}@{out.body.time} (epoch {epoch})"
        case AddPlace(_, _, _, at) | SetPlace(at):
            return f"place {at.place}"
        case PlaceAdded(_, accepted):
            return "place added" if accepted else "place refused"
        case JoinGroup():
            return "join"
        case FetchPlace():
            return "which place?"
        case PlaceIs(_, at):
            return f"from place {at.place}"
        case EndTransaction(_, commits):
            return "commit" if commits else "abort"
        case TransactionEnded(_, committed, _):
            return "committed" if committed else "aborted"
        case ProducerFenced():
            return "fenced"
        case EndMarker(_, epoch, commits):
            return f"{'commit' if commits else 'abort'} marker, epoch {epoch}"
        case Replay() | Replayed() | Restarted() | Trim():
            return show_message(value)
        case _:
            return ""
