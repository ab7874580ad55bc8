"""The edges of suspects in a spread search: steps that may belong to a run without end.

Rule of this file: no world is expanded and none is judged; proofs.explore.search.rest decides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proofs.explore.spread import rows

MOST_EDGES = 1_000_000
"""The most edges that the leading process keeps."""


class SuspectEdges:
    """The worlds in which a suspect can act, in their order, and the edges between them."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._numbers: dict[bytes, int] = {}
        self._homes: list[tuple[int, int]] = []
        self._ends: list[tuple[int, bytes]] = []
        self._worlds: list[bytes] = []

    def add(self, level: int, packed: bytes) -> bool:
        """Add the edges from worlds of a level; returns whether they are few enough."""
        for place, world, next_ in rows.unpack_edges(packed, self._width):
            number = self._numbers.setdefault(world, len(self._homes))
            if number == len(self._homes):
                self._homes.append((level, place))
            self._ends.append((number, next_))
        return len(self._ends) <= MOST_EDGES

    def between(self) -> NDArray[np.int64]:
        """Rows (world, next world) by number; others lead out, where no suspect can act."""
        ends = ((number, self._numbers.get(next_, -1)) for number, next_ in self._ends)
        inside = [(number, after) for number, after in ends if after >= 0]
        return np.array(inside, np.int64).reshape(-1, 2)

    def home(self, number: int) -> tuple[int, int]:
        """The level of a world, and its place there."""
        return self._homes[number]

    def world(self, number: int) -> bytes:
        """The numbers of a world, as bytes."""
        if len(self._worlds) < len(self._numbers):
            self._worlds = [*self._numbers]
        return self._worlds[number]
