"""The open windows by their starts, earliest first: a persistent priority queue.

Rule of this file: it orders windows, and closes none.
Crane, "Linear lists and priority queues as balanced binary trees", 1972 (leftist heaps).
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

from model.boxes.trie import Trie


class Fork(NamedTuple):
    """A heap of starts that is not empty.  rank: how many steps to the right it goes."""

    rank: int
    first: int
    left: Heap
    right: Heap


Heap: TypeAlias = "Fork | None"


class WindowEnds(NamedTuple):
    """starts: each once.  windows: with this start, as nested pairs (key, those before it)."""

    starts: Heap = None
    windows: Trie[int, Any] = Trie()

    def put(self, start: int, key: Any) -> WindowEnds:
        """With a window of the group `key`."""
        known = self.windows.get(start, None)
        windows = self.windows.put(start, (key, known))
        if known is not None:
            return WindowEnds(self.starts, windows)
        return WindowEnds(_merge(self.starts, Fork(1, start, None, None)), windows)

    def first(self, latest: int) -> int | None:
        """The earliest start, if it is at `latest` or before."""
        return self.starts.first if self.starts and self.starts.first <= latest else None

    def pop(self) -> tuple[list[Any], WindowEnds]:
        """The groups of the windows with the earliest start, in the order of their keys in words;
        and the rest."""
        assert self.starts is not None
        _, first, left, right = self.starts
        keys, more = [], self.windows.get(first, None)
        while more is not None:
            key, more = more
            keys.append(key)
        starts = left if right is None else _merge(left, right)
        return sorted(keys, key=repr), WindowEnds(starts, self.windows.drop(first))


def _merge(one: Heap, other: Fork) -> Fork:
    if one is None:
        return other
    if other.first < one.first:
        one, other = other, one
    left, right = one.left, _merge(one.right, other)
    if left is not None and left.rank >= right.rank:
        return Fork(right.rank + 1, one.first, left, right)
    return Fork(1 if left is None else left.rank + 1, one.first, right, left)
