"""The clock of timed runs: SimPy's environment, in absolute times.

Rule of this file: what SimPy keeps to itself (its queue, its count of events, its time) is taken
from it here and nowhere else, as SimPy's own RealtimeEnvironment does.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappush
from typing import Any, TypeAlias

import simpy
from simpy.events import NORMAL, Event, EventPriority

LAST = EventPriority(NORMAL + 1)
"""Of events that happen after all others of their time."""


Entry: TypeAlias = tuple[int, EventPriority, int, Event]
"""Of SimPy's queue: the time, and of events at one time the order."""


class Clock(simpy.Environment):
    """SimPy's environment with absolute times, and without its loop.

    A time that is reached by adding delays need not be the time meant, so events are set with
    `at`, again and again if need be.  queue, count: for whoever takes them out, which is the loop
    of sim.timed.simulator; it deals with most events itself, and lets the others `happen`.
    """

    def __init__(self) -> None:
        super().__init__()
        self.queue: list[Entry] = self._queue  # type: ignore[assignment]
        self.count = self._eid

    def at(self, time: int, event: Event, priority: EventPriority = NORMAL) -> None:
        heappush(self.queue, (time, priority, next(self.count), event))

    def happen(self, time: int, event: Event) -> Any:
        """What the callback of a moment that has come answers."""
        assert isinstance(event, Moment)
        self._now = time
        return event.callback(event)


class Moment(Event):
    """A SimPy event that is bound to happen, as a Timeout is.  what: for its one callback."""

    def __init__(self, callback: Callable[[Moment], Any], what: Any) -> None:
        self.callback, self.what = callback, what
