"""The result of `asif verify-trace`: two output logs compared.

Rule of this file: values only; spark_check.traces makes them, and spark_check.traces.verify
defines the words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from model.core import Guarantee
from model.results.table import Row


@dataclass(frozen=True, slots=True)
class ComparedLog:
    """A log on disk.  bytes: of all its files."""

    path: str
    format: str
    files: int
    bytes: int


class AskedColumns(NamedTuple):
    """The columns that play a role in a comparison, by option.  sink: its shape, in a word."""

    key: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    id: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    lineage: tuple[str, ...] = ()
    sink: str = "sequence"


@dataclass(frozen=True, slots=True)
class SideCounts:
    """A number of rows in each log."""

    reference: int
    actual: int

    def of(self, side: str) -> int:
        """The number of rows in this log, "reference" or "actual"."""
        return self.reference if side == "reference" else self.actual


@dataclass(frozen=True, slots=True)
class RowCounts:
    """How many rows differ, by kind."""

    missing: int
    different: int
    duplicated: int
    unexpected: int
    out_of_order: int

    def of(self, kind: str) -> int:
        """The rows of this kind."""
        found: int = getattr(self, kind)
        return found


@dataclass(frozen=True, slots=True)
class LogRow:
    """A row of a log.  at: its place; None where its content orders it."""

    row: Row
    at: str | None


@dataclass(frozen=True, slots=True)
class RowDifference:
    """A difference.  key, order: the values of these columns.  copies: how often the row came.

    nearest: of a row that is in one log only, the row of the other log that agrees with it in most
    columns; None if all rows differ in more than half of them.  columns: those that differ.
    """

    kind: str
    key: Row
    order: Row
    reference: LogRow | None
    actual: LogRow | None
    copies: SideCounts
    nearest: LogRow | None = None
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TraceReading:
    """The same logs, read otherwise: with some more columns left out, so that more rows agree, or
    with one more column as key, so that no row is out of order.

    left_out: these columns, beside those of the reading before; empty if one more is a key.
    asked: the columns of each option that reads so.  changed: rows of ACTUAL that differ from a
    missing row of REFERENCE in these columns alone.  again: rows that differ from a row that came
    as well in these columns alone.  read, streams, rows, guarantee: the findings of this reading.
    """

    left_out: tuple[str, ...]
    asked: AskedColumns
    changed: int
    again: int
    read: SideCounts
    streams: Mapping[str, int]
    rows: RowCounts
    guarantee: str


class RowFindings(NamedTuple):
    """The findings in the rows of two logs.  streams: by type of recovery, how many have it.
    lost_inputs: None without lineage.  compared: the columns.  differences: the first
    ones of each kind.  readings: other ones, in which more rows agree; each goes on from the one
    before."""

    read: SideCounts
    streams: Mapping[str, int]
    rows: RowCounts
    lost_inputs: int | None
    compared: tuple[str, ...] = ()
    differences: tuple[RowDifference, ...] = ()
    readings: tuple[TraceReading, ...] = ()

    @property
    def foreign(self) -> int:
        """Rows of ACTUAL that are not in REFERENCE at all."""
        return self.rows.different + self.rows.unexpected

    @property
    def lacking(self) -> int:
        """Rows of REFERENCE that ACTUAL does not hold, whatever stands for them."""
        kept = self.read.actual - self.foreign - self.rows.duplicated
        return self.read.reference - kept

    @property
    def weakest(self) -> Guarantee:
        """The type of the worst stream."""
        return max(Guarantee[name.upper()] for name in self.streams)


@dataclass(frozen=True, slots=True)
class TraceComparison:
    """close: the tolerance for floats, or None.  guarantee: the weakest type of all streams.
    expect: the weakest type that is good enough.  The other fields are as in RowFindings."""

    reference: ComparedLog
    actual: ComparedLog
    asked: AskedColumns
    close: float | None
    read: SideCounts
    streams: Mapping[str, int]
    rows: RowCounts
    lost_inputs: int | None
    compared: tuple[str, ...]
    differences: tuple[RowDifference, ...]
    readings: tuple[TraceReading, ...]
    notes: tuple[str, ...]
    guarantee: str
    expect: str
    holds: bool
    seconds: float
