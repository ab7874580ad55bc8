"""Two output logs compared, for a terminal: a table of counts, the first differences, a verdict.

Rule of this file: it reads a value of model.results.trace and decides nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from model.core import Guarantee
from model.recovery import WORDS
from model.results.trace import ComparedLog, LogRow, RowDifference, TraceComparison

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
        yield from _hint(result)
    yield f"in everyday words: {words(result)}"
    yield verdict(result)


def verdict(result: TraceComparison) -> str:
    """The verdict in one line."""
    found = f"{result.guarantee} recovery"
    rows, read = result.rows, result.read
    if rows.missing == read.reference and rows.unexpected == read.actual:
        found = "no row is in both logs"
    if result.asked.key:
        parts = (f"{count:,} {name}" for name, count in result.streams.items())
        found += f" (streams: {', '.join(parts)})"
    if result.expect == "precise":
        good, bad = "as if nothing had failed", "NOT as if nothing had failed"
    else:
        good, bad = (f"{no}as good as {result.expect}" for no in ("at least ", "NOT "))
    return f"{good if result.holds else bad}: {found}, {result.seconds:.1f} s"


def words(result: TraceComparison) -> str:
    """The guarantee in everyday words.  At most once: what is missing is all that is wrong."""
    rows = result.rows
    more = ("different", "duplicated", "unexpected")
    if result.guarantee == "gap" and not any(rows.of(kind) for kind in more):
        return "at most once"
    return WORDS[Guarantee[result.guarantee.upper()]]


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
    """The first differences; the values that differ are marked."""
    keyed = bool(result.asked.key)
    table = Table("the first", *(["key"] if keyed else []), "REFERENCE", "ACTUAL")
    for one in result.differences:
        key = [", ".join(map(_value, one.key.values()))] if keyed else []
        sides = [_side(one, side, result.asked.key) for side in SIDES]
        table.add_row(_spaced(one.kind), *key, *sides)
    return table


def _side(one: RowDifference, side: str, key: Sequence[str]) -> Text:
    here, there = _row(one, side), _row(one, SIDES[side == SIDES[0]])
    if here is None:
        return Text("-")
    other = (there or here).row
    text = Text()
    if here.at:
        text.append(f"{here.at}: ", style="dim")
    shown = [(name, value) for name, value in here.row.items() if name not in key]
    for at, (name, value) in enumerate(shown):
        style = "" if other[name] == value else "bold red"
        text.append(f"{', ' if at else ''}{name}=")
        text.append(_value(value), style=style)
    copies = one.copies
    if one.kind in ("missing", "duplicated") and max(copies.reference, copies.actual) > 1:
        text.append(f" ({copies.of(side):,} times)", style="dim")
    return text


def _row(one: RowDifference, side: str) -> LogRow | None:
    return one.reference if side == SIDES[0] else one.actual


def _hint(result: TraceComparison) -> Iterator[str]:
    """A line if most rows differ by a column that may be no part of the result."""
    rows, read = result.rows, result.read
    if rows.missing == read.reference and rows.unexpected == read.actual:
        yield "no row is in both: does a column differ from run to run, like a time?  --ignore it"
    pairs = [
        (one.reference.row, one.actual.row)
        for one in result.differences
        if one.kind == "different" and one.reference and one.actual
    ]
    names = {name for one, other in pairs for name in one if one[name] != other[name]}
    if rows.different > read.actual / 2 and len(names) == 1:
        (name,) = names
        yield f"most rows differ, those shown in {name} alone: is it part of the result?"


def _spaced(kind: str) -> str:
    return kind.replace("_", " ")


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
