"""The limits of options with numbers: refused before work begins, with an estimate.

Rule of this file: options alone; numbers in files have their limits where they are read.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import TypeVar

import typer

from model.errors import Invalid
from model.limits import Ceiling

N = TypeVar("N", int, int | None)

WALKS = Ceiling(10_000_000, 0.002)
EXAMPLES = Ceiling(1_000_000, 0.02)
WORKERS = Ceiling(max(32, 4 * (os.cpu_count() or 1)), 0, 150e6, "give about one a core")
PAIRS = Ceiling(1_000_000_000, 1e-5, 500)
WORLDS = Ceiling(100_000_000_000, 1e-5, 100)
SEEDS = Ceiling(10_000, 30)
EVENTS = Ceiling(100_000_000, 1e-4)
"""Of a run of `asif reproduce`."""
FLIGHTS = Ceiling(10_000_000, 1e-4, 0, "a year has 336,776 flights")
WINDOW = Ceiling(10**15, 0, 0, "give a shorter time")
SHOWN = Ceiling(1_000_000, 1e-4, 1_000)


def at_most(limit: Ceiling) -> Callable[[typer.CallbackParam, N], N]:
    """The callback of an option whose number has a limit."""

    def check(param: typer.CallbackParam, value: N) -> N:
        if value is not None:
            limit.refuse(f"{param.opts[-1]} {value}", value)
        return value

    return check


def finite(param: typer.CallbackParam, value: float | None) -> float | None:
    """The callback of an option whose number is neither infinite nor none at all."""
    if value is not None and not math.isfinite(value):
        raise Invalid(f"{param.opts[-1]} {value}: write a number, as in 60 or 1e-9")
    return value


def names(option: str, texts: Sequence[str]) -> list[str]:
    """The names in texts such as "a, b".  Raises Invalid for an empty one, or one given twice."""
    found = [name.strip() for text in texts for name in text.split(",")]
    for name in found:
        if not name:
            raise Invalid(f"{option}: the name of a column is empty; write COL, or COL,COL")
        if found.count(name) > 1:
            raise Invalid(f"{option} {name}: it is given twice; give each column once")
    return found
