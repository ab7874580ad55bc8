"""The verdict on a protocol, and the results of its scopes.

Rule of this file: no decision; its properties only count and pick.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from model.core import Guarantee, OperatorClass
from model.evidence import Outcome
from model.results.attack import AttackResult, MutantResult
from model.results.culprit import Culprit
from model.results.plain import key
from model.results.purity import ImpureAnswer
from model.results.story import Story


@dataclass(frozen=True, slots=True)
class ScopeCounterexample:
    """A shortest run of a scope that violates a property.

    property: its name.  circle: the number of the last steps that repeat without end.  pinned: the
    number of steps that is expected; None: any.
    """

    property: str
    steps: int
    circle: int
    pinned: int | None
    story: Story
    culprit: Culprit | None = key(absent=True, default=None)


class MissedPoint(NamedTuple):
    """A crash point that no crash has struck, and why none could (proofs.explore.coverage)."""

    point: str
    why: str


@dataclass(frozen=True, slots=True)
class ScopeResult:
    """What was found in a scope, beside what is pinned.

    operators, derived: the pinned class of its operators (None: the scope has no stream, and no
    guarantee), and the one that was found (None: not decided).  pinned: the number of worlds that
    is expected; None: any.  reduced: worlds that show nothing else were left out.  points, hit,
    missed: the crash points.  spent: the budget that ended the exploration, in words.
    """

    name: str
    operators: OperatorClass | None
    derived: OperatorClass | None
    crashes: int
    expect: Outcome
    outcome: Outcome
    as_pinned: bool
    states: int
    pinned: int | None
    reduced: bool
    transitions: int
    depth: int
    quiescent: int
    seconds: float
    states_per_second: int
    guarantee: Guarantee | None
    expect_guarantee: Guarantee | None
    points: int
    hit: int
    missed: tuple[MissedPoint, ...]
    notes: Mapping[str, int]
    complete: bool
    spent: str | None
    counterexample: ScopeCounterexample | None

    @property
    def until_refuted(self) -> bool:
        """Did the exploration end because all that was expected was found?"""
        return self.counterexample is not None and not self.complete and not self.spent


@dataclass(frozen=True, slots=True)
class ScopeVerdict:
    """The result of one scope of a protocol or variant, which was explored alone.

    expected: is everything as pinned?  vacuous: as in Verdict.
    """

    protocol: str
    scope: ScopeResult
    expected: bool
    vacuous: tuple[str, ...]


class ClaimResult(NamedTuple):
    """A class of operators with the guarantees that are claimed (None: nothing) and found."""

    operators: OperatorClass
    claimed: Guarantee | None
    found: Guarantee


@dataclass(frozen=True, slots=True)
class Verdict:
    """The results of all checkers about a protocol or variant.

    expected: is everything as pinned?  weaker, stronger, unclaimed: the classes of operators for
    which less, more, or something was found that is not claimed.  vacuous: what should have been
    tried and never was, a sentence each.  evidence: how often each note was seen; missing: the
    notes that were to be seen.  mutants: None if none was hunted.  impure: the functions with two
    answers to one question; then nothing was tried.
    """

    protocol: str
    title: str
    source: str
    finding: str
    outcome: Outcome
    expected: bool
    claims: Mapping[OperatorClass, Guarantee]
    found: Mapping[OperatorClass, Guarantee]
    weaker: tuple[OperatorClass, ...]
    stronger: tuple[OperatorClass, ...]
    unclaimed: tuple[OperatorClass, ...]
    vacuous: tuple[str, ...]
    points: int
    hit: int
    missed: tuple[MissedPoint, ...]
    scopes: tuple[ScopeResult, ...]
    attack: AttackResult
    evidence: Mapping[str, int]
    missing: tuple[str, ...]
    mutants: tuple[MutantResult, ...] | None
    seconds: float
    impure: tuple[ImpureAnswer, ...] = key(absent=True, default=())

    @property
    def states(self) -> int:
        return sum(scope.states for scope in self.scopes)

    @property
    def classes(self) -> list[ClaimResult]:
        """The classes of operators that were found, with the claims about them."""
        return [ClaimResult(one, self.claims.get(one), found) for one, found in self.found.items()]

    @property
    def refuted(self) -> list[ScopeResult]:
        """The scopes with a counterexample."""
        return [scope for scope in self.scopes if scope.counterexample is not None]

    @property
    def killed(self) -> int:
        """The number of mutants that were found."""
        return sum(mutant.by is not None for mutant in self.mutants or ())

    @property
    def shortest(self) -> ScopeCounterexample | None:
        """The counterexample with the fewest steps."""
        found = [scope.counterexample for scope in self.scopes if scope.counterexample is not None]
        return min(found, key=lambda one: one.steps, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessResult:
    """A shortest run to a world at rest whose guarantee is as weak as that of a scope.

    not_: the next stronger guarantee.  steps, story,
    culprit: None if no run has so weak a guarantee.
    """

    protocol: str
    scope: str
    guarantee: Guarantee
    not_: Guarantee = key("not")
    states: int
    steps: int | None
    story: Story | None
    culprit: Culprit | None = key(absent=True, default=None)
