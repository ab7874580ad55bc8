"""The result of `asif verify-trace`: two output logs compared.

Rule of this file: values only; spark_check.traces makes them, and spark_check.traces.verify
defines the words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

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
    """A difference.  key, order: the values of these columns.  copies: how often the row came."""

    kind: str
    key: Row
    order: Row
    reference: LogRow | None
    actual: LogRow | None
    copies: SideCounts


class RowFindings(NamedTuple):
    """The findings in the rows of two logs.  streams: by type of recovery, how many have it.
    lost_inputs: None without lineage.  compared: the columns.  differences: the first
    ones of each kind."""

    read: SideCounts
    streams: Mapping[str, int]
    rows: RowCounts
    lost_inputs: int | None
    compared: tuple[str, ...] = ()
    differences: tuple[RowDifference, ...] = ()


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
    notes: tuple[str, ...]
    guarantee: str
    expect: str
    holds: bool
    seconds: float
