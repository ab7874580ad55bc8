"""A check on the real engine: cases, each predicted by the model and observed on Spark.

Rule of this file: a check is a value; drivers (the command line, the tests) run it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from spark_check.runtime.jvm import Jvm


class Outage(NamedTuple):
    """A crash or a damage that happened.

    kind: the processes that were killed, or the files that were damaged.
    place: where the job was when it was killed, or how the files were damaged.
    """

    kind: str
    place: str


Steps: TypeAlias = Sequence[tuple[float, int]]
"""A count over time: (second, how many from then on), in the order of time; none before."""


class Case(NamedTuple):
    """One thing that was done to Spark, and its outcome.

    predicted, seen: the same keys; JSON-able.  details: other facts (counts, seconds).
    crashed: each outage, in order.  seconds: by name, (predicted, measured); they are reported, and
    need not agree.  events: by the same names, how many the time is for; a line over them is fitted
    to compare.  over_time: by name, (predicted, seen); they are drawn, and need not agree.
    """

    name: str
    predicted: Mapping[str, Any]
    seen: Mapping[str, Any]
    details: Mapping[str, Any] = {}
    crashed: tuple[Outage, ...] = ()
    seconds: Mapping[str, tuple[float, float]] = {}
    events: Mapping[str, int] = {}
    over_time: Mapping[str, tuple[Steps, Steps]] = {}

    @property
    def agrees(self) -> bool:
        return dict(self.predicted) == dict(self.seen)

    def as_json(self) -> dict[str, Any]:
        """The case as JSON; the key `told` is that of the first release."""
        return {
            "name": self.name,
            "predicted": self.predicted,
            "seen": self.seen,
            "told": self.details,
            "crashed": [outage._asdict() for outage in self.crashed],
            "seconds": self.seconds,
            "events": self.events,
            "over_time": self.over_time,
            "agrees": self.agrees,
        }


Tell = Callable[[str, int, int], None]
"""Progress: (what, done, of how many)."""


class Setting(NamedTuple):
    """Where and how a check runs.

    work: a folder of its own.  profile: "quick" or "full".  jvm: for its sessions but those that
    are measured, whose Java must not have run before; None: each has its own.
    """

    work: Path
    profile: str
    tell: Tell
    jvm: Jvm | None = None


CAMPAIGNS = ("report", "quick", "full")
"""Which checks run together: in the quick report, that of Spark's own recovery alone; in the
quick profile, all that measure no time; in the full one, all.  Each has what those before it
have."""


@dataclass(frozen=True, slots=True)
class Check:
    """run: makes the cases.  notes: what a reader of the cases should know.  campaign: the first of
    CAMPAIGNS that it is in.  Called by its name it runs in both profiles."""

    name: str
    title: str
    run: Callable[[Setting], tuple[Case, ...]]
    notes: tuple[str, ...] = field(default=())
    campaign: str = "quick"

    @property
    def family(self) -> str:
        """The family in whose folder the check is."""
        return self.run.__module__.split(".")[1].replace("_", "-")


def run_check(check: Check, setting: Setting) -> dict[str, Any]:
    """Run the check: a JSON-able value.  It holds if there are cases and every case agrees."""
    started = perf_counter()
    return result(check, setting, started, check.run(setting))


def result(
    check: Check, setting: Setting, started: float, cases: Sequence[Case], error: str | None = None
) -> dict[str, Any]:
    """A check's result as JSON.

    started: by time.perf_counter.  error: why the check did not end, if it did not.
    """
    return {
        "check": check.name,
        "family": check.family,
        "title": check.title,
        "profile": setting.profile,
        "holds": bool(cases) and all(case.agrees for case in cases),
        "notes": list(check.notes),
        "cases": [case.as_json() for case in cases],
        "error": error,
        "seconds": perf_counter() - started,
    }
