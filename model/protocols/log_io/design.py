"""The choices of LOG.io: what the paper's words allow, and the mends.

Rule of this file: a choice is a field of Design, in every reading that the paper's words allow; no
step of a node.  The default of each field is the mended choice; PUBLISHED has the published ones.
LOG.io: algorithms and sections are cited at each choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from model.protocols.log_io.lineage.design import Capture
from model.protocols.log_io.replaying.design import Replaying
from model.protocols.log_io.scaling.design import Scaling


class Obsolete(Enum):
    """The events that an operator discards.  Algorithm 2, step 1: those whose number "is smaller
    than the greatest event_ID received"."""

    SMALLER = "numbers below the greatest one"
    NOT_GREATER = "numbers up to the greatest one"


class Known(Enum):
    """Where a restarted operator learns a number from.  Algorithm 9, step 1: the context from
    STATE, and "the latest event_ID sent" from EVENT_LOG; Section 3.6 deletes done events there."""

    EVENT_LOG = "from the events that are still logged"
    CONTEXT = "from the stored context, and the undone events"


class Delivery(Enum):
    """What happens to events in transit when the receiver crashes.  Section 2.1: connections are
    reliable; Section 3.4: an acknowledged event "is removed from the connection"."""

    LASTING = "they stay in the connection until the receiver acknowledges them"
    LOSSY = "they are lost if the receiver crashes"


class Inputs(Enum):
    """The unacknowledged inputs of a restarted operator.  Algorithm 9, step 3."""

    CONNECTION = "those that its connections hold"
    EVENT_LOG = "also those that are logged and not assigned"


class Again(Enum):
    """Which Input Sets an undone input goes into again.  Section 3.4: it has a row for each;
    Algorithm 9, step 2.b: "to only update the event state corresponding to Input Set"."""

    ITS_OWN = "the one of the undone row"
    ALL = "all that the operator assigns it to"


class Triggers(Enum):
    """Whether a replayed input may trigger a generation.  Algorithm 9, step 2.c: "If a triggering
    condition evaluates to true, then the Generation phase is triggered"."""

    EACH = "each one may"
    UNSEEN = "those that no condition has seen before the stored global state may"


class Array(Enum):
    """By which numbers a replayed input is known to have updated the global state.  Algorithm 2,
    step 2: "an array of the latest event_ID from each input port", read "if not already done"."""

    OWN = "an array of its own, stored with the global state"
    FILTER = "the greatest numbers of the filter (step 1)"
    NONE = "none: each replayed input updates the global state"


class PortOrder(Enum):
    """In which order the undone rows of several ports are replayed.  Algorithm 9, step 2: "in a
    round-robin fashion between port IDs"; "this processing order could occur"."""

    ASSIGNED = "in that of their assignment, which the log has if several sets may be under way"
    ROUND_ROBIN = "one of each port in turn"
    BY_PORT = "one port after the other"


class Order(Enum):
    """In which order the undone rows of one input are replayed.  Algorithm 9, step 2, has none."""

    FUNCTIONS = "in that of the functions, as before the failure"
    NUMBERS = "in that of the numbers of their Input Sets"


class Garbage(Enum):
    """When a done event is deleted.  Section 3.6: it can be "removed" at once."""

    AT_ONCE = "in the transaction that sets it to done"
    NEVER = "it stays"


class Reads(Enum):
    """What a source operator does about its read action.  Algorithm 1, steps 2 and 3."""

    REPLAYABLE = "it is replayable, and is executed again"
    STORED = "it is not replayable, and its effect is stored before the first output"
    REPEATED = "it is not replayable, and is executed again"


class Writes(Enum):
    """What the external system offers.  Section 4.4 needs idempotent or checkable writes."""

    PLAIN = "each write takes effect"
    IDEMPOTENT = "a write that repeats the last one has no effect"
    CHECKABLE = "it says whether a write has taken effect"


class Executes(Enum):
    """How many writes an operator executes at a time.  Algorithms 5 and 8 say "for each"."""

    ONE_BY_ONE = "the next one after the success of the one before"
    TOGETHER = "all that are pending"
    GROUP = "a group, which has one acknowledgement"


class Grouped(Enum):
    """Which writes to an external system are a group.  Section 3.5.3 does not say; Algorithm 8
    takes all undone ones."""

    OUTPUT_SET = "those of an Output Set, also after a restart"
    PENDING = "all that are pending: after a restart other ones than before"


class Transfer(Enum):
    """How a group comes to the external system.  Section 3.5.3 has one acknowledgement for it."""

    ATOMIC = "as one message, which is executed as a whole"
    IN_PARTS = "write by write; the last one is acknowledged"


class Status(Enum):
    """What a checkable external system says of a group.  Algorithm 8, step 2.a: "the status of" a
    write."""

    WRITES = "which of its writes have taken effect"
    GROUP = "whether all of it has taken effect"


class Sends(Enum):
    """When outputs are sent if a successor reads what the operator writes.  Section 3.5.1: "Steps 5
    and 6 can be reordered"."""

    AFTER_SUCCESS = "after the success of the writes logged before them"
    AFTER_WRITES = "after the writes are sent; Algorithms 7 and 8 are reordered as well"
    BEFORE_WRITES = "before the writes are sent"


@dataclass(frozen=True, slots=True)
class Design:
    """A protocol: one choice of each kind.

    scaling: of the operators that places.py names, if there are any.  replaying: operators that do
    not log the data of their outputs.  grouped, transfer, status: of groups of writes
    (Executes.GROUP).  lineage: rows say which inputs an output was made of (Section 3.5, Algorithm
    3, step 4.5); None: capture is not enabled.  prompt: the log answers at once; if not, it is a
    site like any other, and nobody waits for it.
    """

    obsolete: Obsolete = Obsolete.NOT_GREATER
    greatest: Known = Known.CONTEXT
    sent: Known = Known.CONTEXT
    connection: Delivery = Delivery.LASTING
    inputs: Inputs = Inputs.CONNECTION
    garbage: Garbage = Garbage.AT_ONCE
    again: Again = Again.ITS_OWN
    order: Order = Order.FUNCTIONS
    ports: PortOrder = PortOrder.ASSIGNED
    array: Array = Array.FILTER
    triggers: Triggers = Triggers.UNSEEN
    reads: Reads = Reads.REPLAYABLE
    writes: Writes = Writes.CHECKABLE
    executes: Executes = Executes.ONE_BY_ONE
    grouped: Grouped = Grouped.OUTPUT_SET
    transfer: Transfer = Transfer.ATOMIC
    status: Status = Status.WRITES
    sends: Sends = Sends.AFTER_SUCCESS
    scaling: Scaling | None = None
    replaying: Replaying | None = None
    lineage: Capture | None = None
    prompt: bool = True


PUBLISHED = Design(
    obsolete=Obsolete.SMALLER,
    greatest=Known.EVENT_LOG,
    sent=Known.EVENT_LOG,
    order=Order.NUMBERS,
    ports=PortOrder.ROUND_ROBIN,
    array=Array.OWN,
    triggers=Triggers.EACH,
    sends=Sends.BEFORE_WRITES,
)
"""Word by word; writes are executed "individually" (3.5.3), which is read as one by one."""
