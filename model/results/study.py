"""The result of `asif simulate --study`: the costs of failures an hour, and availability.

Rule of this file: values only; sim.sweeps.study makes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.results.interval import Interval


@dataclass(frozen=True, slots=True)
class RecoverySpread:
    """How long recoveries take, beside their mean; None of a percentile for which there are too few
    replications.  within_target: the share that is shorter than the target; None without one."""

    p50_s: float | None
    p95_s: float | None
    p99_s: float | None
    longest_s: float
    within_target: Interval | None

    def seconds(self, name: str) -> float | None:
        """The recovery of this name."""
        found: float | None = getattr(self, name)
        return found


@dataclass(frozen=True, slots=True)
class StudiedFailure:
    """The costs of one failure: its nodes crash together.  times_a_year: by its rate."""

    nodes: tuple[str, ...]
    mean_between_s: float | None
    times_a_year: float
    recoveries: RecoverySpread
    recovery_s: Interval
    overdue_s: Interval
    extra_events: Interval
    extra_bytes: Interval
    missing_outputs: Interval
    surplus_outputs: Interval

    def cost(self, name: str) -> Interval:
        """The cost of this name."""
        found: Interval = getattr(self, name)
        return found


@dataclass(frozen=True, slots=True)
class Study:
    """stop: whose interval ends the study, as in the scenario.  half_width: of this interval; of
    overdue seconds if no interval ends it.  another_failure: the share of recoveries in which
    another failure comes.  recoveries: of all failures, each as often as its rate.  per_hour,
    per_year: by cost.  availability: the share of time in which no result is overdue."""

    scenario: str
    protocol: str
    knobs: Mapping[str, object]
    input: str
    pattern: str
    replications: int
    resumed: int
    confidence: float
    stop: str
    target_s: float | None
    half_width: float
    half_width_wanted: float
    narrow: bool
    warm_up_s: float
    warm_up_rule: str
    another_failure: float
    failures: tuple[StudiedFailure, ...]
    times_a_year: float
    recoveries: RecoverySpread
    per_hour: Mapping[str, Interval]
    per_year: Mapping[str, Interval]
    availability: Interval
