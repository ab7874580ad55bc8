"""The deterministic merge of an operator's input queues.

Rule of this file: no dependence on arrival.  The order is (time, edge), and an event is taken only
when no earlier event can follow.  Because the order is a property of the events, a merge without
the skipped events keeps the order of the rest.
Lima et al., Section II-A ("must be deterministic").
"""

from __future__ import annotations

from typing import NamedTuple

from model.events import BEGINNING, NOTHING, SN, Event
from model.log import Log


class InputQueue(NamedTuple):
    """An input queue.  heard: the last number queued.  mark: no earlier event will follow."""

    queue: Log[Event] = Log()
    heard: SN = NOTHING
    mark: int = BEGINNING

    def hear(self, event: Event) -> InputQueue:
        return InputQueue(self.queue.append(event), event.sn, max(self.mark, event.body.time))

    @property
    def low(self) -> int:
        """A time such that no event still to be taken from this queue has a smaller one."""
        return self.queue.first().body.time if self.queue else self.mark


def ready(inlets: tuple[InputQueue, ...]) -> int | None:
    """The edge whose head comes next, or None if nobody can know the edge yet."""
    if len(inlets) == 1:
        return 0 if inlets[0].queue else None
    _, edge = min((inlet.low, edge) for edge, inlet in enumerate(inlets))
    return edge if inlets[edge].queue else None


def low(inlets: tuple[InputQueue, ...]) -> int:
    """The watermark of the merged stream."""
    if len(inlets) == 1:
        return inlets[0].low
    return min(inlet.low for inlet in inlets)
