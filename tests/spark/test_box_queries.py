"""Spark's operators put out what the boxes allow, and the check notices a flawed query."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Row as SparkRow
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from engine_check.check import CheckSetting
from model.predicates import Where
from model.results.plain import plain
from spark_check.boxes.checks import boxes
from spark_check.boxes.checks.boxes import (
    Streamed,
    compare,
    outcomes,
    predict,
    stream_all,
)
from spark_check.boxes.queries import (
    QUERIES,
    BoxQuery,
    aggregated,
    joined_where,
    near,
)
from spark_check.boxes.run import BoxRun
from spark_check.runtime.jvm import Jvm
from spark_check.runtime.session import BRIEF, INTERPRETED, session
from tests.spark.box_predictions import FILTER, JOIN, SLIDING, TUMBLING, UNION, right, streams


# --- comparing -------------------------------------------------------------------------------
def ran(name: str, found: list[tuple[int, SparkRow]]) -> BoxRun:
    expected = right(name)
    return BoxRun(found, expected.rows, expected.watermarks, expected.dropped)


def rows(edges: int) -> list[tuple[int, SparkRow]]:
    """All rows, as Spark would hand them on."""
    all_ = [one for stream in streams(edges) for one in stream]
    all_.sort(key=lambda one: one.batch)
    return [(one.batch, SparkRow(**one._asdict())) for one in all_]


def as_filtered(keep: Callable[[SparkRow], bool]) -> list[tuple[int, SparkRow]]:
    return [one for one in rows(1) if keep(one[1])]


def test_what_is_allowed_agrees() -> None:
    case = compare(FILTER, streams(1), ran(FILTER.name, as_filtered(lambda one: one.v >= 2)))
    assert case.agrees
    assert case.seen["streams as allowed"] == 100


def test_the_shortest_stream_that_differs_is_shown() -> None:
    case = compare(FILTER, streams(1), ran(FILTER.name, as_filtered(lambda one: one.v > 2)))
    assert not case.agrees
    differing = [stream for stream in streams(1) if any(one.v == 2 for one in stream)]
    assert case.seen["streams as allowed"] == 100 - len(differing)
    shortest = min(differing, key=len)
    (lost,) = [one.body for one in shortest if one.v == 2]
    (item,) = [one for one in shortest if one.v >= 2]
    assert item.body == lost
    shown = f"{item.type}@{item.time} k={item.k} v=2".replace(" k=None", "")
    text = case.seen["difference"]
    assert text.startswith(f"stream {item.stream}: ")
    assert f"0:{shown}" in text
    assert text.endswith(f"allowed ({shown}), Spark ()")


def test_a_union_in_the_wrong_order_is_a_difference() -> None:
    assert compare(UNION, streams(2), ran(UNION.name, rows(2))).agrees
    assert not compare(UNION, streams(2), ran(UNION.name, rows(2)[::-1])).agrees


def test_other_batches_watermarks_and_dropped_rows_are_differences() -> None:
    good = ran(FILTER.name, as_filtered(lambda one: one.v >= 2))
    for name in ("rows", "watermarks", "dropped"):
        other = good._replace(**{name: [9, *getattr(good, name)[1:]]})
        assert not compare(FILTER, streams(1), other).agrees


# --- with Spark ------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory, jvm: Jvm) -> Iterator[SparkSession]:
    conf = {**BRIEF, **INTERPRETED}
    with session(tmp_path_factory.mktemp("spark"), conf=conf, jvm=jvm) as started:
        yield started


def _with(query: BoxQuery, name: str, **changed: Any) -> BoxQuery:
    """Spark runs another box than the one that says what is allowed."""
    box = replace(query.box, **changed)
    return replace(query, name=name, query=lambda _, edges: query.query(box, edges))


def _where(name: str, condition: str) -> BoxQuery:
    """A join with another condition."""
    return replace(JOIN, name=name, query=lambda _, edges: joined_where(condition, edges))


LESS, UNEQUAL_NULLS = "< for <=", "= for <=>"
FLAWED = (
    _with(FILTER, "> for >=", predicate=Where("v", ">", 2)),
    _with(SLIDING, "wider windows", size=6),
    _with(TUMBLING, "windows of another grid", size=5, advance=5),
    _where(LESS, f"left.k <=> right.k AND {near('<', JOIN.box.size)}"),
    _where(UNEQUAL_NULLS, f"left.k = right.k AND {near('<=', JOIN.box.size)}"),
    replace(UNION, name="one edge", query=lambda _, edges: edges[0]),
    replace(
        TUMBLING,
        name="one group",
        query=lambda box, edges: aggregated(box, [edges[0].withColumn("k", F.lit(1))]),
    ),
)
"""Queries with a flaw each."""


@pytest.fixture(scope="module")
def streamed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Streamed]:
    """The flawed queries, and a right one."""
    all_ = stream_all(spark, tmp_path_factory.mktemp("flawed"), [*FLAWED, UNION], 50)
    return {one.query.name: one for one in all_}


@pytest.mark.spark
@pytest.mark.exhaustive  # `.ci/run` runs the same check
def test_spark_puts_out_what_the_boxes_allow(spark: SparkSession, tmp_path: Path) -> None:
    cases = boxes.cases(spark, CheckSetting(tmp_path, "quick", lambda *_: None))
    assert [case.name for case in cases if not case.agrees] == []
    assert len(cases) == len(QUERIES)
    assert all(case.details["outputs"] > 100 for case in cases)
    json.dumps([plain(case) for case in cases])


@pytest.mark.spark
@pytest.mark.parametrize("name", [query.name for query in FLAWED])
def test_a_flawed_query_is_found_out(name: str, streamed: dict[str, Streamed]) -> None:
    case = compare(*streamed[name])
    assert not case.agrees
    assert case.seen["streams as allowed"] < 50
    assert case.seen["difference"] != "none"


@pytest.mark.spark
def test_spark_unites_edge_after_edge_in_each_batch(streamed: dict[str, Streamed]) -> None:
    """One of the interleavings that the box allows."""
    union = streamed[UNION.name]
    assert compare(*union).agrees
    assert outcomes(*union) == [
        tuple(one.body for one in sorted(stream, key=lambda one: (one.batch, one.edge, one.place)))
        for stream in union.streams
    ]


@pytest.mark.spark
def test_equal_is_not_the_same_for_missing_attributes(streamed: dict[str, Streamed]) -> None:
    """The box and `<=>` pair two items without the attribute; `=` does not."""
    flawed = streamed[UNEQUAL_NULLS]
    for (one,), found in zip(predict(JOIN, flawed.streams).allowed, outcomes(*flawed), strict=True):
        assert found == tuple(
            pair for pair in one if any(key == "k" for key, _ in pair[1].data[0].data)
        )


@pytest.mark.spark
def test_spark_refuses_windows_with_gaps(spark: SparkSession) -> None:
    edge = spark.createDataFrame([], "stream long, place long, time long, k long, v long")
    with pytest.raises(AnalysisException, match="slide"):
        aggregated(replace(TUMBLING.box, advance=5), [edge])
