"""The results of lemmas: queries, dropped hypotheses, and formulas compared with the Python.

Rule of this file: no solver, and no formula.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from model.evidence import Outcome
from model.results.answers import Answer, QueryKind
from model.results.grid import Grid
from model.results.plain import key


class Erratum(NamedTuple):
    """A claim of a paper that is wrong as published; size: of the smallest counterexample."""

    claim: str
    section: str
    size: str
    correction: str


@dataclass(frozen=True, slots=True)
class QueryResult:
    """transition, invariant: of a query of an induction.  steps: of a bounded run.  grid: the model
    that was found.  cvc5: the answer of the second solver; None: it was not asked."""

    name: str
    kind: QueryKind
    transition: str | None
    invariant: str | None
    steps: int | None
    expect: Answer
    answer: Answer
    seconds: float
    grid: Grid | None
    cvc5: Answer | None = key(absent=True, default=None)

    @property
    def sometimes(self) -> bool:
        """Does it only show that the hypotheses do not contradict each other?"""
        return self.kind is QueryKind.SOMETIMES

    @property
    def contradicted(self) -> bool:
        """Does the second solver say the opposite?"""
        return self.cvc5 not in (None, Answer.UNKNOWN, self.answer)

    @property
    def fine(self) -> bool:
        return self.answer is self.expect and not self.contradicted


@dataclass(frozen=True, slots=True)
class HypothesisResult:
    """A hypothesis that was dropped.  by: the query that has a counterexample then, drawn as the
    grid."""

    name: str
    needed: bool
    by: str | None
    grid: Grid | None
    seconds: float


class LemmaOutcome(StrEnum):
    """HOLDS, REFUTED: as of `model.core.Outcome`.  UNKNOWN: a solver has no answer."""

    HOLDS = Outcome.HOLDS.value
    REFUTED = Outcome.REFUTED.value
    UNKNOWN = "unknown"


UNBOUNDED = "unbounded"
"""The scope of a lemma about worlds of any size."""


@dataclass(frozen=True, slots=True)
class LemmaResult:
    """A lemma with the answers to its queries.  hypotheses: empty unless each was dropped."""

    name: str
    statement: str
    section: str
    scope: str
    fragment: str
    expect: LemmaOutcome
    outcome: LemmaOutcome
    as_expected: bool
    seconds: float
    queries: tuple[QueryResult, ...]
    hypotheses: tuple[HypothesisResult, ...]
    erratum: Erratum | None

    @property
    def verdict(self) -> str:
        """proved, proved within its scope, refuted, or unknown."""
        if self.outcome is LemmaOutcome.HOLDS:
            return "proved" if self.scope == UNBOUNDED else "proved within scope"
        return self.outcome.value

    @property
    def needed(self) -> int:
        """The number of hypotheses that are needed."""
        return sum(one.needed for one in self.hypotheses)

    @property
    def fine(self) -> bool:
        """Are all answers as expected, and all dropped hypotheses needed?"""
        return (
            self.as_expected
            and self.needed == len(self.hypotheses)
            and all(one.fine for one in self.queries)
        )

    @property
    def counterexamples(self) -> list[Grid]:
        """The models that refute the lemma, drawn."""
        return [
            one.grid
            for one in self.queries
            if one.grid and one.answer is Answer.SAT and not one.sometimes
        ]


@dataclass(frozen=True, slots=True)
class DriftResult:
    """A step of the Python that the formulas do not allow.  what: in words."""

    scope: str
    what: str
    grid: Grid


@dataclass(frozen=True, slots=True)
class AbstractionResult:
    """The formulas of a transition system, compared with the Python.

    transitions: how often each was taken.  drift: the first; None: there is none.
    """

    name: str
    states: int
    transitions: Mapping[str, int]
    drift: DriftResult | None


@dataclass(frozen=True, slots=True)
class ProofResult:
    """The lemmas of a protocol.  drift: empty unless the formulas were compared with the Python.
    seconds: of lemmas and scopes, added up.  lost: a line for each of these whose process died; no
    other field has it."""

    protocol: str
    lemmas: tuple[LemmaResult, ...]
    drift: tuple[AbstractionResult, ...]
    seconds: float
    lost: tuple[str, ...] = key(absent=True, default=())

    @property
    def drifting(self) -> list[AbstractionResult]:
        return [one for one in self.drift if one.drift is not None]

    @property
    def fine(self) -> bool:
        """Is all as expected, with every dropped hypothesis needed, cvc5 agreeing, no drift, and
        nothing lost?"""
        return not (self.lost or self.drifting) and all(lemma.fine for lemma in self.lemmas)

    def queries(self) -> Iterator[QueryResult]:
        """The queries of all lemmas."""
        for lemma in self.lemmas:
            yield from lemma.queries
