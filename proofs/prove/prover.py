"""The prover: it asks a solver about every lemma of a protocol, and returns plain data.

Rule of this file: it asks and adds up; it decides nothing that a solver does not say.  `--json`
writes the dicts, and reports read them.  Lemmas are independent, so several processes ask about
them; each process builds its own formulas, because those of Z3 cannot travel.
"""

from __future__ import annotations

import gc
import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, TypeAlias

from model.evidence import Outcome
from model.progress import Progress, silent
from proofs.prove.conformance import compare
from proofs.prove.kinds import Answer, QueryKind
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
def prove(
    subjects: Choice,
    *,
    mutants: bool = False,
    opinion: bool = False,
    worlds: int = 0,
    workers: int = 2,
    progress: Progress = silent,
) -> list[dict[str, Any]]:
    """The answers to all that is chosen, an entry for each protocol.

    mutants: also drop every hypothesis of the lemmas that hold.  opinion: ask cvc5 as well.
    worlds: so many of every scope are compared with the formulas (`proofs.prove.conformance`).
    """
    proofs_: dict[_Key, tuple[Any, ...]] = {}
    refutations: dict[_Key, tuple[Any, ...]] = {}
    comparisons: dict[_Key, tuple[Any, ...]] = {}
    for one, lemmas in subjects:
        for lemma in lemmas:
            longer = proofs_ if lemma.expect is Outcome.HOLDS else refutations
            longer[one.of, "lemma", lemma.name] = _settle, one.of, lemma.name, mutants, opinion
        if worlds and one.abstractions:
            for at, pinned in enumerate(one.protocol.evidence.scopes):
                comparisons[one.of, "scope", pinned.name] = _compare, one.of, at, worlds
    # What takes longest comes first, so that no process is left alone with it at the end.
    tasks = {**proofs_, **refutations, **comparisons}
    done: dict[_Key, Any] = {}
    took = {one.of: 0.0 for one, _ in subjects}
    progress("lemmas", 0, len(tasks))
    context = multiprocessing.get_context("spawn")
    # To look for cyclic garbage takes up to a fifth of the time, and there is little: without it,
    # three scopes need 5 % more memory.
    with ProcessPoolExecutor(
        min(workers, len(tasks)), mp_context=context, initializer=gc.disable
    ) as pool:
        running = {pool.submit(_timed, *task): key for key, task in tasks.items()}
        for future in as_completed(running):
            key = running[future]
            seconds, done[key] = future.result()
            of, kind, what = key
            took[of] += seconds
            doing = "proving" if kind == "lemma" else "comparing"
            progress("lemmas", len(done), len(tasks), f"{doing} {what}")
    entries = []
    for one, lemmas in subjects:
        rows = [done[one.of, "lemma", lemma.name] for lemma in lemmas]
        scopes = [done[key] for key in tasks if key[:2] == (one.of, "scope")]
        drift = [_sum(abstraction.name, scopes) for abstraction in one.abstractions if scopes]
        seconds = round(took[one.of], 2)
        entry = {"protocol": one.of, "lemmas": rows, "drift": drift, "seconds": seconds}
        entries.append(entry)
    return entries


_Key: TypeAlias = tuple[str, str, str]
"""What a result is of: the theory, "lemma" or "scope", its name."""


def _timed(call: Callable[..., Any], *arguments: Any) -> tuple[float, Any]:
    started = time.perf_counter()
    found = call(*arguments)
    return time.perf_counter() - started, found


def _settle(of: str, lemma_name: str, mutants: bool, opinion: bool) -> dict[str, Any]:
    lemma = theory(of).lemma(lemma_name)
    row = settle(lemma, opinion)
    if mutants and lemma.expect is Outcome.HOLDS:
        row["hypotheses"] = drop_each(lemma)
    return row


def settle(lemma: Lemma, opinion: bool = False) -> dict[str, Any]:
    """The verdict on a lemma, of all its queries, and whether it is the expected one."""
    rows: list[tuple[SolverQuery, dict[str, Any]]] = []
    for query in lemma.build(all_given):
        asked = ask(query)
        row: dict[str, Any] = {
            "name": query.name,
            "kind": query.kind.value,
            "transition": query.transition,
            "invariant": query.invariant,
            "steps": query.steps,
            "expect": query.expect.value,
            "answer": asked.answer.value,
            "seconds": round(asked.seconds, 3),
            "grid": None if asked.grid is None else asked.grid.data(),
        }
        if opinion:
            row["cvc5"] = second(query).value
        rows.append((query, row))
    answers = {(query.expect, row["answer"]) for query, row in rows}
    if any(row["answer"] == Answer.UNKNOWN.value for _, row in rows):
        outcome = "unknown"
    elif any(_counters(query, row["answer"]) for query, row in rows):
        outcome = Outcome.REFUTED.value
    else:
        outcome = Outcome.HOLDS.value
    return {
        "name": lemma.name,
        "statement": lemma.statement,
        "section": lemma.section,
        "scope": lemma.scope,
        "fragment": lemma.fragment,
        "expect": lemma.expect.value,
        "outcome": outcome,
        "as_expected": outcome == lemma.expect.value
        and all(expect.value == answer for expect, answer in answers),
        "seconds": round(sum(row["seconds"] for _, row in rows), 3),
        "queries": [row for _, row in rows],
        "hypotheses": [],
        "erratum": None if lemma.erratum is None else lemma.erratum._asdict(),
    }


def _counters(query: SolverQuery, answer: str) -> bool:
    """Does the answer speak against the lemma?"""
    return answer == Answer.SAT.value and query.kind is not QueryKind.SOMETIMES


def drop_each(lemma: Lemma) -> list[dict[str, Any]]:
    """The rows of the hypotheses: which query has a counterexample without it?"""
    return [_drop(name, queries) for name, queries in mutants_of(lemma)]


def _drop(given: str, queries: Iterable[SolverQuery]) -> dict[str, Any]:
    started = time.perf_counter()
    for query in queries:
        if query.expect is not Answer.UNSAT:
            continue
        asked = search(query, MUTANT_LIMIT_S)
        if asked.answer is Answer.SAT:
            grid = None if asked.grid is None else asked.grid.data()
            return _mutant_row(given, True, query.name, grid, started)
    return _mutant_row(given, False, None, None, started)


def _mutant_row(
    given: str, needed: bool, by: str | None, grid: dict[str, Any] | None, started: float
) -> dict[str, Any]:
    return {"name": given, "needed": needed, "by": by, "grid": grid, "seconds": _since(started)}


# --- comparing with what the Python does -----------------------------------------------------
def _compare(of: str, at: int, worlds: int) -> dict[str, dict[str, Any]]:
    """One scope, by name of the abstraction."""
    one = theory(of)
    pinned = one.protocol.evidence.scopes[at]
    accounts = compare(one.abstractions, one.protocol, pinned.scope, limit=worlds)
    return {
        name: {
            "states": account.states,
            "transitions": dict(account.transitions),
            "drift": account.drift
            and {
                "scope": pinned.name,
                "what": account.drift.what,
                "grid": account.drift.grid().data(),
            },
        }
        for name, account in accounts.items()
    }


def _sum(name: str, scopes: Sequence[Mapping[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """All scopes; drift: the first, if there is one."""
    of_it = [scope[name] for scope in scopes]
    taken: Counter[str] = Counter()
    for one in of_it:
        taken.update(one["transitions"])
    return {
        "name": name,
        "states": sum(one["states"] for one in of_it),
        "transitions": dict(taken),
        "drift": next((one["drift"] for one in of_it if one["drift"]), None),
    }


# --- judging ---------------------------------------------------------------------------------
def good(result: Mapping[str, Any]) -> bool:
    """Is all as expected, with every dropped hypothesis needed, cvc5 agreeing, and no drift?"""
    if any(abstraction["drift"] for abstraction in result["drift"]):
        return False
    return all(
        lemma["as_expected"]
        and all(hypothesis["needed"] for hypothesis in lemma["hypotheses"])
        and all(
            query.get("cvc5", Answer.UNKNOWN) in (Answer.UNKNOWN, query["answer"])
            for query in lemma["queries"]
        )
        for lemma in result["lemmas"]
    )


def summary(result: Mapping[str, Any]) -> str:
    """One line that says how many lemmas hold, are refuted, are not as expected."""
    lemmas = result["lemmas"]
    queries = [query for lemma in lemmas for query in lemma["queries"]]
    dropped_ = [hypothesis for lemma in lemmas for hypothesis in lemma["hypotheses"]]
    parts = [
        f"{sum(lemma['outcome'] == 'holds' for lemma in lemmas)} proved",
        f"{sum(lemma['outcome'] == 'refuted' for lemma in lemmas)} refuted",
        f"{sum(not lemma['as_expected'] for lemma in lemmas)} not as expected",
        f"{len(queries)} queries",
    ]
    if dropped_:
        needed = sum(hypothesis["needed"] for hypothesis in dropped_)
        parts.append(f"{needed} of {len(dropped_)} hypotheses needed")
    if any("cvc5" in query for query in queries):
        same = sum(query.get("cvc5") == query["answer"] for query in queries)
        parts.append(f"cvc5 agrees on {same}")
    if result["drift"]:
        drifting = sum(bool(abstraction["drift"]) for abstraction in result["drift"])
        states = sum(abstraction["states"] for abstraction in result["drift"])
        found = f"{drifting} that DRIFT" if drifting else "no drift"
        parts.append(f"{found} in {states:,} states")
    return f"{result['protocol']}: {', '.join(parts)}, {result['seconds']:.1f} s"


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
