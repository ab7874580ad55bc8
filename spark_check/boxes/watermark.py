"""Spark's watermark: its value in each micro-batch, and which rows are late.

Rule of this file: Spark's rules, and nothing of a box; the model has no late items, since times do
not decrease along an edge.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from spark_check.boxes.streams import BATCHES, BoxRow

DELAY = 1
"""How far the watermark is behind the latest time."""

Watermarks: TypeAlias = tuple[int, ...]
"""By micro-batch; the last one is that of a batch without rows, which Spark adds at the end."""


def watermarks(rows: Iterable[BoxRow], edges: int) -> Watermarks:
    """The watermark that each micro-batch runs with.

    It is 0 in the first one.  Then it is what the batches before allow: of each edge the latest
    time, of these the smallest, less the delay.  All streams of a query have one watermark.
    """
    latest = [0] * edges
    found = [0]
    by_batch: list[list[BoxRow]] = [[] for _ in range(BATCHES)]
    for row in rows:
        by_batch[row.batch].append(row)
    for batch in by_batch:
        for row in batch:
            latest[row.edge] = max(latest[row.edge], row.time)
        found.append(max(0, min(latest) - DELAY))
    return tuple(found)


def is_late(time: int, batch: int, marks: Watermarks) -> bool:
    """Is a row of the batch late?  time: its own, or the end of its window.

    A batch compares with the watermark of the batch *before* it, and equal times are late.
    """
    return batch > 0 and time <= marks[batch - 1]


def closing_batch(marks: Watermarks, end: int) -> int:
    """The batch that puts out a window: the first whose watermark is not before its end."""
    return next(batch for batch, mark in enumerate(marks) if mark >= end)
