"""The prover: it asks a solver about every lemma of a protocol.

Rule of this file: it asks and adds up; it decides nothing that a solver does not say.  Lemmas are
independent, so several processes may ask about them; each process builds its own formulas, because
those of Z3 cannot travel.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from model.calls import Execute, gather, one_by_one
from model.evidence import Outcome
from model.progress import Progress, silent
from model.results.answers import Answer
from model.results.proofs import (
    AbstractionResult,
    DriftResult,
    HypothesisResult,
    LemmaOutcome,
    LemmaResult,
    ProofResult,
    QueryResult,
)
from proofs.garbage import seldom_collected
from proofs.prove.conformance import compare
from proofs.prove.lemma import Lemma, all_given
from proofs.prove.lemma import mutants as mutants_of
from proofs.prove.lemma_index import Choice, theory
from proofs.prove.query import SolverQuery, ask, search
from proofs.prove.second_solver import second

MUTANT_LIMIT_S = 20.0
"""A dropped hypothesis must show itself in a counterexample within this time."""

WORLDS = 5_000
"""So many worlds of each scope are compared with the formulas if that is asked for, and in the full
report.  `make test` compares 2,500 (tests/proofs/test_conformance), `make test-all` all of them."""


# --- asking ----------------------------------------------------------------------------------
class _Asked(NamedTuple):
    """A lemma that is settled, or a scope that is compared with the formulas.  of: the theory."""

    of: str
    doing: str
    name: str

    def __str__(self) -> str:
        return f"{self.doing} {self.name}"


_Call: TypeAlias = Callable[[], tuple[float, Any]]
"""A call with the seconds that it takes."""


def prove(
    subjects: Choice,
    *,
    mutants: bool = False,
    opinion: bool = False,
    worlds: int = 0,
    execute: Execute[_Call, tuple[float, Any]] = one_by_one,
    progress: Progress = silent,
) -> list[ProofResult]:
    """The answers to all that is chosen, an entry for each protocol.

    mutants: also drop every hypothesis of the lemmas that hold.  opinion: ask cvc5 as well.
    worlds: so many of every scope are compared with the formulas (`proofs.prove.conformance`).
    """
    proofs_: dict[_Asked, _Call] = {}
    refutations: dict[_Asked, _Call] = {}
    comparisons: dict[_Asked, _Call] = {}
    for one, lemmas in subjects:
        for lemma in lemmas:
            longer = proofs_ if lemma.expect is Outcome.HOLDS else refutations
            asked = _Asked(one.of, "proving", lemma.name)
            longer[asked] = partial(_timed, _settle, one.of, lemma.name, mutants, opinion)
        if worlds and one.abstractions:
            for at, pinned in enumerate(one.protocol.evidence.scopes):
                asked = _Asked(one.of, "comparing", pinned.name)
                comparisons[asked] = partial(_timed, _compare, one.of, at, worlds)
    # What takes longest comes first, so that no process is left alone with it at the end.
    calls = {**proofs_, **refutations, **comparisons}
    found, lost = gather(execute, calls, "lemmas", progress)
    entries = []
    for one, lemmas in subjects:
        settled = (found.get(_Asked(one.of, "proving", lemma.name)) for lemma in lemmas)
        rows = tuple(row for _, row in filter(None, settled))
        mine = {key: result for key, result in found.items() if key.of == one.of}
        scopes = [scope for key, (_, scope) in mine.items() if key.doing == "comparing"]
        drift = tuple(_sum(abstraction.name, scopes) for abstraction in one.abstractions if scopes)
        took = round(sum(seconds for seconds, _ in mine.values()), 2)
        died = tuple(f"{key}: {why}" for key, why in lost.items() if key.of == one.of)
        entries.append(ProofResult(one.of, rows, drift, took, died))
    return entries


@seldom_collected()
def _timed(call: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    started = time.perf_counter()
    found = call(*arguments)
    return time.perf_counter() - started, found


def _settle(of: str, lemma_name: str, mutants: bool, opinion: bool) -> LemmaResult:
    lemma = theory(of).lemma(lemma_name)
    row = settle(lemma, opinion)
    if mutants and lemma.expect is Outcome.HOLDS:
        return replace(row, hypotheses=tuple(drop_each(lemma)))
    return row


def settle(lemma: Lemma, opinion: bool = False) -> LemmaResult:
    """The verdict on a lemma, of all its queries, and whether it is the expected one."""
    rows = tuple(_answer(query, opinion) for query in lemma.build(all_given))
    if any(row.answer is Answer.UNKNOWN for row in rows):
        outcome = LemmaOutcome.UNKNOWN
    elif any(map(_counters, rows)):
        outcome = LemmaOutcome.REFUTED
    else:
        outcome = LemmaOutcome.HOLDS
    expect = LemmaOutcome(lemma.expect.value)
    return LemmaResult(
        name=lemma.name,
        statement=lemma.statement,
        section=lemma.section,
        scope=lemma.scope,
        fragment=lemma.fragment,
        expect=expect,
        outcome=outcome,
        as_expected=outcome is expect and all(row.answer is row.expect for row in rows),
        seconds=round(sum(row.seconds for row in rows), 3),
        queries=rows,
        hypotheses=(),
        erratum=lemma.erratum,
    )


def _answer(query: SolverQuery, opinion: bool) -> QueryResult:
    asked = ask(query)
    return QueryResult(
        name=query.name,
        kind=query.kind,
        transition=query.transition,
        invariant=query.invariant,
        steps=query.steps,
        expect=query.expect,
        answer=asked.answer,
        seconds=round(asked.seconds, 3),
        grid=asked.grid,
        cvc5=second(query) if opinion else None,
    )


def _counters(row: QueryResult) -> bool:
    """Does the answer speak against the lemma?"""
    return row.answer is Answer.SAT and not row.sometimes


def drop_each(lemma: Lemma) -> list[HypothesisResult]:
    """The rows of the hypotheses: which query has a counterexample without it?"""
    return [_drop(name, queries) for name, queries in mutants_of(lemma)]


def _drop(given: str, queries: Iterable[SolverQuery]) -> HypothesisResult:
    started = time.perf_counter()
    for query in queries:
        if query.expect is not Answer.UNSAT:
            continue
        asked = search(query, MUTANT_LIMIT_S)
        if asked.answer is Answer.SAT:
            return HypothesisResult(given, True, query.name, asked.grid, _since(started))
    return HypothesisResult(given, False, None, None, _since(started))


# --- comparing with what the Python does -----------------------------------------------------
def _compare(of: str, at: int, worlds: int) -> dict[str, AbstractionResult]:
    """One scope, by name of the abstraction."""
    one = theory(of)
    pinned = one.protocol.evidence.scopes[at]
    accounts = compare(one.abstractions, one.protocol, pinned.scope, limit=worlds)
    return {
        name: AbstractionResult(
            name,
            account.states,
            dict(account.transitions),
            account.drift and DriftResult(pinned.name, account.drift.what, account.drift.grid()),
        )
        for name, account in accounts.items()
    }


def _sum(name: str, scopes: Sequence[Mapping[str, AbstractionResult]]) -> AbstractionResult:
    """All scopes; drift: the first, if there is one."""
    of_it = [scope[name] for scope in scopes]
    taken: Counter[str] = Counter()
    for one in of_it:
        taken.update(one.transitions)
    drift = next((one.drift for one in of_it if one.drift), None)
    return AbstractionResult(name, sum(one.states for one in of_it), dict(taken), drift)


def summary(result: ProofResult) -> str:
    """One line that says how many lemmas hold, are refuted, are not as expected."""
    lemmas, queries = result.lemmas, [*result.queries()]
    dropped = sum(len(lemma.hypotheses) for lemma in lemmas)
    parts = [
        f"{sum(lemma.outcome is LemmaOutcome.HOLDS for lemma in lemmas)} proved",
        f"{sum(lemma.outcome is LemmaOutcome.REFUTED for lemma in lemmas)} refuted",
        f"{sum(not lemma.as_expected for lemma in lemmas)} not as expected",
        f"{len(queries)} queries",
    ]
    if dropped:
        needed = sum(lemma.needed for lemma in lemmas)
        parts.append(f"{needed} of {dropped} hypotheses needed")
    if any(query.cvc5 for query in queries):
        parts.append(f"cvc5 agrees on {sum(query.cvc5 is query.answer for query in queries)}")
    if result.lost:
        parts.append(f"{len(result.lost)} lost")
    if result.drift:
        drifting = len(result.drifting)
        states = sum(abstraction.states for abstraction in result.drift)
        found = f"{drifting} that DRIFT" if drifting else "no drift"
        parts.append(f"{found} in {states:,} states")
    return f"{result.protocol}: {', '.join(parts)}, {result.seconds:.1f} s"


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 2)


# --- exporting -------------------------------------------------------------------------------
def smtlib(subjects: Choice) -> dict[Path, str]:
    """Every query as the text of an SMT-LIB file, by a relative path."""
    files = {}
    for one, lemmas in subjects:
        home = Path(one.of).stem
        for lemma in lemmas:
            for at, query in enumerate(lemma.build(all_given), 1):
                files[Path(home, lemma.name, f"{at:03}.smt2")] = query.smt2()
    return files
