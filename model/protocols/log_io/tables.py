"""The log's tables: EVENT_LOG with EVENT_DATA, STATE, EVENT_LINEAGE, READ_ACTION.

Rule of this file: rows, and no transaction.
LOG.io, Section 3.2: EVENT_LOG and EVENT_DATA are one row here, STATE is a Context, EVENT_LINEAGE is
a Used and the Assigned rows that it names.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from model.core import NodeName
from model.events import Body

Key: TypeAlias = tuple[NodeName, NodeName, int]
"""An event: sender, receiver, number."""


class LoggedEvent(NamedTuple):
    """A row of EVENT_LOG with its data.

    number: its event_ID, from 1 on each port.  inset: the Input Set that it is assigned to; 0:
    none; there is a row for each.  body: None if a replay operator has sent it.  done: its status.
    replay: it has the status "replay" (Section 5), too.  A write is an event to a sink.  order: the
    place of its assignment among those of all ports of the receiver; group: of a write, the Input
    Set that it is generated from; both 0 if nobody asks for them.
    """

    sender: NodeName
    receiver: NodeName
    number: int
    inset: int
    body: Body | None
    done: bool = False
    replay: bool = False
    order: int = 0
    group: int = 0

    @property
    def key(self) -> Key:
        return self[:3]

    @property
    def data(self) -> Body:
        """The body of a row that has one."""
        assert self.body is not None
        return self.body


class Context(NamedTuple):
    """A row of STATE: the global state and the LOG.io context (Algorithm 3, step 4.3).

    last: by predecessor, the greatest number accepted.  sent: by successor.  insets: the number of
    the newest Input Set.  newest: of several
    functions, the edge of the newest input and the last function whose condition has seen it.
    alone: of a dispatcher, one of its replicas has gone away.
    """

    box: Any
    last: tuple[int, ...]
    sent: tuple[int, ...]
    insets: int = 0
    newest: tuple[int, int] = (0, 0)
    alone: bool = False


class Used(NamedTuple):
    """A row of EVENT_LINEAGE: an output was generated from an Input Set.

    really: a ghost, the inputs (predecessor, number) that its function used; nobody reads it.
    """

    sender: NodeName
    receiver: NodeName
    number: int
    inset: int
    really: frozenset[tuple[NodeName, int]]


class Assigned(NamedTuple):
    """An assignment that is kept for lineage."""

    sender: NodeName
    receiver: NodeName
    number: int
    inset: int


class SetState(NamedTuple):
    """A row of STATE that is kept: the global state before the generation from an Input Set."""

    node: NodeName
    inset: int
    box: Any


class ReadAction(NamedTuple):
    """A node's latest row of READ_ACTION, and what EVENT_LOG has of the action.

    number: its action_ID.  effect: what was read, in the store; None: there is no store.  complete,
    done: its status, and that of its event.
    """

    node: NodeName
    number: int
    effect: tuple[Body, ...] | None = None
    complete: bool = False
    done: bool = False


class Tables(NamedTuple):
    """The log database: its rows in order.  watched: the controller waits until the outputs of a
    replica have been taken."""

    events: tuple[LoggedEvent, ...] = ()
    contexts: tuple[tuple[NodeName, Context], ...] = ()
    used: tuple[Used, ...] = ()
    assigned: tuple[Assigned, ...] = ()
    actions: tuple[ReadAction, ...] = ()
    states: tuple[SetState, ...] = ()
    watched: bool = False
