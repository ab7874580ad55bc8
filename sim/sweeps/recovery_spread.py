"""The spread of recoveries over the replications of a study, and whose interval ends the study.

Rule of this file: it reads the costs of replications; it runs nothing.

A percentile is that of the nearest rank, and nothing is said of one that the replications are too
few for: one in a hundred needs a hundred of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

from model.results.interval import Interval
from model.results.study import RecoverySpread
from model.results.table import Row
from sim.scenarios.tables import StudyTable
from sim.sweeps.summary import CONFIDENCE, interval

FULL = 1e-9
"""Shares that differ by less are equal."""


def spread(rates: Sequence[float], found: Sequence[Row], target_s: float | None) -> RecoverySpread:
    """The spread of the recoveries of some failures, each as often as its rate.

    found: for each replication the costs of each of these failures.
    """
    shares = [rate / sum(rates) for rate in rates]
    pairs = sorted(
        (one["recovery_s"], share / len(found))
        for entry in found
        for share, one in zip(shares, entry["failures"], strict=True)
    )
    return RecoverySpread(
        p50_s=_percentile(pairs, 0.5, len(found)),
        p95_s=_percentile(pairs, 0.95, len(found)),
        p99_s=_percentile(pairs, 0.99, len(found)),
        longest_s=pairs[-1][0],
        within_target=None if target_s is None else within(pairs, target_s, len(found)),
    )


def _percentile(
    pairs: Sequence[tuple[float, float]], part: float, replications: int
) -> float | None:
    """The recovery that this part of all does not exceed; None of too few replications."""
    if replications * (1 - part) < 1 - FULL:
        return None
    below = 0.0
    for recovery, share in pairs:
        below += share
        if below >= part - FULL:
            return recovery
    return pairs[-1][0]


def within(pairs: Sequence[tuple[float, float]], target_s: float, replications: int) -> Interval:
    """The share of recoveries that are shorter than the target, with the interval of Wilson, 1927,
    which has a length although all are shorter, or none.

    Several failures of a replication count as one, so their interval is too wide rather than too
    narrow: a mixture of shares varies less than one share with the same mean.
    """
    share = min(1.0, sum(weight for recovery, weight in pairs if recovery < target_s))
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    over = 1 + z * z / replications
    middle = (share + z * z / (2 * replications)) / over
    root = (share * (1 - share) / replications + (z / (2 * replications)) ** 2) ** 0.5
    half = z * root / over
    return Interval(replications, share, max(0.0, middle - half), min(1.0, middle + half))


def weighted(rates: Sequence[float], found: Sequence[Row], cost: str) -> list[float]:
    """The cost of each replication, in which each failure comes as often as its rate."""
    return [
        sum(rate * one[cost] for rate, one in zip(rates, entry["failures"], strict=True))
        for entry in found
    ]


def half_width(study: StudyTable, rates: Sequence[float], found: Sequence[Row]) -> float:
    """Half the interval by which the study stops: of a mean as a share of it, or of a share."""
    if study.stop == "target":
        target = spread(rates, found, study.target_s).within_target
        return 0.0 if target is None else target.half
    cost = "recovery_s" if study.stop == "recovery" else "overdue_s"
    total = interval(weighted(rates, found, cost))
    return total.half / total.mean if total.half and total.mean else 0.0


def is_narrow(study: StudyTable, rates: Sequence[float], found: Sequence[Row]) -> bool:
    """Is the interval as narrow as the study asks, if it asks?"""
    return study.stop == "replications" or half_width(study, rates, found) <= study.half_width
