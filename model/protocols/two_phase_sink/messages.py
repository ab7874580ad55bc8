"""A two-phase-commit sink as values: messages, checkpoints, states of nodes.

Rule of this file: no step of a node (job.py, broker.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from model.boxes.box import Out
from model.core import Quantity
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
SINK_COMMITTED = Quantity(
    "sink transactions committed", "transactions", "readers may see a transaction"
)
SINK_ABORTED = Quantity(
    "sink transactions aborted", "transactions", "the results of a transaction are gone"
)
SINK_EXPIRED = Quantity(
    "sink transactions expired", "transactions", "a time-out ended a transaction"
)
COMMITTED_IN_VAIN = Quantity(
    "commits in vain", "commits", "nothing is left of the transaction to commit"
)
QUANTITIES = (SINK_COMMITTED, SINK_ABORTED, SINK_EXPIRED, COMMITTED_IN_VAIN, TRIMMED)


# --- messages --------------------------------------------------------------------------------
class SinkTransaction(NamedTuple):
    """The id of a transaction.  epoch: how often the job has been restored; number: of the
    checkpoint that it belongs to."""

    epoch: int = 0
    number: int = 0


class WriteResult(NamedTuple):
    """A result for a transaction; place: among the results of the transaction."""

    of: SinkTransaction
    place: int
    out: Out


class PrepareTransaction(NamedTuple):
    """Answer when all `results` of the transaction are there."""

    of: SinkTransaction
    results: int


class TransactionPrepared(NamedTuple):
    """alive: False: the transaction was aborted."""

    of: SinkTransaction
    alive: bool


class CommitPrepared(NamedTuple):
    of: SinkTransaction


class RestoreWriter(NamedTuple):
    """The job goes on from the checkpoint with this transaction, in a new epoch; 0: the external
    system says in which."""

    committed: SinkTransaction
    epoch: int = 0


class WriterRestored(NamedTuple):
    """The epoch of the restored job."""

    epoch: int


# --- states of nodes -------------------------------------------------------------------------
class JobCheckpoint(NamedTuple):
    """The durable value of a job: its place in the input, its operator, and the transaction that
    has the results up to there.  epoch: of the job."""

    place: int
    box: Any
    transaction: SinkTransaction = SinkTransaction()
    epoch: int = 1


class RunningJob(NamedTuple):
    """The state of a job.

    open: the transaction for the next results; made: its results so far.  pending: the checkpoint
    that waits for its transaction.  saves: False: it is a savepoint that no restart begins from.
    asked: a savepoint comes after the checkpoint that is pending.
    """

    inlet: Inlet
    box: Any
    open: SinkTransaction
    made: int = 0
    pending: JobCheckpoint | None = None
    saves: bool = True
    asked: bool = False


class RestoringJob(NamedTuple):
    """The state of a restarted job that waits for its epoch."""

    checkpoint: JobCheckpoint


class BrokerTransaction(NamedTuple):
    """A transaction of the external system.

    edge: of the writer.  results: (place, result), in order.  expected: their number, once the job
    prepares it.
    """

    of: SinkTransaction
    edge: int
    results: tuple[tuple[int, Out], ...] = ()
    expected: int | None = None
    committed: bool = False

    @property
    def prepared(self) -> bool:
        return self.expected == len(self.results)


class WriterEntry(NamedTuple):
    """A writer, as the external system knows it.  ended: the newest transaction that is committed
    or aborted.  applied: the last transaction that readers see, where a second commit counts."""

    epoch: int = 1
    ended: SinkTransaction = SinkTransaction()
    applied: BrokerTransaction | None = None


class BrokerState(NamedTuple):
    """The external system: its writers, and the transactions that readers do not see yet, in the
    order in which they will see them."""

    writers: tuple[WriterEntry, ...]
    transactions: tuple[BrokerTransaction, ...] = ()


State = QueueState | RunningJob | RestoringJob | BrokerState


# --- display ---------------------------------------------------------------------------------
def size(message: Any) -> Size:
    """The size of a message or a durable value."""
    match message:
        case Event():
            return Size(MessageKind.EVENT, 1, name="events")
        case WriteResult():
            return Size(MessageKind.EVENT, 1, name="results")
        case JobCheckpoint():
            return Size(MessageKind.CHECKPOINT, 0, 1, name="checkpoints")
        case PrepareTransaction() | CommitPrepared():
            return Size(MessageKind.CONTROL, name="transactions")
        case TransactionPrepared():
            return Size(MessageKind.ACKNOWLEDGEMENT, name="transactions")
        case RestoreWriter() | WriterRestored():
            return Size(MessageKind.RECOVERY, name="restorations")
        case _:
            return message_size(message)


def states(value: Any) -> CarriedStates:
    """The operator's state in a checkpoint, which belongs to a transaction, or in a job's state."""
    match value:
        case JobCheckpoint(_, box, transaction):
            return CarriedStates((box,), write=transaction)
        case RunningJob(_, box) | RestoringJob(JobCheckpoint(_, box)):
            return CarriedStates((box,))
        case _:
            return NO_STATES


def show(value: object) -> str:
    """A message, a state or an output in a few words."""
    match value:
        case Event((place,), body):
            return f"{body.type}{place}"
        case SinkTransaction(epoch, number):
            return f"t{number}" if epoch < 2 else f"t{number} (epoch {epoch})"
        case WriteResult(of, _, out):
            return f"{out.body.type}@{out.body.time} in {show(of)}"
        case PrepareTransaction(of, count):
            return f"prepare {show(of)}: {count}"
        case TransactionPrepared(of, alive):
            return f"{show(of)} {'prepared' if alive else 'is aborted'}"
        case CommitPrepared(of):
            return f"commit {show(of)}"
        case RestoreWriter(of, _):
            return f"restore from {show(of)}"
        case WriterRestored(epoch):
            return f"epoch {epoch}"
        case JobCheckpoint(place, _, of):
            return f"checkpoint at {place}, {show(of)}"
        case Replay() | Replayed() | Restarted() | Trim():
            return show_message(value)
        case _:
            return ""
