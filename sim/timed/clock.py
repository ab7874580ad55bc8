"""The clock of timed runs: SimPy's environment, in absolute times.

Rule of this file: no other file reads SimPy's private attributes (queue, count of events, time);
SimPy's own RealtimeEnvironment reads them in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, TypeAlias

import simpy
from simpy.events import NORMAL, Event, EventPriority

LAST = EventPriority(NORMAL + 1)
"""The priority of events that happen after all others of their time."""


Entry: TypeAlias = tuple[int, EventPriority, int, Event]
"""An entry of SimPy's queue: time, priority, number, event; the middle two order equal times."""


class SimulatedClock(simpy.Environment):
    """SimPy's environment with absolute times, and without its loop.

    A sum of delays need not be exactly the time meant, so `at` sets events at absolute times, also
    the same event several times.  queue, count: for the two loops of timed runs, which take the
    events out; a loop processes most events itself, and calls `happen` for the others.
    """

    def __init__(self) -> None:
        super().__init__()
        self.queue: list[Entry] = self._queue  # type: ignore[assignment]
        self.count = self._eid

    def at(self, time: int, event: Event, priority: EventPriority = NORMAL) -> None:
        heappush(self.queue, (time, priority, next(self.count), event))

    def pop(self) -> tuple[int, Event]:
        """Take out the next event: (time, event)."""
        time, _, _, event = heappop(self.queue)
        return time, event

    def happen(self, time: int, event: Event) -> Any:
        """Call the callback of an occurrence and return its result."""
        assert isinstance(event, Occurrence)
        self._now = time
        return event.callback(event)


class Occurrence(Event):
    """A SimPy event that is bound to happen, like a Timeout.  Its `what` is the data for its
    callback."""

    def __init__(self, callback: Callable[[Occurrence], Any], what: Any) -> None:
        self.callback, self.what = callback, what
