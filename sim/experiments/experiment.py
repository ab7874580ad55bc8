"""An experiment: runs over many seeds, and their summary.

Rule of this file: values only; sim.experiments.campaign runs them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import sim.experiments
from model.results.experiment import Parameter, Summary
from model.results.table import Row


@dataclass(frozen=True, slots=True)
class Experiment:
    """rows(seed, events): the runs over one seed, whose columns the experiment names.  summary: of
    all rows.  seeds, events: how many, as published.  ours: nothing is compared with a paper's
    numbers or claims."""

    name: str
    title: str
    source: str
    parameters: tuple[Parameter, ...]
    seeds: int
    events: int
    rows: Callable[[int, int], Sequence[Row]]
    summary: Callable[[Sequence[Row]], Summary]
    ours: bool = False


def experiments() -> dict[str, Experiment]:
    """The experiments of all modules of this package, by name."""
    found: dict[str, Experiment] = {}
    for info in pkgutil.walk_packages(sim.experiments.__path__, f"{sim.experiments.__name__}."):
        module = importlib.import_module(info.name)
        found |= {one.name: one for one in getattr(module, "EXPERIMENTS", ())}
    return found
