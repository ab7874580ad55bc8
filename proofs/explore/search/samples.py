"""Samples: a few of the observations that a search has met.

Rule of this file: no judgement; which observations are kept depends on their number and size alone.
"""

from __future__ import annotations

from model.core import Observation

FIRST = 32
"""The first observations are all kept."""
RARER = 1.25
"""After these, each that is kept comes later than the one before it by this factor."""


class SeenSamples:
    """The first observations, some of the later ones, the last one, and the one with the most
    outputs.  A search is breadth first, so later ones have more events behind them."""

    def __init__(self) -> None:
        self.count = 0
        self._next = 1.0
        self._kept: list[Observation] = []
        self._last: Observation | None = None
        self._largest: Observation | None = None
        self._size = (-1, -1)

    def add(self, seen: Observation) -> None:
        self.count += 1
        self._last = seen
        if self.count >= self._next:
            self._kept.append(seen)
            self._next = self.count + 1.0 if self.count < FIRST else self.count * RARER
        size = sum(map(len, seen.outputs)), sum(map(len, seen.arrivals))
        if size > self._size:
            self._largest, self._size = seen, size

    def all(self) -> list[Observation]:
        """The observations that were kept, without equal ones; the largest one first."""
        found = [self._largest, self._last, *reversed(self._kept)]
        return [*dict.fromkeys(one for one in found if one is not None)]
