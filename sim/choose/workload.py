"""A workload: a TOML file that names a scenario, the targets, and the abilities of its ends.

Rule of this file: no run and no protocol; an error is one line with the line of the file.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from model.core import Guarantee, OperatorClass
from model.errors import Invalid, nearest
from model.protocol import EndNeeds, SinkNeed, SourceNeed
from model.registry import modules, protocols
from sim.choose.limits import LIMITS
from sim.scenarios.scenario import Draft, draft
from sim.timed.costs import ScenarioTable, Some

WORDS: Mapping[str, Guarantee] = {one.word: one for one in Guarantee}
CLASSES: Mapping[str, OperatorClass] = {one.word: one for one in OperatorClass}


class TargetTable(ScenarioTable):
    """The targets that a setting has to meet; a target that is left out is always met."""

    guarantee: Literal["precise", "repeating", "convergent", "divergent", "gap"] = "precise"
    """The weakest verified guarantee that will do."""
    recovery_s: Some | None = None
    """The longest recovery, of all failures at all phases that were tried."""
    availability: Annotated[float, Field(gt=0, lt=1)] | None = None
    """The least share of time in which no result is overdue."""
    duplicates_per_year: Annotated[float, Field(ge=0)] | None = None
    """Surplus outputs a year, in the mean."""
    latency_p99_s: Some | None = None
    """The latency that 99 % of the outputs do not exceed without failures."""
    operators: Literal["repeatable", "convergent-capable", "deterministic", "arbitrary"] | None = (
        None
    )
    """The class of the operators (docs/reference/model.md); without it: arbitrary if an operator
    takes several inputs as they come, else deterministic."""


class EndsTable(ScenarioTable):
    """The abilities of the sources and sinks around the pipeline."""

    sources: Literal["nothing", "keeps", "seeks"] = "seeks"
    """nothing: an event is sent once; keeps: until it is acknowledged; seeks: from any position of
    a log, such as Kafka's."""
    sinks: Annotated[tuple[Literal["remembers", "transacts"], ...], Field(strict=False)] = (
        "remembers",
        "transacts",
    )
    """remembers: an output that comes again is dropped or replaced (idempotent); transacts: outputs
    are prepared, and seen when they are committed."""

    def lacks(self, needs: EndNeeds) -> str:
        """Why the needs of a protocol are not met; empty if they are."""
        words = duties_of_ends(needs)
        if SourceNeed[self.sources.upper()] < needs.source:
            return words[0]
        if needs.sink is not SinkNeed.NOTHING and needs.sink.value not in self.sinks:
            return words[-1]
        return ""


def duties_of_ends(needs: EndNeeds) -> tuple[str, ...]:
    """The needs of a protocol in words: of its sources, then of its sinks."""
    sources = {
        SourceNeed.KEEPS: "its sources have to keep events until they are acknowledged",
        SourceNeed.SEEKS: "its sources have to go back to a position in a log",
    }
    sinks = {
        SinkNeed.REMEMBERS: "its sinks have to drop outputs that they have had",
        SinkNeed.TRANSACTS: "its sinks have to take part in transactions",
    }
    found = (sources.get(needs.source), sinks.get(needs.sink))
    return tuple(one for one in found if one is not None)


class IntervalTable(ScenarioTable):
    """The shortest and the longest interval."""

    from_: Annotated[Some, Field(alias="from")] = 1.0
    to: Some = 60.0

    @model_validator(mode="after")
    def _forwards(self) -> IntervalTable:
        if self.to <= self.from_:
            raise ValueError(f"to = {self.to:g} is not above from = {self.from_:g}")
        return self


class SearchTable(ScenarioTable):
    """How much is tried."""

    interval_s: IntervalTable = IntervalTable()
    """The lengths of the timer by which a protocol protects; one that has none has one setting."""
    lengths: Annotated[int, Field(ge=2)] = 4
    """The number of lengths that are tried first, at equal ratios."""
    refinements: Annotated[int, Field(ge=0)] = 4
    """The most lengths that are tried then, to find the longest one that meets the targets."""
    knobs: bool = True
    """Try a protocol with other values of its knobs, too, where pins judge them."""
    replications: Annotated[int, Field(ge=1)] = 3
    """The number of seeds; each has crashes at other phases."""


class WorkloadFile(ScenarioTable):
    """All that may stand in a workload."""

    scenario: str
    """The scenario, relative to this file; its failures have mean_between_s."""
    protocols: Annotated[tuple[str, ...], Field(strict=False, min_length=1)] | None = None
    """The protocols to choose from; without it, one of each family."""
    target: TargetTable = TargetTable()
    ends: EndsTable = EndsTable()
    search: SearchTable = SearchTable()


@dataclass(frozen=True, slots=True)
class ChoiceWorkload:
    """A checked workload.  base: its scenario, without a protocol."""

    name: str
    base: Draft
    names: tuple[str, ...]
    target: TargetTable
    ends: EndsTable
    search: SearchTable


def read(path: Path | str) -> ChoiceWorkload:
    """Read a workload.  Raises Invalid with the line, the mistake there and its remedy."""
    written = draft(path)
    file = written.table(WorkloadFile)
    try:
        base = draft(os.path.normpath(written.path.parent / file.scenario))
    except Invalid as error:
        raise written.wrong(("scenario",), f"scenario: {error}") from None
    for key, limit in LIMITS.items():
        number = getattr(file.search, key)
        if number > limit.most:
            raise written.wrong(("search", key), limit.complaint(f"{key} = {number}", number))
    known = protocols()
    for name in file.protocols or ():
        if name not in known:
            fix = nearest(name, sorted(known))
            raise written.wrong(("protocols",), f"protocols: no protocol {name!r}{fix}")
    names = file.protocols or tuple(one.name for one in modules().values())
    return ChoiceWorkload(written.path.stem, base, names, file.target, file.ends, file.search)
