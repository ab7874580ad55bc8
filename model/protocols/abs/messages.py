"""Asynchronous barrier snapshotting as values: messages, snapshots, states of nodes.

Rule of this file: no step of a node (sources.py, operators.py, external.py, coordinator.py).
LOG.io, Section 8.1.1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from model.boxes.box import Lineage, Out
from model.core import NodeName, Quantity
from model.costs import NO_STATES, CarriedStates, MessageKind, Size
from model.events import Body
from model.log import Log
from model.uploads import SNAPSHOTS, PartUpload, PartUploaded, StoredPart

# --- what is counted -------------------------------------------------------------------------
BEGUN = Quantity("begun epochs", "epochs", "the sources were ordered to inject markers")
EPOCHS = Quantity("complete epochs", "epochs", "all nodes have made their snapshots")
ABANDONED = Quantity("abandoned epochs", "epochs", "a node crashed before the epoch was complete")
ALIGNED = Quantity("records held for alignment", "records", "a record waited for another marker")
IN_FLIGHT = Quantity("records in snapshots", "records", "a record became part of a snapshot")
EARLY_RECORDS = Quantity(
    "records before the rollback", "records", "a restarted node was faster than the coordinator"
)
SETTLED = Quantity("changes settled by a restart", "transactions", "a restart committed or dropped")
RETURNED = Quantity("restarts of the coordinator", "restarts", "a crashed coordinator is up again")
ORPHANED = Quantity("changes by orphans", "messages", "a task wrote whose run was over")
QUANTITIES = (
    BEGUN,
    EPOCHS,
    ABANDONED,
    ALIGNED,
    IN_FLIGHT,
    EARLY_RECORDS,
    SETTLED,
    SNAPSHOTS,
    RETURNED,
    ORPHANED,
)


# --- messages --------------------------------------------------------------------------------
class StreamRecord(NamedTuple):
    """An element of a stream.  run: the number of restarts of the pipeline before it."""

    run: int
    body: Body
    of: Lineage


class EpochMarker(NamedTuple):
    """The end of an epoch, on a stream."""

    run: int
    epoch: int


class EpochDue(NamedTuple):
    """A source has sent records that belong to no epoch yet."""

    run: int


class EndEpoch(NamedTuple):
    """The coordinator has a source inject the marker of this epoch."""

    run: int
    epoch: int


class EpochPart(NamedTuple):
    """The snapshot of a node, on its way to the storage."""

    run: int
    epoch: int
    part: Any


class EpochComplete(NamedTuple):
    """An epoch is complete.  more: snapshots have records on their way, so another has to come; it
    is said where sources count the pause."""

    run: int
    epoch: int
    more: bool = False


class Reborn(NamedTuple):
    """A crashed node is up again, and has nothing."""


class AskRun(NamedTuple):
    """A restarted coordinator does not know the number of the run."""


class RunIs(NamedTuple):
    """The run of a node; -1: a restarted node that waits for its snapshot."""

    node: NodeName
    run: int


class RollBack(NamedTuple):
    """Go on from this epoch, with this snapshot (None: from the beginning), in a new run."""

    run: int
    epoch: int
    part: Any


class WriteAction(NamedTuple):
    """One output to the external system, with its number at the writer."""

    number: int
    out: Out


class Prepared(NamedTuple):
    """A transaction: the outputs of an epoch.  last: the number of the last one at the writer."""

    epoch: int
    outs: tuple[Out, ...]
    last: int = 0


class CommitEpoch(NamedTuple):
    """Commit the prepared transactions up to this epoch."""

    epoch: int


class SettleEpoch(NamedTuple):
    """The pipeline goes on from this epoch: settle the transactions that are prepared."""

    epoch: int


class FromRun(NamedTuple):
    """A message to an external system from a task that has two places, with the run of the task."""

    run: int
    message: Any


# --- what nodes hold -------------------------------------------------------------------------
class TaskPart(NamedTuple):
    """The snapshot of an operator: its box, how many records it has taken and outputs it has made,
    and the records that were on their way to it."""

    box: Any
    taken: int = 0
    made: int = 0
    flight: tuple[tuple[NodeName, StreamRecord], ...] = ()


class ReaderState(NamedTuple):
    """The state of a replayable source.  cut: its place at the last marker; kept: the bodies that
    are in no complete epoch.  With a minimum pause, waits: an epoch or the pause after it is under
    way; due: an epoch has to come after that."""

    run: int = 0
    now: int = 0
    place: int = 0
    cut: int = 0
    kept: Log[tuple[int, Body]] = Log()
    waits: bool = False
    due: bool = False


class TaskState(NamedTuple):
    """The state of an operator.

    run: -1 until a restarted node has its snapshot.  marked: the inputs whose marker has come.
    held: messages that wait, by sender.  open: a snapshot that still takes records on their way.
    outs: those that a writer has not handed on.  upload: the snapshot that the storage is writing.
    """

    run: int
    epoch: int
    box: Any
    taken: int = 0
    made: int = 0
    marked: frozenset[NodeName] = frozenset()
    held: tuple[tuple[NodeName, Any], ...] = ()
    open: TaskPart | None = None
    outs: tuple[Out, ...] = ()
    upload: StoredPart | None = None


class Kept(NamedTuple):
    """What survives a crash of the coordinator: the number of the run, the last complete epoch and
    its snapshots.  A restart drops the snapshots of an epoch under way, so none is here."""

    run: int = 0
    epoch: int = 0
    parts: tuple[tuple[NodeName, Any], ...] = ()


class OverseerState(NamedTuple):
    """The state of the coordinator, with the snapshot storage.

    epoch: the last complete one.  begun: is the next one under way?  due: has it to come?
    down: nodes that are not known to be up.  parts: the snapshots of the last complete epoch;
    coming: those of the next one; both in the order of their nodes.
    """

    run: int = 0
    epoch: int = 0
    begun: bool = False
    due: bool = False
    down: frozenset[NodeName] = frozenset()
    parts: tuple[tuple[NodeName, Any], ...] = ()
    coming: tuple[tuple[NodeName, Any], ...] = ()


class ExternalState(NamedTuple):
    """The external system: the prepared changes, by writer, and the last number of each writer.

    runs: the last run of each writer that has two places.
    """

    prepared: tuple[tuple[NodeName, Prepared], ...] = ()
    last: tuple[tuple[NodeName, int], ...] = ()
    runs: tuple[tuple[NodeName, int], ...] = ()


State = ReaderState | TaskState | OverseerState | ExternalState


# --- what is shown ---------------------------------------------------------------------------
def size(message: Any) -> Size:
    """The size of a message; a snapshot has its records on their way as events."""
    match message:
        case StreamRecord() | WriteAction():
            return Size(MessageKind.EVENT, 1, name="records")
        case Prepared(_, outs, _):
            return Size(MessageKind.EVENT, len(outs), name="transactions")
        case EpochPart(_, _, part):
            return Size(MessageKind.CHECKPOINT, _in_flight(part), 1, name="snapshots")
        case PartUpload(_, _, part):
            return Size(MessageKind.UPLOAD, _in_flight(part), 1, name="snapshots")
        case RollBack(_, _, part):
            return Size(MessageKind.RECOVERY, 0, int(part is not None), name="rollbacks")
        case FromRun(_, inner):
            return size(inner)
        case Kept():  # its snapshots came as messages
            return Size(MessageKind.CHECKPOINT, 0, 1, name="decisions")
        case Reborn() | SettleEpoch() | AskRun() | RunIs():
            return Size(MessageKind.RECOVERY)
        case EpochMarker() | EpochDue() | EndEpoch() | EpochComplete() | CommitEpoch():
            return Size(MessageKind.CONTROL, name="markers and commits")
        case _:
            return Size(MessageKind.CONTROL)


def _in_flight(part: Any) -> int:
    return len(part.flight) if isinstance(part, TaskPart) else 0


def states(value: Any) -> CarriedStates:
    """The operator's state in a message or a node's state."""
    match value:
        case (
            EpochPart(_, _, TaskPart() as part)
            | PartUpload(_, _, TaskPart() as part)
            | RollBack(_, _, TaskPart() as part)
        ):
            return CarriedStates((part.box,))
        case TaskState(run, _, box) if run >= 0:
            return CarriedStates((box,))
        case _:
            return NO_STATES


def show(value: object) -> str:
    """A message in a few words."""
    match value:
        case StreamRecord(run, body):
            return f"{body.type}@{body.time}" + (f" (run {run})" if run else "")
        case EpochMarker(_, epoch):
            return f"marker {epoch}"
        case EpochDue():
            return "epoch due"
        case EndEpoch(_, epoch):
            return f"end epoch {epoch}"
        case EpochPart(_, epoch):
            return f"snapshot {epoch}"
        case PartUpload(_, epoch):
            return f"upload {epoch}"
        case PartUploaded(_, epoch):
            return f"uploaded {epoch}"
        case StoredPart(_, epoch):
            return f"snapshot {epoch} is stored"
        case EpochComplete(_, epoch):
            return f"epoch {epoch} complete"
        case Reborn():
            return "up again"
        case AskRun():
            return "which run?"
        case RunIs(node, run):
            return f"{node} is in run {run}"
        case RollBack(_, epoch):
            return f"roll back to {epoch}"
        case FromRun(run, inner):
            return f"{show(inner)} (run {run})"
        case WriteAction(number):
            return f"write {number}"
        case Prepared(epoch, outs, _):
            return f"pre-commit {epoch}: {len(outs)}"
        case CommitEpoch(epoch):
            return f"commit {epoch}"
        case SettleEpoch(epoch):
            return f"settle at {epoch}"
    return ""
