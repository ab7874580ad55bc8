"""The seconds of each family's tests, with a warning above the budget.

Rule of this file: it adds up and never fails a run, since machines differ.  A test counts for each
family that its name or its file names, as whole words: `families/upstream_backup/test_kernel.py`,
`test_x[micro-batch-small]`, but no `test_an_abstraction` for `abs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

BUDGET_S = 45.0
"""Seconds that the tests of a family may take on a quiet machine with two cores."""
OLDER = frozenset({"micro-batch", "upstream-backup"})
"""Families that the budget is not for: the tests of the drivers are written with them."""


def add_up(durations: Iterable[tuple[str, float]], families: Iterable[str]) -> Mapping[str, float]:
    """By family, the seconds of its tests; durations: of tests or parts of them, by node id."""
    found = dict.fromkeys(families, 0.0)
    named = {family: re.compile(rf"\b{re.escape(family)}\b") for family in found}
    for test, seconds in durations:
        name = test.replace("_", "-")
        for family, pattern in named.items():
            if pattern.search(name):
                found[family] += seconds
    return found


def lines(seconds: Mapping[str, float]) -> list[tuple[str, bool]]:
    """A line for each family whose tests take seconds, the slowest first; is it a warning?"""
    told = []
    for family, took in sorted(seconds.items(), key=lambda item: -item[1]):
        if took < 1:
            continue
        over = took > BUDGET_S and family not in OLDER
        warning = f", WARNING: more than its budget of {BUDGET_S:.0f} s" if over else ""
        told.append((f"{family}: {took:.0f} s of tests{warning}", over))
    return told
