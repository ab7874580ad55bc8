"""The results of `asif spark` and `asif flink`: outages of a real engine, predicted and seen.

Rule of this file: values only; engine_check makes them of the cases of a check.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from model.results.plain import key

Facts: TypeAlias = Mapping[str, Any]
"""Facts by name, which each check chooses: numbers, texts, truth values, None, lists of these."""

CountSteps: TypeAlias = tuple[tuple[float, int], ...]
"""A count over time: (second, how many from then on), in the order of time; none before."""


class EngineOutage(NamedTuple):
    """A crash or a damage that happened.

    kind: the processes that were killed, or the files that were damaged.
    place: where the job was when it was killed, or how the files were damaged.
    """

    kind: str
    place: str


class EngineMachine(NamedTuple):
    """Where and when a check ended.

    day: as 2026-11-27.  engine: its name (Spark, Flink).  version: of the engine.  java, python:
    versions.  load: the processes that ran or were ready to run, over the last minute of the
    check.
    """

    day: str
    engine: str
    version: str
    java: str
    python: str
    cores: int
    load: float


@dataclass(frozen=True, slots=True)
class EngineCase:
    """One thing that was done to the engine, and its outcome.

    predicted, seen: the same keys.  details: other facts (counts, seconds).  crashed: each outage,
    in order.  seconds: by name, (predicted, measured); they are reported, and need not agree.
    events: by the same names, how many the time is for; a line over them is fitted to compare.
    over_time: by name, (predicted, seen); they are drawn, and need not agree.  agrees: is all seen
    as predicted?  shares: by part of the outages, its share of their variance; of one case at most.
    """

    name: str
    predicted: Facts
    seen: Facts
    details: Facts
    crashed: tuple[EngineOutage, ...]
    seconds: Mapping[str, tuple[float, float]]
    events: Mapping[str, int]
    over_time: Mapping[str, tuple[CountSteps, CountSteps]]
    agrees: bool
    shares: Mapping[str, float] | None = key(absent=True, default=None)


@dataclass(frozen=True, slots=True)
class EngineCheck:
    """holds: there are cases, and all agree.  error: why the check did not end, if it did not."""

    check: str
    family: str
    title: str
    profile: str
    holds: bool
    notes: tuple[str, ...]
    cases: tuple[EngineCase, ...]
    error: str | None
    seconds: float
    machine: EngineMachine
