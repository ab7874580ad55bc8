"""The result of `asif choose`: the fixed terms, the settings that were tried, and the best three.

Rule of this file: values only; sim.choose makes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.core import Guarantee
from model.results.interval import Interval


@dataclass(frozen=True, slots=True)
class VerifiedGuarantee:
    """The weakest guarantee in pinned scopes.  guarantee: None: no pin judges it.  why: then, the
    reason; or the variant whose pins judge it."""

    guarantee: Guarantee | None
    scopes: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class PinnedCounterexample:
    """A pinned counterexample.  where: beyond which promise.  steps: of a shortest one; None: not
    pinned.  guarantee: the one that is left; finding: the words of the protocol."""

    protocol: str
    scope: str
    where: str
    steps: int | None
    guarantee: str | None
    finding: str


@dataclass(frozen=True, slots=True)
class FixedTerm:
    """A part of each recovery that no interval changes.  key: of the scenario."""

    name: str
    key: str
    seconds: float


@dataclass(frozen=True, slots=True)
class TriedSetting:
    """A protocol with an interval, and the costs of its runs.

    interval_s: None: the protocol has none.  recovery: in the mean, over failures and phases;
    longest_s: the longest one; None: one did not end within the input.  formula_s: the longest one
    in closed form.  extra_busy: the busy time of protection, as a share of that without it;
    extra_bytes: the bytes that it sends and stores, for each byte of the stream; overhead: the
    larger one.  misses: the targets that the setting does not meet.
    """

    interval_s: float | None
    recovery: Interval
    longest_s: float | None
    formula_s: float
    busy: float
    overhead: float
    extra_busy: float
    extra_bytes: float
    latency_p99_s: float | None
    availability: float | None
    duplicates_per_year: float | None
    missing_per_year: float | None
    misses: tuple[str, ...]
    on_frontier: bool = False


@dataclass(frozen=True, slots=True)
class ChoiceProtocol:
    """A protocol to choose from.

    needs: the duties of its sources and sinks.
    crossed_out: why it is out of the question, by its guarantee or its ends; empty: it is not.
    timer: the kind of its interval.  fixed: the terms of a recovery that no interval changes.
    longest_interval_s: by the closed form, the longest one that meets the target of recovery; None:
    no interval does, or any does.  failed: why it was not simulated.
    """

    name: str
    verified: VerifiedGuarantee
    needs: tuple[str, ...]
    crossed_out: str
    counterexamples: tuple[PinnedCounterexample, ...]
    timer: str
    fixed: tuple[FixedTerm, ...]
    longest_interval_s: float | None
    settings: tuple[TriedSetting, ...]
    best: TriedSetting | None
    failed: str = ""

    @property
    def fixed_s(self) -> float:
        """The sum of the fixed terms."""
        return sum(term.seconds for term in self.fixed)


@dataclass(frozen=True, slots=True)
class WorkloadChoice:
    """targets: by name, the wanted values.  refused: protocols that cannot run the scenario, with
    the reason.  best: up to three names, the best first."""

    workload: str
    scenario: str
    targets: Mapping[str, float | str]
    operators: str
    overlapping: bool
    replications: int
    protocols: tuple[ChoiceProtocol, ...]
    refused: Mapping[str, str]
    best: tuple[str, ...]
    runs: int
    resumed: int

    def named(self, name: str) -> ChoiceProtocol:
        """The protocol of this name."""
        return next(one for one in self.protocols if one.name == name)
