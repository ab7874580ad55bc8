"""Two small logs compared in this process, row by row, with the same result as on Spark.

Rule of this file: `traces.verify` has the definitions and `model.recovery` the types; nothing is
read here.  Of several rows that tie, another one than on Spark may be shown first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import pandas as pd

from model.comparison import Shape
from model.core import Guarantee
from model.events import Body
from model.recovery import classify
from model.results.trace import LogRow, RowCounts, RowDifference, RowFindings, SideCounts
from spark_check.traces.columns import ColumnRoles
from spark_check.traces.lineage import judge_stream
from spark_check.traces.logs import NO_ROWS, OutputLog
from spark_check.traces.plain import PlainLogs, PlainRow, Values
from spark_check.traces.streams import COUNTS

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


def compare(
    logs: Sequence[OutputLog], plain: PlainLogs, asked: ColumnRoles, show: int
) -> RowFindings:
    """As `traces.verify.compare`.  Raises Invalid if the reference holds no rows."""
    if not plain.rows[0]:
        raise logs[0].complain(NO_ROWS)
    placed = [_place(rows, asked) for rows in plain.rows]
    streams = [_judge(sides, asked) for sides in _streams(placed).values()]
    kinds = Counter(stream.guarantee for stream in streams)
    return RowFindings(
        SideCounts(*map(len, placed)),
        {kind.name.lower(): kinds[kind] for kind in sorted(kinds)},
        RowCounts(**{name: sum(stream.counts[name] for stream in streams) for name in COUNTS}),
        sum(stream.lost for stream in streams) if asked.lineage else None,
        tuple(plain.compared),
        tuple(_differences(streams, placed, logs, asked, show)),
    )


def _place(rows: Sequence[PlainRow], asked: ColumnRoles) -> list[Place]:
    """The rows in order; if their content orders them, rows that tie stay.  Of a sink without an
    order, the rows that it holds."""
    rows = sorted(rows, key=lambda row: row.order) if asked.order else rows
    return list(enumerate(_content(rows, asked)))


def _content(rows: Sequence[PlainRow], asked: ColumnRoles) -> Sequence[PlainRow]:
    """As `traces.columns.content`."""
    match asked.shape:
        case Shape.SEQUENCE:
            return rows
        case Shape.SET:
            rows = [*{(row.key, row.content): row for row in rows}.values()]
        case Shape.TABLE:
            rows = [*{row.identity: row for row in rows}.values()]
    return [row._replace(order=()) for row in rows]


def _streams(placed: Sequence[Sequence[Place]]) -> dict[Values, tuple[list[Place], list[Place]]]:
    streams: dict[Values, tuple[list[Place], list[Place]]] = defaultdict(lambda: ([], []))
    for side, places in enumerate(placed):
        for place in places:
            streams[place[1].key][side].append(place)
    return streams


# --- one stream ------------------------------------------------------------------------------
def _judge(sides: tuple[list[Place], list[Place]], asked: ColumnRoles) -> RowStream:
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


# --- differences -----------------------------------------------------------------------------
def _differences(
    streams: Sequence[RowStream],
    placed: Sequence[Sequence[Place]],
    logs: Sequence[OutputLog],
    asked: ColumnRoles,
    show: int,
) -> Iterator[RowDifference]:
    """The first `show` of each kind."""
    for kind, find in KINDS.items():
        found = [one for stream in streams if stream.counts[kind] for one in find(stream, asked)]
        found.sort(key=lambda one: one[0])
        for _, rows, places, copies in found[:show]:
            some = rows[0] or rows[1]
            assert some is not None
            one, other = (
                row and LogRow(row.shown, _label(place, rows_of, log, asked))
                for row, place, rows_of, log in zip(rows, places, placed, logs, strict=True)
            )
            yield RowDifference(
                kind=kind,
                key={name: some.shown[name] for name in asked.key},
                order={name: some.shown[name] for name in asked.order if asked.sorted_by_content},
                reference=one,
                actual=other,
                copies=SideCounts(*copies),
            )


def _label(
    place: int | None, rows: Sequence[Place], log: OutputLog, asked: ColumnRoles
) -> str | None:
    """Places as people count: rows of a file from 1, or rows in the order of --order."""
    if place is None or asked.sorted_by_content:
        return None
    if asked.order:
        return f"row {place + 1:,}"
    row = rows[place][1]
    of = f" of {log.files[row.file].name}" if len(log.files) > 1 else ""
    return f"row {row.number:,}{of}"


Shown: TypeAlias = tuple[
    Any,
    tuple[PlainRow | None, PlainRow | None],
    tuple[int | None, int | None],
    tuple[int, int],
]
"""(sort key, row of each side, place of each, copies of each)"""


def _missing(stream: RowStream, asked: ColumnRoles) -> Iterator[Shown]:
    lost = {group.row.identity for group in stream.groups if group.surplus < 0}
    if asked.identity:
        balance: Counter[Values] = Counter()
        for group in stream.groups:
            if group.is_foreign or group.surplus < 0:
                balance[group.row.identity] += group.surplus
        lost = {identity for identity, surplus in balance.items() if surplus < 0}
    for group in stream.groups:
        if group.surplus < 0 and group.row.identity in lost:
            first = _sorted_at(group, 0, asked)
            yield first, (group.row, None), (group.copies[0][-1], None), _copies(group)


def _different(stream: RowStream, asked: ColumnRoles) -> Iterator[Shown]:
    """Each with the reference's row of that identity: one that lacks, if there is one."""
    meant: dict[Values, RowGroup] = {}
    for group in sorted(stream.groups, key=lambda group: group.surplus >= 0):
        if not group.is_foreign:
            meant.setdefault(group.row.identity, group)
    for group in stream.groups:
        if group.is_foreign and group.row.identity in meant:
            there = meant[group.row.identity]
            places = there.copies[0][0], group.copies[1][0]
            copies = len(there.copies[0]), len(group.copies[1])
            yield _sorted_at(group, 1, asked), (there.row, group.row), places, copies


def _duplicated(stream: RowStream, asked: ColumnRoles) -> Iterator[Shown]:
    for group in stream.groups:
        if not group.is_foreign and group.surplus > 0:
            places = group.copies[0][0], group.copies[1][-1]
            yield _sorted_at(group, 1, asked), (group.row, group.row), places, _copies(group)


def _unexpected(stream: RowStream, asked: ColumnRoles) -> Iterator[Shown]:
    held = {group.row.identity for group in stream.groups if not group.is_foreign}
    for group in stream.groups:
        if group.is_foreign and not (asked.identity and group.row.identity in held):
            places = None, group.copies[1][0]
            yield _sorted_at(group, 1, asked), (None, group.row), places, _copies(group)


def _out_of_order(stream: RowStream, _: ColumnRoles) -> Iterator[Shown]:
    rows = dict(stream.sides[1])
    for there, here in stream.crossed:
        yield here, (rows[here], rows[here]), (there, here), (1, 1)


KINDS: dict[str, Callable[[RowStream, ColumnRoles], Iterable[Shown]]] = {
    "missing": _missing,
    "different": _different,
    "duplicated": _duplicated,
    "unexpected": _unexpected,
    "out_of_order": _out_of_order,
}


def _sorted_at(group: RowGroup, side: int, asked: ColumnRoles) -> Any:
    return group.row.order if asked.sorted_by_content else group.copies[side][0]


def _copies(group: RowGroup) -> tuple[int, int]:
    return len(group.copies[0]), len(group.copies[1])
