"""Upstream backup by acknowledgements as values: states of nodes.

Rule of this file: no step of a node; nodes.py has these.
Hwang et al., Section 5.2.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from model.core import Quantity
from model.costs import NO_STATES, CarriedStates, MessageKind, Size
from model.protocols.upstream_backup_acks.journal import Cut, Entry, Journal, Label, Renewed
from model.queues import TRIMMED
from model.standbys import ends, messages
from model.standbys.consumers import StreamEnd
from model.standbys.ends import EndState
from model.standbys.messages import REJOINED, TOOK_OVER, WITHHELD, Marks
from model.standbys.producers import OutputQueue

MAPPED = Quantity(
    "outputs mapped to inputs",
    "acknowledgements",
    "a node mapped an output that its readers have to the oldest inputs that it needs",
)
QUANTITIES = (TRIMMED, TOOK_OVER, REJOINED, MAPPED, WITHHELD)


class Cause(NamedTuple):
    """The indicators of an output: for each input the oldest tuple that it needs."""

    output: int
    oldest: tuple[Label, ...]


class UpstreamPrimary(NamedTuple):
    """A primary.

    last, newest: the last tuple processed of each input, by its label and by its marks.  causes: of
    the outputs that readers may not have yet, and of the last one that they have.  journal: if
    determinants are logged.
    """

    inlets: tuple[StreamEnd, ...]
    inner: Any
    queue: OutputQueue
    last: tuple[Label, ...]
    newest: tuple[Marks, ...]
    causes: tuple[Cause, ...] = ()
    journal: Journal | None = None


class Waiting(NamedTuple):
    """A secondary: it holds nothing but determinants, if they are logged."""

    entries: tuple[Entry, ...] = ()
    cut: Cut = ()


State: TypeAlias = EndState | UpstreamPrimary | Waiting


def size(message: Any) -> Size:
    if isinstance(message, Renewed):
        return Size(MessageKind.DETERMINANT, items=len(message.entries))
    return messages.size(message)


def states(value: Any) -> CarriedStates:
    """The operator's state in a primary; no message and no disk has it."""
    match value:
        case UpstreamPrimary(_, inner):
            return CarriedStates((inner,))
        case _:
            return NO_STATES


def show(value: object) -> str:
    """A message or a state in a few words."""
    match value:
        case UpstreamPrimary(inlets, _, queue):
            places = ", ".join(str(inlet.place) for inlet in inlets)
            return f"primary at {places}, {len(queue.kept)} of {queue.place} kept"
        case Waiting(entries):
            return f"secondary, {len(entries)} logged" if entries else "secondary"
        case Renewed(entries):
            return f"log of {len(entries)}"
        case ends.SourceQueue():
            return ends.show(value)
        case _:
            return messages.show(value)
