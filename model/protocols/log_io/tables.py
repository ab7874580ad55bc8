"""The log's tables: EVENT_LOG with EVENT_DATA, STATE, EVENT_LINEAGE, READ_ACTION.

Rule of this file: rows, and the type of a transaction; no transaction.
LOG.io, Section 3.2: EVENT_LOG and EVENT_DATA are one row here, STATE is a ContextRow, EVENT_LINEAGE
is a Used and the Assigned rows that it names, or Related rows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from model.core import Effect, NodeName
from model.events import Body

Key: TypeAlias = tuple[NodeName, NodeName, int]
"""An event: sender, receiver, number.  The sender of a read action is the service; a global state
has one node for both."""


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


class ContextRow(NamedTuple):
    """A row of STATE: the global state and the LOG.io context (Algorithm 3, step 4.3).

    last: by predecessor, the greatest number accepted.  sent: by successor.  insets: the number of
    the newest Input Set.  newest: of several functions, the edge of the newest input and the last
    function whose condition has seen it.  alone: of a dispatcher or a merger, one of its replicas
    is not there.
    """

    box: Any
    last: tuple[int, ...]
    sent: tuple[int, ...]
    insets: int = 0
    newest: tuple[int, int] = (0, 0)
    alone: bool = False


class Used(NamedTuple):
    """A row of EVENT_LINEAGE: an output was generated from an Input Set.

    really: the inputs (predecessor, number) that its function used; a ghost, unless rows name what
    the function says (LineageNames.FUNCTION).  A global state has one node for sender and receiver.
    """

    sender: NodeName
    receiver: NodeName
    number: int
    inset: int
    really: frozenset[tuple[NodeName, int]]


class Assigned(NamedTuple):
    """An assignment that is kept for lineage, of an event, a read action or a global state."""

    sender: NodeName
    receiver: NodeName
    number: int
    inset: int


class SetState(NamedTuple):
    """What a replay operator has to know of an Input Set: the row of STATE with the global state
    before its generation, and the rows of EVENT_LINEAGE with its outputs."""

    node: NodeName
    inset: int
    box: Any
    outputs: tuple[Key, ...]


class Regeneration(NamedTuple):
    """An Input Set that a replay operator has to generate again.

    box: the global state before its generation.  inputs: in the order of ports and numbers.
    outputs: all that were generated from it.  wanted: those to send; True: as replayed events.
    """

    inset: int
    box: Any
    inputs: tuple[LoggedEvent, ...]
    outputs: tuple[Key, ...]
    wanted: tuple[tuple[Key, bool], ...]


class Related(NamedTuple):
    """A row of EVENT_LINEAGE that names an event, and not an Input Set."""

    sender: NodeName
    receiver: NodeName
    number: int
    of: NodeName
    of_number: int


class Data(NamedTuple):
    """A row of EVENT_DATA that is kept for lineage."""

    sender: NodeName
    receiver: NodeName
    number: int
    body: Body


class SideRead(NamedTuple):
    """A read action with its action_ID, and the Input Set that it is assigned to.

    value: a ghost, what the generation used; None: the effect is not kept.
    """

    number: int
    inset: int
    value: int | None = None


class ReadEffectRow(NamedTuple):
    """The stored effect of a side-effect read."""

    node: NodeName
    number: int
    value: int


class ReadActionRow(NamedTuple):
    """A node's latest row of READ_ACTION, and what EVENT_LOG has of the action.

    number: its action_ID.  effect: what was read, in the store; None: there is no store.  complete,
    done: its status, and that of its event.
    """

    node: NodeName
    number: int
    effect: tuple[Body, ...] | None = None
    complete: bool = False
    done: bool = False


class LogDatabase(NamedTuple):
    """The log database: its rows in order.

    watched: the controller waits until the outputs of a replica have been taken.  waiting: a node
    that moves events, and its transaction, which has not been executed yet.  epoch: of the process
    that has restored last an operator with two processes.  truth, shown: ghosts,
    a row for each output on a port in OUT, and for each read, that nobody deletes.
    """

    events: tuple[LoggedEvent, ...] = ()
    contexts: tuple[tuple[NodeName, ContextRow], ...] = ()
    used: tuple[Used, ...] = ()
    assigned: tuple[Assigned, ...] = ()
    actions: tuple[ReadActionRow, ...] = ()
    states: tuple[SetState, ...] = ()
    watched: bool = False
    waiting: tuple[NodeName, Any] | None = None
    related: tuple[Related, ...] = ()
    data: tuple[Data, ...] = ()
    effects: tuple[ReadEffectRow, ...] = ()
    truth: tuple[Used, ...] = ()
    shown: tuple[ReadEffectRow, ...] = ()
    epoch: int = 0


# --- transactions ----------------------------------------------------------------------------
Transacted: TypeAlias = tuple[LogDatabase, tuple[Effect, ...]]
"""The tables after a transaction, and the log's answers."""
Rules: TypeAlias = Mapping[type, Callable[[Any, LogDatabase, NodeName, Any], Transacted]]
"""By message: the transaction (design, tables, node, message) that it asks for."""


def with_row(rows: tuple[Any, ...], row: Any) -> tuple[Any, ...]:
    """The events, or contexts, with one more, in the order of their keys: equal tables are equal.

    A row replaces the one with its key: an output that is generated again, and a newer context.
    """
    key = row[:1] if isinstance(row[1], ContextRow) else row[:3]
    at = bisect_left(rows, key)
    same = at < len(rows) and rows[at][: len(key)] == key
    return (*rows[:at], row, *rows[at + same :])
