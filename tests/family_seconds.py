"""The seconds of a run that each family's tests take, with a warning above the budget.

Rule of this file: it adds up and never fails a run, since machines differ.  A test counts for each
family that its name or its file names: `test_upstream_backup_job.py`, `test_x[micro-batch-small]`.
Of several processes that run tests, each has its part of the run's time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

BUDGET_S = 45.0
"""Seconds of `make test` that a family's tests may take on a quiet machine with two cores: of the
run, so three processes have 135 seconds for them."""
OLDER = frozenset({"micro-batch", "upstream-backup"})
"""Families that the budget is not for: the tests of the drivers are written with them."""


def add_up(
    durations: Iterable[tuple[str, float]], families: Iterable[str], processes: int
) -> Mapping[str, float]:
    """By family, the seconds that its tests take of a run by so many processes.

    durations: of tests or parts of them, by node id.
    """
    found = dict.fromkeys(families, 0.0)
    for test, seconds in durations:
        name = test.replace("_", "-")
        for family in found:
            if family in name:
                found[family] += seconds / processes
    return found


def lines(seconds: Mapping[str, float]) -> list[tuple[str, bool]]:
    """A line for each family whose tests take a second, the slowest first; is it a warning?"""
    told = []
    for family, took in sorted(seconds.items(), key=lambda item: -item[1]):
        if took < 1:
            continue
        over = took > BUDGET_S and family not in OLDER
        warning = f", WARNING: more than its budget of {BUDGET_S:.0f} s" if over else ""
        told.append((f"{family}: {took:.0f} s of the run{warning}", over))
    return told
