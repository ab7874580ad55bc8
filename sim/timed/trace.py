"""A timed run as a trace in Chrome's trace-event format, which Perfetto opens.

Rule of this file: no input but a traced model.results.simulation.Simulation.  The trace has one
process and a thread for each node: a step is a complete event ("X") as long as its service,
failures are instants ("i"), queues and backup are counters ("C").  Times are microseconds, as in
the format.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from model.actions import Crash, Deliver, Restart
from model.errors import Invalid
from model.results.simulation import CrashCourse, Simulation, SimulationSeries, TracedStep
from model.results.table import Row
from sim.timed.record import LogEntry

PID = 1
MICRO = 1e6
MOMENTS = ("crashed", "detected", "restarted", "restored", "caught_up")


TraceEvent: TypeAlias = Row
"""An event in Chrome's format, which says its keys."""


def steps(log: Sequence[LogEntry], show: Callable[[Any], str]) -> tuple[TracedStep, ...]:
    """The steps that took place, in order; moments in seconds."""
    return tuple(
        TracedStep(
            node=entry.action.node,
            kind=entry.what[0],
            shown=show(entry.what[1]) if isinstance(entry.action, Deliver) else "",
            sender=getattr(entry.action, "sender", None),
            began_s=entry.began_ps / 1e12,
            served_s=entry.served_ps / 1e12,
            done_s=entry.done_ps / 1e12,
        )
        for entry in sorted(log, key=lambda entry: entry[:3])
        if not isinstance(entry.action, Crash | Restart)
    )


def chrome(result: Simulation) -> str:
    """The trace of a run as JSON.

    Raises Invalid if the result has no steps.
    """
    if result.steps is None:
        raise Invalid("trace: the run was not traced; simulate it with traced=True")
    names = dict.fromkeys([step.node for step in result.steps])
    names |= dict.fromkeys(result.series.queue_messages)
    threads = {name: at for at, name in enumerate(names, 1)}
    events = [
        *_name_threads(threads, result),
        *_steps(threads, result.steps),
        *_failures(threads, result.failures),
        *_counters(result.series),
    ]
    # Metadata comes first, then events by time, for viewers that read the file as a stream.
    events.sort(key=lambda event: (event["ph"] != "M", event.get("ts", 0.0)))
    text = json.dumps(
        {"displayTimeUnit": "ms", "traceEvents": events},
        ensure_ascii=False,
        separators=(",", ":"),
        allow_nan=False,
    )
    return text + "\n"


def _name_threads(threads: Mapping[str, int], result: Simulation) -> Iterator[TraceEvent]:
    name = f"{result.protocol}: {result.scenario}"
    yield {"ph": "M", "name": "process_name", "pid": PID, "tid": 0, "args": {"name": name}}
    for node, tid in threads.items():
        meta = {"ph": "M", "pid": PID, "tid": tid}
        yield {**meta, "name": "thread_name", "args": {"name": node}}
        yield {**meta, "name": "thread_sort_index", "args": {"sort_index": tid}}


def _steps(threads: Mapping[str, int], found: Sequence[TracedStep]) -> Iterator[TraceEvent]:
    for step in found:
        start, end = _micro(step.began_s), _micro(step.served_s)
        yield {
            "ph": "X",
            "name": step.kind,
            "cat": "step",
            "pid": PID,
            "tid": threads[step.node],
            "ts": start,
            "dur": round(end - start, 6),
            "args": {"message": step.shown, "from": step.sender or ""},
        }


def _failures(threads: Mapping[str, int], found: Sequence[CrashCourse]) -> Iterator[TraceEvent]:
    for failure in found:
        for moment in MOMENTS:
            at = failure.seconds(f"{moment}_s")
            if at is not None:
                yield {
                    "ph": "i",
                    "s": "t",
                    "name": moment.replace("_", " "),
                    "cat": "failure",
                    "pid": PID,
                    "tid": threads[failure.node],
                    "ts": _micro(at),
                }


def _counters(series: SimulationSeries) -> Iterator[TraceEvent]:
    backup = {"backup": ("events", series.backup_events)}
    queues = {
        f"queue of {name}": ("messages", values) for name, values in series.queue_messages.items()
    }
    for name, (unit, values) in (backup | queues).items():
        for at, value in zip(series.time_s, values, strict=True):
            counter = {"ph": "C", "name": name, "pid": PID, "tid": 0}
            yield {**counter, "ts": _micro(at), "args": {unit: value}}


def _micro(seconds: float) -> float:
    """The time in microseconds, exact to the driver's picosecond."""
    return round(seconds * MICRO, 6)
