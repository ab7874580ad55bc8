"""Proving: every lemma of a protocol asked, as plain data.

Rule of this file: it asks and adds up; it decides nothing that a solver does not say.  The dicts
are what `--json` writes and what reports read.  Lemmas are independent, so they are asked in
several processes; each process builds its own formulas, because Z3's cannot travel.
"""

from __future__ import annotations

import importlib
import multiprocessing
import pkgutil
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import proofs.lemmas
from model.core import Outcome
from model.errors import Invalid
from model.registry import protocols
from proofs.drift import Abstraction
from proofs.lemma import Lemma, all_given, dropped, hypotheses
from proofs.opinion import second
from proofs.progress import Progress, silent
from proofs.query import Answer, Query, ask, search
from proofs.subject import subject, unknown

MUTANT_LIMIT_S = 20.0
"""A dropped hypothesis must show itself in a counterexample within this time."""


class Theory(NamedTuple):
    """What is said of a protocol; `of` is what finds it again: a protocol's name or a file."""

    of: str
    lemmas: tuple[Lemma, ...]
    abstractions: tuple[Abstraction, ...]

    def lemma(self, name: str) -> Lemma:
        return next(lemma for lemma in self.lemmas if lemma.name == name)


# --- finding lemmas --------------------------------------------------------------------------
@cache
def theory(of: str) -> Theory:
    """The lemmas about the protocol named `of`, or of the file `of` if that ends in .py."""
    if of.endswith(".py"):
        modules = [sys.modules[subject(of).home]]
    else:
        modules = list(_modules(f"{proofs.lemmas.__name__}.{of.replace('-', '_')}"))
    lemmas = [lemma for module in modules for lemma in getattr(module, "LEMMAS", ())]
    abstractions = [a for module in modules for a in getattr(module, "ABSTRACTIONS", ())]
    if not lemmas:
        raise Invalid(f"{of}: no LEMMAS; give a tuple of proofs.lemma.Lemma")
    names = [lemma.name for lemma in lemmas]
    for name in names:
        if names.count(name) > 1:
            raise Invalid(f"{of}: two lemmas are called {name!r}; names tell them apart")
    lemmas.sort(key=lambda lemma: lemma.section)
    return Theory(of, tuple(lemmas), tuple(abstractions))


def theories() -> dict[str, Theory]:
    """Those of all registered protocols that have lemmas, by the protocol's name."""
    found = {info.name.replace("_", "-") for info in pkgutil.iter_modules(proofs.lemmas.__path__)}
    return {name: theory(name) for name in protocols() if name in found}


def _modules(name: str) -> Iterator[ModuleType]:
    module = importlib.import_module(name)
    yield module
    for info in pkgutil.iter_modules(getattr(module, "__path__", ())):
        yield from _modules(f"{name}.{info.name}")


def chosen(name: str | None) -> list[tuple[Theory, tuple[Lemma, ...]]]:
    """What `asif prove NAME` is about: all theories, one protocol's, a file's, or one lemma."""
    if name is not None and name.endswith(".py"):
        one = theory(name)
        return [(one, one.lemmas)]
    known = theories()
    if name is None:
        return [(one, one.lemmas) for one in known.values()]
    if name in known:
        return [(known[name], known[name].lemmas)]
    for one in known.values():
        found = tuple(lemma for lemma in one.lemmas if lemma.name == name)
        if found:
            return [(one, found)]
    names = [*known, *(lemma.name for one in known.values() for lemma in one.lemmas)]
    raise unknown("protocol or lemma", name, names)


# --- asking ----------------------------------------------------------------------------------
def prove(
    name: str | None = None,
    *,
    mutants: bool = False,
    opinion: bool = False,
    workers: int = 2,
    progress: Progress = silent,
) -> list[dict[str, Any]]:
    """Ask everything that `name` stands for, an entry for each protocol.

    mutants: also drop every hypothesis of the lemmas that hold.  opinion: ask cvc5 as well.
    """
    subjects = chosen(name)
    tasks: list[tuple[str, str, str | None, bool]] = []
    for one, lemmas in subjects:
        for lemma in lemmas:
            tasks.append((one.of, lemma.name, None, opinion))
            if mutants and lemma.expect is Outcome.HOLDS:
                tasks += [(one.of, lemma.name, given, False) for given in hypotheses(lemma)]
    started = time.perf_counter()
    done: dict[tuple[str, str, str | None], dict[str, Any]] = {}
    progress("proving", 0, len(tasks))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(workers, len(tasks)), mp_context=context) as pool:
        running = {pool.submit(_task, *task): task for task in tasks}
        for future in as_completed(running):
            of, lemma_name, given, _ = running[future]
            done[of, lemma_name, given] = future.result()
            progress(f"proving: {lemma_name}", len(done), len(tasks))
    entries = []
    for one, lemmas in subjects:
        rows = []
        for lemma in lemmas:
            row = done[one.of, lemma.name, None]
            named = ((one.of, lemma.name, given) for given in hypotheses(lemma))
            row["hypotheses"] = [done[key] for key in named if key in done]
            rows.append(row)
        entries.append({"protocol": one.of, "lemmas": rows, "seconds": _since(started)})
    return entries


def _task(of: str, lemma_name: str, given: str | None, opinion: bool) -> dict[str, Any]:
    lemma = theory(of).lemma(lemma_name)
    return settled(lemma, opinion) if given is None else mutant(lemma, given)


def settled(lemma: Lemma, opinion: bool = False) -> dict[str, Any]:
    """All its queries asked: the verdict, and whether it is the expected one."""
    rows: list[tuple[Query, dict[str, Any]]] = []
    for query in lemma.build(all_given):
        asked = ask(query)
        row: dict[str, Any] = {
            "name": query.name,
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


def _counters(query: Query, answer: str) -> bool:
    """Does the answer speak against the lemma?"""
    return answer == Answer.SAT.value and (query.refutes or query.expect is Answer.UNSAT)


def mutant(lemma: Lemma, given: str) -> dict[str, Any]:
    """The lemma without one hypothesis: which query now has a counterexample?"""
    started = time.perf_counter()
    for query in lemma.build(dropped(given)):
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


def good(result: Mapping[str, Any]) -> bool:
    """Is everything as expected, every hypothesis dropped needed, and cvc5 of the same mind?"""
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
    """One line: how many lemmas hold, are refuted, are not as expected."""
    lemmas = result["lemmas"]
    queries = [query for lemma in lemmas for query in lemma["queries"]]
    dropped_ = [hypothesis for lemma in lemmas for hypothesis in lemma["hypotheses"]]
    told = [
        f"{sum(lemma['outcome'] == 'holds' for lemma in lemmas)} proved",
        f"{sum(lemma['outcome'] == 'refuted' for lemma in lemmas)} refuted",
        f"{sum(not lemma['as_expected'] for lemma in lemmas)} not as expected",
        f"{len(queries)} queries",
    ]
    if dropped_:
        needed = sum(hypothesis["needed"] for hypothesis in dropped_)
        told.append(f"{needed} of {len(dropped_)} hypotheses needed")
    if any("cvc5" in query for query in queries):
        same = sum(query.get("cvc5") == query["answer"] for query in queries)
        told.append(f"cvc5 agrees on {same}")
    return f"{result['protocol']}: {', '.join(told)}, {result['seconds']:.1f} s"


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 2)


# --- exporting -------------------------------------------------------------------------------
def smtlib(name: str | None) -> dict[Path, str]:
    """Every query as the text of an SMT-LIB file, by a relative path."""
    files = {}
    for one, lemmas in chosen(name):
        home = Path(one.of).stem
        for lemma in lemmas:
            for at, query in enumerate(lemma.build(all_given), 1):
                files[Path(home, lemma.name, f"{at:03}.smt2")] = query.smt2()
    return files
