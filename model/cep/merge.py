"""The deterministic merge of an operator's input queues.

Rule of this file: the order is (time, edge) and never depends on when something arrived; an
event is taken only when no earlier one can follow.  Because the order is a property of the
events, leaving out skipped ones does not change the order of the rest.
Lima et al., Section II-A ("must be deterministic").
"""

from __future__ import annotations

from typing import NamedTuple

from model.events import BEGINNING, NOTHING, SN, Event
from model.log import Log


class Inlet(NamedTuple):
    """One input queue.  heard: the last number queued.  mark: nothing earlier will follow."""

    queue: Log[Event] = Log()
    heard: SN = NOTHING
    mark: int = BEGINNING

    def hear(self, event: Event) -> Inlet:
        return Inlet(self.queue.append(event), event.sn, max(self.mark, event.body.time))

    @property
    def low(self) -> int:
        """No event that is yet to be taken from here has a smaller time."""
        return self.queue.first().body.time if self.queue else self.mark


def ready(inlets: tuple[Inlet, ...]) -> int | None:
    """The edge whose head comes next, or None if it cannot be known yet."""
    _, edge = min((inlet.low, edge) for edge, inlet in enumerate(inlets))
    return edge if inlets[edge].queue else None


def low(inlets: tuple[Inlet, ...]) -> int:
    """The watermark of the merged stream."""
    return min(inlet.low for inlet in inlets)
