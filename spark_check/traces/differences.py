"""The first differences of each kind between two logs, with both sides as a person reads them.

Rule of this file: it shows rows that `streams` has counted, and counts nothing itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from pyspark.sql import DataFrame
from pyspark.sql import Row as SparkRow
from pyspark.sql import functions as F

from model.results.table import Row
from model.results.trace import LogRow, RowCounts, RowDifference, SideCounts
from spark_check.traces.columns import FILE_BITS
from spark_check.traces.foreign import (
    Digest,
    HashedColumns,
    LonelyRow,
    digest_frame,
    hashes_of,
    nearest,
)
from spark_check.traces.logs import OutputLog
from spark_check.traces.readings import Names
from spark_check.traces.roles import ColumnRoles
from spark_check.traces.streams import FOREIGN, LACKING, Verdicts

Spot: TypeAlias = tuple[int, int]
"""(side, place)"""


class FoundDifference(NamedTuple):
    """One difference.  rows: digests of the row on each side, None where there is none.

    places: where, in each log.  copies: how often the row is in each log.  k: its stream.
    near: the digest of the nearest row, of a row in one log only; and its place.
    """

    kind: str
    rows: tuple[Digest | None, Digest | None]
    places: tuple[int | None, int | None]
    copies: tuple[int, int]
    k: int
    near: Digest | None = None
    near_place: int | None = None

    @property
    def side(self) -> int:
        """The log that has the row; 0 if both have it."""
        return 1 if self.rows[0] is None else 0

    @property
    def spots(self) -> Iterator[Spot]:
        """Where the rows are."""
        yield from ((side, at) for side, at in enumerate(self.places) if at is not None)
        if self.near_place is not None:
            yield 1 - self.side, self.near_place

    @property
    def digests(self) -> set[Digest]:
        return {digest for digest in (*self.rows, self.near) if digest is not None}


def find_differences(
    verdicts: Verdicts,
    sides: Sequence[DataFrame],
    logs: Sequence[OutputLog],
    asked: ColumnRoles,
    counts: RowCounts,
    show: int,
    hashed: HashedColumns,
    left_out: Names = frozenset(),
) -> list[RowDifference]:
    """The first `show` of each kind that `counts` has.  left_out: as in `plain_differences`."""
    found = [one for kind in KINDS if counts.of(kind) for one in KINDS[kind](verdicts, show)]
    found = [*_with_nearest(found, verdicts, sides, hashed, left_out)]
    contents = _contents(sides, {digest for one in found for digest in one.digests}, hashed)
    spots = {spot for one in found for spot in one.spots}
    labels = {} if verdicts.by_content else _row_labels(verdicts.rows, logs, asked, spots)
    return [_shown(one, contents, labels, asked, hashed) for one in found]


def _with_nearest(
    found: Sequence[FoundDifference],
    verdicts: Verdicts,
    sides: Sequence[DataFrame],
    hashed: HashedColumns,
    left_out: Names,
) -> Iterator[FoundDifference]:
    """The differences, with the nearest row of each row that is in one log only."""
    near: dict[FoundDifference, Digest] = {}
    for side in range(2):
        mine = {
            one: digest
            for one in found
            if (digest := one.rows[side]) is not None and one.rows[1 - side] is None
        }
        if mine:
            hashes = hashes_of(sides[side], digest_frame(sides[side], {*mine.values()}), hashed)
            lonely = [LonelyRow(one.k, digest, hashes[digest]) for one, digest in mine.items()]
            others = nearest(lonely, sides[1 - side], verdicts, hashed, left_out)
            near |= {one: other for one, other in zip(mine, others, strict=True) if other}
    places = {} if verdicts.by_content else _places(verdicts, {*near.values()})
    for one in found:
        other = near.get(one)
        there = places.get((one.k, other)) if other else None
        yield one._replace(near=other, near_place=there and there[1 - one.side])


def _places(
    verdicts: Verdicts, digests: set[Digest]
) -> dict[tuple[int, Digest], tuple[int | None, int | None]]:
    """By stream and digest the first place in each log."""
    if not digests:
        return {}
    wanted = F.broadcast(digest_frame(verdicts.groups, digests))
    rows = verdicts.groups.join(wanted, ["d1", "d2"], "left_semi").collect()
    return {(row["k"], (row["d1"], row["d2"])): (row["first_r"], row["first_a"]) for row in rows}


# --- which -----------------------------------------------------------------------------------
def _first(groups: DataFrame, verdicts: Verdicts, side: str, show: int) -> list[SparkRow]:
    order = "o" if verdicts.by_content else f"first_{side}"
    return groups.orderBy(order, "d1", "d2").limit(show).collect()


def _place(row: SparkRow, end: str) -> int | None:
    """The place of a row, if it has one: rows that are sorted by their content have none."""
    return row[end] if end in row else None  # noqa: SIM401


def _missing(verdicts: Verdicts, show: int) -> Iterator[FoundDifference]:
    lacking = verdicts.groups.where("r > a")
    if verdicts.identified:
        by_id = verdicts.groups.where("r != a").groupBy("k", "i")
        lost = by_id.agg(F.expr(LACKING).alias("l"), F.expr(FOREIGN).alias("x")).where("l > x")
        lacking = lacking.join(lost, ["k", "i"], "left_semi")
    for row in _first(lacking, verdicts, "r", show):
        digest = (row["d1"], row["d2"])
        yield FoundDifference(
            "missing", (digest, None), (_place(row, "last_r"), None), (row["r"], row["a"]), row["k"]
        )


def _foreign(verdicts: Verdicts, known: bool) -> DataFrame:
    """Rows that the reference does not hold.  known: does it hold their identity?"""
    foreign = verdicts.groups.where("r = 0")
    if not verdicts.identified:
        return foreign
    identities = verdicts.groups.where("r > 0").select("k", "i")
    return foreign.join(identities, ["k", "i"], "left_semi" if known else "left_anti")


def _different(verdicts: Verdicts, show: int) -> Iterator[FoundDifference]:
    """Each with the reference's row of that identity: one that lacks, if there is one."""
    for row in _first(_foreign(verdicts, known=True), verdicts, "a", show):
        same = f"r > 0 and k = {row['k']} and i = {row['i']}"
        meant = verdicts.groups.where(same).orderBy(F.expr("r > a").desc(), "d1").first()
        assert meant is not None
        digests = ((meant["d1"], meant["d2"]), (row["d1"], row["d2"]))
        places = (_place(meant, "first_r"), _place(row, "first_a"))
        yield FoundDifference("different", digests, places, (meant["r"], row["a"]), row["k"])


def _duplicated(verdicts: Verdicts, show: int) -> Iterator[FoundDifference]:
    for row in _first(verdicts.groups.where("r > 0 and a > r"), verdicts, "a", show):
        digest = (row["d1"], row["d2"])
        places = (_place(row, "first_r"), _place(row, "last_a"))
        yield FoundDifference(
            "duplicated", (digest, digest), places, (row["r"], row["a"]), row["k"]
        )


def _unexpected(verdicts: Verdicts, show: int) -> Iterator[FoundDifference]:
    for row in _first(_foreign(verdicts, known=False), verdicts, "a", show):
        places = (None, _place(row, "first_a"))
        yield FoundDifference(
            "unexpected", (None, (row["d1"], row["d2"])), places, (0, row["a"]), row["k"]
        )


def _out_of_order(verdicts: Verdicts, show: int) -> Iterator[FoundDifference]:
    for row in verdicts.crossed.orderBy("act").limit(show).collect():
        digest = (row["d1"], row["d2"])
        yield FoundDifference(
            "out_of_order", (digest, digest), (row["ref"], row["act"]), (1, 1), row["k"]
        )


KINDS: dict[str, Callable[[Verdicts, int], Iterator[FoundDifference]]] = {
    "missing": _missing,
    "different": _different,
    "duplicated": _duplicated,
    "unexpected": _unexpected,
    "out_of_order": _out_of_order,
}


# --- both sides ---------------------------------------------------------------------------------
class ShownRow(NamedTuple):
    """A row, as JSON has it, and its hashes by column."""

    row: Row
    hashes: tuple[int, ...]


def _contents(
    sides: Sequence[DataFrame], digests: set[Digest], hashed: HashedColumns
) -> dict[Digest, ShownRow]:
    """The rows behind some digests."""
    if not digests:
        return {}
    wanted = F.broadcast(digest_frame(sides[0], digests))
    text = F.to_json("row", {"ignoreNullFields": "false"}).alias("row")
    both = [
        side.join(wanted, ["d1", "d2"]).select("d1", "d2", text, hashed.hashes.alias("hashes"))
        for side in sides
    ]
    first = [F.min("row").alias("row"), F.first("hashes").alias("hashes")]
    found = both[0].unionAll(both[1]).groupBy("d1", "d2").agg(*first).collect()
    return {
        (row["d1"], row["d2"]): ShownRow(json.loads(row["row"]), tuple(row["hashes"]))
        for row in found
    }


def _row_labels(
    rows: DataFrame, logs: Sequence[OutputLog], asked: ColumnRoles, spots: set[Spot]
) -> dict[Spot, str]:
    """Places as people count: rows of a file from 1, or rows in the order of --order."""
    if not spots:
        return {}
    listed = sorted(spots)
    before = [
        F.count_if(
            (F.col("side") == side)
            & (F.col("place") <= place)
            & (F.col("place") >= (0 if asked.order else place >> FILE_BITS << FILE_BITS))
        )
        for side, place in listed
    ]
    counts = rows.agg(*before).first()
    assert counts is not None
    labels = {}
    for (side, place), count in zip(listed, counts, strict=True):
        files = logs[side].files
        of = f" of {files[place >> FILE_BITS].name}" if len(files) > 1 and not asked.order else ""
        labels[side, place] = f"row {count:,}{of}"
    return labels


def _shown(
    one: FoundDifference,
    contents: dict[Digest, ShownRow],
    labels: dict[Spot, str],
    asked: ColumnRoles,
    hashed: HashedColumns,
) -> RowDifference:
    rows = [contents[digest].row if digest else None for digest in one.rows]
    some = rows[0] or rows[1] or {}
    reference, actual = (
        None if row is None else LogRow(row, labels.get((side, place or 0)))
        for side, (row, place) in enumerate(zip(rows, one.places, strict=True))
    )
    label = labels.get((1 - one.side, one.near_place or 0))
    pair = [contents[digest].hashes for digest in (*one.rows, one.near) if digest is not None]
    return RowDifference(
        kind=one.kind,
        key={name: some[name] for name in asked.key},
        order={name: some[name] for name in asked.order if asked.sorted_by_content},
        reference=reference,
        actual=actual,
        copies=SideCounts(*one.copies),
        nearest=one.near and LogRow(contents[one.near].row, label),
        columns=hashed.differing(*pair) if len(pair) == 2 else (),
    )
