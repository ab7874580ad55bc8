"""A timed run for a terminal: its costs, compared with the same run without failures.

Rule of this file: no plots (reports.results.simulation_plots) and no decision; the file renders the
value that sim.scenarios.run returns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

Result = Mapping[str, Any]

ROWS = (
    ("recovery", "recovery_s"),
    ("  detection", "detection_s"),
    ("  restart", "restart_s"),
    ("  redirection", "redirection_s"),
    ("  replay", "replay_s"),
    ("  catch-up", "catch_up_s"),
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
"""The rows of the table: (label, metric); the name of a metric ends with its unit."""


def table(result: Result) -> Table:
    """The table of metrics, with failures and without."""
    rows = Table("", f"{len(result['failures'])} crashes", "none")
    for label, name in ROWS:
        rows.add_row(label, *(format_value(name, result[run][name]) for run in RUNS))
    return rows


RUNS = ("metrics", "without_failures")


def failures(result: Result) -> Table:
    """The table of crashes, with a row for each crash."""
    rows = Table(
        *("crash of", "at", "detection", "restart", "redirection", "replay", "catch-up"),
        "recovery",
    )
    for failure in result["failures"]:
        phases = (
            "detection_s",
            "restart_s",
            "redirection_s",
            "replay_s",
            "catch_up_s",
            "recovery_s",
        )
        times = (format_value(phase, failure[phase]) for phase in phases)
        rows.add_row(failure["node"], format_value("at_s", failure["crashed_s"]), *times)
    return rows


def verdict(result: Result) -> str:
    """The line that answers: is the output as if nothing had failed?"""
    if result["same"]:
        return f"{result['expected_outputs']:,} outputs, as if nothing had failed"
    return (
        f"NOT as if nothing had failed: of {result['expected_outputs']:,} outputs "
        f"{result['missing_outputs']:,} are missing, and {result['surplus_outputs']:,} are too many"
    )


def overhead(result: Result) -> str:
    """The line with the costs of being ready for failures, and the costs of these failures."""
    found = result["overhead"]
    ready = (
        f"To be ready: control messages are {_share(found['control_link_bytes'])} of the bytes of "
        f"events and {_share(found['control_busy'])} of their processing"
    )
    if not result["failures"]:
        return ready
    return (
        f"{ready}; these failures: {_share(found['failures_link_bytes'])} more bytes, "
        f"{_share(found['failures_busy'])} more processing"
    )


def _share(value: float | None) -> str:
    return "an unknown share" if value is None else f"{value:.1%}"


def format_value(name: str, value: float | None) -> str:
    """The value of a metric, with the unit at the end of the metric's name."""
    if value is None:
        return "-"
    if name.endswith("_events_per_s"):
        return f"{value:,.0f} events/s"
    if name.endswith("_share"):
        return f"{value:.1%}"
    if name.endswith("_bytes"):
        return f"{value / 1000:,.1f} kB"
    if name.endswith("_s"):
        return f"{value * 1000:,.3g} ms" if value < 1 else f"{value:,.3g} s"
    return f"{value:,.0f}"
