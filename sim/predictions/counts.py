"""Counts of events: what the sinks of the crashed job have, batch by batch.

Rule of this file: no Spark and no crash; a family says which batches ran, and from which counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Ran(NamedTuple):
    """A batch that was handed to the sinks: its id, and the events start + 1 to end.  since: the
    event after which the state of its query has counted."""

    id: int
    start: int
    end: int
    since: int = 0


Row = tuple[int, str, int]
"""(number of an event, its type, the events of this type so far)."""


def rows(types: Sequence[str], ran: Ran) -> list[Row]:
    """The rows of a batch."""
    counted: Counter[str] = Counter(types[ran.since : ran.start])
    found = []
    for number, type_ in enumerate(types[ran.start : ran.end], ran.start + 1):
        counted[type_] += 1
        found.append((number, type_, counted[type_]))
    return found


def appended(types: Sequence[str], batches: Iterable[Ran]) -> list[Row]:
    """The rows of a sink that appends every batch."""
    return [row for ran in batches for row in rows(types, ran)]


def idempotent(types: Sequence[str], batches: Iterable[Ran]) -> list[Row]:
    """The rows of a sink that takes no batch id twice."""
    first: dict[int, Ran] = {}
    for ran in batches:
        first.setdefault(ran.id, ran)
    return [row for ran in first.values() for row in rows(types, ran)]


def text(found: Iterable[Sequence[object]]) -> str:
    """Rows in a few characters each: the event, its type and its count, as in 7a3."""
    return " ".join(f"{number}{type_}{count}" for number, type_, count in found)


def lost(types: Sequence[str], batches: Iterable[Ran]) -> int:
    """How many events are in no batch."""
    seen = {number for ran in batches for number in range(ran.start + 1, ran.end + 1)}
    return len(types) - len(seen)
