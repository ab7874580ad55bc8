"""The choices of lineage capture: for which ports, which rows, and how long they are kept.

Rule of this file: a choice is a field of Capture, in every reading that the paper's words allow.
The default of each field is the mended choice.
LOG.io, Sections 3.1, 3.2, 3.5 and 3.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from model.core import NodeName

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


class Rows(Enum):
    """Which outputs on a port in OUT have a row.  Section 3.1 records a relationship "if and only
    if" the input came in on a port in IN; Algorithm 3, step 4.5.b, has no such condition."""

    EACH = "each output"
    RELATED = "those whose Input Set has an input on a port in IN, or a read action"


class Names(Enum):
    """What a row of EVENT_LINEAGE names.  Section 3.2: "the InSet_ID of the Input Set".

    By FUNCTION, an operator stores in its global state which events are in it.
    """

    INSET = "the Input Set; a join with EVENT_LOG names the events (7.3)"
    EVENTS = "an event of the Input Set; there is a row for each"
    FUNCTION = "an event that the function says it used; there is a row for each"


class Assignments(Enum):
    """What garbage collection does to the assignments that the join of 7.3 needs.  Section 3.6:
    rows of EVENT_LOG "can be removed as soon as they are done"."""

    GONE = "they go with the rows of EVENT_LOG"
    KEPT = "those of inputs on a port in IN stay"


class Bodies(Enum):
    """Which bodies stay in EVENT_DATA.  Section 3.6: those of events whose "sender operator has
    its data lineage capture enabled for the ports on which the events are sent"."""

    SENDERS = "of events on a port in OUT"
    PATHS = "also of events on a port in IN: a path begins with them"


class OfState(Enum):
    """What lineage has of a global state that holds inputs, where rows name Input Sets.  Algorithm
    3, step 2, assigns the state to the Input Set; what the state was made of is not said."""

    NOTHING = "nothing"
    SETS = "the Input Set that it was made of, and the state before"


class By(Enum):
    """What is older than the retention.  Section 3.6: "the lineage of events along the data
    lineage paths [...] is kept for the output events produced at port [end] within a sliding
    window"."""

    ROW = "each row by itself: at each port the newest ones are kept"
    OUTPUT = "what is behind no output at the end port within the window"
    PENDING = "the same, but for what is behind an event or state that may still be used"


class Retention(NamedTuple):
    """outputs: the window, in outputs at the end port: the model has no clock."""

    outputs: int
    by: By = By.PENDING


@dataclass(frozen=True, slots=True)
class Capture:
    """Lineage capture: one choice of each kind.

    scopes: None: all ports.  retention: None: rows are kept for ever.  ports: what the scopes mean
    in a graph, once it is deployed.
    """

    scopes: tuple[LineageScope, ...] | None = None
    rows: Rows = Rows.RELATED
    names: Names = Names.INSET
    assignments: Assignments = Assignments.KEPT
    bodies: Bodies = Bodies.PATHS
    of_state: OfState = OfState.NOTHING
    retention: Retention | None = None
    ports: Ports = Ports(frozenset(), frozenset())
