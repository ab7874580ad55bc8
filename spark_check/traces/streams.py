"""The recovery type of each stream, as `model.recovery.classify` has it, as Spark queries.

Rule of this file: a row is (k stream, i identity, d1 d2 content, side) and its position: `o`, the
columns of --order, if those are part of the content, or else `place`.  Nothing here reads columns
of the logs themselves, and nothing is collected.

The definitions are in the docstring of `spark_check.traces.verify`.  How they are computed:

- All rows are counted by content, once.  If the position of a row is part of its content, both logs
  are sorted by content, and the counts decide everything: sorted streams differ if and only if
  their counts do, identical copies stand side by side and are rewinds by one, and a stream ends as
  expected if no foreign row stands at its end or behind it.
- Otherwise, streams with the right rows and perhaps surplus copies of them are followed row by row
  (rewinds.py); in all other streams the k-th copy of a row is paired with the k-th expected one,
  and pairs that cross are counted.
"""

from __future__ import annotations

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from model.core import Guarantee
from spark_check.traces.lineage import judge_streams
from spark_check.traces.rewinds import SCHEMA, judge

CONTENT = ("k", "i", "d1", "d2")
COUNTS = ("missing", "different", "duplicated", "unexpected", "out_of_order")
BUCKET_BITS = 20
"""Rows of one stream are looked at in buckets of this many places, so that a single stream keeps
all cores busy."""


def group_rows(rows: DataFrame) -> DataFrame:
    """Rows grouped by content, with their number in the reference (r) and the actual log (a)."""
    sides = {name: F.col("side") == side for side, name in enumerate("ra")}
    counts = [F.count_if(side).alias(name) for name, side in sides.items()]
    if "o" in rows.columns:
        return rows.groupBy(*CONTENT, "o").agg(*counts)
    ends = [
        end(F.when(side, F.col("place"))).alias(f"{word}_{name}")
        for name, side in sides.items()
        for word, end in (("first", F.min), ("last", F.max))
    ]
    return rows.groupBy(*CONTENT).agg(*counts, *ends)


LACKING = "sum(greatest(r - a, 0))"
COPIES = "sum(if(r > 0, greatest(a - r, 0), 0))"
FOREIGN = "sum(if(r = 0, a, 0))"


def count_rows(groups: DataFrame) -> DataFrame:
    """Per stream: sums, and whether both logs end with the same row."""
    ends: tuple[Column, ...] = ()
    if "last_r" in groups.columns:
        same = (f"max_by({d}, last_r) <=> max_by({d}, last_a)" for d in ("d1", "d2"))
        ends = (F.expr(" and ".join(same)).alias("ends"),)
    sums = {"r": "sum(r)", "a": "sum(a)", "lacking": LACKING, "duplicated": COPIES}
    sums["foreign"] = FOREIGN
    return groups.groupBy("k").agg(
        *(F.expr(text).alias(name) for name, text in sums.items()), *ends
    )


def count_replaced(groups: DataFrame) -> DataFrame:
    """Per stream: foreign rows that have the identity of an expected row, and the number of lacking
    rows for which they stand.
    """
    strange = groups.where("r = 0").groupBy("k", "i").agg(F.sum("a").alias("x"))
    known = (
        groups.where("r > 0")
        .join(strange, ["k", "i"], "left_semi")
        .groupBy("k", "i")
        .agg(F.expr(LACKING).alias("l"))
    )
    both = strange.join(known, ["k", "i"])
    return both.groupBy("k").agg(
        F.sum("x").alias("different"), F.sum(F.least("x", "l")).alias("replaced")
    )


def find_ends(groups: DataFrame) -> DataFrame:
    """Per stream with foreign rows, sorted by content: do these all stand before its end?"""
    strange = groups.where("r = 0").groupBy("k").agg(F.max("o").alias("strange"))
    end = (
        groups.where("r > 0")
        .join(strange, "k", "left_semi")
        .groupBy("k")
        .agg(F.max("o").alias("end"))
    )
    return strange.join(end, "k").select("k", (F.col("strange") < F.col("end")).alias("ends"))


def follow_rows(rows: DataFrame, streams: DataFrame) -> DataFrame:
    """Per stream with all expected rows and no foreign ones: is it the same, does it rewind?"""
    whole = streams.where("lacking = 0 and foreign = 0").select("k")
    return (
        rows.join(whole, "k", "left_semi")
        .select("k", "side", "place", "d1")
        .repartition("k")
        .sortWithinPartitions("k", "side", "place")
        .select("k", "side", "d1")
        .mapInArrow(judge, SCHEMA)
    )


def pair_copies(rows: DataFrame, streams: DataFrame) -> DataFrame:
    """(k, d1, d2, ref, act): places of the k-th copies of a row in both logs."""
    copies = Window.partitionBy("k", "d1", "d2", "side").orderBy("place")
    sides = {name: F.col("side") == side for side, name in enumerate(("ref", "act"))}
    places = [F.max(F.when(side, F.col("place"))).alias(name) for name, side in sides.items()]
    return (
        rows.join(streams.select("k"), "k", "left_semi")
        .repartition("k", "d1", "d2")
        .withColumn("copy", F.row_number().over(copies))
        .groupBy("k", "d1", "d2", "copy")
        .agg(*places)
        .where("ref is not null and act is not null")
    )


def find_crossed(pairs: DataFrame) -> DataFrame:
    """Pairs whose row comes, in the actual log, directly behind one (of the pairs of its stream)
    that the reference has later; `behind` is the reference's place of that one.
    """
    bucketed = pairs.withColumn("bucket", F.shiftright("act", BUCKET_BITS))
    within = Window.partitionBy("k", "bucket").orderBy("act")
    ends = bucketed.groupBy("k", "bucket").agg(F.max_by("ref", "act").alias("end"))
    before = ends.withColumn(
        "carried", F.lag("end").over(Window.partitionBy("k").orderBy("bucket"))
    )
    behind = F.coalesce(F.lag("ref").over(within), F.col("carried"))
    return (
        bucketed.join(before.drop("end"), ["k", "bucket"])
        .withColumn("behind", behind)
        .where("behind > ref")
    )


class Verdicts:
    """The queries of one comparison; shared results are kept on disk until `close`."""

    def __init__(self, rows: DataFrame, identified: bool) -> None:
        self.by_content = "o" in rows.columns
        self._kept: list[DataFrame] = []
        self.rows = rows if self.by_content else self._keep(rows)
        self.groups = self._keep(group_rows(self.rows))
        self.identified = identified

    def close(self) -> None:
        for frame in self._kept:
            frame.unpersist()

    def _keep(self, frame: DataFrame) -> DataFrame:
        self._kept.append(frame.persist(StorageLevel.DISK_ONLY))
        return frame

    def streams(self) -> DataFrame:
        """Per stream (k): rows (r, a), COUNTS, inputs lost, and the value of its Guarantee."""
        streams = self._keep(count_rows(self.groups))
        foreign = streams.where("foreign > 0").limit(1).count() > 0
        if self.identified and foreign:
            streams = streams.join(count_replaced(self.groups), "k", "left")
        else:
            streams = streams.withColumns({"different": F.lit(0), "replaced": F.lit(0)})
        streams = streams.fillna(0, ["different", "replaced"]).withColumns(
            {
                "missing": F.col("lacking") - F.col("replaced"),
                "unexpected": F.col("foreign") - F.col("different"),
            }
        )
        judge = self._by_content if self.by_content else self._by_place
        streams = judge(streams, foreign).withColumn("lost", F.lit(0))
        if "of" in self.rows.columns:
            judged = judge_streams(self.rows, self._keep(streams))
            streams = (
                streams.drop("lost")
                .join(judged, "k", "left")
                .withColumn("guarantee", F.coalesce("by_lineage", "guarantee"))
                .fillna(0, ["lost"])
            )
        return self._keep(streams.select("k", "r", "a", *COUNTS, "lost", "guarantee"))

    def _by_content(self, streams: DataFrame, foreign: bool) -> DataFrame:
        if foreign:
            streams = streams.join(find_ends(self.groups), "k", "left")
        else:
            streams = streams.withColumn("ends", F.lit(True))
        plain = F.col("lacking") + F.col("foreign") == 0
        return streams.withColumn("out_of_order", F.lit(0)).withColumn(
            "guarantee", guarantee(plain & (F.col("duplicated") == 0), plain)
        )

    def _by_place(self, streams: DataFrame, _: bool) -> DataFrame:
        streams = streams.join(follow_rows(self.rows, streams), "k", "left")
        streams = self._keep(streams.fillna(False, ["same", "rewinds"]))
        left = streams.where("not same and not rewinds")
        if left.limit(1).count():
            self.crossed = self._keep(find_crossed(pair_copies(self.rows, left)))
            crossings = self.crossed.groupBy("k").agg(F.count("*").alias("out_of_order"))
            streams = streams.join(crossings, "k", "left").fillna(0, ["out_of_order"])
        else:
            streams = streams.withColumn("out_of_order", F.lit(0))
        return streams.withColumn("guarantee", guarantee(F.col("same"), F.col("rewinds")))


def guarantee(same: Column, rewinds: Column) -> Column:
    """The value of the Guarantee.  same, rewinds: is the stream the same, or with rewinds?"""
    return (
        F.when(F.col("missing") > 0, Guarantee.GAP.value)
        .when(F.col("lacking") > 0, Guarantee.DIVERGENT.value)
        .when(same, Guarantee.PRECISE.value)
        .when(rewinds, Guarantee.REPEATING.value)
        .when(F.col("ends"), Guarantee.CONVERGENT.value)
        .otherwise(Guarantee.DIVERGENT.value)
    )
