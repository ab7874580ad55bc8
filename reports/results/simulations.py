"""A timed run for a terminal: its costs, compared with the run without failures, and with none.

Rule of this file: no plots (reports.results.simulation_plots) and no decision; the file renders the
value of model.results.simulation, or of model.results.study.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.box import SIMPLE
from rich.table import Table

from model.results.interval import Interval
from model.results.simulation import MemoryUse, Metrics, Simulation
from model.results.study import Study
from reports.tables import SOFT

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
    ("memory, peak", "peak_memory_bytes"),
    ("events delivered first", "events_first"),
    ("events delivered again", "events_again"),
    ("events sent in vain", "events_in_vain"),
    ("duplicates discarded", "duplicates_discarded"),
    ("savepoints", "savepoints"),
    ("durable writes", "saves"),
    ("time in durable writes", "saving_s"),
    ("written to own storage", "saved_bytes"),
)
"""The rows of the table: (label, metric); the name of a metric ends with its unit."""


def table(result: Simulation) -> Table:
    """The table of metrics: with failures, without, and without protection."""
    crashes = len(result.failures)
    rows = Table("", f"{crashes} crash{'' if crashes == 1 else 'es'}", "none", "unprotected")
    for label, name in ROWS:
        rows.add_row(label, *values(result, name))
    return rows


def runs(result: Simulation) -> tuple[Metrics, Metrics, Metrics]:
    """The columns of the table: the metrics with failures, without, and without protection."""
    return result.metrics, result.without_failures, result.unprotected


SHOWN_AGES = 5
"""Of how many crashes the age of the last checkpoint is shown."""
PEAKS = frozenset(
    {
        "recovery_s",
        "catch_up_s",
        "latency_max_s",
        "peak_backup_events",
        "peak_memory_bytes",
    }
)
"""Metrics that a longer input may only raise: they are "at least" if a recovery is cut off."""


def values(result: Simulation, name: str) -> list[str]:
    """The metric in each of the runs."""
    return [_at_least(run, name) + format_value(name, run.number(name)) for run in runs(result)]


def _at_least(run: Metrics, name: str) -> str:
    known = name in PEAKS and run.number(name) is not None
    return "≥ " if run.recoveries_cut_off and known else ""


def failures(result: Simulation) -> Table:
    """The table of crashes, with a row for each crash.

    expected: the time to catch up that follows from the load (sim.timed.load), beside replay and
    catch-up.
    """
    rows = Table(
        *("crash of", "at", f"detec{SOFT}tion", "restart", f"redirec{SOFT}tion", "replay"),
        *(f"catch-{SOFT}up", f"(expec{SOFT}ted)", "recovery"),
        box=SIMPLE,
        pad_edge=False,
        collapse_padding=True,
    )
    phases = (
        *("detection_s", "restart_s", "redirection_s", "replay_s", "catch_up_s"),
        *("expected_catch_up_s", "recovery_s"),
    )
    for failure in result.failures:
        at_least = {"catch_up_s", "recovery_s"} if failure.cut_off else ()
        times = (
            "≥ " * (phase in at_least and failure.seconds(phase) is not None)
            + format_value(phase, failure.seconds(phase))
            for phase in phases
        )
        rows.add_row(failure.node, format_value("at_s", failure.crashed_s), *times)
    return rows


def cut_off(result: Simulation) -> list[str]:
    """A line if the input ended before a node had caught up."""
    nodes = dict.fromkeys(one.node for one in result.failures if one.cut_off)
    if not nodes:
        return []
    return [
        f"CUT OFF: the input ends before {' and '.join(nodes)} had caught up; with more input, "
        "recoveries and peaks are larger (give more events, or --until-caught-up; "
        "--allow-cut-off accepts it)"
    ]


def not_crashed(result: Simulation) -> list[str]:
    """A line if crashes that the scenario asks for did not happen."""
    missed = result.metrics.crashes_missed
    lines = []
    if missed:
        lines.append(
            f"Crashes that did not happen: {missed:,}; the node was down already, or the protocol "
            "assumes that failures come one by one"
        )
    if result.failures_asked and not result.failures and not missed:
        lines.append(
            "No crash came in this run: each pause ended before its detection, or mean_between_s "
            "is long beside the run; --study estimates what such crashes cost an hour"
        )
    return lines


def load(result: Simulation) -> list[str]:
    """The busy share of each node and of the busiest link; a line for each that cannot keep up."""
    rows = result.load
    if not rows:
        return []
    nodes = [row for row in rows if row.kind != "link"]
    links = [row for row in rows if row.kind == "link"]
    shown = [*nodes, *sorted(links, key=lambda row: -row.busy_share)[:1]]
    shares = ", ".join(f"{row.name} {row.busy_share:.1%}" for row in shown)
    return [
        f"Busy while input arrives: {shares} (the busiest link comes last)",
        *(
            f"OVERLOAD: the {row.kind} {row.name} cannot keep up: it is asked for "
            f"{row.busy_share:.0%} of its time, and its backlog grows as long as input arrives"
            for row in rows
            if row.busy_share >= 1
        ),
    ]


def checkpoints(result: Simulation) -> list[str]:
    """A line on the checkpoints, if the family says when one begins and ends."""
    found = result.checkpoints
    if found is None:
        return []
    parts = [f"Checkpoints: {found.complete:,} complete of {found.begun:,} begun"]
    if found.mean_s is not None and found.longest_s is not None:
        mean, longest = (format_value("_s", one) for one in (found.mean_s, found.longest_s))
        parts.append(f"{mean} each (longest {longest})")
    if found.given_up:
        parts.append(f"{found.given_up:,} given up")
    if found.ages_s:
        ages = ", ".join(format_value("_s", one) for one in found.ages_s[:SHOWN_AGES])
        more = ", ..." if len(found.ages_s) > SHOWN_AGES else ""
        crash = "each crash" if len(found.ages_s) > 1 else "the crash"
        parts.append(f"age of the last complete one at {crash}: {ages}{more}")
    return [", ".join(parts)]


def memory(result: Simulation) -> Table:
    """The memory of each node: mean and peak, with failures and without."""
    rows = Table("memory of", "mean, none", "peak, none", "mean", "peak")
    for node in result.metrics.node_memory_bytes:
        cells = []
        for run in (result.without_failures, result.metrics):
            held = run.node_memory_bytes.get(node, MemoryUse(0.0, 0))
            at_least = "≥ " if run.recoveries_cut_off else ""
            peak = format_value("_bytes", held.peak)
            cells += [format_value("_bytes", held.mean), at_least + peak]
        rows.add_row(node, *cells)
    return rows


STUDIED = (
    ("recovery", "recovery_s"),
    ("results overdue", "overdue_s"),
    ("events sent in addition", "extra_events"),
    ("sent in addition", "extra_bytes_bytes"),
    ("results missing", "missing_outputs"),
    ("results too many", "surplus_outputs"),
)
"""The rows of the table of a study: (label, cost, with its unit at the end)."""
SPREAD = (
    ("  median", "p50_s"),
    ("  95 %", "p95_s"),
    ("  99 %", "p99_s"),
    ("  longest", "longest_s"),
)
"""The rows of the spread of recoveries."""
STOPS = {
    "overdue": "overdue seconds",
    "recovery": "the mean recovery",
    "target": "the share below the target",
    "replications": "overdue seconds",
}
"""The quantity whose interval is printed, by the rule that ends the study."""


def study_table(result: Study) -> Table:
    """The table of the costs of each failure, and of all an hour and a year, with intervals."""
    names = [" and ".join(failure.nodes) for failure in result.failures]
    rows = Table("", *(f"a crash of {name}" for name in names), "an hour", "a year")
    times = [*(one.times_a_year for one in result.failures), result.times_a_year]
    each = [_rounded("times", time) for time in times]
    rows.add_row("times a year", *each[:-1], "", each[-1])
    for label, name in STUDIED:
        cost = name.removesuffix("_bytes")
        found = [failure.cost(cost) for failure in result.failures]
        cells = [_interval(name, one) for one in found]
        all_ = [one.get(cost) for one in (result.per_hour, result.per_year)]
        rows.add_row(label, *cells, *(_interval(name, one) if one else "" for one in all_))
        if name == "recovery_s":
            _add_spread(rows, result)
    return rows


def _add_spread(rows: Table, result: Study) -> None:
    """The rows of the spread of recoveries; the last column is of all failures together."""
    spreads = [*(failure.recoveries for failure in result.failures), result.recoveries]
    for label, name in SPREAD:
        each = [format_value(name, one.seconds(name)) for one in spreads]
        rows.add_row(label, *each[:-1], "", each[-1])
    if result.target_s is not None:
        each = [_range(one.within_target) for one in spreads]
        rows.add_row(f"  below {result.target_s:g} s", *each[:-1], "", each[-1])


def _range(found: Interval | None) -> str:
    """A share with the ends of its interval, which is not symmetric."""
    if found is None:
        return "-"
    return f"{found.mean:.1%} ({found.low:.1%} to {found.high:.1%})"


def study_lines(result: Study) -> Iterator[str]:
    """The lines below the table of a study: availability, and how far to trust it."""
    share = result.availability
    yield (
        f"availability {share.mean:.5%} ({share.low:.5%} to {share.high:.5%}): the share "
        "of time in which no result is overdue"
    )
    if None in (result.recoveries.p95_s, result.recoveries.p99_s):
        yield (
            'Percentiles: "-" where the replications are too few, 20 for 95 % and 100 for 99 % '
            '(study.stop = "replications")'
        )
    narrow = "" if result.narrow else f", NOT {result.half_width_wanted:.1%} as asked"
    yield (
        f"{result.replications} replications, 95% intervals; {STOPS[result.stop]} within "
        f"{result.half_width:.1%}{narrow}; warm-up of {result.warm_up_s:.3g} s left out "
        f"({result.warm_up_rule}); another failure comes in {result.another_failure:.2%} of "
        "the recoveries"
    )


def _interval(name: str, found: Interval) -> str:
    return f"{_rounded(name, found.mean)} ± {_rounded(name, found.half)}"


def _rounded(name: str, value: float | None) -> str:
    """As format_value; a count of less than a hundred, which may be a mean, with three digits."""
    if value is None or name.endswith(("_s", "_bytes")) or abs(value) >= 100:
        return format_value(name, value)
    return f"{value:.3g}"


def verdict(result: Simulation) -> str:
    """The line that answers: is the output as if nothing had failed?"""
    if result.same:
        return f"{result.expected_outputs:,} outputs, as if nothing had failed"
    return (
        f"NOT as if nothing had failed: of {result.expected_outputs:,} outputs "
        f"{result.missing_outputs:,} are missing, and {result.surplus_outputs:,} are too many"
    )


def judged(result: Simulation) -> Iterator[str]:
    """The properties that are violated, and those by which not every world was judged."""
    yield from (f"VIOLATED at the end: {name}" for name in result.violations)
    for name in result.judged_at_end:
        yield f"judged at the end alone, and by asif run in every world: {name}"


def overhead(result: Simulation) -> str:
    """The line with the costs of protection, and the costs of these failures."""
    found = result.overhead
    ready = (
        f"Protection: {_more(found.protection_link_bytes)} bytes and "
        f"{_more(found.protection_busy)} processing than without any "
        f"({_share(found.protection_busy_part)} of all processing)"
    )
    stored, stream = result.without_failures.saved_bytes, found.protection_stream_bytes
    if stored and stream is not None:
        ready += f"; counting its writes, {stream:.3g} bytes for each byte of the stream"
    bytes_, busy = found.failures_extra_bytes_each, found.failures_extra_busy_each_s
    if bytes_ is None or busy is None:  # no crash
        return ready
    return (
        f"{ready}; each crash: {_extra('_bytes', bytes_)} and {_extra('_s', busy)} of processing "
        f"(all of them {_share(found.failures_link_bytes)} and "
        f"{_share(found.failures_busy)} of this run)"
    )


def free(result: Simulation) -> list[str]:
    """A line with the steps that cost nothing in this scenario."""
    steps = (
        f"{step.what} ({step.key} = 0)" if step.key else step.what for step in result.free_steps
    )
    return [f"Free here: {', '.join(steps)}"]


def _more(value: float | None) -> str:
    return _share(value) + " more" if value is None or value >= 0 else f"{-value:.1%} less"


def _extra(unit: str, value: float) -> str:
    return f"{format_value(unit, abs(value))} {'more' if value >= 0 else 'less'}"


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
        return _seconds(value)
    return f"{value:,.0f}"


def _seconds(value: float) -> str:
    """The time with three digits, and without an exponent if it is long."""
    if abs(value) >= 999.5:
        return f"{value:,.0f} s"
    return f"{value * 1000:.3g} ms" if abs(value) < 0.9995 else f"{value:.3g} s"
