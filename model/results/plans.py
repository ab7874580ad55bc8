"""The schedules of a recovery, algorithm by algorithm.

Rule of this file: no algorithm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlanMoment:
    """A moment at which hosts come.  resources: all that is there then."""

    at_min: float
    resources: int


@dataclass(frozen=True, slots=True)
class PlanStep:
    """The plan of a moment.  placed: do the partitions fit on single hosts?"""

    at_min: float
    value: int
    cost: int
    queries: tuple[str, ...]
    placed: bool


@dataclass(frozen=True, slots=True)
class PlanRow:
    """An algorithm and its schedule; without a plan (it divides by zero) it has nulls and no steps.

    served: priority-minutes.  share: of the optimum over time; None without one.  value, cost: at
    the end.
    """

    algorithm: str
    about: str
    served: float | None
    value: int | None
    cost: int | None
    order: tuple[str, ...]
    steps: tuple[PlanStep, ...]
    share: float | None


@dataclass(frozen=True, slots=True)
class PlanResult:
    """cost: of all that failed.  sharing: the most failed queries that share an operator.  bound:
    the share of the optimum that a mended plan of one moment has at least; below_bound: the minutes
    at which it has less."""

    name: str
    failed_queries: tuple[str, ...]
    priorities: Mapping[str, int]
    cost: int
    sharing: int
    bound: float
    until_min: float
    moments: tuple[PlanMoment, ...]
    algorithms: tuple[PlanRow, ...]
    below_bound: tuple[float, ...]

    def row(self, algorithm: str) -> PlanRow | None:
        """The row of an algorithm; None if it was left out."""
        return next((one for one in self.algorithms if one.algorithm == algorithm), None)
