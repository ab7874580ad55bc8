"""Lemmas on the page: all, with every counterexample; what is not as expected is flagged."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.errors import Invalid
from model.results.grid import Cell, CellMark, Grid, GridRow
from reports import page
from reports.diagrams import grid
from reports.results import proofs as proved


def grid_of(*rows: GridRow, columns: int = 2, caption: str = "a match is lost") -> dict[str, Any]:
    return Grid(caption, tuple(f"event {at}" for at in range(columns)), rows).data()


LOST = grid_of(
    GridRow("original run", (Cell(), Cell()), heading=True),
    GridRow("window 1", (Cell("opens"), Cell("match", CellMark.GOOD))),
    GridRow("replay", (Cell(), Cell()), heading=True),
    GridRow("window 1", (Cell("left out", CellMark.DIM), Cell("no match", CellMark.BAD))),
)


def query(name: str, answer: str = "unsat", **changed: Any) -> dict[str, Any]:
    asked = {
        "name": name,
        "kind": "claim" if answer == "unsat" else "counterexample",
        "transition": None,
        "invariant": None,
        "expect": answer,
        "answer": answer,
        "seconds": 0.1,
        "grid": None,
    }
    return {**asked, **changed}


def step(transition: str, invariant: str, answer: str = "unsat", **changed: Any) -> dict[str, Any]:
    about = {"kind": "step", "transition": transition, "invariant": invariant}
    return query(f"{transition} × {invariant}", answer, **{**about, **changed})


def initially(invariant: str) -> dict[str, Any]:
    return query(f"initially × {invariant}", kind="initial", invariant=invariant)


def lemma(name: str, **changed: Any) -> dict[str, Any]:
    proof = {
        "name": name,
        "statement": f"What {name} <says> of | all streams.",
        "section": "Lima et al., III-A",
        "scope": "unbounded",
        "fragment": "EPR",
        "expect": "holds",
        "outcome": "holds",
        "as_expected": True,
        "seconds": 1.5,
        "queries": [
            initially("states agree"),
            step("process", "states agree"),
            query(
                "sometimes: a match",
                "sat",
                kind="sometimes",
                grid=grid_of(caption="a run that is found"),
            ),
        ],
        "hypotheses": [
            {
                "name": "openers are kept",
                "needed": True,
                "by": "process × states agree",
                "grid": LOST,
                "seconds": 0.2,
            }
        ],
        "erratum": None,
    }
    return {**proof, **changed}


REFUTED = lemma(
    "opener",
    scope="runs of up to 3 steps",
    expect="refuted",
    outcome="refuted",
    queries=[query("after 1 step"), query("after 3 steps", "sat", grid=LOST)],
    hypotheses=[],
    erratum={
        "claim": "Openers | may go",
        "section": "III-A",
        "size": "2 events",
        "correction": "keep <them>",
    },
)


def entries(*lemmas: dict[str, Any]) -> list[dict[str, Any]]:
    seen = {"name": "the sink", "states": 12_345, "transitions": {"take": 678}, "drift": None}
    entry = {"protocol": "upstream-backup", "lemmas": list(lemmas), "drift": [seen]}
    return [{**entry, "seconds": 2.0}]


def pages(found: list[dict[str, Any]], tmp_path: Path) -> tuple[str, str]:
    results = {
        "version": "1",
        "profile": "quick",
        "verdicts": [],
        "proofs": found,
        "operators": {"figure_2": [], "figure_3": []},
        "simulated": [],
        "reproduced": [],
        "engine": [],
        "runs": [],
        "seconds": 1.0,
    }
    html, markdown = page.write(results, tmp_path)
    return html.read_text("utf-8"), markdown.read_text("utf-8")


def test_every_lemma_erratum_and_counterexample_is_on_both_pages(tmp_path: Path) -> None:
    for text in pages(entries(lemma("skipping"), REFUTED), tmp_path):
        assert "What is proved, what is refuted" in text
        for said in ("skipping", "opener", "2 events", "a match is lost", "no match"):
            assert said in text
        assert "1 proved, 1 refuted by a counterexample, all as expected" in " ".join(text.split())
        assert "<says>" not in text
        assert "keep <them>" not in text


def test_an_induction_is_a_table_of_invariants_and_transitions(tmp_path: Path) -> None:
    html, _ = pages(entries(lemma("skipping")), tmp_path)
    table = html[html.index('<table class="induction">') :]
    assert table.count("states agree") >= 1
    assert table.index("initially") < table.index("process") < table.index("states agree")
    assert "a run that is found" in html


WRONG: dict[str, dict[str, Any]] = {
    "an unexpected verdict": {"outcome": "refuted", "as_expected": False},
    "an unknown one": {"outcome": "unknown", "as_expected": False},
    "a query that says otherwise": {
        "queries": [step("process", "agree", "sat", expect="unsat", grid=LOST)],
        "as_expected": False,
    },
    "another solver that says otherwise": {"queries": [step("process", "agree", cvc5="sat")]},
    "a hypothesis that is none": {
        "hypotheses": [{"name": "x", "needed": False, "by": None, "grid": None, "seconds": 1.0}]
    },
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_at_the_top_and_at_its_place(name: str, tmp_path: Path) -> None:
    found = entries(lemma("skipping", **WRONG[name]))
    assert not proved.view(found)["fine"]
    for text in pages(found, tmp_path):
        assert "NOT all as expected" in text
        assert "✗" in text


def test_what_was_compared_with_the_python_is_told(tmp_path: Path) -> None:
    found = entries(lemma("skipping"))
    for text in pages(found, tmp_path):
        assert "12,345" in text
        assert "take: 678" in text
    found[0]["drift"][0]["drift"] = {"scope": "small", "what": "no transition", "grid": LOST}
    for text in pages(found, tmp_path):
        assert "drift in the scope small" in text
        assert "NOT all as expected" in text


def test_a_second_solver_that_does_not_know_is_no_fault(tmp_path: Path) -> None:
    found = entries(lemma("skipping", queries=[step("process", "agree", cvc5="unknown")]))
    html, _ = pages(found, tmp_path)
    assert "NOT all as expected" not in html
    assert "agrees on 0 of 1" in html


def test_a_missing_field_is_named(tmp_path: Path) -> None:
    found = copy.deepcopy(entries(lemma("skipping")))
    del found[0]["lemmas"][0]["scope"]
    with pytest.raises(Invalid, match=r"lemma skipping of upstream-backup: no field 'scope'"):
        pages(found, tmp_path)


def test_the_page_for_the_docs_has_no_times() -> None:
    found = entries(lemma("skipping"), REFUTED)
    slower = json.loads(json.dumps(found).replace("1.5", "9.5").replace("0.1", "0.7"))
    assert page.lemmas(found) == page.lemmas(slower)


# --- grids ---------------------------------------------------------------------------------------
CELLS = st.builds(
    Cell, st.sampled_from(["", "match", "used, and then skipped"]), st.sampled_from(CellMark)
)


@st.composite
def grids(draw: st.DrawFn) -> dict[str, Any]:
    columns = draw(st.integers(1, 12))
    cells = st.lists(CELLS, min_size=columns, max_size=columns).map(tuple)
    labels = st.sampled_from(["window 1", "what the savepoint of node 3 says of node 4"])
    rows = draw(st.lists(st.builds(GridRow, labels, cells), max_size=5))
    return grid_of(*rows, columns=columns)


@given(grids(), st.integers(40, 120))
def test_a_grid_in_characters_keeps_its_width_and_all_its_words(
    shown: dict[str, Any], width: int
) -> None:
    text = grid.text(shown, width=width)
    assert all(len(line) <= width for line in text.splitlines())
    words = " ".join(text.split())
    for row in shown["rows"]:
        for cell in row["cells"]:
            if cell["text"] == "match":
                assert "match" in words
    for column in shown["columns"]:
        assert column.split()[-1] in words


@given(grids())
def test_marks_are_told_without_colour(shown: dict[str, Any]) -> None:
    cells = [cell for row in shown["rows"] for cell in row["cells"] if cell["text"]]
    for told in (grid.text(shown), str(grid.html(shown))):
        for mark, sign in grid.SIGNS.items():
            assert (sign in told) is any(cell["mark"] == mark for cell in cells)
