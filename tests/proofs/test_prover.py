"""Every lemma of every protocol: as expected, its hypotheses needed, and cvc5 of the same mind."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asif.processes import call_all
from model.errors import Invalid
from model.evidence import Outcome
from model.results.answers import Answer, QueryKind
from model.results.grid import Grid
from model.results.proofs import (
    AbstractionResult,
    DriftResult,
    Erratum,
    HypothesisResult,
    ProofResult,
    QueryResult,
)
from proofs.prove import prover as proving
from proofs.prove import query as query_
from proofs.prove.lemma import Lemma, all_given
from proofs.prove.lemma_index import choose, theories, theory
from proofs.prove.query import SolverQuery, sometimes
from proofs.prove.second_solver import LIMIT_S, second
from tests.sizes import FULL

ALL = [(name, lemma) for name, one in theories().items() for lemma in one.lemmas]
LONG = {
    "acknowledgements",
    "duplicates",
    "duplicates-late-replay",
    "duplicates-late-restore",
    "duplicates-undiscarded",
    "key-goes-at-once",
    "layout-count",
    "layout-time",
    "numbering",
    "numbers-one-input",
    "pairs-any-match",
    "pairs-condition",
    "pairs-distinct",
    "pairs-figure-8b",
    "pairs-iterations",
    "predecessors-alone",
    "ranges-coalesced",
    "relayed-savepoints",
    "replay-from-t",
    "replay-once",
    "scaling-in-order",
    "scan-by-key",
    "scan-n-of-checkpoints",
    "scan-newest",
    "scan-out-of-order",
    "scan-results-as-footprints",
    "skipping-one-window",
    "trim-log-acknowledged",
    "trim-time",
}
"""Lemmas that take long, by one of the solvers or without a hypothesis.  The report settles each,
too, and `make docs` drops each hypothesis."""


OTHERS = {lemma.name for _, lemma in ALL} - {
    next(
        lemma.name
        for lemma in one.lemmas
        if lemma.name not in LONG and lemma.expect is Outcome.HOLDS
    )
    for one in theories().values()
}
"""All lemmas but the first one of each family."""


def lemmas(long: Collection[str], *, proofs: bool = False) -> list[Any]:
    """All lemmas, or all that hold; those that take long are left to `make test-all`."""
    return [
        pytest.param(
            lemma,
            id=f"{name}-{lemma.name}",
            marks=pytest.mark.exhaustive if lemma.name in long else (),
        )
        for name, lemma in ALL
        if lemma.expect is Outcome.HOLDS or not proofs
    ]


UNDECIDED: dict[str, set[str | int | None]] = {
    "acknowledgements": {"receive", "crash receiving"},
    "predecessors-alone": {5, 6},
    "relayed-savepoints": {13},
    "duplicates-late-replay": {5, 6, 7},
    "skipping-one-window": {4},
    "scan-newest": {7},
    "scan-n-of-checkpoints": {4, 5},
    "scan-results-as-footprints": {4, 5, 6, 7},
    "scan-by-key": {4, 5},
    "scan-out-of-order": {3, 4, 5},
    "trim-log-acknowledged": {2, 3, 4, 5},
    "key-goes-at-once": {5},
}
"""By lemma, the queries that cvc5 does not decide within its limit, or not always: those about
these transitions, or about runs of so many steps."""
BRIEF_S = LIMIT_S if FULL else 0.5
"""cvc5's time for one of these queries: an answer is compared, and none is expected."""


@pytest.mark.parametrize("lemma", lemmas(LONG))
def test_every_lemma_is_as_expected(lemma: Lemma) -> None:
    """Every counterexample is drawn, and every proof says something."""
    settled = proving.settle(lemma)
    queries = settled.queries
    wrong = [q for q in queries if q.answer != q.expect]
    assert wrong == []
    assert settled.outcome == lemma.expect.value
    assert settled.as_expected
    assert len({q.name for q in queries}) == len(queries)
    refuting = [q for q in queries if q.kind == QueryKind.COUNTEREXAMPLE]
    assert bool(refuting) is (lemma.expect is Outcome.REFUTED)
    assert all(q.grid is not None for q in refuting)
    if lemma.expect is Outcome.REFUTED:
        assert tuple(refuting) == queries[-1:], "smaller ones first, the counterexample last"
    else:
        assert any(q.expect == Answer.UNSAT for q in queries)


@pytest.mark.slow
@pytest.mark.parametrize("lemma", lemmas(OTHERS, proofs=True))
def test_every_hypothesis_is_needed(lemma: Lemma) -> None:
    """A mutant a hypothesis: without it some query has a counterexample."""
    for row in proving.drop_each(lemma):
        assert row.needed, f"{lemma.name} holds as well without: {row.name}"


@pytest.mark.slow
@pytest.mark.parametrize("lemma", lemmas(OTHERS))
def test_a_second_solver_agrees(lemma: Lemma) -> None:
    """In `make test` about one lemma of each family."""
    undecided = UNDECIDED.get(lemma.name, set()) - {None}
    for query in lemma.build(all_given):
        hard = bool(undecided & {query.transition, query.steps})
        said = second(query, limit_s=BRIEF_S if hard else 60.0)  # the machine may have other work
        assert said is query.expect or (hard and said is Answer.UNKNOWN), query.name


def test_a_second_solver_would_notice() -> None:
    """Not the same question with the answer written beside it."""
    query = next(
        query
        for query in theory("upstream-backup").lemma("acknowledgements").build(all_given)
        if query.expect is Answer.UNSAT
    )
    lied = SolverQuery(query.name, QueryKind.COUNTEREXAMPLE, query.claims)
    assert second(lied) is Answer.UNSAT


def test_all_is_found_by_name() -> None:
    assert choose("upstream-backup")[0][0].of == "upstream-backup"
    ((one, lemmas),) = choose("acknowledgements")
    assert (one.of, [lemma.name for lemma in lemmas]) == (
        "upstream-backup",
        ["acknowledgements"],
    )
    with pytest.raises(Invalid, match="did you mean acknowledgements"):
        choose("acknowledgement")


@pytest.mark.slow
def test_processes_give_what_one_process_gives() -> None:
    (alone,) = proving.prove(choose("acknowledgements"))
    (entry,) = proving.prove(choose("acknowledgements"), mutants=True, execute=call_all)
    answers, same = ([one.answer for one in found.queries()] for found in (entry, alone))
    assert answers == same
    (lemma,) = entry.lemmas
    assert lemma.outcome == "holds"
    assert all(hypothesis.needed for hypothesis in lemma.hypotheses)
    assert entry.fine
    assert "1 proved" in proving.summary(entry)


ASKED = QueryResult(
    "agree", QueryKind.CLAIM, None, None, None, Answer.UNSAT, Answer.UNSAT, 0.1, None
)
WRONG: dict[str, dict[str, Any]] = {
    "an unexpected answer": {"as_expected": False},
    "a hypothesis that is none": {"hypotheses": (HypothesisResult("x", False, None, None, 1.0),)},
    "another solver that disagrees": {"queries": (replace(ASKED, cvc5=Answer.SAT),)},
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_as_expected_is_not_good(name: str) -> None:
    lemma = proving.settle(Lemma("rain", "It rains.", "", Outcome.HOLDS, lambda _: []))
    drift = DriftResult("small", "no transition", Grid("", (), ()))
    sound, drifting = (AbstractionResult("the sink", 3, {}, one) for one in (None, drift))
    assert ProofResult("weather", (lemma,), (sound,), 1.0).fine
    assert not ProofResult("weather", (lemma,), (sound, drifting), 1.0).fine
    assert not ProofResult("weather", (replace(lemma, **WRONG[name]),), (), 1.0).fine


def test_every_query_is_exported() -> None:
    files = proving.smtlib(choose("skipping"))
    queries = list(theory("upstream-backup").lemma("skipping").build(all_given))
    assert list(files) == [
        Path("upstream-backup", "skipping", f"{at:03}.smt2") for at in range(1, len(queries) + 1)
    ]
    assert all(query.name in text for query, text in zip(queries, files.values(), strict=True))


def test_errata_are_of_what_is_refuted() -> None:
    for one in theories().values():
        for lemma in one.lemmas:
            if lemma.erratum is not None:
                assert isinstance(lemma.erratum, Erratum)
                assert lemma.expect is Outcome.REFUTED


def test_sometimes_is_no_counterexample() -> None:
    """The lemma of a model that shows only that hypotheses fit is not refuted by it."""

    def settle(query: SolverQuery) -> str:
        lemma = Lemma("rain", "It rains.", "", Outcome.HOLDS, lambda _: [query])
        return str(proving.settle(lemma).outcome)

    assert settle(sometimes("it rains", ())) == "holds"
    assert settle(SolverQuery("it always rains", QueryKind.COUNTEREXAMPLE, ())) == "refuted"
    assert settle(SolverQuery("it always rains", QueryKind.CLAIM, ())) == "refuted"


def test_an_unlucky_seed_is_not_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def unlucky(claims: Any, limit_s: float, seed: int = 0) -> tuple[Answer, Any]:
        del claims, limit_s
        asked.append(seed)
        return (Answer.UNSAT if seed == 2 else Answer.UNKNOWN), None

    monkeypatch.setattr(query_, "_solve", unlucky)
    assert query_.ask(SolverQuery("it rains", QueryKind.CLAIM, ())).answer is Answer.UNSAT
    assert asked == [0, 1, 2]
