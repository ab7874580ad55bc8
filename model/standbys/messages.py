"""The messages of process pairs: tuples on streams, and what replicas send to each other.

Rule of this file: no step of a node, and no state.
Hwang et al., Sections 2, 5 and 6.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from model.boxes.box import NOTHING_OF, Lineage
from model.core import Quantity
from model.costs import EVENT, MessageKind, Size
from model.events import Body
from model.standbys.choices import Again

TOOK_OVER = Quantity("failovers", "nodes", "a secondary took over from its primary")
WITHHELD = Quantity("outputs withheld", "outputs", "an output had to wait before it left")
REJOINED = Quantity("rejoins", "nodes", "a node came back as the secondary of the other one")

Marks: TypeAlias = tuple[Any, ...]
"""For each input of a node the place of an input tuple, or its marks: indicators of an output."""


class Output(NamedTuple):
    """A tuple on a stream.  place: its number there, from 1.  of: a ghost, the arrivals that it was
    made of.  marks: the indicators that travel with it."""

    place: int
    body: Body
    of: Lineage = NOTHING_OF
    marks: Marks = ()


class Begin(NamedTuple):
    """A producer presents itself: its next tuple has the number after `start`.

    asks: it waits for `Last` before it sends any.  again: which of those before `Last` it sends.
    """

    start: int
    asks: bool = False
    again: Again = Again.ALL


class Last(NamedTuple):
    """The number of the last tuple that a consumer has of this stream, whoever sent it."""

    place: int


class Connect(NamedTuple):
    """A consumer asks for the stream.

    kept: with the tuples that the producer keeps; else only what is new.
    """

    kept: bool = True


class Ack(NamedTuple):
    """The consumer has received the tuples up to here (level 0), and needs those up to there no
    more (level 1: the number before the oldest tuple that it needs)."""

    received: int
    released: int


class Deposed(NamedTuple):
    """The sender leads now: it has taken the receiver for dead."""


class Rejoined(NamedTuple):
    """A node is back, and is the secondary of the receiver."""


class Determinant(NamedTuple):
    """The primary has processed a tuple of this input next; with that, it has made so many
    outputs.  place: of the tuple.  cut: for each input the first tuple that a restart needs; both
    for a secondary that processes the tuples later."""

    edge: int
    outputs: int
    place: int = 0
    cut: tuple[int, ...] = ()


class Logged(NamedTuple):
    """The secondary has the determinants of the outputs up to this one, from the cut on."""

    output: int
    cut: tuple[int, ...] = ()


def size(message: Any) -> Size:
    match message:
        case Output():
            return EVENT
        case Ack():
            return Size(MessageKind.ACKNOWLEDGEMENT)
        case Logged():
            return Size(MessageKind.ACKNOWLEDGEMENT, name="logged")
        case Determinant():
            return Size(MessageKind.DETERMINANT, items=1)
        case Begin() | Last() | Connect() | Rejoined() | Deposed():
            return Size(MessageKind.RECOVERY, name=type(message).__name__.lower())
        case _:
            return Size(MessageKind.CONTROL)


def show(value: object) -> str:
    """A message in a few words."""
    match value:
        case Output(place, body):
            return f"{body.type}{place}@{body.time}"
        case Begin(start, asks):
            return f"begin after {start}" + ("?" if asks else "")
        case Last(place):
            return f"last {place}"
        case Connect(kept):
            return "connect" if kept else "connect, new ones"
        case Ack(received, released):
            return f"ack {received}" if received == released else f"ack {received}, {released}"
        case Determinant(edge, outputs):
            return f"next: input {edge}, {outputs}"
        case Logged(output):
            return f"logged {output}"
        case Rejoined():
            return "rejoined"
        case Deposed():
            return "deposed"
        case _:
            return ""
