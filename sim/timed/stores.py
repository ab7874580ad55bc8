"""Shared stores: the devices of a prompt site that stores, such as a log database.

Rule of this file: no node and no message; a store says when a device has served a request.
"""

from __future__ import annotations

from heapq import heapify, heapreplace
from math import inf

from model.costs import Size
from sim.timed.costs import Costs, StoreCosts, picoseconds


class SharedStore:
    """A store with its devices; each request goes to the one that is free first.

    free: by device, the time from which it is free.  busy: the time that was asked for so far.
    """

    def __init__(self, costs: Costs, name: str) -> None:
        self.costs, self.own = costs, costs.stores.get(name)
        self.free = [0] * (1 if self.own is None else self.own.devices)
        heapify(self.free)
        self.busy = 0

    def write(self, now: int, size: Size) -> tuple[int, int]:
        """How long a transaction takes that is asked for now, and the time of its end."""
        own = self.own
        return self._serve(
            now, self.costs.save_ps(size) if own is None else _write(own, size, self)
        )

    def read(self, now: int, size: Size) -> int:
        """The time at which an answer that is asked for now has been read."""
        own = self.own
        if own is None:
            takes = self.costs.read_ps(size.state_bytes)
        else:
            moved = size.state_bytes / (own.bandwidth_bytes_per_s or inf)
            takes = picoseconds(own.read_s + size.events * own.read_event_s + moved)
        return self._serve(now, takes)[1] if takes else now

    def give_back(self, end: int, now: int) -> None:
        """A request is not served to its end: the device is free now, if it has no later one."""
        if end in self.free:
            self.free[self.free.index(end)] = now
            heapify(self.free)

    def _serve(self, now: int, takes: int) -> tuple[int, int]:
        end = max(now, self.free[0]) + takes
        heapreplace(self.free, end)
        self.busy += takes
        return takes, end


def _write(own: StoreCosts, size: Size, store: SharedStore) -> int:
    bandwidth = own.bandwidth_bytes_per_s
    moved = store.costs.bytes(size) / bandwidth if bandwidth else 0
    return picoseconds(
        own.transaction_s + size.events * own.event_s + size.items * own.item_s + moved
    )
