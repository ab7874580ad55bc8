"""Events that are drawn anew whenever somebody reads them: long streams that take no memory.

Rule of this file: no distribution; whoever makes the events says how they are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import accumulate, islice
from typing import Any, TypeAlias, overload

from model.core import Arrival, NodeName

Events: TypeAlias = Sequence[Arrival]
"""The events of a source in order: a tuple, or drawn ones."""


class DrawnEvents(Sequence[Arrival]):
    """A stream by the function that draws it; each reading draws the same events.

    size: the number of events.  last: the time of the last one.
    """

    __slots__ = ("draw", "last", "size")

    def __init__(self, draw: Callable[[], Iterator[Arrival]], size: int, last: int) -> None:
        self.draw, self.size, self.last = draw, size, last

    def __iter__(self) -> Iterator[Arrival]:
        return self.draw()

    def __len__(self) -> int:
        return self.size

    @overload
    def __getitem__(self, at: int) -> Arrival: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Arrival, ...]: ...
    def __getitem__(self, at: int | slice) -> Arrival | tuple[Arrival, ...]:
        """Reads the events up to this place."""
        if isinstance(at, slice):
            return tuple(self)[at]
        place = range(self.size)[at]
        return next(islice(self, place, None))

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]


def last_time(events: Events) -> int:
    """The time of the last event; 0 if there is none."""
    if isinstance(events, DrawnEvents):
        return events.last
    return sum(arrival.gap for arrival in events)


class MergedTimes(Sequence[int]):
    """The times of the events of all sources, in picoseconds and in order; none is kept."""

    def __init__(self, sources: Mapping[str, Events], unit_ps: int) -> None:
        self.sources, self.unit_ps = [*sources.values()], unit_ps

    def __iter__(self) -> Iterator[int]:
        times = (accumulate(arrival.gap for arrival in events) for events in self.sources)
        return (time * self.unit_ps for time in merge(*times))

    def __len__(self) -> int:
        return sum(map(len, self.sources))

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[int, ...]: ...
    def __getitem__(self, at: int | slice) -> int | tuple[int, ...]:
        """Reads the events up to this place, but for the last one."""
        if isinstance(at, slice):
            return tuple(self)[at]
        place = range(len(self))[at]
        if place == len(self) - 1:
            return max(map(last_time, self.sources)) * self.unit_ps
        return next(islice(self, place, None))


def feed_of(
    source: NodeName, events: Events, unit_ps: int
) -> Iterator[tuple[int, NodeName, Arrival]]:
    """The events of a source, with their times in picoseconds."""
    now = 0
    for arrival in events:
        now += arrival.gap * unit_ps
        yield now, source, arrival
