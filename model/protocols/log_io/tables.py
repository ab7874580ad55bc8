"""The log's tables: EVENT_LOG with EVENT_DATA, STATE, EVENT_LINEAGE, READ_ACTION.

Rule of this file: rows, and no transaction.
LOG.io, Section 3.2: EVENT_LOG and EVENT_DATA are one row here, STATE is a Context, EVENT_LINEAGE is
a Used and the Assigned rows that it names.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from model.core import NodeName
from model.events import Body


class LoggedEvent(NamedTuple):
    """A row of EVENT_LOG with its data.

    number: its event_ID, from 1 on each port.  inset: the Input Set that it is assigned to; 0:
    none; there is a row for each.  done: its status.  A write is an event to a sink.
    """

    sender: NodeName
    receiver: NodeName
    number: int
    inset: int
    body: Body
    done: bool = False


class Context(NamedTuple):
    """A row of STATE: the global state and the LOG.io context (Algorithm 3, step 4.3).

    last: by predecessor, the greatest number accepted.  sent: by successor.  insets: the number of
    the newest Input Set.  newest: of several
    functions, the edge of the newest input and the last function whose condition has seen it.
    alone: of a dispatcher or a merger, one of its replicas is not there.
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
    """The log database: its rows in order.

    watched: the controller waits until the outputs of a replica have been taken.  waiting: a node
    that moves events, and its transaction, which has not been executed yet.
    """

    events: tuple[LoggedEvent, ...] = ()
    contexts: tuple[tuple[NodeName, Context], ...] = ()
    used: tuple[Used, ...] = ()
    assigned: tuple[Assigned, ...] = ()
    actions: tuple[ReadAction, ...] = ()
    watched: bool = False
    waiting: tuple[NodeName, Any] | None = None
