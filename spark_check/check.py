"""What a check on the real engine is: cases, each predicted by the model and seen on Spark.

Rule of this file: a check is a value; drivers (the command line, the tests) run it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple


class Case(NamedTuple):
    """One thing that was done to Spark, and what came of it.

    predicted, seen: the same keys; JSON-able.  told: what else is worth knowing (counts, seconds).
    crashed: each time, "what was killed or damaged: where or how".  seconds: by name, (predicted,
    measured); they are told, and need not agree.
    """

    name: str
    predicted: Mapping[str, Any]
    seen: Mapping[str, Any]
    told: Mapping[str, Any] = {}
    crashed: tuple[str, ...] = ()
    seconds: Mapping[str, tuple[float, float]] = {}

    @property
    def agrees(self) -> bool:
        return dict(self.predicted) == dict(self.seen)


Tell = Callable[[str, int, int], None]
"""Progress: (what, done, of how many)."""


class Setting(NamedTuple):
    """Where and how a check runs.

    work: a folder of its own.  profile: "quick" or "full".
    """

    work: Path
    profile: str
    tell: Tell


@dataclass(frozen=True, slots=True)
class Check:
    """run: the cases.  notes: what a reader should know."""

    name: str
    title: str
    run: Callable[[Setting], tuple[Case, ...]]
    notes: tuple[str, ...] = field(default=())


def result(check: Check, setting: Setting) -> dict[str, Any]:
    """Run it: a JSON-able value.  It holds if every case agrees, and there are cases."""
    started = perf_counter()
    cases = check.run(setting)
    return {
        "check": check.name,
        "title": check.title,
        "profile": setting.profile,
        "holds": bool(cases) and all(case.agrees for case in cases),
        "notes": list(check.notes),
        "cases": [{**case._asdict(), "agrees": case.agrees} for case in cases],
        "seconds": perf_counter() - started,
    }
