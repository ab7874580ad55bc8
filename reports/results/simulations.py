"""A timed run for a terminal: what it cost, beside the same run without failures.

Rule of this file: it reads the value that sim.scenarios.run makes and decides nothing; plots of it
are reports.results.simulation_plots.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

Result = Mapping[str, Any]

ROWS = (
    ("recovery", "recovery_s"),
    ("  detection", "detection_s"),
    ("  redirection", "redirection_s"),
    ("  replay", "replay_s"),
    ("latency, median", "latency_p50_s"),
    ("latency, 95 %", "latency_p95_s"),
    ("latency, 99 %", "latency_p99_s"),
    ("latency, longest", "latency_max_s"),
    ("throughput in", "throughput_in_events_per_s"),
    ("throughput out", "throughput_out_events_per_s"),
    ("sent, events", "link_event_bytes"),
    ("sent, control", "link_control_bytes"),
    ("sent, keep-alives", "keep_alive_bytes"),
    ("processing", "busy_s"),
    ("upstream backup, peak", "peak_backup_events"),
    ("upstream backup, mean", "mean_backup_events"),
    ("events replayed", "events_replayed"),
    ("duplicates discarded", "duplicates_discarded"),
    ("savepoints", "savepoints"),
    ("durable writes", "saves"),
    ("time in durable writes", "saving_s"),
)
"""What a row is called, and its metric, whose name ends with its unit."""


def table(result: Result) -> Table:
    """Metrics, with failures and without."""
    rows = Table("", f"{len(result['failures'])} crashes", "none")
    for label, name in ROWS:
        rows.add_row(label, *(shown(name, result[run][name]) for run in RUNS))
    return rows


RUNS = ("metrics", "without_failures")


def failures(result: Result) -> Table:
    """A row each crash."""
    rows = Table("crash of", "at", "detection", "redirection", "replay", "recovery")
    for failure in result["failures"]:
        phases = ("detection_s", "redirection_s", "replay_s", "recovery_s")
        times = (shown(phase, failure[phase]) for phase in phases)
        rows.add_row(failure["node"], shown("at_s", failure["crashed_s"]), *times)
    return rows


def verdict(result: Result) -> str:
    """One line: is the output as if nothing had failed?"""
    if result["same"]:
        return f"{result['expected_outputs']:,} outputs, as if nothing had failed"
    return (
        f"NOT as if nothing had failed: of {result['expected_outputs']:,} outputs "
        f"{result['missing_outputs']:,} are missing, and {result['surplus_outputs']:,} are too many"
    )


def overhead(result: Result) -> str:
    """One line: what it costs to be ready for failures, and what these failures cost."""
    found = result["overhead"]
    told = (
        f"To be ready: control messages are {_share(found['control_link_bytes'])} of the bytes of "
        f"events and {_share(found['control_busy'])} of their processing"
    )
    if not result["failures"]:
        return told
    return (
        f"{told}; these failures: {_share(found['failures_link_bytes'])} more bytes, "
        f"{_share(found['failures_busy'])} more processing"
    )


def _share(value: float | None) -> str:
    return "an unknown share" if value is None else f"{value:.1%}"


def shown(name: str, value: float | None) -> str:
    """With the unit that its name ends with."""
    if value is None:
        return "-"
    if name.endswith("_events_per_s"):
        return f"{value:,.0f} events/s"
    if name.endswith("_bytes"):
        return f"{value / 1000:,.1f} kB"
    if name.endswith("_s"):
        return f"{value * 1000:,.3g} ms" if value < 1 else f"{value:,.3g} s"
    return f"{value:,.0f}"
