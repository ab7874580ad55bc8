"""The boxes as queries of Spark, each with the outputs that its box allows.

Rule of this file: a query is written in Spark's own operators; nothing of a box runs in it, and a
box gives it nothing but parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql import Row as SparkRow
from pyspark.sql import functions as F

from model.boxes.aggregate import Aggregate
from model.boxes.join import Join
from model.boxes.stateless import Filter, Map, Union
from model.events import Body
from model.predicates import Where
from spark_check.boxes import allowed
from spark_check.boxes.streams import Stream, body
from spark_check.boxes.watermark import DELAY, Watermarks

Edges: TypeAlias = Sequence[DataFrame]
"""The stream of each input edge; the columns are those of spark_check.boxes.streams.BoxRow."""
SIDES = ("left", "right")
BODY = ("time", "type", "k", "v")
"""The columns that make the body of an item."""


@dataclass(frozen=True)
class BoxQuery:
    """A box and Spark's operator for it.

    edges: how many.  query: Spark's operator with the parameters of the box.  outputs: those in a
    row that Spark puts out.  allowed: the outputs that the box allows for one stream.  late: the
    late rows of a stream, by (batch, ...); None if the query has no watermark, and its outputs have
    an order.
    """

    name: str
    box: Any
    edges: int
    query: Callable[[Any, Edges], DataFrame]
    outputs: Callable[[SparkRow], Iterator[Any]]
    allowed: Callable[[Any, Stream, Watermarks], frozenset[allowed.Outcome]]
    late: Callable[[Any, Stream, Watermarks], set[Any]] | None = None


# --- without state ---------------------------------------------------------------------------
def filtered(box: Filter, edges: Edges) -> DataFrame:
    return edges[0].where(str(box.predicate))


def mapped(box: Map, edges: Edges) -> DataFrame:
    return edges[0].select("stream", "time", F.lit(box.emits).alias("type"), *(box.keeps or ()))


def united(_box: Union, edges: Edges) -> DataFrame:
    return edges[0].unionByName(edges[1])


def items(row: SparkRow) -> Iterator[Body]:
    yield _body(row)


# --- windows ---------------------------------------------------------------------------------
def aggregated(box: Aggregate, edges: Edges) -> DataFrame:
    """Spark keeps no order of the values of a window, so they come with time and place."""
    window = F.window("at", f"{box.size} seconds", f"{box.advance} seconds")
    values = F.array_sort(F.collect_list(F.struct("time", "place", "v")))
    return (
        _timed(edges[0])
        .groupBy("stream", "k", window)
        .agg(
            F.count("*").alias("count"),
            F.sum("v").alias("sum"),
            F.min("v").alias("min"),
            F.max("v").alias("max"),
            F.avg("v").alias("mean"),
            values.alias("list"),
        )
        .withColumn("start", F.unix_timestamp("window.start"))
        .drop("window")
    )


def folded(row: SparkRow) -> Iterator[Any]:
    """A window, as in spark_check.boxes.allowed.windows."""
    values = {**row.asDict(), "list": tuple(one.v for one in row["list"])}
    yield row.k, row.start, *(values[fold] for fold in allowed.FOLDS)


# --- pairs -----------------------------------------------------------------------------------
def joined(box: Join, edges: Edges) -> DataFrame:
    """With `<=>`, for which two missing attributes are equal, as they are for the box."""
    return joined_where(f"left.k <=> right.k AND {near('<=', box.size)}", edges)


def joined_where(condition: str, edges: Edges) -> DataFrame:
    """The pairs of rows of one stream for which the condition holds."""
    left, right = (_timed(edge).alias(side) for edge, side in zip(edges, SIDES, strict=True))
    both = left.join(right, F.expr(f"left.stream = right.stream AND {condition}"))
    return both.select(
        "left.stream",
        F.greatest("left.time", "right.time").alias("time"),
        *(F.struct(*(f"{side}.{name}" for name in BODY)).alias(side) for side in SIDES),
    )


def near(compare: str, size: int) -> str:
    """Two times are at most (<=) or less than (<) so far apart."""
    bound = f"INTERVAL {size} SECONDS"
    return f"left.at {compare} right.at + {bound} AND right.at {compare} left.at + {bound}"


def paired(row: SparkRow) -> Iterator[Body]:
    yield Body(row.time, "pair", (_body(row.left), _body(row.right)))


# --- rows ------------------------------------------------------------------------------------
def _timed(edge: DataFrame) -> DataFrame:
    return edge.withColumn("at", F.timestamp_seconds("time")).withWatermark(
        "at", f"{DELAY} seconds"
    )


def _body(row: SparkRow) -> Body:
    values = row.asDict()
    return body(values["time"], values["type"], values.get("k"), values.get("v"))


# --- all -------------------------------------------------------------------------------------
TUMBLING = Aggregate("list", 4, 4, "time", "v", "k")
SLIDING = Aggregate("list", 5, 2, "time", "v", "k")


def _aggregate(name: str, box: Aggregate) -> BoxQuery:
    late = allowed.late_windows
    return BoxQuery(name, box, 1, aggregated, folded, allowed.windows, late)


QUERIES = (
    BoxQuery("Filter", Filter(Where("v", ">=", 2)), 1, filtered, items, allowed.sequences),
    BoxQuery("Map", Map("c", ("k",)), 1, mapped, items, allowed.sequences),
    BoxQuery("Union", Union(), 2, united, items, allowed.sequences),
    _aggregate("Aggregate, tumbling", TUMBLING),
    _aggregate("Aggregate, sliding", SLIDING),
    BoxQuery("Join", Join(2, "k"), 2, joined, paired, allowed.pairs, allowed.late_rows),
)
