"""The outputs that a box allows Spark for one stream, by `Box.runs`.

Rule of this file: an outcome follows from a box, the rows that are not late, and the watermarks;
nothing here knows Spark's operators.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache, partial
from typing import Any, TypeAlias

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box, Out, attribute, bodies
from model.boxes.box import Stream as Input
from model.boxes.join import Join
from spark_check.boxes.streams import FAR, BoxRow, Stream
from spark_check.boxes.watermark import Watermarks, closing_batch, is_late

FOLDS = ("count", "sum", "min", "max", "mean", "list")
"""The folds, all of which Spark has, too."""

Outcome: TypeAlias = tuple[Any, ...]
"""The outputs of a query for one stream: outputs in order, or (batch, output) where a batch has no
order."""


def in_any_order(found: Iterable[tuple[int, Any]]) -> Outcome:
    """The outcome of a query whose outputs come in any order within a batch."""
    return tuple(sorted(found, key=repr))


# --- without state ---------------------------------------------------------------------------
def sequences(box: Box, stream: Stream, _marks: Watermarks) -> frozenset[Outcome]:
    """Every allowed sequence of outputs."""
    inputs = tuple(_input(edge) for edge in _edges(stream))
    return frozenset(bodies(run.outs) for run in box.runs(inputs))


# --- windows ---------------------------------------------------------------------------------
def windows(box: Aggregate, stream: Stream, marks: Watermarks) -> frozenset[Outcome]:
    """(batch, (group, start, value of each fold)) of every window.

    A row may be late for one of its windows and not for another, so the box makes a window of the
    rows that are not late for it.
    """
    found: dict[tuple[Any, int], list[Any]] = {}
    for fold in FOLDS:
        closed = cache(partial(_closed, replace(box, fold=fold)))
        for start in {start for _, start, _ in closed(stream)}:
            end = start + box.size
            kept = tuple(row for row in stream if not is_late(end, row.batch, marks))
            for group, its_start, value in closed(kept):
                if its_start == start:
                    found.setdefault((group, start), []).append(value)
    return frozenset(
        [
            in_any_order(
                (closing_batch(marks, start + box.size), (group, start, *values))
                for (group, start), values in found.items()
            )
        ]
    )


def _closed(box: Aggregate, rows: Stream) -> tuple[tuple[Any, ...], ...]:
    """(group, start, value) of all windows with a row.

    The box closes a window with an item of its group, so it gets one far ahead for each group.  The
    time of an output is that of this item, and is left out.
    """
    closers = tuple(
        BoxRow(0, 0, 0, 0, FAR, "a", k, 0) for k in dict.fromkeys(row.k for row in rows)
    )
    (run,) = box.runs((_input(_sorted(rows) + closers),))
    return tuple(
        tuple(attribute(out, name) for name in ("k", "start", "value")) for out in bodies(run.outs)
    )


def late_windows(box: Aggregate, stream: Stream, marks: Watermarks) -> set[tuple[Any, ...]]:
    """(batch, stream, group, start) where a row of the batch is late for the window."""
    return {
        (row.batch, row.stream, row.k, start)
        for row in stream
        for start in starts(box, row.time)
        if is_late(start + box.size, row.batch, marks)
    }


def starts(box: Aggregate, time: int) -> range:
    """The starts of the windows that hold this time."""
    return range(time - time % box.advance, time - box.size, -box.advance)


# --- pairs -----------------------------------------------------------------------------------
def pairs(box: Join, stream: Stream, marks: Watermarks) -> frozenset[Outcome]:
    """(batch, pair) of all pairs: a pair goes out in the batch of its second row."""
    kept = [
        _sorted(row for row in edge if not is_late(row.time, row.batch, marks))
        for edge in _edges(stream)
    ]
    return frozenset(
        in_any_order(
            (max(kept[of.edge][of.place].batch for of in out.of), out.body) for out in run.outs
        )
        for run in box.runs(tuple(map(_input, kept)))
    )


def late_rows(_box: Join, stream: Stream, marks: Watermarks) -> set[tuple[Any, ...]]:
    """(batch, row) of the rows that are late."""
    return {(row.batch, row) for row in stream if is_late(row.time, row.batch, marks)}


# --- rows as inputs --------------------------------------------------------------------------
def _edges(stream: Stream) -> list[Stream]:
    """The rows of each edge."""
    edges = max(row.edge for row in stream) + 1
    return [tuple(row for row in stream if row.edge == edge) for edge in range(edges)]


def _sorted(rows: Iterable[BoxRow]) -> Stream:
    """The rows of one edge by time, ties as they came: a box wants times that do not decrease."""
    return tuple(sorted(rows, key=lambda row: row.time))


def _input(rows: Stream) -> Input:
    return Input(tuple(Out(row.body) for row in rows))
