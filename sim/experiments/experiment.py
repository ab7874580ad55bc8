"""An experiment: runs over many seeds, and their summary.

Rule of this file: values only; sim.experiments.campaign runs them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import sim.experiments

Row = Mapping[str, Any]


class Parameter(NamedTuple):
    """A parameter.  source: the section that gives it, or the reason for our choice."""

    name: str
    value: Any
    source: str


class Series(NamedTuple):
    """A series of a panel.  names: what its points are called, if they are.  low, high: the ends of
    a band around its points, if there is one."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    kind: Literal["measured", "line", "formula", "published", "bars"] = "measured"
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

    def as_data(self) -> dict[str, Any]:
        """The panel as plain data."""
        series = [
            {
                name: [*value] if name not in ("label", "kind") else value
                for name, value in one._asdict().items()
            }
            for one in self.series
        ]
        return {**self._asdict(), "series": series, "categories": [*self.categories]}


@dataclass(frozen=True, slots=True)
class Experiment:
    """rows(seed, events): the runs over one seed, each as plain data.  summary(all rows): "cells",
    what is plotted; "values", by name, what published numbers are compared with; "notes", lines
    on what else was found; "panels", the figure, unless it has a layout of its own.  seeds, events:
    how many, as published.  ours: nothing is compared with a paper's numbers or claims."""

    name: str
    title: str
    source: str
    parameters: tuple[Parameter, ...]
    seeds: int
    events: int
    rows: Callable[[int, int], list[dict[str, Any]]]
    summary: Callable[[Sequence[Row]], dict[str, Any]]
    ours: bool = False


def experiments() -> dict[str, Experiment]:
    """The experiments of all modules of this package, by name."""
    found: dict[str, Experiment] = {}
    for info in pkgutil.walk_packages(sim.experiments.__path__, f"{sim.experiments.__name__}."):
        module = importlib.import_module(info.name)
        found |= {one.name: one for one in getattr(module, "EXPERIMENTS", ())}
    return found
