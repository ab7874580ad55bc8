"""The names of all experiments, for those who only list them.

Rule of this file: no experiment is imported; each package of a paper names its own as NAMES, and a
test compares them with the experiments.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import sim.experiments


def experiment_names() -> tuple[str, ...]:
    """The names of all experiments, paper by paper."""
    home = sim.experiments
    papers = [one.name for one in iter_modules(home.__path__) if one.ispkg]
    return tuple(
        name for paper in papers for name in import_module(f"{home.__name__}.{paper}").NAMES
    )
