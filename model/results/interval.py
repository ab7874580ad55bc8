"""Confidence intervals of means, in the results of sweeps and studies.

Rule of this file: values only; sim.sweeps.summary computes them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """The mean of some values, with the ends of its interval; None where there are too few."""

    values: int
    mean: float | None
    low: float | None
    high: float | None

    @property
    def half(self) -> float:
        """Half the length of the interval; 0 if there is none."""
        if self.low is None or self.high is None:
            return 0.0
        return (self.high - self.low) / 2
