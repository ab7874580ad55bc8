"""Counts of events: the rows of the sinks of the crashed job, batch by batch.

Rule of this file: no Spark and no crash; a family says which batches ran, and from which counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar


class SinkBatch(NamedTuple):
    """A batch that was handed to the sinks: its id, and the events start + 1 to end.  since: the
    event after which the state of its query has counted."""

    id: int
    start: int
    end: int
    since: int = 0


R = TypeVar("R", bound=tuple[Any, ...])
Row = tuple[int, str, int]
"""(number of an event, its type, the events of this type so far)."""


def rows(types: Sequence[str], ran: SinkBatch, window: int = 0) -> list[Row]:
    """The rows of a batch.  window: the number of events after which counts begin anew; 0: they
    never do."""
    found = []
    for number, type_ in enumerate(types[ran.start : ran.end], ran.start + 1):
        since = max(ran.since, (number - 1) // window * window if window else 0)
        found.append((number, type_, [*types[since:number]].count(type_)))
    return found


def appended(types: Sequence[str], batches: Iterable[SinkBatch], window: int = 0) -> list[Row]:
    """The rows of a sink that appends every batch."""
    return [row for ran in batches for row in rows(types, ran, window)]


def idempotent(types: Sequence[str], batches: Iterable[SinkBatch], window: int = 0) -> list[Row]:
    """The rows of a sink that takes no batch id twice."""
    first: dict[int, SinkBatch] = {}
    for ran in batches:
        first.setdefault(ran.id, ran)
    return appended(types, first.values(), window)


def newer(found: Iterable[R]) -> list[R]:
    """The rows that a consumer keeps which discards every row that is no newer than the last one.

    Hwang et al., Section 6: duplicates, by their high watermarks.  A row begins with its event.
    """
    kept: list[R] = []
    for row in found:
        if not kept or row[0] > kept[-1][0]:
            kept.append(row)
    return kept


def text(found: Iterable[Sequence[object]]) -> str:
    """Rows in a few characters each: the event, its type and its count, as in 7a3."""
    return " ".join(f"{number}{type_}{count}" for number, type_, count in found)


def lost(types: Sequence[str], batches: Iterable[SinkBatch]) -> int:
    """How many events are in no batch."""
    seen = {number for ran in batches for number in range(ran.start + 1, ran.end + 1)}
    return len(types) - len(seen)
