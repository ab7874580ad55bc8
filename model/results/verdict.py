"""The verdict on a protocol, and the results of its scopes.

Rule of this file: no decision; its properties only count and pick.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from model.core import Guarantee, OperatorClass
from model.evidence import Outcome
from model.results.attack import AttackResult, MutantResult
from model.results.culprit import Culprit
from model.results.plain import key
from model.results.purity import ImpureAnswer
from model.results.reach import Reach
from model.results.steps import SteppedRun
from model.results.story import Story


@dataclass(frozen=True, slots=True)
class ScopeCounterexample:
    """A shortest run of a scope that violates a property.

    property: its name.  circle: the number of the last steps that repeat without end.  pinned: the
    number of steps that is expected; None: any.  run: by steps, if it was asked for.
    """

    property: str
    steps: int
    circle: int
    pinned: int | None
    story: Story
    culprit: Culprit | None = key(absent=True, default=None)
    run: SteppedRun | None = key(absent=True, default=None)


class MissedPoint(NamedTuple):
    """A crash point that no crash has struck, and why none could (proofs.explore.coverage)."""

    point: str
    why: str


class Expectation(Enum):
    """A part of the evidence of a scope.  STATES, STEPS: numbers that are pinned."""

    OUTCOME = "outcome"
    STATES = "states"
    STEPS = "steps"
    GUARANTEE = "guarantee"


@dataclass(frozen=True, slots=True)
class ScopeResult:
    """What was found in a scope, beside what is pinned.

    operators, derived: the pinned class of its operators (None: the scope has no stream, and no
    guarantee), and the one that was found (None: not decided).  pinned: the number of worlds that
    is expected; None: any.  reduced: worlds that show nothing else were left out.  points, hit,
    missed: the crash points.  spent: the budget that ended the exploration, in words.  as_pinned:
    was all that is expected found?  differs: the parts of the evidence that the result contradicts;
    a search that a budget ended contradicts nothing that it might still find.
    """

    name: str
    operators: OperatorClass | None
    derived: OperatorClass | None
    crashes: int
    expect: Outcome
    outcome: Outcome
    as_pinned: bool
    differs: tuple[Expectation, ...]
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

    expected: is everything as pinned?  vacuous: as in Verdict.  untried: the trials that the scope
    alone lacks, a sentence each; other scopes of the protocol may have them.  reach: as in
    Verdict.
    """

    protocol: str
    scope: ScopeResult
    expected: bool
    vacuous: tuple[str, ...]
    untried: tuple[str, ...]
    reach: Reach | None = None


class ClaimResult(NamedTuple):
    """A class of operators with the guarantees that are claimed (None: nothing) and found."""

    operators: OperatorClass
    claimed: Guarantee | None
    found: Guarantee


@dataclass(frozen=True, slots=True)
class StandardResult:
    """A protocol with a standard operator (proofs.explore.standard_operators).

    operators: its class.  scope: the result; None if the protocol was not deployed with it, and
    `why` says why.  unhurt: the counterexample needs no fault.  vacuous: as in Verdict.
    """

    name: str
    operators: OperatorClass
    scope: ScopeResult | None = None
    why: str = ""
    unhurt: bool = False
    vacuous: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The results of all checkers about a protocol or variant.

    expected: is everything as pinned?  weaker, stronger, unclaimed: the classes of operators for
    which less, more, or something was found that is not claimed.  standard: the standard operators
    that were asked for; `found` and `weaker` are also about these.  untried_classes: those with no
    operator in any scope.  vacuous: what should have been
    tried and never was, a sentence each.  evidence: how often each note was seen; missing: the
    notes that were to be seen.  mutants: None if none was hunted.  impure: the functions with two
    answers to one question; then nothing was tried.  reach: None if it was not measured, or
    something was refuted.
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
    standard: tuple[StandardResult, ...]
    untried_classes: tuple[OperatorClass, ...]
    attack: AttackResult
    evidence: Mapping[str, int]
    missing: tuple[str, ...]
    mutants: tuple[MutantResult, ...] | None
    seconds: float
    impure: tuple[ImpureAnswer, ...] = key(absent=True, default=())
    reach: Reach | None = None

    @property
    def states(self) -> int:
        return sum(scope.states for scope in self.scopes)

    @property
    def classes(self) -> list[ClaimResult]:
        """The classes of operators that were found, with the claims that cover them."""
        return [ClaimResult(one, self._claimed(one), found) for one, found in self.found.items()]

    def _claimed(self, operators: OperatorClass) -> Guarantee | None:
        """The claim about a class, or else the strongest one about a class that contains it."""
        wider = [guarantee for one, guarantee in self.claims.items() if one >= operators]
        return self.claims.get(operators, min(wider, default=None))

    @property
    def ran(self) -> list[ScopeResult]:
        """The results of the standard operators that ran."""
        return [one.scope for one in self.standard if one.scope is not None]

    @property
    def refuted(self) -> list[ScopeResult]:
        """The scopes with a counterexample, also those of standard operators."""
        every = (*self.scopes, *self.ran)
        return [scope for scope in every if scope.counterexample is not None]

    @property
    def refuted_with(self) -> list[OperatorClass]:
        """The classes of the standard operators that alone refute the protocol."""
        own = self.attack.failure or any(one.outcome is Outcome.REFUTED for one in self.scopes)
        rows = [] if own else [one for one in self.ran if one.outcome is Outcome.REFUTED]
        return [one.operators for one in rows if one.operators is not None]

    @property
    def killed(self) -> int:
        """The number of mutants that were found."""
        return sum(mutant.by is not None for mutant in self.mutants or ())

    @property
    def shortest(self) -> ScopeCounterexample | None:
        """The counterexample with the fewest steps; of a standard operator if no other is there."""
        for rows in (self.scopes, self.ran):
            found = [one.counterexample for one in rows if one.counterexample is not None]
            if found:
                return min(found, key=lambda one: one.steps)
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessResult:
    """The weakest guarantee that a search of a scope has found, and a shortest run that has it.

    expect_guarantee: the one that the protocol's evidence expects.  complete: was every world seen?
    crashed: did a crash strike in any?  ended: the budget or the failing step that ended the search
    before, or the run that never comes to rest; None: there is none.
    not_, steps, story, culprit: the next stronger guarantee, and the run; None of a precise scope.
    """

    protocol: str
    scope: str
    guarantee: Guarantee
    expect_guarantee: Guarantee
    not_: Guarantee | None = key("not")
    states: int
    complete: bool
    crashed: bool
    ended: str | None
    steps: int | None
    story: Story | None
    culprit: Culprit | None = key(absent=True, default=None)

    @property
    def expected(self) -> bool:
        """Is the guarantee the expected one, with every world seen and every run at rest?"""
        return self.complete and not self.ended and self.guarantee is self.expect_guarantee
