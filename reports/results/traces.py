"""Two output logs compared, for a terminal: a table of counts, the first differences, a verdict.

Rule of this file: it reads a value of model.results.trace and decides nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from model.results.table import Row
from model.results.trace import AskedColumns, ComparedLog, LogRow, RowDifference, TraceComparison
from reports.results import trace_words

MOST = 100
"""The differences that a terminal shows."""
LONGEST = 200
"""The characters of a value there."""
SIDES = ("reference", "actual")
KINDS = {
    "missing": "in REFERENCE only",
    "different": "the same result with other content",
    "duplicated": "more often in ACTUAL",
    "unexpected": "in ACTUAL only",
    "out_of_order": "behind a row that REFERENCE has later",
}


def render(result: TraceComparison) -> Iterator[RenderableType]:
    """The output of `asif verify-trace`."""
    yield from result.notes
    yield _logs(result)
    yield _counts(result)
    if result.differences:
        yield _differences(result)
    if (more := len(result.differences) - MOST) > 0:
        yield f"and {more:,} more, which --json has"
    yield from trace_words.sentences(result)
    yield f"in everyday words: {trace_words.everyday(result)}"
    yield verdict(result)


def verdict(result: TraceComparison) -> str:
    """The verdict in one line."""
    found = f"{result.guarantee} recovery"
    rows, read = result.rows, result.read
    if rows.missing == read.reference and rows.unexpected == read.actual:
        found = "no row is in both logs"
    elif any(one.changed for one in result.readings):
        found += " by all columns compared"
    if result.asked.key:
        parts = (f"{count:,} {name}" for name, count in result.streams.items())
        found += f" (streams: {', '.join(parts)})"
    if result.expect == "precise":
        good, bad = "as if nothing had failed", "NOT as if nothing had failed"
    else:
        good, bad = (f"{no}as good as {result.expect}" for no in ("at least ", "NOT "))
    return f"{good if result.holds else bad}: {found}, {result.seconds:.1f} s"


def _logs(result: TraceComparison) -> Table:
    table = Table("log", "path", "format", "files", "rows")
    for side in SIDES:
        log: ComparedLog = getattr(result, side)
        rows = f"{result.read.of(side):,}"
        table.add_row(side.upper(), log.path, log.format, f"{log.files:,}", rows)
    return table


def _counts(result: TraceComparison) -> Table:
    table = Table("rows", "number", "which")
    for kind, which in KINDS.items():
        table.add_row(_spaced(kind), f"{result.rows.of(kind):,}", which)
    if result.lost_inputs is not None:
        lost = f"{result.lost_inputs:,}"
        table.add_row("inputs lost", lost, "of REFERENCE, and in no row of ACTUAL")
    return table


def _differences(result: TraceComparison) -> Table:
    """The first differences: the columns that differ, with the values marked."""
    keyed = bool(result.asked.key)
    table = Table("the first", *(["key"] if keyed else []), "REFERENCE", "ACTUAL")
    for one in result.differences[:MOST]:
        key = [", ".join(map(_value, one.key.values()))] if keyed else []
        sides = [_side(one, side, result.asked) for side in SIDES]
        table.add_row(_spaced(one.kind), *key, *sides)
    return table


def _side(one: RowDifference, side: str, asked: AskedColumns) -> Text:
    """The place of the row in this log, and its values, as far as they are needed."""
    here, there = _row(one, side), _row(one, SIDES[side == SIDES[0]])
    text = Text()
    if here is None:
        here = one.nearest
        if here is None:
            return Text("-")
        text.append("not there; nearest: ", style="dim")
    assert here is not None
    other = flat((there or one.nearest or here).row)
    if here.at:
        text.append(f"{here.at}: ", style="dim")
    if one.kind in SAME and side == SIDES[1] and here.at:
        text.append("the same", style="dim")
    else:
        values = flat(here.row)
        shown = [name for name in values if _is_shown(name, one, asked)]
        for at, name in enumerate(shown):
            style = "bold red" if name in one.columns or other.get(name) != values[name] else ""
            text.append(f"{', ' if at else ''}{name}=")
            text.append(_value(values[name]), style=style)
    copies = one.copies
    if one.kind in ("missing", "duplicated") and max(copies.reference, copies.actual) > 1:
        text.append(f" ({_times(copies.of(side))})", style="dim")
    return text


SAME = ("duplicated", "out_of_order")
"""Kinds of which both logs hold the row."""


def _is_shown(name: str, one: RowDifference, asked: AskedColumns) -> bool:
    """Of rows that differ in some columns: these, and those that name the row."""
    if name in asked.key:
        return False
    naming = {*one.order, *asked.id}
    row = one.reference or one.actual
    placed = bool(naming) or (row is not None and row.at is not None)
    return not one.columns or not placed or name in naming or name in one.columns


def flat(row: Row) -> Row:
    """The row with the fields of objects as columns of their own: `source.ts_ms`."""
    return dict(_fields(row, ""))


def _fields(row: Row, path: str) -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, dict):
            yield from _fields(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def _row(one: RowDifference, side: str) -> LogRow | None:
    return one.reference if side == SIDES[0] else one.actual


def _spaced(kind: str) -> str:
    return kind.replace("_", " ")


def _value(value: Any) -> str:
    """The value as text, cut if it is long: the JSON has it whole."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text):,} characters)"
