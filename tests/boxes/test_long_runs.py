"""Inputs of any length: a box that allows one run takes them, and another one says why not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.boxes import box as boxes
from model.boxes.aggregate import Aggregate
from model.boxes.box import Box, Out, Stream, bodies
from model.boxes.join import Join
from model.boxes.reorder import BSort, Ordered
from model.boxes.stateless import AnyOf, Union
from model.core import Arrival
from model.errors import Invalid
from model.events import Body
from model.graph import chain
from model.oracle import oracle
from sim.inputs.flights import HOUR, delay_graph, delays, departures

STREAMS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("ab")), max_size=4)


def stream(arrivals: list[tuple[int, str]]) -> Stream:
    now, outs = 0, []
    for gap, type_ in arrivals:
        now += gap
        outs.append(Out(Body(now, type_)))
    return Stream(tuple(outs), now)


SINGLE: tuple[Box, ...] = (
    *(Aggregate("list", size, advance) for size in (1, 2) for advance in (1, 2)),
    *(Aggregate("list", 2, 1, timeout=True), AnyOf(("x", "y")), BSort(2, "type")),
)
DOUBLE: tuple[Box, ...] = (
    *(
        Ordered(Join(1)),
        Ordered(Union()),
        Ordered(Join(1, timeout=True)),
        Ordered(AnyOf(("x", "y"))),
    ),
    *(Union(), Join(1)),
)


def agree(box: Box, inputs: tuple[Stream, ...]) -> None:
    """What comes out does not depend on whether the only run is searched for."""
    every = {bodies(one.outs): one for one in box._every_run(inputs)}
    found = {bodies(one.outs): one for one in box.runs(inputs)}
    assert found == every
    only = box._only_run(inputs)
    assert only is None or [only] == [*every.values()]


@given(st.sampled_from(SINGLE), STREAMS)
def test_a_box_with_one_edge(box: Box, arrivals: Any) -> None:
    agree(box, (stream(arrivals),))


@given(st.sampled_from(DOUBLE), STREAMS, STREAMS)
def test_a_box_with_two_edges(box: Box, one: Any, other: Any) -> None:
    agree(box, (stream(one), stream(other)))


@pytest.mark.parametrize("box", [Aggregate("list", 2, 1), BSort(1), AnyOf(("x",))], ids=repr)
def test_one_edge_without_choice_has_one_run(box: Box) -> None:
    assert box._only_run((stream([(1, "a")] * 3),)) is not None


@pytest.mark.parametrize("box", [Union(), Ordered(Join(1, timeout=True))], ids=repr)
def test_arrival_and_timeouts_make_several(box: Box) -> None:
    assert box._only_run((stream([(1, "a")]), stream([(1, "b")]))) is None


def test_a_timeout_after_the_last_item_is_another_run() -> None:
    box = Aggregate("count", 2, 2, timeout=True)
    assert box._only_run((stream([(1, "a")]),)) is None
    assert {len(one.outs) for one in box.runs((stream([(1, "a")]),))} == {0, 1}


def test_too_many_runs_are_refused_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(boxes, "RUNS", 1_000)
    long = stream([(1, "a"), (1, "b")] * 10)
    with pytest.raises(Invalid, match="over 20 and 20 items; give fewer"):
        [*Union().runs((long, long))]


def test_a_long_run_through_a_choice_is_refused_at_its_second_output() -> None:
    graph = chain(("A", AnyOf(("x", "y"))))
    with pytest.raises(Invalid, match="allows several outputs"):
        oracle(graph, {"source": (Arrival(1, "a"),) * 3})


@pytest.mark.slow
def test_flights_through_a_keyed_aggregate() -> None:
    """Each carrier's mean delay of each day, as pandas groups it; the last day has not ended."""
    limit = 20_000
    ((out,),) = oracle(delay_graph(), {"source": delays(limit)}).values()
    frame = departures(limit).dropna(subset="delay")
    frame["start"] = frame["minute"] // (24 * HOUR) * 24 * HOUR
    mean = frame.groupby(["carrier", "start"])["delay"].mean()
    last = frame.groupby("carrier")["start"].max()
    expected = {
        (row["carrier"], row["start"]): row["delay"]
        for row in mean.reset_index().to_dict("records")
        if row["start"] < last[row["carrier"]]
    }
    assert len(expected) > 300
    found = [dict(body.data) for body in out]
    assert {(one["carrier"], one["start"]): one["value"] for one in found} == pytest.approx(
        expected
    )
    assert len(found) == len(expected)
    assert [body.time for body in out] == sorted(body.time for body in out)
