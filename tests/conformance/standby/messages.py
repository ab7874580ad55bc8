"""Passive standby as values: what its nodes hold and say to each other.

Rule of this file: nothing is done here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from model.core import Quantity
from model.costs import MessageKind, Size
from model.events import Body

TAKEN_OVER = Quantity("standbys in charge", "standbys", "the standby became the primary")
OUTPUTS_COPIED = Quantity("outputs copied", "outputs", "outputs that a standby could repeat")


# --- states ----------------------------------------------------------------------------------
class Sending(NamedTuple):
    """Of the source.  primary: who is sent the events.  kept: (number, event) of those that no
    standby has acknowledged."""

    primary: str
    now: int = 0
    last: int = 0
    kept: tuple[tuple[int, Body], ...] = ()


class Replica(NamedTuple):
    """Of the primary and the standby: all events processed, and all outputs.

    ready: it has the state; a restarted node waits for it.
    """

    ready: bool = True
    events: tuple[Body, ...] = ()
    outputs: tuple[Body, ...] = ()

    @property
    def done(self) -> int:
        """The number of the last event processed."""
        return len(self.events)


# --- messages --------------------------------------------------------------------------------
class Numbered(NamedTuple):
    """An event and its number, or an output and its number, both from 1."""

    number: int
    body: Body


class Copy(NamedTuple):
    """The primary's whole state, for the standby."""

    state: Replica


class Copied(NamedTuple):
    """The standby has the state after event `done`."""

    done: int


class Empty(NamedTuple):
    """A node has restarted, without its state."""


class TakeOver(NamedTuple):
    """To the standby: be the primary, and process what is new of these events."""

    events: tuple[tuple[int, Body], ...]


class Resend(NamedTuple):
    """To the primary: the standby needs a copy."""


Message = Numbered | Copy | Copied | Empty | TakeOver | Resend
KINDS = {
    Copied: MessageKind.ACKNOWLEDGEMENT,
    Empty: MessageKind.RECOVERY,
    Resend: MessageKind.RECOVERY,
}


def size(message: Any) -> Size:
    match message:
        case Numbered():
            return Size(MessageKind.EVENT, events=1)
        case Copy(state):
            return Size(MessageKind.COPY, items=len(state.outputs), name="state copies")
        case TakeOver(events):
            return Size(MessageKind.RECOVERY, events=len(events))
        case _:
            return Size(KINDS.get(type(message), MessageKind.CONTROL))


def show(value: Any) -> str:
    match value:
        case Numbered(number, body):
            return f"{body.type}{number}"
        case Replica():
            return f"at {value.done}" if value.ready else "empty"
        case Sending(primary):
            return f"to {primary}"
        case _:
            return ""
