"""What the nodes of LOG.io hold and send: events, transactions, and the log's tables.

Rule of this file: values, and how to show and to size them; no step of a node.
LOG.io, Section 3.2: EVENT_LOG and EVENT_DATA are one row here, STATE is a Context, EVENT_LINEAGE is
a Used and the Assigned rows that it names.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from model.boxes.box import Item, Lineage
from model.core import MessageKind as Kind
from model.core import NodeName, Note, Quantity, Received, Size
from model.events import Body, Event
from model.queues import Inlet

PENDING = Quantity("writes executed again", "writes", "a write was pending when its node restarted")
CONFIRMED = Quantity(
    "writes confirmed", "writes", "the external system said that a pending write had taken effect"
)
RESUMED = Quantity(
    "read actions resumed", "actions", "a restarted source went on with the stored effect"
)
READ_AGAIN = Quantity(
    "read actions repeated", "actions", "a read action was not complete when its source restarted"
)
THWARTED = Quantity(
    "generations that failed", "generations", "the inputs of a replica's generation had moved"
)
MOVED = Quantity("events moved", "events", "an undone event went to another replica")
QUANTITIES = (PENDING, CONFIRMED, RESUMED, READ_AGAIN, THWARTED, MOVED)


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
    watched: bool = False


# --- transactions ----------------------------------------------------------------------------
class Assign(NamedTuple):
    """Algorithm 2, step 2: the event on a port belongs to these Input Sets, and is acknowledged."""

    sender: NodeName
    number: int
    insets: tuple[int, ...]


class Commit(NamedTuple):
    """Algorithm 3, step 4, and Algorithm 1, step 2.c: outputs, STATE, the Input Set done.

    inset: 0 in a reader.  ends: are these the last outputs of the read action?
    asks: the transaction may fail, and its node waits for the answer.
    """

    outputs: tuple[LoggedEvent, ...]
    context: Context
    inset: int = 0
    lineage: tuple[Used, ...] = ()
    ends: bool = False
    asks: bool = False


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


class Restore(NamedTuple):
    """Algorithms 6 to 9: what does the log have of this node?"""


class Restored(NamedTuple):
    """What the log has of a node.

    outputs: undone, to operators unassigned.  assigned: undone inputs.  unassigned: as well.
    greatest, sent: by predecessor and by successor, the greatest number that is still logged.
    action: the latest read action.
    """

    context: Context | None
    outputs: tuple[LoggedEvent, ...]
    assigned: tuple[LoggedEvent, ...]
    unassigned: tuple[LoggedEvent, ...]
    greatest: tuple[tuple[NodeName, int], ...]
    sent: tuple[tuple[NodeName, int], ...]
    action: ReadAction | None = None


# --- scale-down: Algorithm 13 ----------------------------------------------------------------
class Committed(NamedTuple):
    """The answer to a transaction that may fail."""

    succeeds: bool


class Traffic(NamedTuple):
    """The dispatcher to the controller, which decides to scale down."""


class Remove(NamedTuple):
    """Step 1: the dispatcher is to stop sending to the replica."""


class Choose(NamedTuple):
    """Step 1.b: which events sent to the replica are undone?"""


class Chosen(NamedTuple):
    rows: tuple[LoggedEvent, ...]


class Move(NamedTuple):
    """Step 1.c: these events are for another port, from this number on."""

    rows: tuple[LoggedEvent, ...]
    number: int
    context: Context


class Resent(NamedTuple):
    """The events that have moved, to be sent (step 1.d)."""

    rows: tuple[LoggedEvent, ...]


class Prepared(NamedTuple):
    """Step 1 is done."""


class Removed(NamedTuple):
    """Step 2: the merger is to update its state."""


class Updated(NamedTuple):
    """Step 2 is done."""


class Back(NamedTuple):
    """A node has restarted: the controller sends its request again (Section 7.2)."""


class Watch(NamedTuple):
    """The controller asks for Drained."""


class Drained(NamedTuple):
    """The outputs of the replica have been taken."""


class Close(NamedTuple):
    """Step 3: the connection is deleted."""


# --- connections and external systems --------------------------------------------------------
class Put(NamedTuple):
    number: int
    body: Body


class Drop(NamedTuple):
    """The receiver has acknowledged the event: it is removed from the connection."""

    number: int


class Peek(NamedTuple):
    """A restarted receiver asks for what the connection holds."""


class Write(NamedTuple):
    number: int
    body: Body


class Success(NamedTuple):
    number: int


class Check(NamedTuple):
    """Has this write taken effect?  Section 4.2, Algorithm 8."""

    number: int
    body: Body


class Missing(NamedTuple):
    """The write has not taken effect."""

    number: int
    body: Body


class Query(NamedTuple):
    """A side-effect read of an external service (Algorithm 4)."""


class Reply(NamedTuple):
    """What the service shows at this moment; the next reader sees another value."""

    value: int


# --- states ----------------------------------------------------------------------------------
class Pending(NamedTuple):
    """A write that is logged and not known to have taken effect.  check: ask first."""

    sink: NodeName
    number: int
    body: Body
    check: bool = False


class Taken(NamedTuple):
    """An assigned input.  key: of its Input Set."""

    item: Item
    number: int
    key: Any
    inset: int


class Operator(NamedTuple):
    """box: global state and event states.  open: (key, number) of the Input Sets under way.

    last, sent, insets, newest, alone: as in Context.  reading: the generation that waits for a
    read.  committing: the outputs that wait for the log's answer.  moving: events of a replica that
    goes away are being moved.  held: what waits for these, in order: inputs that came, or rows to
    replay.
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

    @property
    def busy(self) -> bool:
        """Do inputs have to wait?"""
        return self.reading is not None or self.committing is not None or self.moving


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

    closed: the receiver has crashed, and has not asked again yet.
    """

    held: tuple[Put, ...] = ()
    closed: bool = False
    deleted: bool = False


class Controller(NamedTuple):
    """The controller of a scale-down.  at: the step of Algorithm 13; 0: none; 4: all are done."""

    at: int = 0


class External(NamedTuple):
    """An external system behind a sink: by edge, the newest write that has taken effect."""

    newest: tuple[Write | None, ...]


Message = (
    Assign | Commit | Executed | Restore | Restored | Put | Drop | Peek | Write | Success | Check
)


def inputs_of(edge_names: tuple[NodeName, ...], of: Lineage) -> frozenset[tuple[NodeName, int]]:
    return frozenset((edge_names[edge], place) for edge, place in of)


def show(value: Any) -> str:
    match value:
        case Put(number, body) | Write(number, body):
            return f"{'write' if isinstance(value, Write) else 'event'} {number} {body.type}"
        case Check(number) | Missing(number) | Drop(number) | Success(number):
            return f"{type(value).__name__.lower()} {number}"
        case Assign(sender, number, insets):
            return f"{number} of {sender} into set {', '.join(map(str, insets))}"
        case Commit(outputs, _, inset):
            return f"{len(outputs)} logged" + (f", set {inset} done" if inset else "")
        case Executed(sink, number):
            return f"write {number} to {sink} done"
        case Restored(_, outputs, assigned):
            return f"{len(outputs)} undone outputs, {len(assigned)} inputs"
        case Operator():
            return f"sets {[inset for _, inset in value.open]}, {len(value.pending)} writes"
        case Begin(number):
            return f"action {number} begun"
        case Store():
            return "effect stored"
        case Complete():
            return "action complete"
        case Discard():
            return "effect discarded"
        case Source():
            return "reading" if value.reading else ""
        case Tables(events):
            return f"{sum(not event.done for event in events)} undone"
        case Connected(held):
            return f"{len(held)} held"
        case Recovering(held):
            return f"recovering, {len(held)} held"
        case Reply(value):
            return f"value {value}"
        case Restore() | Peek() | Query() | Remove() | Removed() | Close() | Watch() | Back():
            return type(value).__name__.lower()
        case Controller(at):
            return f"step {at}"
        case Move(rows) | Chosen(rows) | Resent(rows):
            return f"{type(value).__name__.lower()} {len(rows)}"
        case _:
            return ""


def size(message: Any) -> Size:
    match message:
        case Put() | Write():
            return Size(Kind.EVENT, 1)
        case Drop() | Success():
            return Size(Kind.ACKNOWLEDGEMENT)
        case Assign() | Executed() | Begin() | Store() | Complete() | Discard():
            return Size(Kind.CHECKPOINT, name="transactions")
        case Commit(outputs):
            return Size(Kind.CHECKPOINT, len(outputs), 1, "transactions")
        case Restored(_, outputs, assigned, unassigned):
            return Size(Kind.RECOVERY, len(outputs) + len(assigned) + len(unassigned), 1)
        case Restore() | Peek() | Check() | Missing():
            return Size(Kind.RECOVERY)
        case _:
            events = 1 if hasattr(message, "body") else 0
            return Size(Kind.EVENT if events else Kind.CONTROL, events)


def note(what: Quantity, times: int = 1) -> tuple[Note, ...]:
    return (Note(what, times),) if times else ()
