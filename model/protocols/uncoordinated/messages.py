"""Uncoordinated checkpoints as values: messages, checkpoints, states of nodes.

Rule of this file: no step of a node (sources.py, operators.py, sinks.py, manager.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from model.boxes.box import Out
from model.core import NodeName, Quantity
from model.costs import NO_STATES, CarriedStates, MessageKind, Size
from model.log import Log

# --- what is counted -------------------------------------------------------------------------
INDUCED_CHECKPOINTS = Quantity(
    "induced checkpoints", "checkpoints", "a message with a higher index forced a checkpoint"
)
UNDONE = Quantity("checkpoints undone", "checkpoints", "a restart went back behind a checkpoint")
ADVANCED = Quantity("moves of the recovery line", "moves", "older checkpoints were deleted")
BEFORE_LINE = Quantity(
    "messages before the line", "messages", "a restarted sender was faster than the manager"
)
QUANTITIES = (INDUCED_CHECKPOINTS, UNDONE, ADVANCED, BEFORE_LINE)


# --- messages --------------------------------------------------------------------------------
class LoggedRecord(NamedTuple):
    """An output.  run: the number of restarts before it.  level: the index of the sender's last
    checkpoint.  number: its place among the sender's outputs, from 1."""

    run: int
    level: int
    number: int
    out: Out


class Credit(NamedTuple):
    """The receiver has processed so many outputs of the sender."""

    run: int
    level: int
    total: int


class TaskCheckpoint(NamedTuple):
    """All that an operator knows: its checkpoint, and its state between two of them.

    level: the index of the last checkpoint, 0 where messages have none.  received: the number of
    the last message of each input.  made: how many outputs it has made.  kept: those that a restart
    sends again, (number, output).  granted: the credits sent to each input; credited: those
    received of each operator below.
    """

    level: int
    box: Any
    received: tuple[int, ...]
    made: int = 0
    kept: Log[tuple[int, Out]] = Log()
    granted: tuple[int, ...] = ()
    credited: tuple[int, ...] = ()


class CheckpointTaken(NamedTuple):
    """A checkpoint, on its way to the storage."""

    run: int
    checkpoint: TaskCheckpoint


class NeedsLine(NamedTuple):
    """A crashed operator is up again, and has nothing."""


class ReturnToLine(NamedTuple):
    """Go on from this checkpoint in a new run; a source has none, and sends its log again.

    undone: how many checkpoints of the operator are newer.
    """

    run: int
    checkpoint: TaskCheckpoint | None
    undone: int = 0


class LineMoved(NamedTuple):
    """The recovery line has moved.  made: the receiver's outputs there.  needed: the outputs up to
    this number are in the checkpoints of all that receive them."""

    run: int
    made: int
    needed: int


class WrittenRecord(NamedTuple):
    """An output for the application."""

    number: int
    out: Out


class Settled(NamedTuple):
    """No restart undoes outputs up to this number.  back: a restart undoes the later ones."""

    made: int
    back: bool = False


# --- what nodes hold -------------------------------------------------------------------------
class ReplayableSource(NamedTuple):
    """The state of a source, which never crashes."""

    run: int = 0
    now: int = 0
    made: int = 0
    kept: Log[tuple[int, Out]] = Log()


class LoggingTask(NamedTuple):
    """The state of an operator.

    run: -1 until a restarted operator has its checkpoint.  changed: is there anything new since the
    last checkpoint?  early: messages of a later run, by sender.
    """

    run: int
    part: TaskCheckpoint
    changed: bool = False
    early: tuple[tuple[NodeName, Any], ...] = ()


class LineManager(NamedTuple):
    """The state of the recovery manager, with the storage: the checkpoints of each operator, the
    oldest first.  The oldest ones are the recovery line, unless there has been none yet."""

    run: int
    stored: tuple[tuple[TaskCheckpoint, ...], ...]


class HeldOutputs(NamedTuple):
    """The state of a sink: for each input the number of the last output that was passed on, and the
    outputs that wait."""

    passed: tuple[int, ...]
    waiting: tuple[Log[WrittenRecord], ...]


State = ReplayableSource | LoggingTask | LineManager | HeldOutputs


# --- what is shown ---------------------------------------------------------------------------
def size(message: Any) -> Size:
    """The size of a message; a checkpoint has its log as events."""
    match message:
        case LoggedRecord() | WrittenRecord():
            return Size(MessageKind.EVENT, 1, name="records")
        case CheckpointTaken(_, checkpoint):
            return Size(MessageKind.CHECKPOINT, len(checkpoint.kept), 1, name="checkpoints")
        case ReturnToLine(_, checkpoint):
            events = 0 if checkpoint is None else len(checkpoint.kept)
            return Size(MessageKind.RECOVERY, events, int(checkpoint is not None), name="restarts")
        case NeedsLine():
            return Size(MessageKind.RECOVERY)
        case Credit():
            return Size(MessageKind.ACKNOWLEDGEMENT, name="credits")
        case _:
            return Size(MessageKind.CONTROL)


def states(value: Any) -> CarriedStates:
    """The operator's state in a message or a node's state."""
    match value:
        case CheckpointTaken(_, TaskCheckpoint() as part):
            return CarriedStates((part.box,))
        case ReturnToLine(_, TaskCheckpoint() as part):
            return CarriedStates((part.box,))
        case LoggingTask(run, part) if run >= 0:
            return CarriedStates((part.box,))
        case _:
            return NO_STATES


def show(value: object) -> str:
    """A message or a state in a few words."""
    match value:
        case LoggedRecord(run, level, number, out):
            return f"{out.body.type}{number}{_marks(run, level)}"
        case Credit(run, level, total):
            return f"credit {total}{_marks(run, level)}"
        case CheckpointTaken(_, checkpoint):
            return f"checkpoint: {_counts(checkpoint)}"
        case NeedsLine():
            return "up again"
        case ReturnToLine(_, None):
            return "send again"
        case ReturnToLine(_, checkpoint, undone):
            assert checkpoint is not None
            back = f", {undone} undone" if undone else ""
            return f"go back: {_counts(checkpoint)}{back}"
        case LineMoved(_, made, needed):
            return f"line at {made}, let go up to {needed}"
        case WrittenRecord(number, out):
            return f"{out.body.type}{number}"
        case Settled(made, back):
            return f"{'back to' if back else 'settled up to'} {made}"
        case LoggingTask(run, part):
            return "waits" if run < 0 else _counts(part)
        case LineManager(_, stored):
            return f"{'+'.join(str(len(own)) for own in stored)} stored"
        case HeldOutputs(_, waiting):
            return f"holds {sum(map(len, waiting))}"
    return ""


def _marks(run: int, level: int) -> str:
    marks = [f"run {run}"] * bool(run) + [f"index {level}"] * bool(level)
    return f" ({', '.join(marks)})" if marks else ""


def _counts(checkpoint: TaskCheckpoint) -> str:
    """The counts of a checkpoint: messages received, outputs made, credits received."""
    inputs = "+".join(map(str, checkpoint.received))
    credits = "+".join(map(str, checkpoint.credited))
    level = f"#{checkpoint.level} " if checkpoint.level else ""
    more = f", {credits} credits" if any(checkpoint.credited) else ""
    return f"{level}{inputs} in, {checkpoint.made} out{more}"
