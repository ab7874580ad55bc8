"""Active standby as values: states of nodes, messages between replicas.

Rule of this file: no step of a node; nodes.py has these.
Hwang et al., Sections 5.3 and 6.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from model.core import NodeName, Quantity
from model.costs import NO_STATES, CarriedStates, MessageKind, Size
from model.parts import contents
from model.queues import TRIMMED
from model.standbys import ends, messages
from model.standbys.consumers import StreamEnd
from model.standbys.ends import EndState
from model.standbys.messages import REJOINED, TOOK_OVER, WITHHELD, Marks, Output
from model.standbys.producers import OutputQueue

UNREADY = Quantity("failovers without a state", "nodes", "a secondary waited for its copy")
QUANTITIES = (TRIMMED, TOOK_OVER, REJOINED, WITHHELD, UNREADY)


class Trim(NamedTuple):
    """All readers have an output with these watermarks."""

    marks: Marks


class Replica(NamedTuple):
    """A node that processes tuples.

    leads: is it the primary?  spare: has the primary a secondary?  pending: the tuples of each
    input that wait for determinants.  order: the determinants to follow.  safe: the last output of
    which the secondary has the determinants.  forwarded: the last one that has left.  served: the
    watermarks of the newest release that a secondary has received, if it drops overdue outputs.
    """

    inlets: tuple[StreamEnd, ...]
    inner: Any
    queue: OutputQueue
    leads: bool
    spare: bool
    pending: tuple[tuple[Output, ...], ...]
    order: tuple[int, ...] = ()
    safe: int = 0
    forwarded: int = 0
    served: Marks = ()


class Joining(NamedTuple):
    """A new secondary that waits for the state of the primary.

    came: what has come since, with the sender.  unconnected: the inputs on which upstream has not
    answered yet.
    """

    unconnected: tuple[int, ...]
    came: tuple[tuple[NodeName, Any], ...] = ()


class Copied(NamedTuple):
    """The state of the primary, with the tuples that wait for the determinants of its
    predecessor."""

    inlets: tuple[StreamEnd, ...]
    inner: Any
    queue: OutputQueue
    pending: tuple[tuple[Output, ...], ...]


State: TypeAlias = EndState | Replica | Joining


def size(message: Any) -> Size:
    match message:
        case Trim():
            return Size(MessageKind.ACKNOWLEDGEMENT, name="trim")
        case Copied(_, inner, queue, pending):
            events, items = contents(inner)
            kept = events + len(queue.kept) + sum(map(len, pending))
            return Size(MessageKind.COPY, 0, items, copies=kept)
        case _:
            return messages.size(message)


def states(value: Any) -> CarriedStates:
    """The operator's state in a copy for a new secondary, or in a replica."""
    match value:
        case Copied(_, inner):
            return CarriedStates((inner,), whole=True)
        case Replica(_, inner):
            return CarriedStates((inner,))
        case _:
            return NO_STATES


def show(value: object) -> str:
    """A message or a state in a few words."""
    match value:
        case Trim(marks):
            return f"trim {', '.join(map(str, marks))}"
        case Copied(inlets):
            return "copy at " + ", ".join(str(inlet.place) for inlet in inlets)
        case Replica(inlets, _, queue, leads):
            places = ", ".join(str(inlet.place) for inlet in inlets)
            role = "primary" if leads else "secondary"
            return f"{role} at {places}, {len(queue.kept)} of {queue.place} kept"
        case Joining():
            return "secondary, waits"
        case ends.SourceQueue():
            return ends.show(value)
        case _:
            return messages.show(value)
