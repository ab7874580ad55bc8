"""What the nodes of LOG.io hold.

Rule of this file: values; no step of a node.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple

from model.boxes.box import Item
from model.core import NodeName, Received
from model.events import Body, Event
from model.protocols.log_io.design import ScalingTask
from model.protocols.log_io.messages import Put, Write, WriteGroup
from model.protocols.log_io.tables import LoggedEvent, Regeneration
from model.queues import Inlet


class Pending(NamedTuple):
    """A write that is logged and not known to have taken effect.  check: ask first.  group: as in
    LoggedEvent."""

    sink: NodeName
    number: int
    body: Body
    check: bool = False
    group: int = 0


class WaitingOutput(NamedTuple):
    """An output that is sent when these writes, (sink, number), have succeeded."""

    row: LoggedEvent
    after: frozenset[tuple[NodeName, int]]


class Taken(NamedTuple):
    """An assigned input.  key: of its Input Set."""

    item: Item
    number: int
    key: Any
    inset: int


class RunningOperator(NamedTuple):
    """box: global state and event states.  open: (key, number) of the Input Sets under way.

    last, sent, insets, newest, alone: as in ContextRow.  reading: the generation that waits for a
    read.  committing: the outputs that wait for the log's answer.  moving: events of a replica are
    being moved.  held: what waits for these, in order: inputs that came, or rows to replay.  array:
    by predecessor the greatest number that has updated the global state, if `last` may be ahead of
    it (Known.EVENT_LOG).  waiting: outputs that wait for writes.  again: Input Sets of a replay
    operator to replay, of which some input lacks its data.
    """

    box: Any
    last: tuple[int, ...]
    sent: tuple[int, ...]
    insets: int = 0
    open: tuple[tuple[Any, int], ...] = ()
    pending: tuple[Pending, ...] = ()
    newest: tuple[int, int] = (0, 0)
    alone: bool = False
    reading: Taken | None = None
    committing: tuple[LoggedEvent, ...] | None = None
    moving: bool = False
    held: tuple[Received | LoggedEvent, ...] = ()
    array: tuple[int, ...] | None = None
    waiting: tuple[WaitingOutput, ...] = ()
    again: tuple[Regeneration, ...] = ()

    @property
    def updated(self) -> tuple[int, ...]:
        """By predecessor, the greatest number that is known to have updated the global state."""
        return self.last if self.array is None else self.array

    @property
    def busy(self) -> bool:
        """Do inputs have to wait?"""
        waits = self.reading is not None or self.committing is not None or self.moving
        return waits or self.lacks or bool(self.again)

    @property
    def lacks(self) -> bool:
        """Is the data of the next row to replay still to come?"""
        first = self.held[0] if self.held else None
        return isinstance(first, LoggedEvent) and first.body is None


class Reader(NamedTuple):
    """A source operator: its connection to the external system, and the numbers of its outputs.

    same: of one that goes on by a key, the number of events read with the newest time.  skips: how
    many of these come again.
    """

    inlet: Inlet
    sent: tuple[int, ...]
    same: int = 0
    skips: int = 0


class Source(NamedTuple):
    """A source operator whose read action is not replayable.

    inlet: the requests to read.  sent: by successor, the numbers of its outputs.  reading: the
    request whose action is executed.  skips: outputs of the action that are logged already.  held:
    requests that came meanwhile.
    """

    inlet: Inlet
    sent: tuple[int, ...]
    reading: Event | None = None
    skips: int = 0
    held: tuple[Event, ...] = ()


class Recovering(NamedTuple):
    """The node waits for the log's answer, and holds what comes meanwhile."""

    held: tuple[Received, ...] = ()


class Connected(NamedTuple):
    """A lasting connection: the events that its receiver has not acknowledged.

    closed: the receiver has crashed, and has not asked again yet.  to: the process of the receiver
    that has asked last, if it is not the first one.
    """

    held: tuple[Put, ...] = ()
    closed: bool = False
    deleted: bool = False
    to: NodeName = ""


class Controller(NamedTuple):
    """The controller of replicas.  left: what it has not done yet; the first has been begun."""

    begun: bool
    left: tuple[ScalingTask, ...]


class Image(Enum):
    """A replica, or a process: the state of one that is not there, or not there any more, and what
    is durable of a replica that is."""

    ABSENT = "it has not been deployed"
    DEPLOYED = "it has been deployed"
    STOPPED = "it has stopped: another process has restored its operator"


class UnderWay(NamedTuple):
    """A request to a slow external system: a write, a group, or a question that waits.

    by: the hand of the external system that has it.  asks: is it a question?  A write and the
    question for it are equal tuples.  orphan: has its sender crashed since?  Nobody
    gets the answer.  refused: it takes no effect.
    """

    sender: NodeName
    message: Any
    by: NodeName
    asks: bool
    orphan: bool = False
    refused: bool = False


class ExternalSystem(NamedTuple):
    """An external system behind a sink: by edge, the newest write or group that has taken effect.

    under_way: of a slow one, the requests that have not taken effect, as they came.  lives: how
    often a sender has crashed, modulo the number of hands.  epoch: the greatest one of a request.
    """

    newest: tuple[Write | WriteGroup | None, ...]
    under_way: tuple[UnderWay, ...] = ()
    lives: int = 0
    epoch: int = 0
