"""The inputs of one operator of a simulated pipeline, in a connection with room for some.

Rule of this file: no operator, no cost.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import simpy


class TaskInbox:
    """The inputs of one operator, in order; with little room, senders wait.

    A store of SimPy does the same with an event for every input that comes and goes, which takes
    half the time of a run.
    """

    def __init__(self, env: simpy.Environment, room: float) -> None:
        self.env, self.room = env, room
        self.items = deque[tuple[str, Any]]()
        self._filled: simpy.Event | None = None
        self._senders = deque[tuple[simpy.Event, tuple[str, Any]]]()

    def put(self, item: tuple[str, Any]) -> simpy.Event | None:
        """None: the item is in; or the event that it is."""
        if self._senders or len(self.items) >= self.room:
            self._senders.append((self.env.event(), item))
            return self._senders[-1][0]
        self.items.append(item)
        if self._filled is not None:
            self._filled.succeed()
            self._filled = None
        return None

    def filled(self) -> simpy.Event:
        """The event that an empty inbox has an item."""
        self._filled = self.env.event()
        return self._filled

    def take(self) -> tuple[str, Any]:
        item = self.items.popleft()
        if self._senders and len(self.items) < self.room:
            event, next_ = self._senders.popleft()
            self.items.append(next_)
            event.succeed()
        return item
