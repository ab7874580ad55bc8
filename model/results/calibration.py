"""The result of `asif calibrate`: costs that were measured on this machine.

Rule of this file: values only; sim.calibration and the families on Spark measure them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class MeasuredCost(NamedTuple):
    """A cost as a scenario has it.  key: its tables and its name, as in costs.link.delay_s.  value:
    the median.  low, high: the middle half.  times: how often.  what: in a few words."""

    key: str
    value: float
    low: float
    high: float
    times: int
    what: str


@dataclass(frozen=True, slots=True)
class Calibration:
    """load: that of the machine, while it was measured."""

    load: float
    costs: tuple[MeasuredCost, ...]
