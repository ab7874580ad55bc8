"""The expected costs of failures an hour and a year, and the availability, from one at a time.

Rule of this file: no long run.  Failures are rare, so each is a cycle of its own: the system is as
before when the next one comes.  A replication is the scenario with another seed, run without
failures and once with each failure, at a random moment; rates multiply the cost of the failure.

The assumption is checked: if another failure comes during a recovery in more than RARE of all
recoveries, or if a recovery does not end within the input, the study is refused.

overdue: the seconds from a crash on in which a result is late: the run without failures has passed
it on, and the run with the failure has not.  A result that never comes is late until all nodes have
caught up.  Availability is the share of time in which no result is overdue.
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from model.errors import Invalid
from model.knobs import settings
from model.machine.journals import RESUME, Resumption, journal
from model.machine.locks import WAIT, held
from model.progress import Progress, silent
from model.results.interval import Interval
from model.results.study import StudiedFailure, Study
from model.results.table import Row
from sim.scenarios.overrides import put
from sim.scenarios.run import ScenarioRun, run
from sim.scenarios.scenario import Draft, Scenario, check_draft
from sim.scenarios.toml_lines import Path as Key
from sim.scenarios.toml_lines import line_of
from sim.sweeps.grid import identify
from sim.sweeps.recovery_spread import half_width, is_narrow, spread, weighted
from sim.sweeps.summary import CONFIDENCE, interval
from sim.timed.costs import PS, picoseconds
from sim.timed.emissions import Emissions
from sim.timed.failures import FailureTable, plan_crash, recoveries

HOUR_S = 3600.0
YEAR_S = 365.25 * 24 * HOUR_S
RARE = 0.05
"""The largest share of recoveries in which another failure may come."""
FEWEST = 10
"""Student's interval of fewer replications says little."""
BATCH = 5
"""The outputs of a batch of MSER-5."""
COSTS = ("overdue_s", "extra_events", "extra_bytes", "missing_outputs", "surplus_outputs")
"""The costs of a failure, beside its recovery."""


class StudyPhase(NamedTuple):
    """The times between which a failure comes, in picoseconds."""

    begins: int
    ends: int


def study(draft: Draft, kept: Path, progress: Progress = silent, how: Resumption = RESUME) -> Study:
    """Run replications until the interval is as narrow as [study] asks.

    kept: the journal, from which an interrupted study goes on.  Raises Invalid.
    """
    base = check_draft(draft)
    _check(base, draft)
    wanted = base.study
    warm_up_ps, rule = _warm_up(base, draft)
    # How many replications are wanted does not change one; the end of the warm-up does.
    content = {key: value for key, value in draft.content.items() if key != "study"}
    identity = f"{identify(draft.path, content, {})}-{warm_up_ps}"
    rates = [1 / (failure.mean_between_s or 0) for failure in base.failures]
    found: list[Row] = []
    with held(kept.with_suffix(".lock"), str(kept), WAIT), journal(kept, "run", how) as done:
        resumed = 0
        while not _is_enough(base, rates, found):
            name = f"{identity}-{len(found)}"
            if name in done.entries:
                resumed += 1
            else:
                scenario = _reseed(draft, base.seed + len(found))
                done.add([{"run": name, "failures": replicate(scenario, warm_up_ps, draft)}])
            found.append(done.entries[name])
            if len(found) >= FEWEST:
                _check_rare(rates, found, draft)
            progress("replications", len(found), _expected(base, rates, found))
    return Study(
        scenario=base.name,
        protocol=base.protocol.name,
        knobs=settings(base.protocol),
        input=base.workload.name,
        pattern=base.workload.pattern,
        replications=len(found),
        resumed=resumed,
        confidence=CONFIDENCE,
        stop=wanted.stop,
        target_s=wanted.target_s,
        half_width=half_width(wanted, rates, found),
        half_width_wanted=wanted.half_width,
        narrow=is_narrow(wanted, rates, found),
        warm_up_s=warm_up_ps / PS,
        warm_up_rule=rule,
        another_failure=_overlap(rates, found),
        failures=tuple(
            _costs_of(failure, number, found, wanted.target_s)
            for number, failure in enumerate(base.failures)
        ),
        times_a_year=YEAR_S * sum(rates),
        recoveries=spread(rates, found, wanted.target_s),
        per_hour={cost: interval(_per(HOUR_S, rates, found, cost)) for cost in COSTS},
        per_year={cost: interval(_per(YEAR_S, rates, found, cost)) for cost in COSTS},
        availability=_availability(rates, found),
    )


def _costs_of(
    failure: FailureTable, number: int, found: Sequence[Row], target_s: float | None
) -> StudiedFailure:
    """The costs of one failure, the `number`-th of the scenario."""
    alone: list[Row] = [{"failures": [one["failures"][number]]} for one in found]
    costs = {
        cost: interval([one["failures"][0][cost] for one in alone])
        for cost in ("recovery_s", *COSTS)
    }
    between = failure.mean_between_s
    a_year = YEAR_S / between if between else 0.0
    recoveries = spread([1.0], alone, target_s)
    return StudiedFailure(failure.nodes, between, a_year, recoveries, **costs)


def _availability(rates: Sequence[float], found: Sequence[Row]) -> Interval:
    lost = interval([value / HOUR_S for value in _per(HOUR_S, rates, found, "overdue_s")])
    mean, low, high = (None if one is None else 1 - one for one in (lost.mean, lost.high, lost.low))
    return Interval(lost.values, mean, low, high)


# --- a replication ---------------------------------------------------------------------------
def replicate(scenario: Scenario, warm_up_ps: int, draft: Draft) -> list[dict[str, float]]:
    """The costs of each failure at a random moment after the warm-up, in the first half of the
    remaining input.  Raises Invalid if the input ends before, or before a recovery ends."""
    if warm_up_ps >= scenario.ends_ps:
        raise _wrong(
            draft,
            ("stream",),
            f"the input ends at {scenario.ends_ps / PS:g} s, and a failure may come from "
            f"{warm_up_ps / PS:g} s on; give more events or seconds",
        )
    free = run(scenario, (), aged=True)
    phase = StudyPhase(warm_up_ps, (warm_up_ps + scenario.ends_ps) // 2)
    return [
        _measure(scenario, number, phase, free, draft) for number in range(len(scenario.failures))
    ]


def _measure(
    scenario: Scenario, number: int, phase: StudyPhase, free: ScenarioRun, draft: Draft
) -> dict[str, float]:
    failure = scenario.failures[number]
    chance = random.Random(f"{scenario.seed}: phase {number}")
    at_ps = chance.randint(*phase)
    ran = run(scenario, (plan_crash(failure, at_ps, chance),), usual=free.ages)
    ends = [end for _, end in recoveries(ran.result.outages)]
    back = max((end for end in ends if end is not None), default=0)
    if None in ends or not ends or back > scenario.ends_ps:
        raise _wrong(
            draft,
            ("failures", number),
            f"the crash of {' and '.join(failure.nodes)} at {at_ps / PS:g} s is not over when the "
            f"input ends, at {scenario.ends_ps / PS:g} s; give more events or seconds",
        )
    overdue, missing, surplus = compare(free.emissions, ran.emissions, at_ps, back)
    traffic = [one.result.traffic.values() for one in (ran, free)]
    events, bytes_ = ([sum(row[at] for row in rows) for rows in traffic] for at in (1, 2))
    return {
        "recovery_s": (back - at_ps) / PS,
        "overdue_s": overdue / PS,
        "extra_events": events[0] - events[1],
        "extra_bytes": bytes_[0] - bytes_[1],
        "missing_outputs": missing,
        "surplus_outputs": surplus,
    }


def compare(free: Emissions, ran: Emissions, crash_ps: int, back_ps: int) -> tuple[int, int, int]:
    """The picoseconds in which a result was overdue; the missing and the surplus outputs."""
    late: list[tuple[int, int]] = []
    missing = surplus = 0
    for sink, expected in free.items():
        came: dict[Any, deque[int]] = defaultdict(deque)
        for at, output in ran[sink]:
            came[output].append(at)
        for due, output in expected:
            if came[output]:
                late.append((due, came[output].popleft()))
            else:
                missing += 1
                late.append((due, back_ps))
        surplus += sum(map(len, came.values()))
    until = ((due, at) for due, at in late if crash_ps <= due <= back_ps)
    return union(until), missing, surplus


def union(intervals: Iterable[tuple[int, int]]) -> int:
    """The length of the union of intervals (from, to); empty ones have none."""
    length = 0
    covered: float = -np.inf
    for start, end in sorted(intervals):
        if end > max(start, covered):
            length += int(end - max(start, covered))
            covered = end
    return length


# --- warm-up ---------------------------------------------------------------------------------
def _warm_up(base: Scenario, draft: Draft) -> tuple[int, str]:
    """The end of the warm-up, and the rule that found it."""
    given = base.study.warm_up_s
    if given is not None:
        if picoseconds(given) >= base.ends_ps:
            raise _wrong(
                draft,
                ("study", "warm_up_s"),
                f"study.warm_up_s = {given:g}: the input ends at {base.ends_ps / PS:g} s; give "
                "less, or more input",
            )
        return picoseconds(given), "given"
    passed = sorted(one for passed in run(base, ()).emissions.values() for one in passed)
    delays = [at - body.time * base.unit_ps for at, (_, body) in passed]
    kept = truncate(delays)
    if kept is None:
        raise _wrong(
            draft,
            ("study",),
            f"the latencies of {len(delays):,} outputs show no steady state (MSER-5); give more "
            "input, less load, or study.warm_up_s",
        )
    return (passed[kept][0] if kept else 0), "MSER-5"


def truncate(values: Sequence[float]) -> int | None:
    """The number of values to leave out by MSER-5: without them, the mean of the others has the
    smallest standard error; None if this is in the second half, or if there are too few values.

    White, Cobb and Spratt, "A comparison of five steady-state truncation heuristics for
    simulation", 2000.
    """
    batches = len(values) // BATCH
    if batches < FEWEST:
        return None
    means = np.array(values[: batches * BATCH], dtype=float).reshape(batches, BATCH).mean(axis=1)
    means -= np.median(means)  # equal values are exactly 0
    left = np.arange(batches, 0, -1)
    sums, squares = (np.cumsum(one[::-1])[::-1] for one in (means, means**2))
    errors = (squares - sums**2 / left) / left**2
    first = int(np.argmin(errors[: batches - BATCH]))  # the last few are small by chance
    return first * BATCH if first <= batches // 2 else None


# --- enough ----------------------------------------------------------------------------------
def _per(seconds: float, rates: Sequence[float], found: Sequence[Row], cost: str) -> list[float]:
    """The cost in this time, of each replication."""
    return [seconds * one for one in weighted(rates, found, cost)]


def _is_enough(base: Scenario, rates: Sequence[float], found: Sequence[Row]) -> bool:
    if len(found) < FEWEST:
        return False
    enough = base.study.stop != "replications" and is_narrow(base.study, rates, found)
    return enough or len(found) >= base.study.replications


def _expected(base: Scenario, rates: Sequence[float], found: Sequence[Row]) -> int:
    """How many replications there will be: the width falls with the root of their number."""
    if _is_enough(base, rates, found):
        return len(found)
    if len(found) < FEWEST:
        return FEWEST
    if base.study.stop == "replications":
        return base.study.replications
    need = len(found) * (half_width(base.study, rates, found) / base.study.half_width) ** 2
    return min(base.study.replications, max(len(found) + 1, round(need)))


def _overlap(rates: Sequence[float], found: Sequence[Row]) -> float:
    """The share of recoveries in which another failure comes, at the longest recovery's length."""
    longest = max(one["recovery_s"] for entry in found for one in entry["failures"])
    return float(sum(rates) * longest)


# --- refused scenarios -------------------------------------------------------------------------
def _check(base: Scenario, draft: Draft) -> None:
    if not base.failures:
        raise _wrong(draft, (), "a study needs [[failures]] with mean_between_s; here is none")
    for number, failure in enumerate(base.failures):
        if failure.mean_between_s is None:
            raise _wrong(
                draft,
                ("failures", number),
                f"failures[{number + 1}] has no mean_between_s; a study goes by rates, so give "
                "one, or leave the failure out",
            )


def _check_rare(rates: Sequence[float], found: Sequence[Row], draft: Draft) -> None:
    share = _overlap(rates, found)
    if share > RARE:
        raise _wrong(
            draft,
            ("failures", 0, "mean_between_s"),
            f"in {share:.0%} of the recoveries another failure comes; a study is for failures "
            f"that are rare, at most {RARE:.0%}: give a larger mean_between_s, or simulate a long "
            "run without --study",
        )


def _wrong(draft: Draft, key: Key, what: str) -> Invalid:
    return Invalid(f"{draft.path}:{line_of(draft.lines, key)}: {what}")


def _reseed(draft: Draft, seed: int) -> Scenario:
    return check_draft(replace(draft, content=put(draft.content, ("seed",), seed)))
