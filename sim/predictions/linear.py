"""A cost that grows with a number, and the line through measured costs.

Rule of this file: nothing of an engine or a family.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, linear_regression
from typing import NamedTuple

from model.errors import Invalid


class LinearCost(NamedTuple):
    """Seconds: a fixed part, and a part for each."""

    fixed: float
    each: float

    def at(self, number: float) -> float:
        return self.fixed + self.each * number


def fit_line(sizes: Sequence[int], seconds: Sequence[float]) -> LinearCost:
    """The line through the mean; no part is negative, though a large run may happen to be faster.

    Raises Invalid unless two sizes differ.
    """
    if len(set(sizes)) < 2:
        raise Invalid(f"runs of sizes {sizes}: a fixed cost and a cost of each need two sizes")
    each = max(linear_regression(sizes, seconds).slope, 0.0)
    each = min(each, fmean(seconds) / fmean(sizes))
    return LinearCost(fmean(seconds) - each * fmean(sizes), each)
