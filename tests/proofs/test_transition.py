"""The queries about a transition system, on systems whose answers are known by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import z3

from model.evidence import Outcome
from model.results.answers import Answer, QueryKind
from model.results.grid import CellMark
from proofs.prove.lemma import Given, Lemma, all_given, mutants, without
from proofs.prove.lemma_index import theory
from proofs.prove.query import SolverQuery, ask, search
from proofs.prove.structure import Term
from proofs.prove.symbols import AtTime, Symbol
from proofs.prove.transition import (
    Transition,
    TransitionSystem,
    bounded,
    inductive,
    k_inductive,
    reaches,
)

NODE = z3.DeclareSort("node")
BOOL, INT = z3.BoolSort(), z3.IntSort()
n, m = z3.Consts("n m", NODE)


def ring(given: Given) -> TransitionSystem:
    """Nodes hand a token around; `giver lets go` is what keeps it one."""

    def hand_over(s: AtTime, t: AtTime, giver: Any, taker: Any) -> Any:
        kept = z3.ForAll([n], z3.Implies(z3.And(t.has(n), n != taker), s.has(n)))
        gone = given("the giver lets go", z3.Implies(giver != taker, z3.Not(t.has(giver))))
        return z3.And(s.has(giver), kept, gone)

    return TransitionSystem(
        name="token ring",
        state=(Symbol("has", NODE, BOOL), Symbol("steps", INT)),
        axioms={},
        init=lambda s: z3.And(z3.Exists([m], z3.ForAll([n], s.has(n) == (n == m))), s.steps == 0),
        transitions=(
            Transition("hand over", (("giver", NODE), ("taker", NODE)), ("has",), hand_over),
        ),
        invariants={
            "one has it": lambda s: z3.ForAll(
                [n, m], z3.Implies(z3.And(s.has(n), s.has(m)), n == m)
            )
        },
    )


def answers(queries: list[SolverQuery]) -> set[Answer]:
    return {ask(query).answer for query in queries}


def test_an_inductive_invariant_is_proved_by_name() -> None:
    queries = inductive(ring(all_given))
    assert [query.name for query in queries] == ["initially × one has it", "hand over × one has it"]
    assert [query.kind for query in queries] == [QueryKind.INITIAL, QueryKind.STEP]
    assert [query.transition for query in queries] == [None, "hand over"]
    assert {query.invariant for query in queries} == {"one has it"}
    assert answers(queries) == {Answer.UNSAT}


def test_what_is_not_inductive_is_shown_as_two_small_states() -> None:
    _, step = inductive(ring(without("the giver lets go")))
    asked = ask(step)
    assert asked.answer is Answer.SAT
    assert asked.grid is not None
    assert asked.grid.columns == ("before hand over", "after")
    held = [row for row in asked.grid.rows if row.label.startswith("has")]
    assert len(held) == 2, "two nodes are enough, so no more are shown"
    assert any(cell.mark is CellMark.NEW for row in held for cell in row.cells)
    assert "hand over node" in asked.grid.caption
    assert search(step).answer is Answer.SAT


def test_a_lemma_knows_its_hypotheses() -> None:
    lemma = Lemma("ring", "One has it.", "", Outcome.HOLDS, lambda given: inductive(ring(given)))
    assert [name for name, _ in mutants(lemma)] == ["the giver lets go"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["skipping", "trim-count"])
def test_a_mutant_is_the_lemma_built_without_the_hypothesis(name: str) -> None:
    """What stays as it is, is left out."""
    lemma = theory("upstream-backup").lemma(name)
    whole = [simplified(query) for query in lemma.build(all_given)]
    dropped = list(mutants(lemma))
    assert len(dropped) > 1
    for hypothesis, queries in dropped:
        built = [simplified(query) for query in lemma.build(without(hypothesis))]
        changed = [one for one, other in zip(built, whole, strict=True) if one != other]
        assert changed
        assert [simplified(query) for query in queries] == changed


def simplified(query: SolverQuery) -> tuple[str, list[Term]]:
    return query.name, [Term(z3.simplify(claim)) for claim in query.claims]


def test_a_bounded_run_ends_where_the_invariant_breaks() -> None:
    broken = ring(without("the giver lets go"))
    assert ask(bounded(broken, "one has it", 0, sizes={NODE: 2})).answer is Answer.UNSAT
    found = ask(bounded(broken, "one has it", 1, QueryKind.COUNTEREXAMPLE, sizes={NODE: 2}))
    assert found.answer is Answer.SAT
    assert found.grid is not None
    assert len(found.grid.columns) == 2
    assert "hand over" in found.grid.columns[1]
    alone = bounded(broken, "one has it", 3, sizes={NODE: 1})
    assert ask(alone).answer is Answer.UNSAT, "with one node there is nobody to hand it to"


def test_what_can_be_reached_is_reached() -> None:
    somebody_else = reaches(
        ring(all_given), "a token", lambda s: z3.Exists([n], s.has(n)), 2, {NODE: 2}
    )
    assert somebody_else.name == "sometimes: a token (nodes: 2)"
    assert somebody_else.kind is QueryKind.SOMETIMES
    assert ask(somebody_else).answer is Answer.SAT


def test_what_a_transition_does_not_change_stays() -> None:
    system = ring(all_given)
    steady = replace(system, invariants={"no steps": lambda s: s.steps == 0})
    assert answers(inductive(steady)) == {Answer.UNSAT}
    assert ask(bounded(steady, "no steps", 2, sizes={NODE: 2})).answer is Answer.UNSAT


def countdown() -> TransitionSystem:
    """A number goes 0, 1, 2, 0, ...; that it is not 5 is not inductive, but 3-inductive: from 4
    one gets to 5, and to 4 only from 3, which only ever comes from nothing."""

    def count(s: AtTime, t: AtTime) -> Any:
        return t.at == z3.If(s.at == 2, z3.IntVal(0), s.at + 1)

    return TransitionSystem(
        name="a counter",
        state=(Symbol("at", INT),),
        axioms={},
        init=lambda s: s.at == 0,
        transitions=(Transition("count", (), ("at",), count),),
        invariants={"not five": lambda s: z3.And(s.at != 5, s.at >= 0, s.at < 6)},
    )


def test_k_induction_proves_what_induction_does_not() -> None:
    system = countdown()
    assert answers(inductive(system)) == {Answer.UNSAT, Answer.SAT}
    assert answers(k_inductive(system, "not five", 2)) == {Answer.UNSAT, Answer.SAT}
    assert answers(k_inductive(system, "not five", 3)) == {Answer.UNSAT}


def test_a_misspelt_symbol_is_named() -> None:
    with pytest.raises(AttributeError, match="no symbol 'hat'; it has has, steps"):
        _ = ring(all_given).moment(0).hat


def test_a_query_is_exported_with_the_answer_expected() -> None:
    text = inductive(ring(all_given))[1].smt2()
    assert text.startswith("; hand over × one has it\n(set-info :status unsat)\n(set-logic ALL)\n")
    assert text.count("(check-sat)") == 1
