"""A consumer: for each input the producer that it knows, and the tuples that it has.

Rule of this file: no tuple is processed; a family does that, and asks here which ones are new.
Hwang et al., Sections 2 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from model.core import DISCARDED, STALE, NodeName, Note, Send, Site
from model.standbys.choices import Again, LateTuples
from model.standbys.deployment import edge_of
from model.standbys.messages import Ack, Begin, Connect, Last, Marks, Output

ACKNOWLEDGE = "acknowledge"


class StreamEnd(NamedTuple):
    """A consumer's end of a stream: its producer, how many there were before, the number up to
    which it has the tuples of this producer, and the number and the marks of the last tuple of
    any."""

    producer: NodeName
    connection: int = 0
    place: int = 0
    last: int = 0
    marks: Marks = ()


def open_ends(site: Site) -> tuple[StreamEnd, ...]:
    return tuple(StreamEnd(names[0]) for names in site.config.above)


def begin(inlet: StreamEnd, sender: NodeName, message: Begin) -> StreamEnd:
    """The inlet after a producer has presented itself; a known one goes on where it was."""
    if sender == inlet.producer:
        return inlet
    place = {
        Again.ALL: message.start,
        Again.FROM: max(0, inlet.last - 1),
        Again.AFTER: inlet.last,
    }[message.again]
    return StreamEnd(sender, inlet.connection + 1, place, inlet.last, inlet.marks)


def never(_last: Marks, _marks: Marks) -> bool:
    """Take no tuple for a duplicate by its marks."""
    return False


def greet(site: Site, state: Any, sender: NodeName, message: Begin) -> tuple[Any, tuple[Send, ...]]:
    """The state after a producer has presented itself, and the answer to its question."""
    edge = edge_of(site, sender)
    inlet = state.inlets[edge]
    answer = (Send(sender, Last(inlet.last)),) if message.asks else ()
    return set_inlet(state, edge, begin(inlet, sender, message)), answer


def request(site: Site, kept: bool = True) -> tuple[Send, ...]:
    """Ask all producers above for their streams."""
    return tuple(Send(name, Connect(kept)) for names in site.config.above for name in names)


def receive(
    late: LateTuples,
    inlet: StreamEnd,
    sender: NodeName,
    output: Output,
    repeats: Callable[[Marks, Marks], bool] = never,
) -> tuple[StreamEnd, tuple[Note, ...] | None]:
    """The inlet after a tuple; notes if it is not to be processed, else None.

    repeats: do its marks, beside those of the last one, say that it is a duplicate?
    """
    known = repeats(inlet.marks, output.marks)
    if sender != inlet.producer:
        if late is LateTuples.REFUSED:
            return inlet, (Note(STALE),)
        if known:
            return inlet, (Note(DISCARDED),)
        return inlet._replace(marks=output.marks), None
    if output.place <= inlet.place:
        return inlet, (Note(DISCARDED),)
    inlet = inlet._replace(place=output.place)
    if known:
        return inlet, (Note(DISCARDED),)
    return inlet._replace(last=output.place, marks=output.marks), None


def acknowledge(inlets: Iterable[StreamEnd]) -> tuple[Send, ...]:
    """The acknowledgements of a consumer that needs no tuple again."""
    return tuple(Send(inlet.producer, Ack(inlet.place, inlet.place)) for inlet in inlets)


def set_inlet(state: Any, edge: int, inlet: StreamEnd) -> Any:
    inlets = state.inlets
    return state._replace(inlets=(*inlets[:edge], inlet, *inlets[edge + 1 :]))
