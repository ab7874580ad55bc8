"""Queries: one question to a solver, and its answer.

Rule of this file: a query is a value; whatever is proved or refuted here is a conjunction of
formulas and the answer expected of it.  So every query can be asked again by another solver
(`smt2`), and nothing is proved that cannot be exported.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple, TypeVar

import z3

from model.results.answers import Answer, QueryKind
from model.results.grid import Grid
from proofs.prove.grounding import ground


@dataclass(frozen=True, slots=True)
class SolverQuery:
    """Can all `claims` hold at once?

    name: for people; no two queries of a lemma have the same.  show: draws a model.
    smallest: the uninterpreted sorts of which the model drawn has fewest.
    transition, invariant, steps: the subject of the query, where it has such a subject; `steps`
    is the length of a run.
    """

    name: str
    kind: QueryKind
    claims: tuple[Any, ...]
    show: Callable[[Any], Grid] | None = None
    smallest: tuple[Any, ...] = ()
    transition: str | None = None
    invariant: str | None = None
    steps: int | None = None

    @property
    def expect(self) -> Answer:
        """The answer that is as it should be."""
        return self.kind.expect

    def smt2(self) -> str:
        """The query in SMT-LIB 2.6, with the answer expected."""
        solver = z3.Solver()
        solver.add(*self.claims)
        body = solver.to_smt2().split("\n", 1)[1]  # the first line is a comment of Z3's
        body = body.replace("(set-info :status unknown)\n", "")
        name = " ".join(self.name.split())
        return f"; {name}\n(set-info :status {self.expect.value})\n(set-logic ALL)\n{body}"


def sometimes(
    what: str,
    claims: tuple[Any, ...],
    show: Callable[[Any], Grid] | None = None,
    smallest: tuple[Any, ...] = (),
) -> SolverQuery:
    """The query whose model shows that the hypotheses do not contradict each other."""
    return SolverQuery(f"sometimes: {what}", QueryKind.SOMETIMES, claims, show, smallest)


Size = TypeVar("Size")


def smallest(
    question: Callable[[Size, QueryKind], SolverQuery], sizes: Sequence[Size]
) -> Iterator[SolverQuery]:
    """The search for a smallest counterexample: none of any size but the last, one of the last."""
    for size in sizes[:-1]:
        yield question(size, QueryKind.CLAIM)
    yield question(sizes[-1], QueryKind.COUNTEREXAMPLE)


class SolverReply(NamedTuple):
    """seconds: to answer, without drawing."""

    answer: Answer
    seconds: float
    grid: Grid | None


LIMIT_S = 240.0
"""Wall time, shared by the seeds: the slowest query needs 5 s alone, and machines may be busy."""
QUICK_S = 1.0
SEEDS = (0, 1, 2, 3)
"""Z3 is asked with one after the other until it knows: how long it takes depends on chance, and on
which formulas its process has seen before."""


def ask(query: SolverQuery, limit_s: float = LIMIT_S) -> SolverReply:
    """Ask Z3; a satisfiable query that can be drawn is drawn from a smallest model.

    A finite model is a model: where quantifiers are too much for Z3, worlds of a few elements
    are tried before the answer is UNKNOWN.
    """
    started = time.perf_counter()
    for seed in SEEDS:
        answer, model = _solve(query.claims, limit_s / len(SEEDS), seed)
        if answer is not Answer.UNKNOWN:
            break
    seconds = time.perf_counter() - started
    if answer is not Answer.UNSAT and (smaller := _small(query)) is not None:
        model = smaller
        seconds += (time.perf_counter() - started - seconds) * (answer is Answer.UNKNOWN)
        answer = Answer.SAT
    return SolverReply(answer, seconds, None if model is None else _draw(query, model))


def search(query: SolverQuery, limit_s: float = LIMIT_S) -> SolverReply:
    """As `ask`, for those that are likely to have a model: where Z3 has no quick answer, worlds of
    a few elements are tried before it is asked again."""
    started = time.perf_counter()
    answer, model = _solve(query.claims, QUICK_S)
    for size in (2, 3) if answer is Answer.UNKNOWN and query.smallest else ():
        answer, model = _solve(ground(query.claims, dict.fromkeys(query.smallest, size)), limit_s)
        if answer is Answer.SAT:
            break
        answer = Answer.UNKNOWN
    if answer is Answer.UNKNOWN:
        return ask(query, limit_s)
    seconds = time.perf_counter() - started
    return SolverReply(
        answer, seconds, None if model is None else _draw(query, _small(query) or model)
    )


def _draw(query: SolverQuery, model: Any) -> Grid | None:
    return None if query.show is None else query.show(model)


def _small(query: SolverQuery, limit_s: float = 1.0) -> Any:
    """A model with fewest elements in `smallest`, or None."""
    for sizes in _growing(query.smallest) if query.smallest else ():
        answer, model = _solve(ground(query.claims, sizes), limit_s)
        if answer is Answer.SAT:
            return model
    return None


def _solve(claims: Sequence[Any], limit_s: float, seed: int = 0) -> tuple[Answer, Any]:
    solver = z3.Solver()
    solver.set("timeout", int(limit_s * 1000))
    solver.set("random_seed", seed)
    solver.add(*claims)
    answer = Answer(str(solver.check()))
    return answer, solver.model() if answer is Answer.SAT else None


def _growing(sorts: tuple[Any, ...], most: int = 3) -> Iterator[dict[Any, int]]:
    """Sizes of the sorts, the fewest elements in all first."""
    sizes = product(range(1, most + 1), repeat=len(sorts))
    for counts in sorted(sizes, key=lambda sizes: (sum(sizes), sizes)):
        yield dict(zip(sorts, counts, strict=True))
