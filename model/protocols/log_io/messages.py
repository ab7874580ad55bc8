"""What the nodes of LOG.io send: transactions of the log, events on connections, writes, reads.

Rule of this file: messages; no step of a node.
"""

from __future__ import annotations

from typing import NamedTuple

from model.core import NodeName
from model.events import Body
from model.protocols.log_io.tables import (
    ContextRow,
    LoggedEvent,
    ReadActionRow,
    Regeneration,
    SetState,
    SideRead,
    Used,
)


# --- transactions ----------------------------------------------------------------------------
class Assign(NamedTuple):
    """Algorithm 2, step 2: the event on a port belongs to these Input Sets, and is acknowledged.

    order: its place among the events of all ports; 0: it is not needed.
    """

    sender: NodeName
    number: int
    insets: tuple[int, ...]
    order: int = 0


class Lineage(NamedTuple):
    """Algorithm 3, step 4.5: what lineage has to know of a generation.

    rows: of outputs on a port in OUT.  read: its read action.  uses_state: of a global state that
    holds inputs.
    """

    rows: tuple[Used, ...] = ()
    read: SideRead | None = None
    uses_state: bool = False


class Commit(NamedTuple):
    """Algorithm 3, step 4, and Algorithm 1, step 2.c: outputs, STATE, the Input Set done.

    inset: 0 in a reader.  ends: are these the last outputs of the read action?
    asks: the transaction fails unless the Input Set has so many undone events, and its node waits
    for the answer; 0: it does not fail.
    states: of a replay operator, the global state that is kept for the Input Set.
    """

    outputs: tuple[LoggedEvent, ...]
    context: ContextRow
    inset: int = 0
    lineage: Lineage = Lineage()
    ends: bool = False
    asks: int = 0
    states: tuple[SetState, ...] = ()


class CommitAll(NamedTuple):
    """Algorithm 3, step 4, of several Input Sets at once: one transaction."""

    parts: tuple[Commit, ...]


def transaction(commits: tuple[Commit, ...]) -> Commit | CommitAll:
    """The transaction of one Input Set or several."""
    return commits[0] if len(commits) == 1 else CommitAll(commits)


def parts_of(message: Commit | CommitAll) -> tuple[Commit, ...]:
    """The transactions that are one."""
    return message.parts if isinstance(message, CommitAll) else (message,)


class StoreRead(NamedTuple):
    """Algorithm 4, step 2: the effect of a side-effect read, for lineage; a read that is executed
    again has the same number, and replaces it."""

    number: int
    value: int


class Begin(NamedTuple):
    """Algorithm 1, step 1: a read action, incomplete."""

    number: int


class Store(NamedTuple):
    """Algorithm 1, step 2.a: the effect of the read action."""

    effect: tuple[Body, ...]


class Complete(NamedTuple):
    """Algorithm 1, step 2.b: the read action is complete, and has an undone event."""


class Discard(NamedTuple):
    """Algorithm 1, step 2.d, and Algorithm 6, step 3.a: the effect is no longer stored."""


class Executed(NamedTuple):
    """Algorithm 5: the write is done."""

    sink: NodeName
    number: int


class ExecutedGroup(NamedTuple):
    """Section 3.5.3: all writes of a group are done."""

    sink: NodeName
    numbers: tuple[int, ...]


class Restore(NamedTuple):
    """Algorithms 6 to 11: what does the log have of this node?"""


class Restored(NamedTuple):
    """What the log has of a node.

    outputs: undone, to operators unassigned.  assigned: undone inputs.  unassigned: as well.
    greatest, sent: by predecessor and by successor, the greatest number that is still logged.
    action: the latest read action.  sets: of a replay operator, those to replay.
    """

    context: ContextRow | None
    outputs: tuple[LoggedEvent, ...]
    assigned: tuple[LoggedEvent, ...]
    unassigned: tuple[LoggedEvent, ...]
    greatest: tuple[tuple[NodeName, int], ...]
    sent: tuple[tuple[NodeName, int], ...]
    action: ReadActionRow | None = None
    sets: tuple[Regeneration, ...] = ()


# --- connections and external systems --------------------------------------------------------
class Put(NamedTuple):
    """replay: it is a replayed event, as its header says (5.2)."""

    number: int
    body: Body
    replay: bool = False


class Drop(NamedTuple):
    """The receiver has acknowledged the event: it is removed from the connection."""

    number: int


class Peek(NamedTuple):
    """A restarted receiver asks for what the connection holds."""


class Write(NamedTuple):
    number: int
    body: Body


class WriteGroup(NamedTuple):
    """Several writes, which are executed as a whole."""

    writes: tuple[Write, ...]

    @property
    def number(self) -> int:
        return self.writes[-1].number


class GroupedWrite(NamedTuple):
    """A write of a group, whose last write alone is acknowledged."""

    number: int
    body: Body


class Success(NamedTuple):
    """The write has taken effect, or the group of which it is the last one."""

    number: int


class Check(NamedTuple):
    """Has this write taken effect?  Section 4.2, Algorithm 8."""

    number: int
    body: Body


class Missing(NamedTuple):
    """The write has not taken effect."""

    number: int
    body: Body


class CheckGroup(NamedTuple):
    """Has this group taken effect?"""

    writes: tuple[Write, ...]


class MissingGroup(NamedTuple):
    """These writes of the group have to be executed."""

    writes: tuple[Write, ...]


class Look(NamedTuple):
    """A read of what the writer has written: is there the write with this number?"""

    writer: NodeName
    number: int


class Query(NamedTuple):
    """A side-effect read of an external service (Algorithm 4), or the read action of a source.

    number: of an event in a queue.
    """

    number: int = 0


class Acknowledge(NamedTuple):
    """The event of a queue with this number has been stored: it may go."""

    number: int


class Reply(NamedTuple):
    """What the service shows at this moment; the next reader sees another value."""

    value: int
