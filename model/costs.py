"""What a message costs and what a node holds: drivers charge for it, plot it and compare it.

Rule of this file: nothing here is part of a protocol's behaviour.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from model.core import Quantity
from model.events import Body, Event


class MessageKind(Enum):
    """The purpose of a message: diagrams colour by kind, price lists charge by kind.

    UPLOAD: a checkpoint that a prompt site stores beside the work of the sender; its answer to the
    sender departs when it is stored.
    """

    EVENT = "event"
    ACKNOWLEDGEMENT = "acknowledgement"
    CONTROL = "control"
    RECOVERY = "recovery"
    CHECKPOINT = "checkpoint"
    UPLOAD = "upload"
    COPY = "copy"
    DETERMINANT = "determinant"


class Size(NamedTuple):
    """The content of a message, for drivers that charge for it; never part of the behaviour.

    events: of the data stream; a message without events is a control message.  items: other
    contents that take room (savepoints, windows, ranges).  name: the name of its traffic in
    reports; if empty, the name of the kind.  copies: events and outputs that are in it to be kept,
    and that nobody processes.  state_bytes: of operators' states; a driver with prices adds it.
    """

    kind: MessageKind
    events: int = 0
    items: int = 0
    name: str = ""
    copies: int = 0
    state_bytes: int = 0

    @property
    def traffic(self) -> str:
        return self.name or self.kind.value


EVENT, CONTROL = Size(MessageKind.EVENT, 1), Size(MessageKind.CONTROL)
_EVENTS = (Event, Body)


def default_size(message: Any) -> Size:
    """The size of a message for protocols without a `size`: an event, or a control message."""
    return EVENT if isinstance(message, _EVENTS) else CONTROL


class StateParts(NamedTuple):
    """The parts of an operator's state that take room: keys (groups) that were seen, open
    windows."""

    keys: int = 0
    windows: int = 0


class CarriedStates(NamedTuple):
    """The states of a node's operators in a message, a durable value or a node's state.

    states: by operator, in the order of Deployment.runs: the state of a box or CEP operator; or its
    StateParts, where a protocol writes its checkpoints part by part; None: it is not there.
    whole: the receiver has nothing yet, so that changes alone do not do.  write: the object that
    came to the disk with these states: a durable value that has the same one writes other things.
    """

    states: tuple[Any, ...] = ()
    whole: bool = False
    write: Any = None


NO_STATES = CarriedStates()


class Gauges(NamedTuple):
    """The amounts that a node holds now, to plot and to compare; never part of the behaviour.

    buffered: events kept for other nodes, None for a node that keeps none in any state.  windows:
    open windows, None for a node that has no windows.  progress: how far the state has come in the
    node's input; values of one type that can be compared and never decrease while the node lives;
    None where nothing is known.  A restarted node has replayed when its progress is no less than
    before the crash; the parts of a tuple are then compared one by one.  own: the family's own
    quantities.
    """

    buffered: int | None = None
    windows: int | None = None
    progress: Any = None
    own: tuple[tuple[Quantity, int], ...] = ()


NO_GAUGES = Gauges()


class Amount(NamedTuple):
    """Contents of a memory that take room, in the words of `Size`: events, and other items."""

    events: int = 0
    items: int = 0


class Memory(NamedTuple):
    """The contents of a node's memory, for drivers that charge for them; never part of the
    behaviour.  What is on a disk is not in it.

    buffers: what is kept for other nodes.  savepoints: the node's own and those of others.  state:
    of the operator, with the input that it cannot take yet.
    """

    buffers: Amount = Amount()
    savepoints: Amount = Amount()
    state: Amount = Amount()


NO_MEMORY = Memory()
