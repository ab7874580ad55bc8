"""The streams of two small logs, judged row by row, with the same result as on Spark.

Rule of this file: `traces.verify` has the definitions and `model.recovery` the types; nothing is
read or shown here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import pandas as pd

from model.core import Guarantee
from model.events import Body
from model.recovery import classify
from spark_check.traces.lineage import judge_stream
from spark_check.traces.plain import PlainRow, Values
from spark_check.traces.roles import ColumnRoles

Place: TypeAlias = tuple[int, PlainRow]
"""A row, and its place in the log, from 0."""


class RowGroup(NamedTuple):
    """Equal rows of one stream.  copies: their places in each log."""

    row: PlainRow
    copies: tuple[list[int], list[int]]

    @property
    def surplus(self) -> int:
        """More of them in ACTUAL; negative: fewer."""
        return len(self.copies[1]) - len(self.copies[0])

    @property
    def is_foreign(self) -> bool:
        return not self.copies[0]


class RowStream(NamedTuple):
    """The rows of one stream, and what they are.  crossed: (place in REFERENCE, in ACTUAL) of each
    row that is out of order."""

    guarantee: Guarantee
    sides: tuple[Sequence[Place], Sequence[Place]]
    groups: Sequence[RowGroup]
    counts: Mapping[str, int]
    crossed: Sequence[tuple[int, int]]
    lost: int


def judge(sides: tuple[list[Place], list[Place]], asked: ColumnRoles) -> RowStream:
    groups = _groups(sides)
    lacking: Counter[Values] = Counter()
    foreign: Counter[Values] = Counter()
    held = set()
    for group in groups:
        identity = group.row.identity
        if not group.is_foreign:
            held.add(identity)
            lacking[identity] += max(-group.surplus, 0)
        else:
            foreign[identity] += group.surplus
    stands = lacking & foreign if asked.identity else Counter[Values]()
    different = sum(foreign[one] for one in held) if asked.identity else 0
    missing = lacking.total() - stands.total()
    expected, observed = _ordered(sides, groups, asked)
    guarantee = classify(expected, observed)
    if guarantee is Guarantee.GAP and not missing:
        guarantee = Guarantee.DIVERGENT
    crossed = []
    if guarantee > Guarantee.REPEATING and not asked.sorted_by_content:
        crossed = _crossed(groups)
    counts = {
        "missing": missing,
        "different": different,
        "duplicated": sum(max(group.surplus, 0) for group in groups if not group.is_foreign),
        "unexpected": foreign.total() - different,
        "out_of_order": len(crossed),
    }
    lost = 0
    named = all(row.of for places in sides for _, row in places)
    if asked.lineage and named and guarantee is not Guarantee.PRECISE:
        guarantee, lost = _by_lineage(sides, groups, asked)
    return RowStream(guarantee, sides, groups, counts, crossed, lost)


def _groups(sides: Sequence[Sequence[Place]]) -> list[RowGroup]:
    groups: dict[Values, RowGroup] = {}
    for side, places in enumerate(sides):
        for place, row in places:
            group = groups.setdefault(row.content, RowGroup(row, ([], [])))
            group.copies[side].append(place)
    return list(groups.values())


def _ordered(
    sides: tuple[list[Place], list[Place]], groups: Sequence[RowGroup], asked: ColumnRoles
) -> tuple[list[Body], list[Body]]:
    """The rows of both logs as bodies, in order; rows that tie have none if it is part of their
    content: then equal ones come together and foreign ones last."""
    bodies = {group.row.content: Body(0, "", (at,)) for at, group in enumerate(groups)}
    foreign = {group.row.content for group in groups if group.is_foreign}

    def place(one: Place) -> Any:
        row = one[1]
        if not asked.sorted_by_content:
            return one[0]
        return row.order, row.content in foreign, bodies[row.content].data

    expected, observed = (
        [bodies[row.content] for _, row in sorted(places, key=place)] for places in sides
    )
    return expected, observed


def _crossed(groups: Sequence[RowGroup]) -> list[tuple[int, int]]:
    """Copies are paired in order: those that come directly behind one that is expected later."""
    pairs = (pair for group in groups for pair in zip(*group.copies, strict=False))
    ordered = sorted(pairs, key=lambda pair: pair[1])
    return [after for before, after in pairwise(ordered) if before[0] > after[0]]


def _by_lineage(
    sides: Sequence[Sequence[Place]], groups: Sequence[RowGroup], asked: ColumnRoles
) -> tuple[Guarantee, int]:
    """The type of the stream by lineage, and how many inputs went into no row."""
    numbers = {group.row.content: at for at, group in enumerate(groups)}
    ranks = sorted({row.order for places in sides for _, row in places})
    ties = {order: at for at, order in enumerate(ranks)}
    inputs = sorted({one for places in sides for _, row in places for one in row.of})
    named = {one: at for at, one in enumerate(inputs)}
    rows = [
        {
            "side": side,
            "place": ties[row.order] if asked.sorted_by_content else place,
            "d1": numbers[row.content],
            "d2": 0,
            "of": [named[one] for one in row.of],
        }
        for side, places in enumerate(sides)
        for place, row in places
    ]
    return judge_stream(pd.DataFrame(rows))
