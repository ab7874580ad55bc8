"""Unaligned checkpoints as values: messages, snapshots, states of nodes.

Rule of this file: no step of a node (sources.py, operators.py, sinks.py, coordinator.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from model.boxes.box import Lineage, Out
from model.core import NodeName, Quantity
from model.costs import NO_STATES, CarriedStates, MessageKind, Size
from model.events import Body
from model.log import Log
from model.uploads import SNAPSHOTS, PartUpload, PartUploaded, StoredPart

# --- quantities ------------------------------------------------------------------------------
BEGUN_CHECKPOINTS = Quantity(
    "begun checkpoints", "checkpoints", "the sources were ordered to inject barriers"
)
FINISHED_CHECKPOINTS = Quantity(
    "complete checkpoints", "checkpoints", "all parts of one are stored"
)
ABORTED = Quantity("aborted checkpoints", "checkpoints", "a node crashed before it was complete")
OVERTAKEN = Quantity("records in checkpoints", "records", "a record on its way was stored")
WAITED = Quantity("records that waited for barriers", "records", "another barrier was to come")
INJECTED = Quantity("records injected", "records", "a restart put a record into an input buffer")
RELOCATED = Quantity("records moved", "records", "a record was injected at another instance")
TOO_EARLY = Quantity(
    "records before the restart", "records", "a restarted node was faster than the coordinator"
)
SAVED_BY_USER = Quantity("complete savepoints", "savepoints", "all parts of a savepoint are stored")
RESUMED = Quantity("jobs begun from savepoints", "jobs", "the next job began from a savepoint")
RESCALED = Quantity("rescaled restarts", "restarts", "a run has another number of instances")
QUANTITIES = (
    BEGUN_CHECKPOINTS,
    FINISHED_CHECKPOINTS,
    ABORTED,
    OVERTAKEN,
    WAITED,
    INJECTED,
    RELOCATED,
    TOO_EARLY,
    RESCALED,
    SAVED_BY_USER,
    RESUMED,
    SNAPSHOTS,
)


# --- messages --------------------------------------------------------------------------------
class FlowRecord(NamedTuple):
    """A record of a stream.  run: the number of restarts of the pipeline before it was made."""

    run: int
    body: Body
    of: Lineage


class CheckpointBarrier(NamedTuple):
    """saves: it is the barrier of a savepoint."""

    run: int
    number: int
    saves: bool = False


class CheckpointDue(NamedTuple):
    """A source has sent, or a sink has received, records that the checkpoint of this number will
    have."""

    run: int
    number: int


class SavepointDue(NamedTuple):
    """The user asks for a savepoint, or for the next job from the savepoint that is there."""


class InjectBarriers(NamedTuple):
    """The coordinator has a source put the barrier of this checkpoint into its streams.  saves: it
    is a savepoint."""

    run: int
    number: int
    saves: bool = False


class CheckpointPart(NamedTuple):
    """The part of a node, on its way to the storage."""

    run: int
    number: int
    part: Any


class CheckpointDone(NamedTuple):
    """saves: it is a savepoint."""

    run: int
    number: int
    saves: bool = False


class InstanceUp(NamedTuple):
    """A crashed instance is up again, and has nothing."""


class GoBack(NamedTuple):
    """Go on from this checkpoint, with this part, in a new run."""

    run: int
    number: int
    part: Any


# --- snapshots -------------------------------------------------------------------------------
class BufferedRecord(NamedTuple):
    """A record in the channel from one instance to another."""

    sender: NodeName
    receiver: NodeName
    record: FlowRecord


class KeyState(NamedTuple):
    """The state of an operator for a key; taken: how many records of the key are in it."""

    key: Any
    box: Any
    taken: int = 0


class InstancePart(NamedTuple):
    """The snapshot of an instance: its state by key, and the records of its buffers, which the
    barrier has overtaken."""

    keys: tuple[KeyState, ...] = ()
    inputs: tuple[BufferedRecord, ...] = ()
    outputs: tuple[BufferedRecord, ...] = ()


# --- states of nodes -------------------------------------------------------------------------
class GeneratorState(NamedTuple):
    """The state of a replayable source.  cut: its place at the last barrier, and number: of
    that barrier; kept: the bodies that are in no complete checkpoint.  stopped: a savepoint ends
    the job, and the next one reads on."""

    run: int = 0
    now: int = 0
    place: int = 0
    cut: int = 0
    number: int = 0
    kept: Log[tuple[int, Body]] = Log()
    stopped: bool = False


class InstanceState(NamedTuple):
    """The state of an instance.

    run: -1 until a restarted instance has its part.  inbox: records (and barriers that do not
    overtake) that are not processed, with their senders.  outbox: outputs that are not sent, with
    their receivers.  marked: the inputs whose barrier has come.  open: a snapshot that still takes
    records on their way.  early: messages of a run that the instance does not know yet.  upload:
    the snapshot that the storage is writing.
    """

    run: int = 0
    number: int = 0
    keys: tuple[KeyState, ...] = ()
    inbox: tuple[tuple[NodeName, Any], ...] = ()
    outbox: tuple[tuple[NodeName, Any], ...] = ()
    marked: frozenset[NodeName] = frozenset()
    open: InstancePart | None = None
    early: tuple[tuple[NodeName, Any], ...] = ()
    upload: StoredPart | None = None


class PreparedOut(NamedTuple):
    """An output at a sink that waits for the checkpoint of this number."""

    number: int
    edge: int
    out: Out


class CommitterState(NamedTuple):
    """The state of a sink.  number: of the last checkpoint whose barriers have all come."""

    run: int = 0
    number: int = 0
    marked: frozenset[NodeName] = frozenset()
    prepared: tuple[PreparedOut, ...] = ()
    early: tuple[tuple[NodeName, Any], ...] = ()


class KeeperState(NamedTuple):
    """The state of the coordinator, with the storage of the checkpoints.

    number: of the last complete checkpoint.  begun: is the next one under way?  due: has it to
    come?  down: nodes that are not known to be up.  parts: those of the last complete checkpoint;
    coming: those of the next one; both in the order of their nodes.  wished: a savepoint has to
    come; saving: the checkpoint under way is a savepoint; saved: the number and the parts of a
    savepoint after which the job goes on.
    """

    run: int = 0
    number: int = 0
    begun: bool = False
    due: bool = False
    down: frozenset[NodeName] = frozenset()
    parts: tuple[tuple[NodeName, Any], ...] = ()
    coming: tuple[tuple[NodeName, Any], ...] = ()
    wished: bool = False
    saving: bool = False
    saved: tuple[int, tuple[tuple[NodeName, Any], ...]] | None = None


NodeState = GeneratorState | InstanceState | CommitterState | KeeperState


# --- words and gauges ------------------------------------------------------------------------
def size(message: Any) -> Size:
    """The size of a message; a snapshot has the records on their way as events."""
    match message:
        case FlowRecord():
            return Size(MessageKind.EVENT, 1, name="records")
        case CheckpointPart(_, _, part):
            return Size(MessageKind.CHECKPOINT, _on_their_way(part), 1, name="snapshots")
        case PartUpload(_, _, part):
            return Size(MessageKind.UPLOAD, _on_their_way(part), 1, name="snapshots")
        case GoBack(_, _, part):
            return Size(MessageKind.RECOVERY, _on_their_way(part), 1, name="restarts")
        case InstanceUp():
            return Size(MessageKind.RECOVERY)
        case _:
            return Size(MessageKind.CONTROL, name="barriers and commits")


def _on_their_way(part: Any) -> int:
    return len(part.inputs) + len(part.outputs) if isinstance(part, InstancePart) else 0


def states(value: Any) -> CarriedStates:
    """The state of an operator's keys in a message or an instance's state."""
    match value:
        case (
            CheckpointPart(_, _, InstancePart(keys))
            | PartUpload(_, _, InstancePart(keys))
            | GoBack(_, _, InstancePart(keys))
        ):
            return CarriedStates((tuple(one.box for one in keys),))
        case InstanceState(run, _, keys) if run >= 0:
            return CarriedStates((tuple(one.box for one in keys),))
        case _:
            return NO_STATES


def show(value: object) -> str:
    """A message in a few words."""
    match value:
        case FlowRecord(run, body):
            return f"{body.type}@{body.time}" + (f" (run {run})" if run else "")
        case CheckpointBarrier(_, number, saves):
            return f"barrier of savepoint {number}" if saves else f"barrier {number}"
        case CheckpointDue():
            return "checkpoint due"
        case SavepointDue():
            return "savepoint due"
        case InjectBarriers(_, number, saves):
            return f"begin savepoint {number}" if saves else f"begin {number}"
        case CheckpointPart(_, number, part):
            count = _on_their_way(part)
            return f"part of {number}" + (f" with {count} on the way" if count else "")
        case PartUpload(_, number):
            return f"upload of {number}"
        case PartUploaded(_, number):
            return f"{number} uploaded"
        case StoredPart(_, number):
            return f"part of {number} is stored"
        case CheckpointDone(_, number):
            return f"{number} is complete"
        case InstanceUp():
            return "up again"
        case GoBack(run, number):
            return f"go back to {number}, run {run}"
        case KeeperState(_, number):
            return f"{number} complete"
    return ""
