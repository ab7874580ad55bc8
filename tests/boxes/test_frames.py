"""What a box may see of times: `period` and `horizon` are what their words say.

A state in which all that may be forgotten is forgotten (`proofs.classify.pairs.normal`) goes on as
the real one does: its outputs are made of the same inputs at the same steps.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box, Item, Lineage, Moment, Of
from model.boxes.counted import Counted
from model.boxes.hourly import Hourly
from model.boxes.join import Join
from model.boxes.network import INPUT, OUTPUT, Arc, Network
from model.boxes.reorder import BSort, Ordered, Resample
from model.boxes.running import Running
from model.boxes.stateless import Relay, Union
from model.boxes.triggered import Triggered
from model.events import Body
from proofs.classify.pairs import CopyPair, CopyPhase, normal
from proofs.classify.streams import StreamPlace
from tests.boxes.items import fed, items


def chain(*boxes: Box) -> Network:
    names = [str(number) for number in range(len(boxes))]
    ends = zip([INPUT, *names], [*names, OUTPUT], strict=True)
    return Network(tuple(zip(names, boxes, strict=True)), tuple(Arc(*two) for two in ends))


class Frame(NamedTuple):
    """What a box says of the times it sees."""

    box: Box
    horizon: int
    period: int


FRAMES = (
    Frame(Relay(), 0, 1),
    Frame(BSort(2), 0, 1),
    Frame(Triggered((2,)), 0, 1),
    Frame(Counted((2, 3), "type"), 0, 1),
    Frame(Hourly(), 24, 1),
    Frame(Aggregate("list", 3, 2), 0, 1),
    Frame(Aggregate("list", 3, 2, "time"), 5, 2),
    Frame(Aggregate("list", 2, 3, "time"), 5, 3),
    Frame(Aggregate("list", 3, 2, "time", aligned=False), 5, 1),
    Frame(Aggregate("list", 3, 2, "time", group="type", any_closes=True), 5, 2),
    Frame(Aggregate("list", 3, 2, "time", any_closes=True, ticks="b", hands_on=True), 5, 2),
    Frame(chain(Aggregate("list", 3, 2, "time"), Aggregate("list", 1, 3, "time")), 9, 6),
)
"""Boxes with one edge."""
WITH_TWO = (
    Frame(Union(), 0, 1),
    Frame(Running(group="type"), 0, 1),
    Frame(Join(2), 2, 1),
    Frame(Join(2, by="count"), 0, 1),
    Frame(Join(2, one_sided=True), 2, 1),
    Frame(Resample(2), 4, 1),
    Frame(Ordered(Union()), 0, 1),
    Frame(Ordered(Join(1)), 1, 1),
    Frame(Ordered(Aggregate("list", 2, 3, "time")), 5, 3),
    Frame(
        Network(
            (("r", Resample(1)), ("g", Aggregate("list", 2, 1, "time"))),
            (Arc(INPUT, "r"), Arc(INPUT, "r", 1, 1), Arc("r", "g"), Arc("g", OUTPUT)),
        ),
        5,
        1,
    ),
)
STEPS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 3), st.sampled_from("ab")), max_size=12
)
"""(edge, gap, type)"""


@pytest.mark.parametrize("frame", [*FRAMES, *WITH_TWO], ids=lambda frame: repr(frame.box)[:60])
def test_horizon_and_period(frame: Frame) -> None:
    assert (frame.box.horizon, frame.box.period) == frame[1:]


@pytest.mark.parametrize("frame", FRAMES, ids=lambda frame: repr(frame.box)[:60])
@given(steps=STEPS, by=st.integers(1, 3))
def test_times_moved_by_the_period_change_nothing_else(frame: Frame, steps: Any, by: int) -> None:
    arrivals = [(gap, type_, 0) for _, gap, type_ in steps]
    given_ = items(arrivals)
    later = [
        item._replace(body=item.body._replace(time=item.body.time + by * frame.period))
        for item in given_
    ]
    found = [(at, out.of, out.body.time) for at, out in fed(frame.box, later)]
    assert found == [
        (at, out.of, out.body.time + by * frame.period) for at, out in fed(frame.box, given_)
    ]


@pytest.mark.parametrize(
    ("edges", "frame"),
    [*((1, frame) for frame in FRAMES), *((2, frame) for frame in WITH_TWO)],
    ids=lambda value: repr(value.box)[:60] if isinstance(value, Frame) else "",
)
@given(steps=STEPS)
def test_what_is_further_back_than_the_horizon_does_not_count(
    edges: int, frame: Frame, steps: Any
) -> None:
    box = frame.box
    real, times = box.begin(edges), [0] * edges
    none = (0,) * edges
    pair = normal(
        CopyPair(CopyPhase.AFTER, real, real, StreamPlace((Moment(0),) * edges, none, none)), box
    )
    for place, (edge, gap, type_) in enumerate(steps):
        edge = min(edge, edges - 1)
        times[edge] += gap
        of: Lineage = frozenset([Of(edge, place)])
        ((real, expected),) = box.feed(real, Item(edge, Body(times[edge], type_), of))
        relative = [*pair.place.times]
        relative[edge] = Moment(relative[edge].time + gap)
        ((state, outs),) = box.feed(pair.first, Item(edge, Body(relative[edge].time, type_), of))
        assert [out.of for out in outs] == [out.of for out in expected]
        pair = normal(
            pair._replace(
                first=state, second=state, place=StreamPlace(tuple(relative), none, none)
            ),
            box,
        )
