"""The result of `asif sweep`: how its runs ended, and means over seeds.

Rule of this file: values only; sim.sweeps makes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.results.interval import Interval
from model.results.plain import key
from model.results.table import Row


@dataclass(frozen=True, slots=True)
class SweepGroup:
    """The runs that differ in their seeds alone.  parameters: the values of the keys that vary;
    None: this protocol has no such key.
    chosen: the scenario has these values without the sweep.  metrics: by column."""

    parameters: Row
    chosen: bool
    runs: int
    failed: int
    cut_off: int
    same: int
    metrics: Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class SweepSummary:
    """by: the keys that vary, without the seed."""

    sweep: str
    scenario: str
    by: tuple[str, ...]
    confidence: float
    groups: tuple[SweepGroup, ...]


@dataclass(frozen=True, slots=True)
class SweepResult:
    """table: the path of the table of runs.  resumed: runs done before.  others: kept runs of
    another scenario, value or version.  summary: None unless it was asked for."""

    sweep: str
    version: str
    table: str
    runs: int
    resumed: int
    others: int
    failed: int
    same: int
    cut_off: int
    not_as_claimed: int
    seconds: float
    summary: SweepSummary | None = key(absent=True, default=None)
