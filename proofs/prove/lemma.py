"""Lemmas: what is said, where the paper says it, and the queries that settle it.

Rule of this file: a lemma is a value.  It is build from its hypotheses by name, so that each can be
dropped: a hypothesis without which everything is still proved is none (`hypotheses`, `without`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import z3

from model.core import Outcome
from proofs.prove.query import Query

Given: TypeAlias = Callable[[str, Any], Any]
"""given(name, formula): the formula, or true if this hypothesis is dropped."""


class Erratum(NamedTuple):
    """A claim of a paper that is wrong as published; size: of the smallest counterexample."""

    claim: str
    section: str
    size: str
    correction: str


@dataclass(frozen=True, slots=True)
class Lemma:
    """statement: whole sentences, for all of what.  expect: HOLDS if all queries are to be
    unsatisfiable, REFUTED if one is to give a counterexample.  scope: "unbounded", or up to what.
    fragment: of first-order logic, and so whether an answer is sure to come."""

    name: str
    statement: str
    section: str
    expect: Outcome
    build: Callable[[Given], Iterable[Query]]
    scope: str = "unbounded"
    fragment: str = "EPR"
    erratum: Erratum | None = None


def all_given(_name: str, formula: Any) -> Any:
    """No hypothesis is dropped."""
    return formula


def without(hypothesis: str) -> Given:
    return lambda name, formula: z3.BoolVal(True) if name == hypothesis else formula


def hypotheses(lemma: Lemma) -> tuple[str, ...]:
    """The names of its hypotheses, in order of use."""
    return build(lemma)[1]


def build(lemma: Lemma) -> tuple[list[Query], tuple[str, ...]]:
    """Its queries, with all that is given, and the names of its hypotheses, in order of use."""
    names: dict[str, None] = {}

    def note(name: str, formula: Any) -> Any:
        names.setdefault(name)
        return formula

    queries = list(lemma.build(note))
    return queries, tuple(names)
