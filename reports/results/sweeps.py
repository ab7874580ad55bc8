"""A sweep for a terminal: its runs, and means over seeds with their intervals.

Rule of this file: it reads the values of model.results.sweep, and computes none of them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from rich.box import SIMPLE
from rich.table import Table

from model.results.interval import Interval
from model.results.sweep import SweepGroup, SweepResult, SweepSummary
from reports.results.simulations import format_value


class Column(NamedTuple):
    label: str
    metric: str


COLUMNS = (
    Column("recovery", "recovery_s"),
    Column("protection, bytes", "overhead_protection_stream_bytes_share"),
    Column("latency, 99 %", "latency_p99_s"),
    Column("backup, peak", "peak_backup_events"),
    Column("events again", "events_again"),
)


def summary_line(result: SweepResult) -> str:
    """One line: the number of runs, and how many of them went wrong."""
    parts = [f"{result.runs:,} runs in {result.seconds:.0f} s"]
    if result.resumed:
        parts.append(f"{result.resumed:,} of them done before")
    if result.others:
        parts.append(f"{result.others:,} others (another scenario, value or version) left aside")
    parts.append(f"{result.same:,} as if nothing had failed")
    if result.cut_off:
        parts.append(f"{result.cut_off:,} CUT OFF by the end of the input, see the column cut_off")
    if result.not_as_claimed:
        parts.append(f"{result.not_as_claimed:,} WORSE THAN THE PROTOCOL CLAIMS")
    if result.failed:
        parts.append(f"{result.failed:,} FAILED, see the columns error and replay")
    return f"{result.sweep}: {', '.join(parts)}"


def table(summary: SweepSummary) -> Table:
    """A row for each group: the mean, and half its confidence interval below.  A narrow terminal
    folds names, and never numbers."""
    rows = Table(box=SIMPLE, pad_edge=False, collapse_padding=True)
    for name in short_names(summary.by).values():
        rows.add_column(name, overflow="fold")
    for label in ("runs", *(column.label.replace(" ", "\n", 1) for column in COLUMNS)):
        rows.add_column(label, justify="right", no_wrap=True)
    for group in summary.groups:
        rows.add_row(
            *(show_value(group.parameters[name]).replace(":", ":\n") for name in summary.by),
            _runs(group),
            *(_interval(column.metric, group.metrics[column.metric]) for column in COLUMNS),
        )
    return rows


def _runs(group: SweepGroup) -> str:
    """The number of runs, and how many of them are different, failed or cut off."""
    different = group.runs - group.failed - group.same
    cut_off = group.cut_off
    parts = ((different, "different"), (group.failed, "failed"), (cut_off, "cut off"))
    return "\n".join([str(group.runs), *(f"{n} {what}" for n, what in parts if n)])


def _interval(name: str, found: Interval) -> str:
    if found.mean is None:
        return "-"
    mean = format_value(name, found.mean)
    return mean if found.low is None else f"{mean}\n± {format_value(name, found.half)}"


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Each name without the names of its tables, where the rest is still unique."""
    last = [name.rpartition(".")[2] for name in names]
    return {
        name: end if last.count(end) == 1 else name for name, end in zip(names, last, strict=True)
    }


def show_value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def name_of(group: SweepGroup, by: Sequence[str], without: str | None) -> str:
    """The values of a group, with their keys, without one of them."""
    return ", ".join(name_value(by, key, group.parameters[key]) for key in by if key != without)


def name_value(by: Sequence[str], key: str, value: Any) -> str:
    """The value with its key; a protocol needs no key."""
    shown = show_value(value)
    return shown if key == "protocol" else f"{short_names(by)[key]} = {shown}"
