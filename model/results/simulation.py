"""The result of `asif simulate`: one timed run, the same run without failures, and without
protection.

Rule of this file: values only; a unit is at the end of a name.  sim.scenarios.run makes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from model.results.plain import key


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """The bytes in the memory of a node: their mean over time, and their peak."""

    mean: float
    peak: int


@dataclass(frozen=True, slots=True)
class KindTraffic:
    """The messages of one kind, their bytes, and the service that they asked for."""

    messages: int
    bytes: int
    service_s: float


@dataclass(frozen=True, slots=True)
class Metrics:
    """The numbers of one run; sim.timed.metrics defines them.

    None: there was no such phase, no output, or a recovery did not end.
    """

    events: int
    outputs: int
    ended_s: float
    crashes: int
    crashes_missed: int
    detection_s: float | None
    restart_s: float | None
    redirection_s: float | None
    replay_s: float | None
    catch_up_s: float | None
    recovery_s: float | None
    recoveries_cut_off: int
    latency_mean_s: float | None
    latency_p50_s: float | None
    latency_p95_s: float | None
    latency_p99_s: float | None
    latency_max_s: float | None
    throughput_in_events_per_s: float
    throughput_out_events_per_s: float
    link_bytes: int
    link_event_bytes: int
    link_control_bytes: int
    keep_alive_bytes: int
    busy_s: float
    service_event_s: float
    service_control_s: float
    peak_backup_events: int
    mean_backup_events: float
    end_backup_events: int
    events_first: int
    events_again: int
    events_in_vain: int
    events_replayed: int
    duplicates_discarded: int
    savepoints: int
    savepoint_s: float
    saves: int
    saving_s: float
    saved_bytes: int
    messages_lost: int
    peak_memory_bytes: int
    node_memory_bytes: Mapping[str, MemoryUse]
    notes: Mapping[str, int]
    traffic: Mapping[str, KindTraffic]
    node_busy_s: Mapping[str, float]

    def number(self, name: str) -> float | None:
        """The metric of this name, which is one number."""
        found: float | None = getattr(self, name)
        return found


@dataclass(frozen=True, slots=True)
class Overhead:
    """The costs of protection and of failures; sim.timed.metrics.overhead defines the shares."""

    protection_link_bytes: float | None
    protection_stream_bytes: float | None
    protection_busy: float | None
    protection_busy_part: float | None
    failures_link_bytes: float | None
    failures_busy: float | None
    failures_latency_mean: float | None
    failures_extra_bytes: int
    failures_extra_bytes_each: float | None
    failures_extra_busy_s: float
    failures_extra_busy_each_s: float | None


@dataclass(frozen=True, slots=True)
class FreeStep:
    """A step of a run that costs nothing.  key: the price that is 0; empty: there is none."""

    what: str
    key: str


@dataclass(frozen=True, slots=True)
class BusyShare:
    """The share of the time for which a node, a host or a link is busy.  kind: "node", "host" or
    "link"; the share of a host is that of its cores, in the mean."""

    name: str
    kind: str
    busy_share: float
    headroom: float


@dataclass(frozen=True, slots=True)
class CrashCourse:
    """A crash and its course (sim.timed.failures.Outage); a time is None if this never happened.

    cut_off: the input ended before the node had caught up.  expected_catch_up_s: the time that
    follows from the load; None if there is none.
    """

    node: str
    crashed_s: float
    detected_s: float
    restarted_s: float | None
    restored_s: float | None
    replayed_s: float | None
    caught_up_s: float | None
    detection_s: float | None
    restart_s: float | None
    redirection_s: float | None
    replay_s: float | None
    catch_up_s: float | None
    recovery_s: float | None
    cut_off: bool
    expected_catch_up_s: float | None

    def seconds(self, name: str) -> float | None:
        """The moment or the phase of this name."""
        found: float | None = getattr(self, name)
        return found


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """The checkpoints of the run with failures: how many, and how long each was under way.

    ages_s: at each crash, the time since the last complete checkpoint began (without one, since the
    start).  None: no checkpoint is complete.
    """

    begun: int
    complete: int
    given_up: int
    mean_s: float | None
    longest_s: float | None
    ages_s: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class LatencySeries:
    """Latencies in the stretches of a run with outputs.  time_s: of the last output of a stretch.
    broken: before it was a stretch without outputs."""

    time_s: tuple[float, ...]
    outputs: tuple[int, ...]
    broken: tuple[bool, ...]
    p50_s: tuple[float, ...]
    p95_s: tuple[float, ...]
    p99_s: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class SimulationSeries:
    """Counts over time.  queue_messages, memory_bytes: by node."""

    time_s: tuple[float, ...]
    backup_events: tuple[int, ...]
    queue_messages: Mapping[str, tuple[int, ...]]
    memory_bytes: Mapping[str, tuple[int, ...]]
    latency: LatencySeries


@dataclass(frozen=True, slots=True)
class TracedStep:
    """A step that took place: its node, the kind of its message, the message as people read it, and
    who sent it.  Between `served_s` and `done_s` its effects wait for the disk."""

    node: str
    kind: str
    shown: str
    sender: str | None = field(metadata={"key": "from"})
    began_s: float
    served_s: float
    done_s: float


@dataclass(frozen=True, slots=True)
class Simulation:
    """same: is the output that of a run without failures, in every byte and in order?  If not, and
    no output is missing or surplus, the order differs.  recovery_type: the weakest of all edges.
    violations: the properties that the end of the run violates, but for those that compare outputs.
    judged_at_end: the properties of every world, by which the run is judged at its end alone.
    checkpoints: of a family whose notes say when one begins and ends.  steps: only of a traced
    run."""

    scenario: str
    protocol: str
    knobs: Mapping[str, object]
    input: str
    pattern: str
    seed: int
    unit_s: float
    same: bool
    recovery_type: str
    expected_outputs: int
    missing_outputs: int
    surplus_outputs: int
    sha256: str
    expected_sha256: str
    metrics: Metrics
    without_failures: Metrics
    unprotected: Metrics
    overhead: Overhead
    free_steps: tuple[FreeStep, ...]
    load: tuple[BusyShare, ...]
    failures_asked: int
    failures: tuple[CrashCourse, ...]
    series: SimulationSeries
    violations: tuple[str, ...] = ()
    judged_at_end: tuple[str, ...] = ()
    checkpoints: Checkpoints | None = key(absent=True, default=None)
    steps: tuple[TracedStep, ...] | None = key(absent=True, default=None)

    @property
    def as_promised(self) -> bool:
        """Is the output the same, and does the end violate no property?"""
        return self.same and not self.violations
