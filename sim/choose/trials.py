"""Trials: a setting is simulated without failures, and with each failure at some phases.

Rule of this file: no choice; a trial is a row of numbers, the same for the same setting and code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf, log
from pathlib import Path
from typing import NamedTuple

from model.errors import Invalid, StepFailed
from model.results.choice import TriedSetting
from model.results.interval import Interval
from model.results.simulation import Simulation
from model.results.table import Row
from sim.choose.candidates import Candidate
from sim.choose.workload import TargetTable
from sim.scenarios.overrides import Override
from sim.scenarios.run import simulate
from sim.scenarios.scenario import Draft, Scenario, check_draft
from sim.sweeps.grid import identify
from sim.sweeps.study import replicate
from sim.sweeps.summary import interval
from sim.timed.costs import picoseconds

YEAR_S = 365.25 * 24 * 3600
BEYOND = 10.0
"""The excess of a setting of which a recovery did not end, or of a target that is 0."""


class Trial(NamedTuple):
    """A setting to simulate.  after_s: no failure comes before this time."""

    candidate: str
    interval_s: float | None
    overrides: tuple[Override, ...]
    after_s: float
    replications: int

    def id(self, base: Draft, files: dict[Path, str]) -> str:
        """The same for two trials if and only if they give the same row."""
        content = base.override(self.overrides).for_its_protocol().content
        own = {name: value for name, value in content.items() if name != "study"}
        return f"{identify(base.path, own, files)}-{self.after_s:g}-{self.replications}"


def trial(candidate: Candidate, interval_s: float | None, replications: int) -> Trial:
    """The trial of an interval: failures come when a first checkpoint has been made."""
    after_s = max(candidate.scenario.study.warm_up_s or 0.0, interval_s or 0.0)
    return Trial(candidate.name, interval_s, candidate.setting(interval_s), after_s, replications)


def simulate_trial(base: Draft, asked: Trial) -> Row:
    """Simulate a trial.  Of the row, failures: by replication, the costs of each failure;
    error: why the setting was not simulated, or of which failure the recovery did not end."""
    draft = base.override(asked.overrides)
    try:
        scenario = check_draft(draft)
        free = simulate(replace(scenario, planned=()))
    except (Invalid, StepFailed) as error:
        return {"error": str(error), "failed": True}
    why: str | None = None
    seeds = [scenario.seed + number for number in range(asked.replications)]
    costs = []
    try:
        for seed in seeds:
            reseeded = draft.override([Override(("seed",), seed)])
            costs.append(replicate(check_draft(reseeded), picoseconds(asked.after_s), reseeded))
    except (Invalid, StepFailed) as error:
        why = str(error)
    known = _without_failures(scenario, free)
    return {**known, "error": why, "failed": False, "failures": costs}


def _without_failures(scenario: Scenario, free: Simulation) -> Row:
    named = {name for failure in scenario.failures for name in failure.nodes}
    whole = scenario.detector.whole_pipeline
    busy = [
        one.busy_share for one in free.load if one.kind == "node" and (whole or one.name in named)
    ]
    return {
        "busy": max(busy, default=0.0),
        "extra_busy": free.overhead.protection_busy or 0.0,
        "extra_bytes": free.overhead.protection_stream_bytes or 0.0,
        "latency_p99_s": free.without_failures.latency_p99_s,
        "same": free.same,
    }


# --- the numbers of a setting ----------------------------------------------------------------
def tried(
    candidate: Candidate, interval_s: float | None, row: Row, target: TargetTable
) -> TriedSetting:
    """The setting of a trial, with the targets that it misses."""
    ended = row["error"] is None
    found = [cost for costs in row["failures"] for cost in costs]
    recovered = [cost["recovery_s"] for cost in found]
    made = TriedSetting(
        interval_s=interval_s,
        recovery=interval(recovered) if ended else Interval(0, None, None, None),
        longest_s=max(recovered) if ended else None,
        formula_s=candidate.terms(interval_s, row["busy"]).recovery_s,
        busy=row["busy"],
        overhead=max(row["extra_busy"], row["extra_bytes"]),
        extra_busy=row["extra_busy"],
        extra_bytes=row["extra_bytes"],
        latency_p99_s=row["latency_p99_s"],
        availability=1 - _rate(candidate, row, "overdue_s") if ended else None,
        duplicates_per_year=_rate(candidate, row, "surplus_outputs") * YEAR_S if ended else None,
        missing_per_year=_rate(candidate, row, "missing_outputs") * YEAR_S if ended else None,
        misses=(),
    )
    over = excesses(made, target)
    return replace(made, misses=tuple(name for name, value in over.items() if value > 0))


def excesses(found: TriedSetting, target: TargetTable) -> Mapping[str, float]:
    """By target, the logarithm of value by limit: above 0 it is missed.

    The longest recovery has to meet its target as simulated and by the formula: some replications
    seldom have a crash at the worst phase of the interval, which the formula has.
    """
    longest = None if found.longest_s is None else max(found.longest_s, found.formula_s)
    down = None if found.availability is None else 1 - found.availability
    allowed = None if target.availability is None else 1 - target.availability
    pairs = {
        "recovery_s": (longest, target.recovery_s),
        "availability": (down, allowed),
        "duplicates_per_year": (found.duplicates_per_year, target.duplicates_per_year),
        "latency_p99_s": (found.latency_p99_s, target.latency_p99_s),
    }
    return {
        name: _excess(value, limit) for name, (value, limit) in pairs.items() if limit is not None
    }


def _excess(value: float | None, limit: float) -> float:
    if value is None:
        return BEYOND
    if value <= 0:
        return -BEYOND
    return min(BEYOND, log(value / limit)) if limit else BEYOND


def _rate(candidate: Candidate, row: Row, cost: str) -> float:
    """The cost a second: the rate of each failure by its mean cost."""
    total = 0.0
    for number, failure in enumerate(candidate.scenario.failures):
        values = [costs[number][cost] for costs in row["failures"]]
        total += sum(values) / len(values) / (failure.mean_between_s or inf)
    return total
