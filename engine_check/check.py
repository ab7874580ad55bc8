"""A check on a real engine: cases, each predicted by the model and observed on the engine.

Rule of this file: a check is a value; drivers (the command line, the tests) run it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import Any, NamedTuple

from engine_check.engine import CheckedEngine
from engine_check.machine import engine_machine
from model.progress import Progress
from model.results.engine import CountSteps, EngineCase, EngineCheck, EngineOutage, Facts


class CheckSetting(NamedTuple):
    """Where and how a check runs.

    work: a folder of its own.  profile: "quick" or "full".  report: receives the stages of the
    check.  shared: of all checks of a process (`CheckedEngine.shared`); None: each has its
    own.
    """

    work: Path
    profile: str
    report: Progress
    shared: Any = None


CAMPAIGNS = ("report", "quick", "full")
"""Which checks run together: in the quick report, those of an engine's own recovery; in the
quick profile, all that measure no time; in the full one, all.  Each has what those before it
have."""


@dataclass(frozen=True, slots=True)
class Check:
    """run: makes the cases.  notes: for readers of the cases.  campaign: the first of
    CAMPAIGNS that it is in.  Called by its name it runs in both profiles."""

    name: str
    title: str
    run: Callable[[CheckSetting], tuple[EngineCase, ...]]
    notes: tuple[str, ...] = field(default=())
    campaign: str = "quick"

    @property
    def family(self) -> str:
        """The family in whose folder the check is."""
        return self.run.__module__.split(".")[1].replace("_", "-")


def engine_case(
    name: str,
    predicted: Facts,
    seen: Facts,
    details: Facts = MappingProxyType({}),
    *,
    crashed: Sequence[EngineOutage] = (),
    seconds: Mapping[str, tuple[float, float]] = MappingProxyType({}),
    events: Mapping[str, int] = MappingProxyType({}),
    over_time: Mapping[str, tuple[CountSteps, CountSteps]] = MappingProxyType({}),
) -> EngineCase:
    """A case, which agrees if all is seen as predicted."""
    agrees = dict(predicted) == dict(seen)
    return EngineCase(
        *(name, predicted, seen, details, tuple(crashed), seconds, events, over_time, agrees)
    )


def run_check(engine: CheckedEngine, check: Check, setting: CheckSetting) -> EngineCheck:
    """Run the check on the engine.  It holds if there are cases and every case agrees."""
    started = perf_counter()
    return result(engine, check, setting, started, check.run(setting))


def result(
    engine: CheckedEngine,
    check: Check,
    setting: CheckSetting,
    started: float,
    cases: Sequence[EngineCase],
    error: str | None = None,
) -> EngineCheck:
    """The result of a check.

    started: by time.perf_counter.  error: why the check did not end, if it did not.
    """
    return EngineCheck(
        check=check.name,
        family=check.family,
        title=check.title,
        profile=setting.profile,
        holds=bool(cases) and all(case.agrees for case in cases),
        notes=check.notes,
        cases=tuple(cases),
        error=error,
        seconds=perf_counter() - started,
        machine=engine_machine(engine),
    )
