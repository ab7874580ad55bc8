"""What is predicted for the boxes on Spark: every rule counts in the streams of the check."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.boxes.aggregate import Aggregate
from model.boxes.box import Out, bodies
from model.boxes.box import Stream as Input
from model.boxes.join import Join
from model.events import Body
from model.predicates import Where
from spark_check.boxes import allowed
from spark_check.boxes.checks import boxes
from spark_check.boxes.checks.boxes import predict
from spark_check.boxes.streams import BATCHES, FAR, LONGEST, BoxRow, draw_stream, flush, ties
from spark_check.boxes.watermark import DELAY, is_late, watermarks
from tests.spark.box_predictions import (
    BY_NAME,
    FILTER,
    JOIN,
    MAP,
    SLIDING,
    STATEFUL,
    TUMBLING,
    differing,
    right,
    streams,
)


# --- the streams -----------------------------------------------------------------------------
def test_streams_are_the_same_again() -> None:
    assert streams(2) == [draw_stream(number, 2) for number in range(len(streams(2)))]


@pytest.mark.parametrize("edges", LONGEST)
def test_streams_have_ties_and_disorder_and_missing_attributes(edges: int) -> None:
    rows = [row for stream in streams(edges) for row in stream]
    assert sum(map(ties, streams(edges))) > 100
    assert sum(row.k is None for row in rows) > 100
    assert {row.batch for row in rows} == set(range(BATCHES))
    disordered = [
        stream
        for stream in streams(edges)
        if any(a.edge == b.edge and a.time > b.time for a, b in pairwise(stream))
    ]
    assert 20 < len(disordered) < 80
    assert all(
        a.batch <= b.batch for s in streams(edges) for a, b in pairwise(s) if a.edge == b.edge
    )


@pytest.mark.parametrize("name", STATEFUL)
def test_rows_are_late_also_where_a_stream_is_in_order(name: str) -> None:
    """All streams have one watermark: those that are behind the others lose rows."""
    query = BY_NAME[name]
    assert sum(right(name).dropped) > 10
    marks = tuple(mark or 0 for mark in right(name).watermarks)
    losers = [
        one for one in streams(query.edges) if query.late and query.late(query.box, one, marks)
    ]
    assert any(
        all(a.time <= b.time for a, b in pairwise(stream) if a.edge == b.edge) for stream in losers
    )


def test_a_row_is_late_for_one_of_its_windows_and_not_for_another() -> None:
    marks = tuple(mark or 0 for mark in right(SLIDING.name).watermarks)
    late = [
        [is_late(start + SLIDING.box.size, row.batch, marks) for start in found]
        for stream in streams(1)
        for row in stream
        if (found := allowed.starts(SLIDING.box, row.time))
    ]
    assert any(any(one) and not all(one) for one in late)


# --- what is predicted -----------------------------------------------------------------------
def row(edge: int, place: int, batch: int, time: int, k: int | None = 1) -> BoxRow:
    return BoxRow(0, edge, place, batch, time, "a", k, place)


LEFT = (
    *(row(0, 0, 0, 10), row(0, 1, 0, 10), row(0, 2, 0, 12)),
    *(row(0, 3, 1, 12), row(0, 4, 1, 11), row(0, 5, 1, 9)),
    *(row(0, 6, 2, 14), row(0, 7, 2, 9), row(0, 8, 2, 8), row(0, 9, 2, 11)),
)
RIGHT = (
    *(row(1, 0, 0, 10), row(1, 1, 1, 13), row(1, 2, 1, 10, None)),
    *(row(1, 3, 2, 12), row(1, 4, 2, 14)),
)
"""Two edges for which the tests below have what Spark 4.3 put out; k is 1, and v the place."""


def test_windows_are_those_that_spark_was_seen_to_put_out() -> None:
    marks = watermarks([*LEFT, *flush(1)], 1)
    assert marks == (0, 11, 11, FAR - DELAY)
    (outcome,) = allowed.windows(Aggregate("list", 4, 2, "time", "v", "k"), LEFT, marks)
    lists = [(batch, start, values[-1]) for batch, (_, start, *values) in outcome]
    assert sorted(lists) == [
        (1, 6, (5,)),
        (3, 8, (8, 5, 7, 0, 1, 4, 9)),
        (3, 10, (0, 1, 4, 9, 2, 3)),
        (3, 12, (2, 3, 6)),
        (3, 14, (6,)),
    ]


def test_pairs_are_those_that_spark_was_seen_to_put_out() -> None:
    marks = watermarks([*LEFT, *RIGHT, *flush(2)], 2)
    assert marks == (0, 9, 11, FAR - DELAY)
    (outcome,) = allowed.pairs(Join(2, "k"), (*LEFT, *RIGHT), marks)
    places = [(batch, *(dict(side.data)["v"] for side in pair.data)) for batch, pair in outcome]
    assert sorted(places) == [
        *((0, 0, 0), (0, 1, 0), (0, 2, 0)),
        *((1, 2, 1), (1, 3, 0), (1, 3, 1), (1, 4, 0), (1, 4, 1), (1, 5, 0)),
        *((2, 0, 3), (2, 1, 3), (2, 2, 3), (2, 2, 4), (2, 3, 3), (2, 3, 4), (2, 4, 3)),
        *((2, 6, 1), (2, 6, 3), (2, 6, 4), (2, 9, 0), (2, 9, 1), (2, 9, 3)),
    ]


def test_the_pairs_of_a_join_do_not_depend_on_arrival() -> None:
    """So Spark may take the rows of a batch in any order, and all its outputs are compared."""
    assert {len(one) for one in right(JOIN.name).allowed} == {1}
    assert sum(map(len, (pairs for (pairs,) in right(JOIN.name).allowed))) > 100


@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(1, 5))
def test_with_no_late_rows_windows_are_those_of_one_run(
    number: int, size: int, advance: int
) -> None:
    """Each window has rows of its own because of late rows alone."""
    box = Aggregate("list", size, min(size, advance), "time", "v", "k")
    stream = draw_stream(number, 1)
    (outcome,) = allowed.windows(box, stream, (0,) * BATCHES + (FAR,))
    ordered = [one.body for one in sorted(stream, key=lambda one: one.time)]
    closers = [Body(FAR, "a", body.data) for body in ordered]
    (run,) = box.runs((Input(tuple(map(Out, [*ordered, *closers]))),))
    data = [dict(body.data) for body in bodies(run.outs)]
    expected = [(BATCHES, (one["k"], one["start"], one["value"])) for one in data]
    found = [(batch, (k, start, values[-1])) for batch, (k, start, *values) in outcome]
    assert allowed.in_any_order(found) == allowed.in_any_order(expected)


def test_without_an_item_beyond_it_the_box_does_not_close_a_window() -> None:
    """Spark's watermark closes it, also if no row of its group comes."""
    (run,) = TUMBLING.box.runs((Input(tuple(Out(one.body) for one in LEFT[:3])),))
    assert [dict(body.data)["start"] for body in bodies(run.outs)] == [8]
    (outcome,) = allowed.windows(TUMBLING.box, LEFT[:3], (0, 11, 11, FAR))
    assert {start for _, (_, start, *_) in outcome} == {8, 12}


# --- other boxes and other rules are found out -------------------------------------------------
@pytest.mark.parametrize(
    ("name", "changed"),
    [
        (FILTER.name, {"predicate": Where("v", ">", 2)}),
        (MAP.name, {"keeps": ("v",)}),
        *((TUMBLING.name, {"size": size}) for size in (3, 5)),
        *((SLIDING.name, {"size": size}) for size in (4, 6)),
        *((SLIDING.name, {"advance": advance}) for advance in (1, 3)),
        *((name, {"group": None}) for name in (TUMBLING.name, SLIDING.name)),
        *((name, {"aligned": False}) for name in (TUMBLING.name, SLIDING.name)),
        *((JOIN.name, {"size": size}) for size in (1, 3)),
        (JOIN.name, {"on": None}),
    ],
    ids=str,
)
def test_another_box_allows_other_outputs(name: str, changed: dict[str, Any]) -> None:
    query = BY_NAME[name]
    other = replace(query, box=replace(query.box, **changed))
    assert differing(name, predict(other, streams(query.edges))) > 20


@pytest.mark.parametrize(
    ("place", "name", "rule", "found"),
    [
        (allowed, "is_late", lambda *_: False, STATEFUL),
        (
            allowed,
            "is_late",
            lambda t, b, marks: b > 0 and t < marks[b - 1],
            [TUMBLING.name, JOIN.name],
        ),
        (allowed, "is_late", lambda time, batch, marks: time <= marks[batch], STATEFUL),
        (
            allowed,
            "closing_batch",
            lambda marks, end: next(at for at, mark in enumerate(marks) if mark > end),
            [TUMBLING.name],
        ),
        (
            allowed,
            "closing_batch",
            lambda marks, end: next(at for at, mark in enumerate(marks[1:]) if mark >= end),
            [TUMBLING.name, SLIDING.name],
        ),
        (
            boxes,
            "watermarks",
            lambda rows, _: watermarks([one._replace(edge=0) for one in rows], 1),
            [JOIN.name],
        ),
    ],
    ids=[
        "no row is late",
        "a row at the watermark is not late",
        "late by the watermark of the batch itself",
        "a window is open at the watermark",
        "a window closes in the batch that moves the watermark",
        "the latest edge makes the watermark",
    ],
)
def test_another_rule_of_the_watermark_would_be_found_out(
    place: Any, name: str, rule: Any, found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What Spark does differs from each of these rules, since it does as the right one says."""
    for one in STATEFUL:
        right(one)
    monkeypatch.setattr(place, name, rule)
    changed = [
        one
        for one in STATEFUL
        if differing(one, predict(BY_NAME[one], streams(BY_NAME[one].edges)))
    ]
    assert changed == found
