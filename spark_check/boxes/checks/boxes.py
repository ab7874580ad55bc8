"""The boxes on Spark without failures: the box allows the output of Spark.

Rule of this file: the streams, and the comparison.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from engine_check.check import Check, CheckSetting, engine_case
from model.results.engine import EngineCase, Facts
from spark_check.boxes.allowed import Outcome, in_any_order
from spark_check.boxes.queries import QUERIES, BoxQuery
from spark_check.boxes.run import BoxRun, feed, finish, start
from spark_check.boxes.streams import BATCHES, Stream, draw_stream, flush, show, show_output, ties
from spark_check.boxes.watermark import watermarks
from spark_check.runtime.session import BRIEF, INTERPRETED, session

STREAMS = {"quick": 100, "full": 1_000}


class Prediction(NamedTuple):
    """allowed: outcomes of each stream.  The others by micro-batch, as in BoxRun."""

    allowed: list[frozenset[Outcome]]
    rows: list[int]
    watermarks: list[int | None]
    dropped: list[int]


# --- comparing -------------------------------------------------------------------------------
def predict(query: BoxQuery, streams: Sequence[Stream]) -> Prediction:
    """The outputs that Spark may make of the streams and of the rows that flush them."""
    all_ = [*chain(*streams), *flush(query.edges)]
    marks = watermarks(all_, query.edges)
    rows = Counter(row.batch for row in all_)
    batches = range(BATCHES if query.late is None else len(marks))
    late = query.late or (lambda *_: set())
    dropped = Counter(one[0] for stream in streams for one in late(query.box, stream, marks))
    return Prediction(
        [query.allowed(query.box, stream, marks) for stream in streams],
        [rows[batch] for batch in batches],
        [None if query.late is None else marks[batch] for batch in batches],
        [dropped[batch] for batch in batches],
    )


def outcomes(query: BoxQuery, streams: Sequence[Stream], ran: BoxRun) -> list[Outcome]:
    """The outputs of Spark for each stream."""
    found: dict[int, list[tuple[int, Any]]] = {}
    for batch, row in ran.found:
        found.setdefault(row.stream, []).extend((batch, one) for one in query.outputs(row))
    each = [found.get(stream[0].stream, []) for stream in streams]
    if query.late is None:
        return [tuple(output for _, output in some) for some in each]
    return [in_any_order(some) for some in each]


def compare(query: BoxQuery, streams: Sequence[Stream], ran: BoxRun) -> EngineCase:
    """Compare the outputs of Spark with those that the box allows."""
    expected, found = predict(query, streams), outcomes(query, streams, ran)
    judged = list(zip(streams, expected.allowed, found, strict=True))
    wrong = [one for one in judged if one[2] not in one[1]]
    return engine_case(
        f"{query.name}: {len(streams):,} streams",
        _facts(len(streams), "none", expected),
        _facts(len(streams) - len(wrong), explain(wrong), ran),
        {
            "outputs": sum(map(len, found)),
            "rows at equal times": sum(map(ties, streams)),
            "streams with several allowed outputs": sum(len(one) > 1 for one in expected.allowed),
        },
    )


def explain(wrong: Sequence[tuple[Stream, frozenset[Outcome], Outcome]]) -> str:
    """The shortest stream whose outcome is not allowed, with the allowed outcome that is nearest
    and Spark's."""
    if not wrong:
        return "none"
    stream, allowed, found = min(wrong, key=lambda one: len(one[0]))
    nearest = min(allowed, key=lambda one: (_unlike(one, found), repr(one)))
    outcomes = f"allowed {show_output(nearest)}, Spark {show_output(found)}"
    return f"stream {stream[0].stream}: {show(stream)}; {outcomes}"


def _unlike(one: Outcome, other: Outcome) -> int:
    a, b = Counter(one), Counter(other)
    return ((a - b) + (b - a)).total()


def _facts(streams: int, difference: str, of: Prediction | BoxRun) -> Facts:
    return {
        "streams as allowed": streams,
        "difference": difference,
        "rows": of.rows,
        "watermarks": of.watermarks,
        "dropped": of.dropped,
    }


# --- the check -------------------------------------------------------------------------------
class Streamed(NamedTuple):
    """A query, its streams, and the outputs of Spark."""

    query: BoxQuery
    streams: list[Stream]
    ran: BoxRun


def stream_all(
    spark: SparkSession, work: Path, queries: Sequence[BoxQuery], streams: int
) -> list[Streamed]:
    """Run the queries side by side, each over `streams` random streams."""
    drawn = {
        edges: [draw_stream(number, edges) for number in range(streams)]
        for edges in sorted({query.edges for query in queries})
    }
    inputs = {
        edges: feed(spark, work / f"input-{edges}", [*chain(*some), *flush(edges)], edges)
        for edges, some in drawn.items()
    }
    started = [
        start(query.query(query.box, inputs[query.edges]), work / f"checkpoint-{number}")
        for number, query in enumerate(queries)
    ]
    return [
        Streamed(query, drawn[query.edges], finish(one))
        for query, one in zip(queries, started, strict=True)
    ]


def run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    """Run all queries in one session."""
    brief = {**BRIEF, **INTERPRETED} if setting.profile == "quick" else {}
    with session(setting.work, conf=brief, jvm=setting.shared) as spark:
        return cases(spark, setting)


def cases(spark: SparkSession, setting: CheckSetting) -> tuple[EngineCase, ...]:
    """A case for each query."""
    setting.report("boxes", 0, len(QUERIES))
    all_ = stream_all(spark, setting.work, QUERIES, STREAMS[setting.profile])
    return tuple(compare(*one) for one in all_)


CHECK = Check(
    "boxes",
    "The boxes, as operators of Spark",
    run,
    (
        "Each box is a query in Spark's own operators; predictions are all outputs that the box"
        " allows for the rows that are not late.",
        "Lists are by micro-batch: rows, watermarks, and what Spark drops as late (rows of a join,"
        " windows of an aggregate).",
    ),
)
