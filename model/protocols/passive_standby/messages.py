"""Passive standby as values: checkpoints, states of nodes.

Rule of this file: no step of a node; nodes.py has these.
Hwang et al., Section 5.1.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple, TypeAlias

from model.boxes.box import Item
from model.core import Quantity
from model.costs import NO_STATES, CarriedStates, MessageKind, Size
from model.parts import contents
from model.queues import TRIMMED
from model.standbys import ends, messages
from model.standbys.consumers import StreamEnd
from model.standbys.ends import EndState
from model.standbys.messages import REJOINED, TOOK_OVER, WITHHELD, Output
from model.standbys.producers import OutputQueue, QueueReader

CROSSED = Quantity(
    "tuples behind the sweep line", "tuples", "an operator processed a tuple during a checkpoint"
)
LOST_COPY = Quantity("failovers without a copy", "nodes", "a secondary had no checkpoint yet")
QUANTITIES = (TRIMMED, TOOK_OVER, REJOINED, CROSSED, WITHHELD, LOST_COPY)


class Stage(NamedTuple):
    """An operator inside the node: its state, and the items that wait before it."""

    inner: Any
    waiting: tuple[Item, ...] = ()


class Copy(NamedTuple):
    """What a secondary holds: the state of its primary as of the last checkpoint."""

    inlets: tuple[StreamEnd, ...]
    stages: tuple[Stage, ...]
    queue: OutputQueue


class Checkpoint(NamedTuple):
    """A checkpoint message.

    complete: it has everything; else only the operators that have changed since the last checkpoint
    (None: one that has not), the outputs since then, and how far the queue is released.  number:
    that of the last output.
    """

    complete: bool
    inlets: tuple[StreamEnd, ...]
    stages: tuple[Stage | None, ...]
    readers: tuple[QueueReader, ...]
    number: int
    outputs: tuple[Output, ...]


class Stored(NamedTuple):
    """The secondary has the checkpoint up to this output."""

    number: int


class Spare(Enum):
    """What a primary knows of its secondary."""

    NONE = "there is none"
    NEW = "it has no checkpoint yet"
    READY = "it has one"


class Primary(NamedTuple):
    """A primary.

    shipped: the operators as of the last checkpoint, and its last output.  safe: the last output
    that may leave where only checkpointed ones may.  forwarded: the last one that has left.
    behind: what the checkpoint under way has so far, with one stage for each operator behind the
    sweep line; None: none is under way.
    """

    inlets: tuple[StreamEnd, ...]
    stages: tuple[Stage, ...]
    queue: OutputQueue
    spare: Spare
    shipped: tuple[tuple[Stage, ...], int]
    safe: int = 0
    forwarded: int = 0
    behind: Copy | None = None


class Secondary(NamedTuple):
    """A secondary; copy: None before its first checkpoint."""

    copy: Copy | None


State: TypeAlias = EndState | Primary | Secondary


def size(message: Any) -> Size:
    match message:
        case Checkpoint(_, _, stages, _, _, outputs):
            kept = sum(contents(stage.inner).events for stage in stages if stage)
            kept += len(outputs)
            return Size(MessageKind.CHECKPOINT, name="checkpoints", copies=kept)
        case Stored():
            return Size(MessageKind.ACKNOWLEDGEMENT, name="stored")
        case _:
            return messages.size(message)


def states(value: Any) -> CarriedStates:
    """The states of the operators inside the node that a checkpoint or a replica has."""
    match value:
        case Checkpoint(complete, _, stages):
            shipped = tuple(stage and stage.inner for stage in stages)
            return CarriedStates((shipped if any(stages) else None,), whole=complete)
        case Primary(_, stages) | Secondary(Copy(_, stages)):
            return CarriedStates((tuple(stage.inner for stage in stages),))
        case _:
            return NO_STATES


def show(value: object) -> str:
    """A message or a state in a few words."""
    match value:
        case Checkpoint(complete, inlets, _, _, number):
            places = ", ".join(str(inlet.place) for inlet in inlets)
            return f"{'complete ' if complete else ''}checkpoint {places}: {number}"
        case Stored(number):
            return f"stored {number}"
        case Primary(inlets, spare=spare):
            places = ", ".join(str(inlet.place) for inlet in inlets)
            return f"primary at {places}, spare {spare.name.lower()}"
        case Secondary(None):
            return "secondary, empty"
        case Secondary(Copy(inlets)):
            return "secondary at " + ", ".join(str(inlet.place) for inlet in inlets)
        case ends.SourceQueue():
            return ends.show(value)
        case _:
            return messages.show(value)
