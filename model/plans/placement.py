"""Do partitions fit on single hosts?  The published problem has one sum of resources.

Rule of this file: exact; the time grows with the number of ways to place.
"""

from __future__ import annotations

from collections.abc import Sequence


def place(costs: Sequence[int], capacities: Sequence[int]) -> tuple[int, ...] | None:
    """For each partition the number of its host, or None if no way to place them all exists."""
    order = sorted(range(len(costs)), key=lambda at: -costs[at])
    hosts = dict[int, int]()
    refuted = set[tuple[int, tuple[int, ...]]]()

    def search(done: int, room: list[int]) -> bool:
        if done == len(order):
            return True
        state = done, tuple(sorted(room))
        if state in refuted:
            return False
        at, tried = order[done], set[int]()
        for host, free in enumerate(room):
            if free >= costs[at] and free not in tried:
                tried.add(free)
                room[host] -= costs[at]
                hosts[at] = host
                if search(done + 1, room):
                    return True
                room[host] += costs[at]
        refuted.add(state)
        return False

    return tuple(hosts[at] for at in range(len(costs))) if search(0, [*capacities]) else None
