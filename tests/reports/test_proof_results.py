"""Lemmas on the page: all, with every counterexample; what is not as expected is flagged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.results.answers import Answer, QueryKind
from model.results.grid import Cell, CellMark, Grid, GridRow
from model.results.proofs import (
    AbstractionResult,
    DriftResult,
    Erratum,
    HypothesisResult,
    LemmaOutcome,
    LemmaResult,
    ProofResult,
    QueryResult,
)
from model.results.report import ReportResults
from proofs.prove import prover
from proofs.prove.lemma_index import theory
from reports import page
from reports.diagrams import grid
from reports.results import proofs as proved
from tests.reports.written import WrittenReport, blocks_of, written


def grid_of(*rows: GridRow, columns: int = 2, caption: str = "a match is lost") -> Grid:
    return Grid(caption, tuple(f"event {at}" for at in range(columns)), rows)


LOST = grid_of(
    GridRow("original run", (Cell(), Cell()), heading=True),
    GridRow("window 1", (Cell("opens"), Cell("match", CellMark.GOOD))),
    GridRow("replay", (Cell(), Cell()), heading=True),
    GridRow("window 1", (Cell("left out", CellMark.DIM), Cell("no match", CellMark.BAD))),
)


def query(name: str, answer: Answer = Answer.UNSAT, **changed: Any) -> QueryResult:
    kind = QueryKind.CLAIM if answer is Answer.UNSAT else QueryKind.COUNTEREXAMPLE
    asked = QueryResult(name, kind, None, None, None, answer, answer, 0.1, None)
    return replace(asked, **changed)


def step(
    transition: str, invariant: str, answer: Answer = Answer.UNSAT, **changed: Any
) -> QueryResult:
    about = {"kind": QueryKind.STEP, "transition": transition, "invariant": invariant}
    return query(f"{transition} × {invariant}", answer, **{**about, **changed})


def initially(invariant: str) -> QueryResult:
    return query(f"initially × {invariant}", kind=QueryKind.INITIAL, invariant=invariant)


def lemma(name: str, **changed: Any) -> LemmaResult:
    found = grid_of(caption="a run that is found")
    proof = LemmaResult(
        name=name,
        statement=f"What {name} <says> of | all streams.",
        section="Lima et al., III-A",
        scope="unbounded",
        fragment="EPR",
        expect=LemmaOutcome.HOLDS,
        outcome=LemmaOutcome.HOLDS,
        as_expected=True,
        seconds=1.5,
        queries=(
            initially("states agree"),
            step("process", "states agree"),
            query("sometimes: a match", Answer.SAT, kind=QueryKind.SOMETIMES, grid=found),
        ),
        hypotheses=(
            HypothesisResult("openers are kept", True, "process × states agree", LOST, 0.2),
        ),
        erratum=None,
    )
    return replace(proof, **changed)


REFUTED = lemma(
    "opener",
    scope="runs of up to 3 steps",
    expect=LemmaOutcome.REFUTED,
    outcome=LemmaOutcome.REFUTED,
    queries=(query("after 1 step"), query("after 3 steps", Answer.SAT, grid=LOST)),
    hypotheses=(),
    erratum=Erratum("Openers | may go", "III-A", "2 events", "keep <them>"),
)


def entries(*lemmas: LemmaResult, drift: DriftResult | None = None) -> tuple[ProofResult, ...]:
    seen = AbstractionResult("the sink", 12_345, {"take": 678}, drift)
    return (ProofResult("upstream-backup", lemmas, (seen,), 2.0),)


def report(found: tuple[ProofResult, ...], tmp_path: Path) -> WrittenReport:
    results = ReportResults(version="1", profile="quick", proofs=found, seconds=1.0)
    return written(results, tmp_path)


def pages(found: tuple[ProofResult, ...], tmp_path: Path) -> tuple[str, str]:
    return report(found, tmp_path).both


def test_every_lemma_erratum_and_counterexample_is_on_both_pages(tmp_path: Path) -> None:
    for text in pages(entries(lemma("skipping"), REFUTED), tmp_path):
        assert "What is proved, what is refuted" in text
        for said in ("skipping", "opener", "2 events", "a match is lost", "no match"):
            assert said in text
        assert "1 proved, 1 refuted by a counterexample, all as expected" in " ".join(text.split())
    made = report(entries(lemma("skipping"), REFUTED), tmp_path)
    for text in (made.html, made.markdown, (tmp_path / "report" / "proofs.js").read_text("utf-8")):
        assert "<says>" not in text
        assert "keep <them>" not in text


def test_an_induction_is_a_table_of_invariants_and_transitions(tmp_path: Path) -> None:
    made = report(entries(lemma("skipping")), tmp_path)
    (panel,) = made.rooms["proofs"]["panels"].values()
    (table,) = blocks_of(panel, "DataTable")
    assert [one["name"] for one in table["columns"]] == ["Invariant", "initially", "process"]
    (row,) = table["rows"]
    assert row["cells"][0] == "states agree"
    assert "a run that is found" in made.said


WRONG: dict[str, dict[str, Any]] = {
    "an unexpected verdict": {"outcome": LemmaOutcome.REFUTED, "as_expected": False},
    "an unknown one": {"outcome": LemmaOutcome.UNKNOWN, "as_expected": False},
    "a query that says otherwise": {
        "queries": (step("process", "agree", Answer.SAT, expect=Answer.UNSAT, grid=LOST),),
        "as_expected": False,
    },
    "another solver that says otherwise": {"queries": (step("process", "agree", cvc5=Answer.SAT),)},
    "a hypothesis that is none": {"hypotheses": (HypothesisResult("x", False, None, None, 1.0),)},
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_at_the_top_and_at_its_place(name: str, tmp_path: Path) -> None:
    found = entries(lemma("skipping", **WRONG[name]))
    assert not proved.view(found).fine
    for text in pages(found, tmp_path):
        assert "NOT all as expected" in text
        assert "✗" in text


def test_what_was_compared_with_the_python_is_told(tmp_path: Path) -> None:
    for text in pages(entries(lemma("skipping")), tmp_path):
        assert "12,345" in text
        assert "take: 678" in text
    drift = DriftResult("small", "no transition", LOST)
    for text in pages(entries(lemma("skipping"), drift=drift), tmp_path):
        assert "drift in the scope small" in text
        assert "NOT all as expected" in text


def test_a_second_solver_that_does_not_know_is_no_fault(tmp_path: Path) -> None:
    unknown = step("process", "agree", cvc5=Answer.UNKNOWN)
    said, _ = pages(entries(lemma("skipping", queries=(unknown,))), tmp_path)
    assert "NOT all as expected" not in said
    assert "agrees on 0 of 1" in said


def test_the_page_for_the_docs_has_no_times() -> None:
    proof = lemma("skipping")
    slower = replace(
        proof,
        seconds=9.5,
        queries=tuple(replace(one, seconds=0.7) for one in proof.queries),
    )
    assert page.lemmas(entries(proof, REFUTED)) == page.lemmas(entries(slower, REFUTED))


@pytest.mark.slow
def test_a_lemma_that_z3_refutes_is_on_both_pages(tmp_path: Path) -> None:
    refuted = prover.settle(theory("upstream-backup").lemma("skipping-opener"))
    assert refuted.counterexamples
    for text in pages((ProofResult("upstream-backup", (refuted,), (), 1.0),), tmp_path):
        assert "skipping-opener" in text
        for column in refuted.counterexamples[0].columns:
            assert column.split()[-1] in text
        assert refuted.counterexamples[0].caption in " ".join(text.split())
        assert "0 proved, 1 refuted by a counterexample, all as expected" in " ".join(text.split())


# --- grids ---------------------------------------------------------------------------------------
CELLS = st.builds(
    Cell, st.sampled_from(["", "match", "used, and then skipped"]), st.sampled_from(CellMark)
)


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    columns = draw(st.integers(1, 12))
    cells = st.lists(CELLS, min_size=columns, max_size=columns).map(tuple)
    labels = st.sampled_from(["window 1", "what the savepoint of node 3 says of node 4"])
    rows = draw(st.lists(st.builds(GridRow, labels, cells), max_size=5))
    return grid_of(*rows, columns=columns)


@given(grids(), st.integers(40, 120))
def test_a_grid_in_characters_keeps_its_width_and_all_its_words(shown: Grid, width: int) -> None:
    text = grid.text(shown, width=width)
    assert all(len(line) <= width for line in text.splitlines())
    words = " ".join(text.split())
    for row in shown.rows:
        for cell in row.cells:
            if cell.text == "match":
                assert "match" in words
    for column in shown.columns:
        assert column.split()[-1] in words


@given(grids())
def test_marks_are_told_without_colour(shown: Grid) -> None:
    cells = [cell for row in shown.rows for cell in row.cells if cell.text]
    for told in (grid.text(shown), str(grid.laid_out(shown))):
        for mark, sign in grid.SIGNS.items():
            assert (sign in told) is any(cell.mark is mark for cell in cells)
