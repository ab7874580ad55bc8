"""The streams on which a box is judged, and states without absolute times.

Rule of this file: no run of a box.  All streams over an alphabet are infinitely many; relative to
the present the states that they lead to are few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from model.boxes.box import Moment, Of
from model.core import Arrival
from model.events import Body


class Alphabet(NamedTuple):
    """The next item of any edge, at any time.

    edges: the arrivals of each edge.  ahead: the most items, if all edges have the same gaps, and
    the most units of time unless a gap is longer, by which an edge may be ahead of another one;
    also the most items by which a restart may begin one edge later.
    ties: the most items of an edge with equal times.
    """

    edges: tuple[tuple[Arrival, ...], ...]
    ahead: int = 2
    ties: int = 2

    @property
    def even(self) -> bool:
        """Have all edges the same gaps?  Otherwise one may have ever more items than another."""
        return len({frozenset(one.gap for one in edge) for edge in self.edges}) <= 1

    @property
    def apart(self) -> int:
        """The most units of time by which an edge may be ahead of another one."""
        return max([self.ahead, *(arrival.gap for edge in self.edges for arrival in edge)])


class StreamPlace(NamedTuple):
    """How far the streams have come.  times: of the newest item of each edge.  ahead: the items of
    each edge beyond those of the shortest one; 0 if the edges have other gaps.  ties: items of each
    edge with its newest time."""

    times: tuple[Moment, ...]
    ahead: tuple[int, ...]
    ties: tuple[int, ...]


def beginning(alphabet: Alphabet) -> StreamPlace:
    none = (0,) * len(alphabet.edges)
    return StreamPlace((Moment(0),) * len(alphabet.edges), none, none)


def next_items(
    alphabet: Alphabet, place: StreamPlace
) -> Iterator[tuple[int, Arrival, Body, StreamPlace]]:
    """The items that may come next: (edge, arrival, its body, the place after it)."""
    for edge, arrivals in enumerate(alphabet.edges):
        for arrival in arrivals:
            gap, type_, data = arrival
            time = place.times[edge].time + gap
            times = _put(place.times, edge, Moment(time))
            ahead = _put(place.ahead, edge, place.ahead[edge] + int(alphabet.even))
            ahead = tuple(count - min(ahead) for count in ahead)
            ties = _put(place.ties, edge, 1 if gap else place.ties[edge] + 1)
            if (
                max(ahead) <= alphabet.ahead
                and max(times).time - min(times).time <= alphabet.apart
                and ties[edge] <= alphabet.ties
            ):
                yield edge, arrival, Body(time, type_, data), StreamPlace(times, ahead, ties)


def _put(values: tuple[Any, ...], at: int, value: Any) -> tuple[Any, ...]:
    return (*values[:at], value, *values[at + 1 :])


def times_in(value: Any) -> Iterator[int]:
    """All times in a state."""
    if isinstance(value, Moment):
        yield value.time
    elif isinstance(value, tuple) and not isinstance(value, Of):
        if isinstance(value, Body):
            yield value.time
            value = value.data
        for part in value:
            yield from times_in(part)


def relative(value: Any, newest: int, period: int, horizon: int) -> Any:
    """The value with its times moved by a multiple of the period, so that `newest` is in the first.

    Times that are older than the horizon keep their order, and which of them are equal, and nothing
    else (as in the regions of a timed automaton): a box cannot distinguish more of them.
    """
    by = newest // period * period
    oldest = newest - horizon - period
    old = sorted({time for time in times_in(value) if time < oldest}, reverse=True)
    moved = {time: oldest - 1 - rank - by for rank, time in enumerate(old)}
    return _map_times(value, lambda time: moved.get(time, time - by))


def _map_times(value: Any, move: Callable[[int], int]) -> Any:
    if isinstance(value, Moment):
        return Moment(move(value.time))
    if isinstance(value, Body):
        return Body(move(value.time), value.type, _map_times(value.data, move))
    if isinstance(value, Of) or not isinstance(value, tuple):
        return value
    parts = [_map_times(part, move) for part in value]
    return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
