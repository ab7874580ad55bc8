"""Queries: one question to a solver, and its answer.

Rule of this file: a query is a value; whatever is proved or refuted here is a conjunction of
formulas and the answer expected of it.  So every query can be asked again by another solver
(`smt2`), and nothing is proved that cannot be exported.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import Any, NamedTuple

import z3

from proofs.grid import Grid


class Answer(StrEnum):
    UNSAT = "unsat"
    SAT = "sat"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Query:
    """Can all `claims` hold at once?

    expect: UNSAT for a step of a proof, SAT for a counterexample (or, if the name begins with
    SOMETIMES, for evidence that the hypotheses do not contradict each other).
    show: draws a model.  smallest: the uninterpreted sorts of which the model drawn has fewest.
    """

    name: str
    expect: Answer
    claims: tuple[Any, ...]
    show: Callable[[Any], Grid] | None = None
    smallest: tuple[Any, ...] = ()

    @property
    def refutes(self) -> bool:
        """Is it a counterexample that is looked for?"""
        return self.expect is Answer.SAT and not self.name.startswith(SOMETIMES)

    def smt2(self) -> str:
        """The query in SMT-LIB 2.6, with the answer expected."""
        solver = z3.Solver()
        solver.add(*self.claims)
        body = solver.to_smt2().split("\n", 1)[1]  # the first line is a comment of Z3's
        body = body.replace("(set-info :status unknown)\n", "")
        name = " ".join(self.name.split())
        return f"; {name}\n(set-info :status {self.expect.value})\n(set-logic ALL)\n{body}"


SOMETIMES = "sometimes: "


class Asked(NamedTuple):
    """seconds: to answer, without drawing."""

    answer: Answer
    seconds: float
    grid: Grid | None


LIMIT_S = 60.0


def ask(query: Query, limit_s: float = LIMIT_S) -> Asked:
    """Ask Z3; a satisfiable query that can be drawn is drawn from a smallest model."""
    started = time.perf_counter()
    answer, model = _solve(query.claims, limit_s)
    seconds = time.perf_counter() - started
    if answer is not Answer.SAT or query.show is None:
        return Asked(answer, seconds, None)
    for bounds in _growing(query.smallest):
        found, smaller = _solve((*query.claims, *bounds), min(limit_s, 5.0))
        if found is Answer.SAT:
            model = smaller
            break
    return Asked(answer, seconds, query.show(model))


def _solve(claims: tuple[Any, ...], limit_s: float) -> tuple[Answer, Any]:
    solver = z3.Solver()
    solver.set("timeout", int(limit_s * 1000))
    solver.add(*claims)
    answer = Answer(str(solver.check()))
    return answer, solver.model() if answer is Answer.SAT else None


def _growing(sorts: tuple[Any, ...], most: int = 4) -> Iterator[tuple[Any, ...]]:
    """Bounds on the sizes of the sorts, the fewest elements in all first."""
    sizes = product(range(1, most + 1), repeat=len(sorts))
    for chosen in sorted(sizes, key=lambda sizes: (sum(sizes), sizes)) if sorts else ():
        yield tuple(at_most(sort, size) for sort, size in zip(sorts, chosen, strict=True))


def at_most(sort: Any, size: int) -> Any:
    """The sort has no more than `size` elements."""
    elements = [z3.Const(f"{sort}#{i}", sort) for i in range(size)]
    x = z3.Const(f"any {sort}", sort)
    return z3.ForAll([x], z3.Or(*(x == element for element in elements)))
