"""Lemmas: the statement, its place in the paper, and the queries that settle it.

Rule of this file: a lemma is a value.  It is built from its hypotheses by name, so that each can be
dropped: a hypothesis without which everything is still proved is none (`mutants`, `without`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import z3

from model.evidence import Outcome
from model.results.proofs import Erratum
from proofs.prove.query import SolverQuery

Given: TypeAlias = Callable[[str, Any], Any]
"""given(name, formula): the formula, or true if this hypothesis is dropped."""


@dataclass(frozen=True, slots=True)
class Lemma:
    """statement: whole sentences, for all of what.  expect: HOLDS if all queries are to be
    unsatisfiable, REFUTED if one is to give a counterexample.  scope: "unbounded", or up to what.
    fragment: of first-order logic, and so whether an answer is sure to come."""

    name: str
    statement: str
    section: str
    expect: Outcome
    build: Callable[[Given], Iterable[SolverQuery]]
    scope: str = "unbounded"
    fragment: str = "EPR"
    erratum: Erratum | None = None


def all_given(_name: str, formula: Any) -> Any:
    """No hypothesis is dropped."""
    return formula


def without(hypothesis: str) -> Given:
    return lambda name, formula: z3.BoolVal(True) if name == hypothesis else formula


def mutants(lemma: Lemma) -> Iterator[tuple[str, Iterator[SolverQuery]]]:
    """By hypothesis, in order of use: the queries without it.

    A query that says nothing of the hypothesis is left out, because it stays as it is.  The lemma
    is built once, with a mark around each hypothesis; to drop one is to replace its marks by true.
    """
    marks: dict[str, Any] = {}

    def mark(name: str, formula: Any) -> Any:
        if name not in marks:
            marks[name] = z3.Function(f"given: {name}", z3.BoolSort(), z3.BoolSort())
        return marks[name](formula)

    queries = list(lemma.build(mark))
    for name in marks:
        yield name, _dropping(marks[name], marks.values(), queries)


def _dropping(
    dropped: Any, marks: Iterable[Any], queries: Iterable[SolverQuery]
) -> Iterator[SolverQuery]:
    kept = [(mark, z3.Var(0, z3.BoolSort())) for mark in marks]
    for query in queries:
        claims = [z3.substitute_funs(c, (dropped, z3.BoolVal(True))) for c in query.claims]
        if any(not new.eq(old) for new, old in zip(claims, query.claims, strict=True)):
            yield replace(query, claims=tuple(z3.substitute_funs(c, *kept) for c in claims))
