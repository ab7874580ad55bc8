"""The meter: how much a search may cost, and whether it has.

Rule of this file: no search; a search that asks stops when the meter says why.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import psutil


class Budget(NamedTuple):
    """The most that a search may cost; None: no limit.

    worlds: the search ends after the level that passes so many.  seconds: of wall time.  memory:
    bytes of this process.
    """

    worlds: int | None = None
    seconds: float | None = None
    memory: int | None = None


UNLIMITED = Budget()


@dataclass(slots=True)
class Meter:
    """A budget that is being spent since the meter was made."""

    budget: Budget
    started: float = field(default_factory=time.perf_counter)
    why: str = ""

    def spent(self, worlds: int = 0) -> str:
        """Why the search has to end; empty as long as it may go on.  worlds: at the end of a
        level."""
        budget = self.budget
        if budget.worlds is not None and worlds > budget.worlds:
            self.why = f"{budget.worlds:,} worlds"
        elif budget.seconds is not None and self.seconds > budget.seconds:
            self.why = f"{budget.seconds:g} s"
        elif budget.memory is not None and psutil.Process().memory_info().rss > budget.memory:
            self.why = f"{format_bytes(budget.memory)} of memory"
        return self.why

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.started


@dataclass(slots=True)
class FewWorlds(Meter):
    """The meter of a search that sees the first worlds, until another one pays that learns more
    about each focus and then visits fewer worlds.

    focuses: their number so far.  most: this search ends after these worlds if there are `pays` for
    each focus; otherwise after `many`.
    """

    focuses: Callable[[], int] = int
    most: int = 0
    pays: int = 0
    many: int = 0

    def spent(self, worlds: int = 0) -> str:
        if worlds > self.most:
            if self.most < self.many and worlds < self.pays * self.focuses():
                self.most = self.many
            else:
                self.why = "many worlds"
        return self.why or Meter.spent(self, worlds)


def format_bytes(count: int) -> str:
    return f"{count / 2**30:.3g} GiB" if count >= 2**30 else f"{count / 2**20:.3g} MiB"
