"""Checkpoint roll-backward as values: checkpoints, states of nodes, outputs.

Rule of this file: no step of a node; nodes.py has these.
Sebepou and Magoutis, CEC, 2011, Section II.A.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from model.boxes.box import Lineage
from model.core import Quantity
from model.costs import NO_STATES, CarriedStates, MessageKind, Size
from model.events import BEGINNING, SN, Body, Event
from model.parts import open_windows
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

# --- what is counted -------------------------------------------------------------------------
TORN = Quantity("half-written checkpoints", "restarts", "a restart found half a checkpoint")
SCRATCH = Quantity("restarts from the beginning", "restarts", "no checkpoint was whole")
OVERTAKEN = Quantity(
    "tuples beside a checkpoint", "tuples", "an operator processed a tuple while it stored"
)
HELD_BACK = Quantity(
    "outputs held back", "outputs", "downstream had not asked for an output that was made again"
)
BEHIND = Quantity("tuples since the checkpoint", "tuples", "what a restart would process again now")
QUANTITIES = (TORN, SCRATCH, OVERTAKEN, HELD_BACK, BEHIND, TRIMMED)


# --- what nodes hold -------------------------------------------------------------------------
class Output(NamedTuple):
    """An output of an operator: its place in the stream, and the arrivals that it was made of."""

    sn: SN
    body: Body
    of: Lineage


class OperatorCheckpoint(NamedTuple):
    """A checkpoint of an operator: its box, the places and times of the last tuples in it, by
    input, and the output queue."""

    box: Any
    places: tuple[int, ...] = (0,)
    times: tuple[int, ...] = (BEGINNING,)
    queue: QueueState = QueueState()

    @property
    def place(self) -> int:
        """The number of tuples in it, of all inputs."""
        return sum(self.places)


class Stable(NamedTuple):
    """The durable value of an operator: the last checkpoint that is whole, and the half-written one
    beside it, whose queue is missing."""

    whole: OperatorCheckpoint
    half: OperatorCheckpoint | None = None


NOT_ASKED = Replay(None)
"""What downstream wants before it has asked: nothing; it would ignore what comes."""


class CrbOperator(NamedTuple):
    """The state of an operator.  inlets: by input.

    owed: the request of downstream that has no answer yet, since outputs that it does not want are
    made again first; None: downstream takes every output.  captured: the checkpoint that is being
    stored.  stable: what is stored.  loaded: from a checkpoint, and upstream has not answered yet.
    """

    inlets: tuple[Inlet, ...]
    box: Any
    queue: QueueState
    owed: Replay | None
    captured: OperatorCheckpoint | None
    stable: Stable
    loaded: bool = False

    @property
    def place(self) -> int:
        """The number of tuples in the state, of all inputs; 0 of those that have not answered a
        restart yet."""
        return sum(inlet.place for inlet in self.inlets)


class CrbSink(NamedTuple):
    inlet: Inlet = Inlet()


State = QueueState | CrbOperator | CrbSink


# --- what is shown ---------------------------------------------------------------------------
def size(message: Any) -> Size:
    """The size of a message.  Of a checkpoint the windows are written first, then the queue."""
    match message:
        case Stable(whole, half):
            if half is None:
                kept = len(whole.queue.kept)
                return Size(MessageKind.CHECKPOINT, name="checkpoints", copies=kept)
            items = open_windows(half.box) or 0
            return Size(MessageKind.CHECKPOINT, 0, items, name="checkpoints")
        case Event() | Output():
            return Size(MessageKind.EVENT, 1, name="events")
        case _:
            return message_size(message)


def states(value: Any) -> CarriedStates:
    """The operator's state in a durable value, whose first half has it, or in a node's state."""
    match value:
        case Stable(whole, half):
            newest = half or whole
            return CarriedStates((newest.box,), write=newest.place)
        case CrbOperator(_, box):
            return CarriedStates((box,))
        case _:
            return NO_STATES


def show(value: object) -> str:
    """A message, a state or an output in a few words."""
    match value:
        case Event((place, *_), body) | Output((place, *_), body):
            return f"{body.type}{place}@{body.time}"
        case Replay() | Replayed() | Restarted() | Trim():
            return show_message(value)
        case Stable(whole, half):
            return f"checkpoint at {whole.place}" + ("" if half is None else f", half {half.place}")
        case CrbOperator(stable=stable):
            return f"at {value.place}, {show(stable)}"
        case QueueState(place, _, kept):
            return f"{len(kept)} of {place}"
        case CrbSink(Inlet(place)):
            return f"{place} taken"
    return ""
