"""The result of `asif simulate --study`: the costs of failures an hour, and availability.

Rule of this file: values only; sim.sweeps.study makes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.results.interval import Interval


@dataclass(frozen=True, slots=True)
class StudiedFailure:
    """The costs of one failure: its nodes crash together."""

    nodes: tuple[str, ...]
    mean_between_s: float | None
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
    """half_width: of overdue seconds, a share of the mean.  another_failure: the share of
    recoveries in which another failure comes.  per_hour: by cost.  availability: the share of time
    in which no result is overdue."""

    scenario: str
    protocol: str
    knobs: Mapping[str, object]
    input: str
    pattern: str
    replications: int
    resumed: int
    confidence: float
    half_width: float
    half_width_wanted: float
    narrow: bool
    warm_up_s: float
    warm_up_rule: str
    another_failure: float
    failures: tuple[StudiedFailure, ...]
    per_hour: Mapping[str, Interval]
    availability: Interval
