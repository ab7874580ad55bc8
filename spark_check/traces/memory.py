"""Two small logs compared in this process, row by row, with the same result as on Spark.

Rule of this file: `traces.verify` has the definitions and `model.recovery` the types; nothing is
read here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from model.comparison import Shape
from model.results.trace import RowCounts, RowFindings, SideCounts
from spark_check.traces.logs import NO_ROWS, OutputLog
from spark_check.traces.plain import PlainLogs, PlainRow, Tables, Values, plain_rows
from spark_check.traces.plain_columns import HashedRows
from spark_check.traces.plain_differences import LikeRows, find_differences
from spark_check.traces.plain_streams import Place, RowStream, judge
from spark_check.traces.readings import ForeignRows, JudgedLogs, find_readings
from spark_check.traces.roles import ColumnRoles
from spark_check.traces.streams import COUNTS


def compare(
    logs: Sequence[OutputLog],
    tables: Tables,
    asked: ColumnRoles,
    show: int,
    close: float | None = None,
) -> RowFindings | None:
    """As `traces.verify.compare`; None if columns are not plain.  Raises Invalid if the reference
    holds no rows."""

    def again(roles: ColumnRoles) -> JudgedLogs | None:
        plain = plain_rows(tables, logs, roles, close)
        return plain and _judge(logs, plain, roles).judged

    plain = plain_rows(tables, logs, asked, close)
    if plain is None:
        return None
    found = _judge(logs, plain, asked)
    readings = tuple(find_readings(asked, found.judged, again))
    alike = found.alike
    if alike and readings:
        alike = alike._replace(left_out=frozenset(readings[0].left_out))
    shown = find_differences(found.streams, found.placed, logs, asked, show, alike)
    return found.judged.findings._replace(readings=readings, differences=tuple(shown))


class JudgedRows(NamedTuple):
    """Two logs, judged.  alike: None if both hold the same rows."""

    judged: JudgedLogs
    streams: Sequence[RowStream]
    placed: Sequence[Sequence[Place]]
    alike: LikeRows | None


def _judge(logs: Sequence[OutputLog], plain: PlainLogs, asked: ColumnRoles) -> JudgedRows:
    if not plain.rows[0]:
        raise logs[0].complain(NO_ROWS)
    placed = [_place(rows, asked) for rows in plain.rows]
    streams = [judge(sides, asked) for sides in _streams(placed).values()]
    kinds = Counter(stream.guarantee for stream in streams)
    findings = RowFindings(
        SideCounts(*map(len, placed)),
        {kind.name.lower(): kinds[kind] for kind in sorted(kinds)},
        RowCounts(**{name: sum(stream.counts[name] for stream in streams) for name in COUNTS}),
        sum(stream.lost for stream in streams) if asked.lineage else None,
        tuple(plain.kinds),
    )
    distinct = partial(_distinct, plain)
    if not findings.lacking + findings.foreign:
        return JudgedRows(JudgedLogs(findings, None, distinct), streams, placed, None)
    groups = [group for stream in streams for group in stream.groups]
    hashed = HashedRows([group.row.content for group in groups], plain.kinds)
    known = [at for at, group in enumerate(groups) if not group.is_foreign]
    foreign = [at for at, group in enumerate(groups) if group.is_foreign]
    matched = partial(hashed.matched, known, foreign)
    some = ForeignRows(tuple(hashed.names), len(foreign), matched) if foreign else None
    judged = JudgedLogs(findings, some, distinct)
    places = {groups[at].row.content: at for at in reversed(range(len(groups)))}
    return JudgedRows(judged, streams, placed, LikeRows(groups, hashed, places))


def _distinct(plain: PlainLogs) -> dict[str, int]:
    values = zip(*(row.content for row in plain.rows[0]), strict=True)
    found = dict(zip(plain.kinds, map(len, map(set, values)), strict=True))
    return {name: count for name, count in found.items() if isinstance(plain.kinds[name], str)}


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
