"""The result of `asif reproduce`: a published experiment run again, and its numbers beside ours.

Rule of this file: values only; sim.experiments makes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from model.results.interval import Interval
from model.results.table import Row

OTHER_READING = "another reading"
"""The mark of a comparison in a reading that was not chosen, or by a formula."""


class Parameter(NamedTuple):
    """A parameter.  source: the section that gives it, or the reason for our choice."""

    name: str
    value: Any
    source: str


class Series(NamedTuple):
    """A series of a panel.  names: what its points are called, if they are.  low, high: the ends of
    a band around its points, if there is one.  unscored: published, and
    compared without a score."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    kind: Literal["measured", "line", "formula", "published", "unscored", "bars"] = "measured"
    names: Sequence[str] = ()
    low: Sequence[float] = ()
    high: Sequence[float] = ()


class ExperimentPanel(NamedTuple):
    """A panel of a figure.  x, y: what the axes show.  categories: of bars, instead of numbers.
    log: the axes that are logarithmic, "", "x", "y" or "xy"."""

    title: str
    x: str
    y: str
    series: Sequence[Series]
    categories: Sequence[str] = ()
    log: str = ""


class Summary(NamedTuple):
    """The summary of an experiment's runs.

    cells: what is plotted, or shown as a table.  values: by name, what published numbers are
    compared with.  notes: lines on what else was found.  panels: the figure; None if it has a
    layout of its own.  intervals: of values that are means, the 95 % confidence interval.
    """

    cells: Sequence[Row]
    values: Mapping[str, float]
    notes: Sequence[str]
    panels: Sequence[ExperimentPanel] | None = None
    intervals: Mapping[str, Interval] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ComparedNumber:
    """A published number beside ours.  way: the way of finding it.  input: the part of both that is
    a parameter.  error: relative, of the rest; of a bound, the share by which it is exceeded.
    mark: "scored", or why it is not, and because, the reason for that.  low, high: the 95 %
    confidence interval of ours, if it is a mean over runs with chance in them."""

    id: str
    paper: str
    section: str
    what: str
    kind: str
    unit: str
    published: float
    way: str
    ours: float
    error: float
    verdict: str
    scored: bool
    reason: str
    mark: str
    because: str
    input: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Reproduction:
    """seeds, events: how many this run had.  as_published: as many as the paper's.  resumed: the
    seeds that were done before.  score: by verdict, how many numbers have it."""

    experiment: str
    title: str
    source: str
    parameters: tuple[Parameter, ...]
    seeds: int
    events: int
    as_published: bool
    runs: int
    resumed: int
    cells: tuple[Row, ...]
    values: Mapping[str, float]
    notes: tuple[str, ...]
    panels: tuple[ExperimentPanel, ...] | None = field(metadata={"absent": True})
    numbers: tuple[ComparedNumber, ...]
    score: Mapping[str, int]
    seconds: float
