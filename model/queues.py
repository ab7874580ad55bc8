"""Output queues that are replayed on request and trimmed, and the consumer's end of a connection.

Rule of this file: no recovery; it carries what families with replayable queues send to each other.
A replayable source keeps what its consumer has not let go; a consumer asks for what came after a
stamp, and takes nothing before the producer's answer begins: that is its reconnection.
Hwang et al., Section 2 (output queues); Sebepou and Magoutis, Sections II.A and IX.
"""

from __future__ import annotations

import typing
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeVar

from model.boxes.box import NOTHING_OF, Lineage
from model.core import (
    REPLAYED,
    STALE,
    Arrival,
    Input,
    NodeName,
    Note,
    Quantity,
    Received,
    Send,
    Site,
    Step,
)
from model.costs import MessageKind, Size
from model.events import BEGINNING, SN, Body, Event
from model.log import Log

T = TypeVar("T")

TRIMMED = Quantity("outputs let go", "outputs", "an output queue let go of an output")


class Numbered(typing.Protocol):
    """An output in a queue: an Event, or what else has a place in a stream and a body."""

    @property
    def sn(self) -> SN: ...

    @property
    def body(self) -> Body: ...


class Stamp(Enum):
    """What an output is stamped with."""

    TIME = "its time, which others may share"
    PLACE = "its place in the stream, from 1"

    def of(self, event: Numbered) -> int:
        return event.body.time if self is Stamp.TIME else event.sn[0]


# --- messages --------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Replay:
    """A request to a producer: send again what came after `after`, and then go on.

    after: a stamp; None: send only what is new.  inclusive: also what has this very stamp.
    """

    after: int | None
    by: Stamp = Stamp.PLACE
    inclusive: bool = False

    def wants(self, event: Numbered) -> bool:
        if self.after is None:
            return False
        stamp = self.by.of(event)
        return stamp > self.after or (self.inclusive and stamp == self.after)


@dataclass(frozen=True, slots=True)
class Replayed:
    """The beginning of an answer: the output after place `start` follows next."""

    request: Replay
    start: int


@dataclass(frozen=True, slots=True)
class Restarted:
    """A message to a consumer: the producer has restarted, and waits for a request."""


@dataclass(frozen=True, slots=True)
class Trim:
    """A message to a producer: the consumer never asks again for outputs up to this place."""

    place: int


def message_size(message: object) -> Size:
    """The size of a message of queues; any other message is a control message."""
    match message:
        case Trim():
            kind = MessageKind.ACKNOWLEDGEMENT
        case Replay() | Replayed() | Restarted():
            kind = MessageKind.RECOVERY
        case _:
            kind = MessageKind.CONTROL
    return Size(kind, name=type(message).__name__.lower())


def show_message(message: Replay | Replayed | Restarted | Trim) -> str:
    """A message of queues in a few words."""
    match message:
        case Replay(None):
            return "go on"
        case Replay(after, by, inclusive):
            return f"replay {'from' if inclusive else 'after'} {by.name.lower()} {after}"
        case Replayed(_, start):
            return f"replayed after {start}"
        case Restarted():
            return "restarted"
        case Trim(place):
            return f"let go up to {place}"


def show_stream(value: object) -> str:
    """An event by its type and place, a message of queues in words; "" for anything else."""
    match value:
        case Event((place,), body):
            return f"{body.type}{place}"
        case Replay() | Replayed() | Restarted() | Trim():
            return show_message(value)
        case _:
            return ""


# --- an output queue -------------------------------------------------------------------------
class QueueState(NamedTuple):
    """An output queue, and all of the state of a source: the place and time of the newest output,
    the outputs that it keeps."""

    place: int = 0
    now: int = 0
    kept: Log[Numbered] = Log()


def produce(state: QueueState, arrival: Arrival, succs: tuple[NodeName, ...]) -> Step:
    """Number the event, keep it and send it."""
    place, now = state.place + 1, state.now + arrival.gap
    event = Event((place,), Body(now, arrival.type, arrival.data))
    sends = tuple(Send(succ, event) for succ in succs)
    return Step(QueueState(place, now, state.kept.append(event)), sends)


def serve(state: QueueState, consumer: NodeName, request: Replay) -> Step:
    """Send again what the consumer asks for."""
    again = [event for event in state.kept if request.wants(event)]
    start = again[0].sn[0] - 1 if again else state.place
    sends = tuple(Send(consumer, event) for event in again)
    begin = Send(consumer, Replayed(request, start))
    return Step(state, (Note(REPLAYED, len(again)), begin, *sends))


def trim(state: QueueState, place: int) -> Step:
    """Let go of the events up to this place."""
    kept = state.kept.trim(lambda event: event.sn[0] <= place)
    trimmed = len(state.kept) - len(kept)
    return Step(state._replace(kept=kept), (Note(TRIMMED, trimmed),) if trimmed else ())


def log_source(site: Site, state: QueueState, input_: Input) -> Step:
    """A source that keeps its events: each is numbered and sent to all successors, sent again when
    one of them asks, and let go when one of them says so."""
    match input_:
        case Arrival():
            return produce(state, input_, site.succs)
        case Received(consumer, Replay() as request):
            return serve(state, consumer, request)
        case Received(_, Trim(place)):
            return trim(state, place)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


# --- a consumer ------------------------------------------------------------------------------
class Inlet(NamedTuple):
    """A consumer's end of a connection: the place and time of the last output that it took.

    request: the one that it waits for the answer to; None: it is connected.
    """

    place: int = 0
    time: int = BEGINNING
    request: Replay | None = None

    def begin(self, answer: Replayed) -> Inlet:
        """The inlet once this answer begins; unchanged if the answer is to an older request."""
        if answer.request != self.request:
            return self
        return Inlet(answer.start, self.time, None)

    def is_next(self, event: Numbered) -> bool:
        """Is the event the next one of this connection, rather than of one before a crash?"""
        return self.request is None and event.sn[0] == self.place + 1

    def take(self, event: Numbered) -> Inlet:
        return self._replace(place=event.sn[0], time=event.body.time)


class Entry(NamedTuple):
    """An output that a consumer takes, of this input.

    event: numbered among the outputs of all inputs, as they are taken.
    """

    event: Event
    of: Lineage = NOTHING_OF
    edge: int = 0


class Inlets(NamedTuple):
    """A consumer's ends of all its connections, where outputs wait until they are taken.

    waiting: (output, lineage), by input.  until: no output beyond these places is taken before all
    inputs have reached them; (): none waits for that.
    """

    ends: tuple[Inlet, ...] = (Inlet(),)
    waiting: tuple[tuple[tuple[Event, Lineage], ...], ...] = ((),)
    until: tuple[int, ...] = ()

    @property
    def places(self) -> tuple[int, ...]:
        """The place of the last output that was taken, by input."""
        pairs = zip(self.ends, self.waiting, strict=True)
        return tuple(end.place - len(queue) for end, queue in pairs)

    def connect(self, edge: int, end: Inlet) -> Inlets:
        return self._replace(ends=_with(self.ends, edge, end))

    def add(self, edge: int, event: Event, of: Lineage) -> Inlets:
        """The inlets with an output that came and waits."""
        queue = (*self.waiting[edge], (event, of))
        return self._replace(
            ends=_with(self.ends, edge, self.ends[edge].take(event)),
            waiting=_with(self.waiting, edge, queue),
        )

    def take(self, *, ordered: bool) -> tuple[Inlets, Entry | None]:
        """The inlets without the output that is taken next, and this output.

        ordered: in the order (time, input), each as soon as no earlier one can follow.
        """
        edge = self._earliest() if ordered else self._first()
        if edge is None:
            return self, None
        (event, of), *rest = self.waiting[edge]
        left = self._replace(waiting=_with(self.waiting, edge, (*rest,)))
        return left, Entry(Event((sum(left.places),), event.body), of, edge)

    def _earliest(self) -> int | None:
        if not all(self.waiting):
            return None
        times = [(queue[0][0].body.time, edge) for edge, queue in enumerate(self.waiting)]
        return min(times)[1]

    def _first(self) -> int | None:
        behind = [place < bound for place, bound in zip(self.places, self.until, strict=False)]
        for edge, queue in enumerate(self.waiting):
            if queue and (not any(behind) or behind[edge]):
                return edge
        return None


def _with(items: tuple[T, ...], at: int, item: T) -> tuple[T, ...]:
    return (*items[:at], item, *items[at + 1 :])


STALE_NOTE = Note(STALE)
