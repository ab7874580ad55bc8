"""The choices of LOG.io that more than one system may take, and its settings.

Rule of this file: values; no step of a node.  A choice stands here if two of its readings hold, or
if it says what surrounds LOG.io; a reading that is refuted is a patch (evidence/readings.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from model.core import NodeName


# --- the core: Sections 2 to 4 ---------------------------------------------------------------
class Known(Enum):
    """Where a restarted operator learns the greatest numbers received from.  Algorithm 9, step 1:
    the context from STATE, or EVENT_LOG, from which Section 3.6 deletes done events."""

    EVENT_LOG = "from the events that are still logged; the stored array is one of its own"
    CONTEXT = "from the stored context, and the undone events"


class Delivery(Enum):
    """What happens to messages in transit when the receiver crashes.  Section 2.1: connections are
    reliable; Section 3.4: an acknowledged event "is removed from the connection"."""

    LASTING = "they stay in the connection until the receiver acknowledges them"
    LOSSY = "they are lost; a restarted receiver reads the unassigned events from the log"


class OneTransaction(Enum):
    """Which Input Sets that an input completes are done in one transaction.  Section 3.5.1:
    generation "can be triggered for more than one Input Set"."""

    OF_FUNCTION = "those of a function; the context says which functions have seen the input"
    OF_INPUT = "those of all functions"


class Garbage(Enum):
    """When a done event is deleted.  Section 3.6: it can be "removed" at once."""

    AT_ONCE = "in the transaction that sets it to done"
    NEVER = "it stays"


class Reads(Enum):
    """The read action of a source operator.  Algorithm 1, steps 2 and 3."""

    REPLAYABLE = "it is replayable, and is executed again"
    STORED = "it is not replayable, and its effect is stored before the first output"
    DESTRUCTIVE = "and an event that it has shown is gone"
    ACKNOWLEDGED = "and an event that it has shown is gone once the stored effect is acknowledged"


class Growth(Enum):
    """Where new events appear in the effect of a replayable read action.  Section 2.2 asks for a
    subsequence."""

    AT_THE_END = "after those that were there: an earlier effect is a prefix"
    ANYWHERE = "between those that were there, too: it is a subsequence"


class GoesOn(Enum):
    """Where a replayable read action goes on.  Algorithm 1, step 3.a: "an index to the effect"."""

    OFFSET = "after the number of events that were read"
    KEY = "after the greatest time that was read"


class WriteSupport(Enum):
    """What the external system offers.  Section 4.4 needs idempotent or checkable writes."""

    PLAIN = "each write takes effect"
    IDEMPOTENT = "a write that repeats the last one of its writer has no effect"
    OVERWRITING = "a write that repeats the last one, of all writers, has no effect"
    CHECKABLE = "it says whether a write has taken effect"


# --- groups of writes: Section 3.5.3 ---------------------------------------------------------
class Grouped(Enum):
    """Which writes to an external system are a group.  Section 3.5.3 does not say; Algorithm 8
    takes all undone ones."""

    OUTPUT_SET = "those of an Output Set, also after a restart"
    PENDING = "all that are pending: after a restart other ones than before"


class Transfer(Enum):
    """How a group comes to the external system.  Section 3.5.3 has one acknowledgement for it."""

    ATOMIC = "as one message, which is executed as a whole"
    IN_PARTS = "write by write; the last one is acknowledged"


class Groups(NamedTuple):
    """Writes are executed in groups, and not one by one."""

    grouped: Grouped = Grouped.OUTPUT_SET
    transfer: Transfer = Transfer.ATOMIC


# --- writes under way: Sections 2.2, 3.5.3, and Algorithm 8 ----------------------------------
class WriteStatus(Enum):
    """The answer to a question about a write whose request is under way.  Algorithm 8, step 2.a:
    "the status of" the write "in the external system"; the paper has no time before the success."""

    OF_NOW = "no, and the write takes effect later"
    AWAITED = "the question waits until the requests before it have taken effect"
    FINAL = "no, and no request before the question takes effect any more"


class SlowSystem(NamedTuple):
    """An external system in which a write takes effect some time after its request was sent.

    in_order: do the requests of an operator take effect in their order, also those of before a
    restart, which came through another connection?
    """

    status: WriteStatus = WriteStatus.AWAITED
    in_order: bool = True


# --- replicas that come and go: Section 7.2 --------------------------------------------------
class ScalingTask(Enum):
    """What the controller does, one after the other."""

    DEPLOY = "Algorithm 12, step 1: the replica and its two connections"
    ADD_TO_MERGER = "Algorithm 12, step 2"
    ADD_TO_DISPATCHER = "Algorithm 12, step 3"
    PREPARE = "Algorithm 13, step 1: the dispatcher"
    REMOVE_FROM_MERGER = "Algorithm 13, step 2"
    DELETE = "Algorithm 13, step 3: the two connections, and the replica"


UP = (ScalingTask.DEPLOY, ScalingTask.ADD_TO_MERGER, ScalingTask.ADD_TO_DISPATCHER)
DOWN = (ScalingTask.PREPARE, ScalingTask.REMOVE_FROM_MERGER, ScalingTask.DELETE)


class Deletes(Enum):
    """When the replica and its connections are deleted.  Algorithm 13, step 3."""

    MOVED = "when its undone inputs have moved"
    TAKEN = "when its outputs have been taken, too"


class Replicas(NamedTuple):
    """The nodes of a graph around the replica that comes or goes away (Section 7.1).

    key: the type of the events that the dispatcher sends to the second replica while there is one.
    """

    dispatcher: NodeName = "dispatch"
    first: NodeName = "one"
    second: NodeName = "two"
    merger: NodeName = "merge"
    key: str = "b"


@dataclass(frozen=True, slots=True)
class Scaling:
    """A replica that comes (Algorithm 12) or goes away (Algorithm 13) while events come.

    in_turn: before events of a key go to another replica, the dispatcher waits, and takes no input,
    until the merger has taken the outputs of the replica before.  Algorithms 12 and 13 say nothing.
    """

    plan: tuple[ScalingTask, ...] = DOWN
    in_turn: bool = False
    deletes: Deletes = Deletes.TAKEN
    replicas: Replicas = Replicas()

    @property
    def adds(self) -> bool:
        """Is the replica absent at first?"""
        return ScalingTask.DEPLOY in self.plan


# --- two processes of one operator: Section 6.4 ----------------------------------------------
class Fencing(Enum):
    """The requests of an older process that fail.  Section 3.5.1: "One case of failure of the
    transaction is when no event with a given InSet_ID can be found"; the paper has no other."""

    NOTHING = "none"
    INPUTS = "a generation whose Input Set has no undone event"
    LOG = "all transactions, by an epoch that the log gives to who restores the operator"
    LOG_AND_SYSTEMS = "writes, too: an external system knows the greatest epoch"


class Processes(NamedTuple):
    """An operator that may be taken for dead, and is not: the engine starts a second process."""

    operator: NodeName = "op"
    fencing: Fencing = Fencing.LOG_AND_SYSTEMS


# --- replay operators: Section 5 -------------------------------------------------------------
class Logs(Enum):
    """What a replay operator logs after it has sent its outputs.  5.2, at the end: "output events
    are sent before logging their data"."""

    NOTHING = "nothing more"
    DATA = "the data of its outputs"


@dataclass(frozen=True, slots=True)
class Replaying:
    """Operators that do not log the data of their outputs.  operators: their names in the graph."""

    operators: frozenset[NodeName]
    logs: Logs = Logs.NOTHING


# --- lineage capture: Sections 3.1, 3.2, 3.5 and 3.6 -----------------------------------------
Connection: TypeAlias = tuple[NodeName, NodeName]
"""Sender and receiver: an input port of the receiver, a part of an output port of the sender."""


class OutputPort(NamedTuple):
    """An output port of an operator.  to: None: it is connected to all successors."""

    node: NodeName
    to: NodeName | None = None


class LineageScope(NamedTuple):
    """Section 3.1: the output ports "from which data lineage capture is started and ended"."""

    start: OutputPort
    end: OutputPort


class Ports(NamedTuple):
    """The ports for which capture is enabled: IN and OUT of all operators, by connection.

    starts, ends: of the scopes; none if capture is enabled for all ports.
    """

    ins: frozenset[Connection]
    outs: frozenset[Connection]
    starts: frozenset[Connection] = frozenset()
    ends: frozenset[Connection] = frozenset()


class LineageNames(Enum):
    """What a row of EVENT_LINEAGE names.  Section 3.2: "the InSet_ID of the Input Set".

    By FUNCTION, an operator stores in its global state which events are in it.
    """

    INSET = "the Input Set; a join with EVENT_LOG names the events (7.3)"
    EVENTS = "an event of the Input Set; there is a row for each"
    FUNCTION = "an event that the function says it used; there is a row for each"


class OfState(Enum):
    """What lineage has of a global state that holds inputs, where rows name Input Sets.  Algorithm
    3, step 2, assigns the state to the Input Set; what the state was made of is not said."""

    NOTHING = "nothing"
    SETS = "the Input Set that it was made of, and the state before"


class Retention(NamedTuple):
    """outputs: the window, in outputs at the end port: the model has no clock."""

    outputs: int


@dataclass(frozen=True, slots=True)
class LineageCapture:
    """Lineage capture: one choice of each kind.

    scopes: None: all ports.  retention: None: rows are kept for ever.  ports: what the scopes mean
    in a graph, once it is deployed.
    """

    scopes: tuple[LineageScope, ...] | None = None
    names: LineageNames = LineageNames.INSET
    of_state: OfState = OfState.NOTHING
    retention: Retention | None = None
    ports: Ports = Ports(frozenset(), frozenset())


# --- the whole -------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class LogIoDesign:
    """A protocol: one choice of each kind.

    groups: None: writes are executed one by one.  scaling, replaying: None, or of no node of the
    graph: no replica comes or goes, no operator replays.  processes: None: each operator has one
    process at a time.  slow: None: a write takes effect at once.
    lineage: rows say which inputs an output
    was made of (Section 3.5, Algorithm 3, step 4.5); None: capture is not enabled.  prompt: the log
    answers at once; if not, it is a site like any other, and nobody waits for it.
    """

    greatest: Known = Known.CONTEXT
    together: OneTransaction = OneTransaction.OF_FUNCTION
    connection: Delivery = Delivery.LASTING
    garbage: Garbage = Garbage.AT_ONCE
    reads: Reads = Reads.REPLAYABLE
    growth: Growth = Growth.AT_THE_END
    goes_on: GoesOn = GoesOn.OFFSET
    writes: WriteSupport = WriteSupport.CHECKABLE
    groups: Groups | None = None
    slow: SlowSystem | None = None
    scaling: Scaling | None = None
    replaying: Replaying | None = None
    processes: Processes | None = None
    lineage: LineageCapture | None = None
    prompt: bool = True
