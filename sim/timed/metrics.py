"""Metrics: the numbers of a timed run, with their units in their names.

Rule of this file: no wall clock; the metrics are computed from the driver's counts alone, so that
equal runs give equal bytes.

The latency of an output is the time from the moment when its triggering input event was handed out
until the sink passed the output on.  The body of a complex event has the time of the event that
triggered it (model.oracle), and input events are handed out at their time, so that the driver need
not follow any event.  The n-th percentile is the smallest value that at least n in a hundred values
do not exceed.

Events are counted at every hop, the same way for every protocol: by the driver, and not by notes.
In vain: events that were sent to a node that was down, or that a node had not processed when it
crashed.  Again: events delivered beyond those of the same run without failures.  First: the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from model.core import CHECKPOINTED, DISCARDED, REPLAYED, NodeName
from model.recovery import classify
from model.results.simulation import (
    KindTraffic,
    LatencySeries,
    MemoryUse,
    Metrics,
    Overhead,
    SimulationSeries,
)
from sim.outputs import Outputs
from sim.timed.costs import PS, Costs
from sim.timed.detector import Detector
from sim.timed.emissions import OutputRecord
from sim.timed.failures import recoveries
from sim.timed.load import are_cut_off
from sim.timed.record import SentMessages, TimedResult

Floats: TypeAlias = NDArray[np.float64]

BINS = 120
"""The number of stretches of a run for which latencies over time are reported."""
PERCENTILES = (50, 95, 99)
PHASES = ("detection_s", "restart_s", "redirection_s", "replay_s", "catch_up_s")


def metrics(
    result: TimedResult,
    outputs: OutputRecord,
    costs: Costs,
    detector: Detector,
    free: TimedResult | None = None,
) -> Metrics:
    """The numbers of a run: one call that names all fields, and therefore long.

    free: the same run without failures, if this one has some.

    If there were several crashes, each phase is the longest one that ended.  A recovery lasts from
    a crash until the node has caught up, also over further crashes; recovery_s is the longest one,
    None if a node never caught up.  service_..._s: the service that messages asked for, also lost
    messages.  busy_s: the service that operators did.
    """
    seconds = result.ended_ps / PS
    delays = _delays(outputs)[1]
    traffic = result.traffic
    data = [row for row in traffic.values() if row.events]
    control = [row for row in traffic.values() if not row.events]
    courses = [outage.course() for outage in result.outages]
    longest = {phase: _longest([one.seconds(phase) for one in courses]) for phase in PHASES}
    notes = result.notes
    made = notes.get(CHECKPOINTED.name, 0)
    arrived = delivered(result)
    again = 0 if free is None else max(0, arrived - delivered(free))
    memory = memory_bytes(result)
    return Metrics(
        events=result.events,
        outputs=len(delays),
        ended_s=seconds,
        crashes=len(courses),
        crashes_missed=result.missed,
        detection_s=longest["detection_s"],
        restart_s=longest["restart_s"],
        redirection_s=longest["redirection_s"],
        replay_s=longest["replay_s"],
        catch_up_s=longest["catch_up_s"],
        recovery_s=_recovery(result),
        recoveries_cut_off=sum(are_cut_off(result.outages, result.asked)),
        latency_mean_s=float(delays.mean()) if len(delays) else None,
        latency_p50_s=_percentile(delays, 50),
        latency_p95_s=_percentile(delays, 95),
        latency_p99_s=_percentile(delays, 99),
        latency_max_s=float(delays.max()) if len(delays) else None,
        throughput_in_events_per_s=result.events / seconds if seconds else 0.0,
        throughput_out_events_per_s=len(delays) / seconds if seconds else 0.0,
        link_bytes=_bytes(traffic.values()),
        link_event_bytes=_bytes(data),
        link_control_bytes=_bytes(control),
        keep_alive_bytes=_keep_alives(result, detector) * costs.sizes.control_bytes,
        busy_s=sum(result.busy_ps.values()) / PS,
        service_event_s=sum(row.service_ps for row in data) / PS,
        service_control_s=sum(row.service_ps for row in control) / PS,
        peak_backup_events=result.backup_peak,
        mean_backup_events=result.backup_mean,
        end_backup_events=result.points[-1].backup,
        events_first=arrived - again,
        events_again=again,
        events_in_vain=result.in_vain,
        events_replayed=notes.get(REPLAYED.name, 0),
        duplicates_discarded=notes.get(DISCARDED.name, 0),
        savepoints=made,
        savepoint_s=made * costs.service.savepoint_s,
        saves=result.saves,
        saving_s=result.saving_ps / PS,
        saved_bytes=result.saved_bytes,
        messages_lost=result.lost,
        peak_memory_bytes=result.memory_peak,
        node_memory_bytes=memory,
        notes=dict(result.notes),
        traffic={
            kind: KindTraffic(row.messages, row.bytes, row.service_ps / PS)
            for kind, row in traffic.items()
        },
        node_busy_s={name: busy / PS for name, busy in result.busy_ps.items()},
    )


def delivered(result: TimedResult) -> int:
    """The events that nodes received and processed, at all hops."""
    return sum(row.events for row in result.traffic.values()) - result.in_vain


def memory_bytes(result: TimedResult) -> dict[NodeName, MemoryUse]:
    """By node, the mean over the points and the peak of the bytes in its memory."""
    found: dict[NodeName, MemoryUse] = {}
    for at, name in enumerate(result.states):
        area = before = 0
        for point in result.points:
            area += point.memory[at] * (point.at_ps - before)
            before = point.at_ps
        mean = area / before if before else 0.0
        found[name] = MemoryUse(mean, result.memory_peaks[name])
    return found


def overhead(run: Metrics, free: Metrics, unprotected: Metrics) -> Overhead:
    """The costs of protection, and the costs of failures.

    Protection: the run without failures, compared with the same workload without any protection.
    Bytes are those on links and of keep-alives; busy time is that of operators, savepoints and
    writes that block included.  Shares: 0.1 means a tenth more.  protection_busy_part: the part of
    all busy time that is protection.

    protection_stream_bytes: the bytes for protection, sent and stored, for each byte of the stream:
    of the events on all links without protection.

    Failures: the run with failures, compared with the run without.  Shares become small in a long
    run, so the difference is there, too, also for one crash.
    """
    ready, bare = (each.link_bytes + each.keep_alive_bytes for each in (free, unprotected))
    extra_bytes = run.link_bytes - free.link_bytes
    extra_busy = run.busy_s - free.busy_s
    return Overhead(
        protection_link_bytes=_more(ready, bare),
        protection_stream_bytes=_share(
            ready - bare + free.saved_bytes - unprotected.saved_bytes, unprotected.link_event_bytes
        ),
        protection_busy=_more(free.busy_s, unprotected.busy_s),
        protection_busy_part=_share(free.busy_s - unprotected.busy_s, free.busy_s),
        failures_link_bytes=_more(run.link_bytes, free.link_bytes),
        failures_busy=_more(run.busy_s, free.busy_s),
        failures_latency_mean=_more(run.latency_mean_s, free.latency_mean_s),
        failures_extra_bytes=extra_bytes,
        failures_extra_bytes_each=_share(extra_bytes, run.crashes),
        failures_extra_busy_s=extra_busy,
        failures_extra_busy_each_s=_share(extra_busy, run.crashes),
    )


def series(result: TimedResult, outputs: OutputRecord) -> SimulationSeries:
    """The series over time: backup and queues at points, latency percentiles in stretches with
    outputs."""
    points = result.points
    return SimulationSeries(
        time_s=tuple(point.at_ps / PS for point in points),
        backup_events=tuple(point.backup for point in points),
        queue_messages={
            name: tuple(point.queues[at] for point in points)
            for at, name in enumerate(result.queued)
        },
        memory_bytes={
            name: tuple(point.memory[at] for point in points)
            for at, name in enumerate(result.states)
        },
        latency=_latencies(result, outputs),
    )


def _latencies(result: TimedResult, outputs: OutputRecord) -> LatencySeries:
    times, delays = _delays(outputs)
    width = result.ended_ps / PS / BINS or 1.0
    bins = np.minimum((times / width).astype(np.int32), BINS - 1)
    found, begins = np.unique(bins, return_index=True)
    numbers, ends = found.tolist(), [*begins.tolist(), len(delays)][1:]  # none: no outputs
    inside = [delays[start:end] for start, end in zip(begins, ends, strict=True)]
    p50, p95, p99 = (tuple(_rank(one, percent) for one in inside) for percent in PERCENTILES)
    return LatencySeries(
        time_s=tuple(float(times[end - 1]) for end in ends[: len(numbers)]),
        outputs=tuple(map(len, inside)),
        broken=tuple(number > before + 1 for before, number in pairwise((0, *numbers))),
        p50_s=p50,
        p95_s=p95,
        p99_s=p99,
    )


def recovery_type(expected: Outputs, observed: Outputs) -> str:
    """The weakest type of recovery of all edges."""
    return max(map(classify, chain(*expected), chain(*observed))).name.lower()


def _delays(outputs: OutputRecord) -> tuple[Floats, Floats]:
    """The outputs as (time, latency), in seconds, in the order of both."""
    times: Floats = np.asarray(outputs.times_s)
    delays: Floats = np.asarray(outputs.delays_s)
    later, same = times[1:] > times[:-1], times[1:] == times[:-1]
    if (later | (same & (delays[1:] >= delays[:-1]))).all():
        return times, delays
    order = np.lexsort((delays, times))
    return times[order], delays[order]


def _percentile(values: Floats, percent: int) -> float | None:
    return _rank(values, percent) if len(values) else None


def _rank(values: Floats, percent: int) -> float:
    return float(np.percentile(values, percent, method="inverted_cdf"))


def _keep_alives(result: TimedResult, detector: Detector) -> int:
    away = sum(
        (outage.restarted_ps or result.ended_ps) - outage.crashed_ps for outage in result.outages
    )
    up = (len(result.queued) * result.ended_ps - away) / PS
    return int(up / detector.keep_alive_s)


def _bytes(rows: Iterable[SentMessages]) -> int:
    return sum(row.bytes for row in rows)


def _longest(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)


def _recovery(result: TimedResult) -> float | None:
    found = list(recoveries(result.outages))
    lasted = [end - start for start, end in found if end is not None]
    return max(lasted) / PS if lasted and len(lasted) == len(found) else None


def _more(value: float | None, than: float | None) -> float | None:
    return None if value is None or not than else value / than - 1


def _share(value: float, of: float) -> float | None:
    return value / of if of else None
