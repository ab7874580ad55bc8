"""The first differences of each kind between two small logs, with the nearest rows.

Rule of this file: it shows rows that `plain_streams` has judged.  Of several rows that tie, another
one than on Spark may be shown first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from model.results.trace import LogRow, RowDifference, SideCounts
from spark_check.traces.logs import OutputLog
from spark_check.traces.plain import PlainRow, Values
from spark_check.traces.plain_columns import HashedRows
from spark_check.traces.plain_streams import Place, RowGroup, RowStream
from spark_check.traces.readings import Names
from spark_check.traces.roles import ColumnRoles

NEAREST = 100
"""The differences of each kind for which all other rows are looked at."""


class LikeRows(NamedTuple):
    """The rows of both logs, each content once, with hashes by column.

    places: of each content, its place among the groups.  left_out: columns that count less, since
    most rows differ in them.
    """

    groups: Sequence[RowGroup]
    hashed: HashedRows
    places: Mapping[Values, int]
    left_out: Names = frozenset()

    def compare(
        self, rows: tuple[PlainRow | None, PlainRow | None]
    ) -> tuple[RowGroup | None, tuple[str, ...]]:
        """The nearest row, of a row that has no other one, and the columns that differ."""
        places = [row and self.places[row.content] for row in rows]
        one, other = places
        if one is not None and other is not None:
            return None, self.hashed.differing(one, other)
        side = 0 if other is None else 1
        mine = places[side]
        assert mine is not None
        key = self.groups[mine].row.key
        others = [
            at
            for at, group in enumerate(self.groups)
            if group.copies[1 - side] and group.row.key == key and at != mine
        ]
        sign = 1 if side == 0 else -1
        better = [self.groups[at].surplus * sign > 0 for at in others]
        found = self.hashed.nearest(mine, others, better, self.left_out)
        if found is None:
            return None, ()
        return self.groups[found], self.hashed.differing(mine, found)


def find_differences(
    streams: Sequence[RowStream],
    placed: Sequence[Sequence[Place]],
    logs: Sequence[OutputLog],
    asked: ColumnRoles,
    show: int,
    alike: LikeRows | None,
) -> Iterator[RowDifference]:
    """The first `show` of each kind; the first NEAREST with the row that is nearest to them."""

    def shown(row: PlainRow | None, place: int | None, side: int) -> LogRow | None:
        return row and LogRow(row.shown, _label(place, placed[side], logs[side], asked))

    for kind, find in KINDS.items():
        found = [one for stream in streams if stream.counts[kind] for one in find(stream, asked)]
        found.sort(key=lambda one: one[0])
        for number, (_, rows, places, copies) in enumerate(found[:show]):
            some = rows[0] or rows[1]
            assert some is not None
            near: RowGroup | None = None
            columns: tuple[str, ...] = ()
            if alike and (number < NEAREST or None not in rows):
                near, columns = alike.compare(rows)
            side = 1 if rows[1] is None else 0
            yield RowDifference(
                kind=kind,
                key={name: some.shown[name] for name in asked.key},
                order={name: some.shown[name] for name in asked.order if asked.sorted_by_content},
                reference=shown(rows[0], places[0], 0),
                actual=shown(rows[1], places[1], 1),
                copies=SideCounts(*copies),
                nearest=near and shown(near.row, near.copies[side][0], side),
                columns=columns,
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
