"""Rows that REFERENCE does not hold, on Spark: with which columns left out do they agree?

Rule of this file: it reads rows that `streams` has counted, and decides nothing.  A row is hashed
column by column; without some columns, its hash is the exclusive or of the others.

Some SAMPLE foreign rows are taken, chosen by their digests, and each search is one pass over
REFERENCE: only logs that differ pay for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple, TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from spark_check.traces.columns import ComparedLogs, hash_value
from spark_check.traces.fields import col, leaves
from spark_check.traces.readings import ForeignRows, Names
from spark_check.traces.streams import Verdicts

SAMPLE = 500
"""Foreign rows that a search looks at."""
FEW = 10_000
"""Rows that differ, so few that those among them come first as the nearest row."""
SEED = 100
EXACT = 0.01
"""The relative error of a number of values."""

Digest: TypeAlias = tuple[int, int]


class HashedColumns(NamedTuple):
    """How rows are hashed by column.  names: None for what is no column to leave out."""

    names: tuple[str | None, ...]
    hashes: Column

    def differing(self, one: Sequence[int], other: Sequence[int]) -> tuple[str, ...]:
        """The columns in which two rows differ, by their hashes."""
        rows = zip(self.names, one, other, strict=True)
        return tuple(name for name, here, there in rows if name is not None and here != there)


def hashed_columns(both: ComparedLogs) -> HashedColumns:
    """For rows as `columns.digest_rows` makes them."""
    found = [
        leaf
        for name, type_ in both.compared
        for leaf in leaves(name, type_, F.col("row").getField(name))
    ]
    hashes = [hash_value(SEED + at, [(one.value, one.type)]) for at, one in enumerate(found)]
    return HashedColumns(tuple(one.path for one in found), F.array(*hashes))


def foreign_rows(
    verdicts: Verdicts, sides: Sequence[DataFrame], hashed: HashedColumns
) -> ForeignRows | None:
    """The foreign rows, or SAMPLE of them."""
    chosen = verdicts.groups.where("r = 0").select("d1", "d2").distinct().orderBy("d1", "d2")
    rows = hashes_of(sides[1], chosen.limit(SAMPLE), hashed)
    if not rows:
        return None
    names = tuple(name for name in hashed.names if name is not None)

    def matched(sets: Sequence[Names]) -> list[int]:
        return _matched(sides[0], [*rows.values()], hashed, sets)

    return ForeignRows(names, len(rows), matched)


def digest_frame(beside: DataFrame, digests: set[Digest]) -> DataFrame:
    """The digests, in the session of another frame."""
    return beside.sparkSession.createDataFrame(sorted(digests), "d1 long, d2 long")


def hashes_of(
    rows: DataFrame, digests: DataFrame, hashed: HashedColumns
) -> dict[Digest, tuple[int, ...]]:
    """The hashes of the rows with these digests."""
    found = (
        rows.join(F.broadcast(digests), ["d1", "d2"], "left_semi")
        .groupBy("d1", "d2")
        .agg(F.first(hashed.hashes).alias("hashes"))
        .collect()
    )
    return {(row["d1"], row["d2"]): tuple(row["hashes"]) for row in found}


def _matched(
    reference: DataFrame,
    foreign: Sequence[Sequence[int]],
    hashed: HashedColumns,
    sets: Sequence[Names],
) -> list[int]:
    left = [[at for at, name in enumerate(hashed.names) if name not in names] for names in sets]
    wanted = [
        [reduce(int.__xor__, (row[at] for at in some), 0) for row in foreign] for some in left
    ]
    pairs = sorted({(place, one) for place, some in enumerate(wanted) for one in some})
    known = reference.sparkSession.createDataFrame(pairs, "place int, rest long")
    zero = F.lit(0).cast(T.LongType())
    rests = [reduce(Column.bitwiseXOR, (F.col("hashes")[at] for at in some), zero) for some in left]
    found = (
        reference.select(hashed.hashes.alias("hashes"))
        .select(F.posexplode(F.array(*rests)).alias("place", "rest"))
        .join(F.broadcast(known), ["place", "rest"], "left_semi")
        .distinct()
        .collect()
    )
    held = {(row["place"], row["rest"]) for row in found}
    return [sum((place, one) in held for one in some) for place, some in enumerate(wanted)]


def distinct(both: ComparedLogs) -> dict[str, int]:
    """The number of values that each column has in REFERENCE, about; objects are no values."""
    names = [name for name, type_ in both.compared if isinstance(type_, T.AtomicType)]
    counts = [F.approx_count_distinct(col(name), EXACT) for name in names]
    nulls = [F.max(col(name).isNull().cast("int")) for name in names]
    found = both.reference.agg(*counts, *nulls).first()
    assert found is not None
    sums = zip(found[: len(names)], found[len(names) :], strict=True)
    return {name: count + null for name, (count, null) in zip(names, sums, strict=True)}


# --- the nearest -----------------------------------------------------------------------------
class LonelyRow(NamedTuple):
    """A row that is in one log only: its stream, its digest, and its hashes."""

    k: int
    digest: Digest
    hashes: tuple[int, ...]


def nearest(
    lonely: Sequence[LonelyRow],
    others: DataFrame,
    verdicts: Verdicts,
    hashed: HashedColumns,
    left_out: Names,
) -> list[Digest | None]:
    """Of each row the one of the other log that agrees in most columns, as in `plain_columns`."""
    if not lonely:
        return []
    bad = verdicts.groups.where("r != a").select("d1", "d2").distinct().limit(FEW + 1).collect()
    flag = F.lit(0)
    if len(bad) <= FEW:
        flagged = others.sparkSession.createDataFrame(bad, "d1 long, d2 long")
        others = others.join(F.broadcast(flagged.withColumn("bad", F.lit(1))), ["d1", "d2"], "left")
        flag = F.coalesce("bad", F.lit(0))
    rows = others.select("k", "d1", "d2", hashed.hashes.alias("hashes"), flag.alias("bad"))
    best = [F.max(_score(one, hashed, left_out)).alias(str(at)) for at, one in enumerate(lonely)]
    (found,) = rows.agg(*best).collect()
    width = len(hashed.names)
    return [
        (one["d1"], one["d2"]) if one is not None and 2 * one["agree"] >= width else None
        for one in found
    ]


def _score(row: LonelyRow, hashed: HashedColumns, left_out: Names) -> Column:
    same = [(F.col("hashes")[at] == one).cast("int") for at, one in enumerate(row.hashes)]
    kept = [one for one, name in zip(same, hashed.names, strict=True) if name not in left_out]
    agree, most = (reduce(Column.__add__, some, F.lit(0)) for some in (same, kept))
    d1, d2 = row.digest
    mine = (F.col("k") == row.k) & ~((F.col("d1") == d1) & (F.col("d2") == d2))
    score = F.struct(most.alias("most"), agree.alias("agree"), "bad", "d1", "d2")
    return F.when(mine, score)
