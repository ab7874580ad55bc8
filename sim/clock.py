"""The clock of timed runs: SimPy's environment, in absolute times and with callbacks alone.

Rule of this file: what SimPy keeps to itself (its queue and its count of events) is used here and
nowhere else, as SimPy's own RealtimeEnvironment does.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

import simpy
from simpy.events import NORMAL, Event, EventPriority

LAST = EventPriority(NORMAL + 1)
"""Of events that happen after all others of their time."""


class Clock(simpy.Environment):
    """SimPy's environment with absolute times and callbacks alone.

    A time that is reached by adding delays need not be the time meant, so events are set with
    `at`.  They keep their callbacks, so that an event can be set again and again.
    """

    time: int = 0
    """As `now`, in picoseconds."""

    def at(self, time: int, event: Event, priority: EventPriority = NORMAL) -> None:
        heappush(self._queue, (time, priority, next(self._eid), event))

    def drain(self) -> None:
        """As `run`, until there are no events; ours neither fail nor stop the run."""
        queue = self._queue
        while queue:
            entry = heappop(queue)
            self._now = self.time = entry[0]  # type: ignore[assignment]
            for callback in entry[3].callbacks:
                callback(entry[3])


class Moment(Event):
    """A SimPy event that is bound to happen, as a Timeout is.  what: for its callback."""

    def __init__(self, callback: Callable[[Any], None], what: Any) -> None:
        self.callbacks = [callback]
        self.what = what
