"""The rows of a counting job, compared with those of a run in which nothing fails.

Rule of this file: pure functions of rows; no job is run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sim.predictions.count_rows import CountRow


class RowFaults(NamedTuple):
    """missing: events without a row.  twice: rows beyond the first of their event.  counts: counts
    of a key that no row has, among 1 to the number of events of the key."""

    missing: int
    twice: int
    counts: int


def faults(rows: Sequence[CountRow], events: int, sources: int = 1, keys: int = 7) -> RowFaults:
    """The faults of the rows of sources with `events` events each.

    Events of a key have the counts 1, 2, ... in some order: with several sources, in the order in
    which the counting operator has received them.
    """
    found = Counter((row.source, row.number) for row in rows)
    wanted = {(source, number) for source in range(sources) for number in range(events)}
    return RowFaults(
        len(wanted - {*found}),
        sum(times - 1 for times in found.values()),
        _wrong_counts(rows, keys),
    )


def _wrong_counts(rows: Sequence[CountRow], keys: int) -> int:
    wrong = 0
    for key in range(keys):
        events = {(row.source, row.number) for row in rows if row.key == key}
        counts = {row.nth for row in rows if row.key == key}
        wrong += len({*range(1, len(events) + 1)} - counts)
    return wrong


def two_counts(rows: Iterable[CountRow]) -> int:
    """Events that have rows with two counts: behind a union, a restart may count otherwise."""
    counts: dict[tuple[int, int], set[int]] = {}
    for row in rows:
        counts.setdefault((row.source, row.number), set()).add(row.nth)
    return sum(len(one) > 1 for one in counts.values())
