"""The streams on which boxes are judged, and states in relative times, beside their words."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.boxes.box import Item, Moment, Of, inputs_in
from model.core import Arrival
from model.events import Body
from proofs.classify.streams import Alphabet, StreamPlace, beginning, next_items, relative, times_in

EDGE = (Arrival(0, "a"), Arrival(1, "a"), Arrival(2, "b", (("k", 1),)))


class Past(NamedTuple):
    """The items of each edge so far: (time, arrival)."""

    edges: tuple[tuple[tuple[int, Arrival], ...], ...]

    def time(self, edge: int) -> int:
        return self.edges[edge][-1][0] if self.edges[edge] else 0

    def more(self, edge: int, arrival: Arrival) -> Past:
        after = (*self.edges[edge], (self.time(edge) + arrival.gap, arrival))
        return Past((*self.edges[:edge], after, *self.edges[edge + 1 :]))

    def is_allowed(self, ahead: int, ties: int) -> bool:
        """No edge is too far ahead, in items or in time, and no time has too many items."""
        apart = max(ahead, *(arrival.gap for arrival in EDGE))
        counts = [len(edge) for edge in self.edges]
        times = [self.time(edge) for edge in range(len(self.edges))]
        return (
            max(counts) - min(counts) <= ahead
            and max(times) - min(times) <= apart
            and all(
                [time for time, _ in edge].count(time) <= ties
                for edge in self.edges
                for time, _ in edge
            )
        )


@pytest.mark.parametrize(("edges", "length"), [(1, 5), (2, 4), (3, 3)])
@pytest.mark.parametrize(("ahead", "ties"), [(1, 1), (1, 2), (2, 2), (3, 1)])
def test_the_next_items(edges: int, length: int, ahead: int, ties: int) -> None:
    """All histories that the words of Alphabet allow, and no other ones."""
    alphabet = Alphabet((EDGE,) * edges, ahead, ties)
    waiting = [(Past(((),) * edges), beginning(alphabet))]
    for _ in range(length):
        after = []
        for past, place in waiting:
            found = {
                (edge, arrival): (body, then)
                for edge, arrival, body, then in next_items(alphabet, place)
            }
            nexts = {
                (edge, arrival): past.more(edge, arrival)
                for edge, arrival in product(range(edges), EDGE)
                # Items at the beginning, at time 0, count as those of any other time.
                if past.more(edge, arrival).is_allowed(ahead, ties)
            }
            assert found.keys() == nexts.keys()
            for (edge, arrival), (body, then) in found.items():
                there = nexts[edge, arrival]
                assert body == Body(there.time(edge), arrival.type, arrival.data)
                assert [one.time for one in then.times] == [*map(there.time, range(edges))]
                after.append((there, then))
        waiting = after[:200]


def test_an_alphabet_is_narrow_unless_it_says_otherwise() -> None:
    assert Alphabet((EDGE,)) == Alphabet((EDGE,), ahead=2, ties=2)


@given(st.lists(st.integers(-9, 20), min_size=1, max_size=6), st.integers(1, 4), st.integers(0, 6))
def test_relative_times(times: list[int], period: int, horizon: int) -> None:
    """All move by the same multiple of the period, but that of older ones only the order stays."""
    newest = max(times)
    moved = [one.time for one in relative(tuple(map(Moment, times)), newest, period, horizon)]
    assert 0 <= max(moved) < period
    by = newest - max(moved)
    assert by % period == 0
    oldest = newest - horizon - period
    for time, after in zip(times, moved, strict=True):
        if time >= oldest:
            assert after == time - by
    for (one, after), (other, after2) in product(zip(times, moved, strict=True), repeat=2):
        assert (one < other) == (after < after2)
    ranks = sorted({time for time in times if time < oldest}, reverse=True)
    known = dict(zip(times, moved, strict=True))
    assert [known[time] for time in ranks] == [oldest - by - 1 - at for at in range(len(ranks))]


def test_what_else_stands_in_a_state_stays() -> None:
    """Lineage is no time, data of a body may hold bodies, and named tuples keep their types."""
    body = Body(5, "a", (("k", 7), Body(4, "b")))
    item = Item(1, body, frozenset([Of(1, 6)]))
    place = StreamPlace((Moment(5),), (3,), (4,))
    value = (item, place, Of(0, 9), 8, "x", None, (Moment(4), (Moment(3),)))
    assert sorted(times_in(value)) == [3, 4, 4, 5, 5]
    found = relative(value, 5, 2, 6)
    assert found == (
        Item(1, Body(1, "a", (("k", 7), Body(0, "b"))), frozenset([Of(1, 6)])),
        StreamPlace((Moment(1),), (3,), (4,)),
        Of(0, 9),
        8,
        "x",
        None,
        (Moment(0), (Moment(-1),)),
    )
    assert [type(part) for part in found[:3]] == [Item, StreamPlace, Of]
    assert type(found[0].body) is Body
    assert list(inputs_in(found)) == [Of(1, 6)]
