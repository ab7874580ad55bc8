"""Other readings of two logs that differ: with which columns left out do more rows agree?

Rule of this file: it decides which columns are tried, and counts no row itself.  The same search
serves both the comparison in this process and that on Spark.

Columns are candidates if rows of ACTUAL that REFERENCE does not hold agree with one of its rows
in all others: single columns first; then those of whose values REFERENCE has none, with one more;
then pairs.  The comparison is done again with the best candidates left out.  A reading is kept
if fewer rows disagree, and the search goes on from there.

Where rows are only in another order, they may be of several streams: columns of few values are
tried as --key, and the first is kept with which no row is out of order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple, TypeAlias

from model.comparison import Shape
from model.errors import Invalid
from model.results.trace import AskedColumns, RowFindings, TraceReading
from spark_check.traces.roles import ColumnRoles

Names: TypeAlias = frozenset[str]

LAYERS = 3
"""Readings at most, each of which goes on from the one before."""
TRIED = 3
"""Comparisons for each of them."""
PAIRS = 45
"""Pairs of columns that are tried at most."""


class ForeignRows(NamedTuple):
    """Some rows of ACTUAL that REFERENCE does not hold.  names: the columns that are compared, and
    the fields of objects in them.  matched(sets): how many of these rows agree with a row of
    REFERENCE, if the names of each set are left out."""

    names: tuple[str, ...]
    number: int
    matched: Callable[[Sequence[Names]], list[int]]


class JudgedLogs(NamedTuple):
    """A comparison.  foreign: None if ACTUAL holds no row that is not in REFERENCE.  distinct():
    how many values the columns have in REFERENCE that may name streams."""

    findings: RowFindings
    foreign: ForeignRows | None
    distinct: Callable[[], Mapping[str, int]]


Judge: TypeAlias = Callable[[ColumnRoles], JudgedLogs | None]
"""Compares the same logs once more."""


def find_readings(asked: ColumnRoles, judged: JudgedLogs, judge: Judge) -> Iterator[TraceReading]:
    """The readings, the first with the columns that explain most."""
    for _ in range(LAYERS):
        if judged.foreign is None:
            yield from _by_stream(asked, judged, judge)
            return
        found: list[tuple[tuple[int, int, int], int, Names, ColumnRoles, JudgedLogs]] = []
        for names in _candidates(judged.foreign, _fixed(asked)):
            roles = leave_out(asked, names)
            try:
                other = judge(roles)
            except Invalid:  # no column is left, or a row is close to two
                continue
            if other is not None:
                found.append((_disagreement(other.findings), len(found), names, roles, other))
                if found[-1][0][0] == 0:
                    break
        if not found:
            return
        (rows, *_), _, names, roles, other = min(found, key=lambda one: one[:2])
        if rows >= _disagreement(judged.findings)[0]:
            return
        yield _reading(names, roles, judged.findings, other.findings)
        asked, judged = roles, other


def _by_stream(asked: ColumnRoles, judged: JudgedLogs, judge: Judge) -> Iterator[TraceReading]:
    """The reading in which rows of several streams stand in the log, if one explains the order."""
    before = judged.findings
    if before.lacking or not before.rows.out_of_order:
        return
    counts = judged.distinct()
    few = [name for name, count in counts.items() if 1 < count <= before.read.reference / 2]
    few.sort(key=lambda name: counts[name])
    for name in [name for name in few if name not in (*asked.key, *asked.lineage)][:TRIED]:
        roles = asked._replace(key=(*asked.key, name))
        other = judge(roles)
        if other is not None and not other.findings.rows.out_of_order:
            yield _reading(frozenset(), roles, before, other.findings)
            return


def leave_out(asked: ColumnRoles, names: Names) -> ColumnRoles:
    """The roles without these columns; those of --order sort the log, and are not compared."""
    identity = tuple(name for name in asked.id if name not in names)
    return asked._replace(id=identity, ignore=(*asked.ignore, *sorted(names)))


def _fixed(asked: ColumnRoles) -> tuple[str, ...]:
    """Columns that are never left out: they name streams, or the rows of a table."""
    return (*asked.key, *(asked.id if asked.shape is Shape.TABLE else ()))


def _candidates(foreign: ForeignRows, fixed: Sequence[str]) -> list[Names]:
    """The best sets of columns, of the smallest size with which most rows agree."""
    free = [name for name in foreign.names if not {name, name.split(".")[0]} & {*fixed}]
    ones = [frozenset({name}) for name in free]
    others = [frozenset(free) - one for one in ones]
    counts = foreign.matched([*ones, *others])
    tried = dict(zip(ones, counts, strict=False))
    if best := _best(tried, foreign.number / 2):
        return best
    alone = zip(free, counts[len(ones) :], strict=True)
    new = frozenset(name for name, count in alone if count < foreign.number / 2)
    if 1 < len(new) < len(free):
        tried |= _tried(foreign, [new, *(new | one for one in ones if not one <= new)])
    elif new:
        tried |= _tried(foreign, [new | one for one in ones if not one <= new])
    if not _best(tried, foreign.number / 2):
        pairs = [*map(frozenset, combinations(free, 2))][:PAIRS]
        tried |= _tried(foreign, [pair for pair in pairs if pair not in tried])
    some = [
        names
        for names, count in tried.items()
        if count and not any(less < names and tried[less] == count for less in tried)
    ]
    some.sort(key=lambda names: (-tried[names], len(names)))
    return _best(tried, foreign.number / 2) or some[:TRIED]


def _tried(foreign: ForeignRows, sets: Sequence[Names]) -> dict[Names, int]:
    return dict(zip(sets, foreign.matched(sets), strict=True))


def _best(tried: dict[Names, int], least: float) -> list[Names]:
    """Those with which at least that number of rows agree, of the smallest size, the best first."""
    good = [names for names, count in tried.items() if count >= least]
    size = min(map(len, good), default=0)
    smallest = [names for names in good if len(names) == size]
    return sorted(smallest, key=lambda names: -tried[names])[:TRIED]


def _disagreement(found: RowFindings) -> tuple[int, int, int]:
    """Smaller is better: rows that disagree, the type, and rows that are out of order."""
    return found.lacking + found.foreign, found.weakest.value, found.rows.out_of_order


def _reading(
    names: Names, roles: ColumnRoles, before: RowFindings, found: RowFindings
) -> TraceReading:
    explained = before.foreign - found.foreign
    # A surplus copy of a row may also stand for a missing one; it is no foreign row.
    changed = min(before.lacking - found.lacking, explained)
    return TraceReading(
        left_out=tuple(sorted(names)),
        asked=AskedColumns(*roles),
        changed=changed,
        again=explained - changed,
        read=found.read,
        streams=found.streams,
        rows=found.rows,
        guarantee=found.weakest.name.lower(),
    )
