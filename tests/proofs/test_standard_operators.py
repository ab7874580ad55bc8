"""Standard operators: one of each class, in scopes like a protocol's own, and their faults."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docs.examples import relay, standby, write_ahead
from model.boxes.reorder import Ordered
from model.boxes.stateless import Union
from model.core import Guarantee, Inputs, OperatorClass, Property, Scope, When
from model.errors import Invalid
from model.evidence import Outcome, PinnedScope
from model.graph import SINK, SOURCE, Graph
from model.protocol import Assumptions, Failures, Protocol
from model.registry import Subject, modules
from model.results.plain import plain, read
from model.results.story import MomentKind
from model.results.verdict import ScopeResult, StandardResult, Verdict
from model.system import System
from proofs.classify.graphs import class_of
from proofs.explore.claims import compare, guarantees, untried_classes, with_standard
from proofs.explore.explorer import Exploration, explore
from proofs.explore.search.meter import Budget
from proofs.explore.standard_operators import (
    CRASHES,
    STANDARD,
    StandardOperator,
    named,
    standard,
    standard_scope,
)
from proofs.explore.standard_runs import run_standard
from proofs.explore.tasks import STANDARD_WORLDS, Done, TaskKind, list_tasks, perform_on
from proofs.explore.verdict import verdict, verdicts
from reports.results import verdicts as output

FAMILIES = {protocol.name: protocol for protocol in modules().values()}
REPEATABLE, CONVERGENT, DETERMINISTIC, ARBITRARY = OperatorClass
UNION = STANDARD[-1]
REFUSED = {
    ("crb", "union"),
    ("kafka-transactions", "union"),
    ("two-phase-sink", "union"),
    ("upstream-backup", "union"),
}
"""The families that refuse a graph, each by its `deploy`."""


def checked(file: str, *classes: OperatorClass) -> Verdict:
    (found,) = verdicts([file], walks=2, examples=1, operators=classes)
    return found


def printed(found: Verdict) -> list[str]:
    return [line for line in output.verdict(found) if isinstance(line, str)]


FILE = str(Path(write_ahead.__file__))
RELAY, STANDBY = str(Path(relay.__file__)), str(Path(standby.__file__))


@pytest.fixture(scope="module")
def wrong() -> Verdict:
    """The verdict on the wrong write-ahead log."""
    return checked(FILE, *OperatorClass)


# --- the operators and their scopes ------------------------------------------------------------
def test_there_is_one_operator_of_each_class() -> None:
    assert [one.operators for one in STANDARD] == [*OperatorClass]


@pytest.mark.parametrize("operator", STANDARD, ids=lambda one: one.name)
@pytest.mark.parametrize("of", [write_ahead.PROTOCOL, relay.PROTOCOL], ids=["boxes", "cep"])
def test_an_operator_is_of_its_class_in_both_forms(
    operator: StandardOperator, of: Protocol
) -> None:
    assert class_of(standard_scope(of, operator)) is operator.operators


@pytest.mark.parametrize("operator", STANDARD, ids=lambda one: one.name)
@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_runs_each_operator_or_refuses_it(
    name: str, operator: StandardOperator
) -> None:
    scope = standard_scope(FAMILIES[name], operator)
    assert class_of(scope) is operator.operators
    if (name, operator.name) in REFUSED:
        with pytest.raises(Invalid, match=f"^{name}: "):
            System(FAMILIES[name], scope)
    else:
        assert System(FAMILIES[name], scope).victims


def few(protocol: Protocol, pinned: PinnedScope) -> Exploration:
    return explore(protocol, pinned.scope, limit=300)


@pytest.mark.parametrize("name", FAMILIES)
def test_no_result_is_an_error(name: str) -> None:
    """A few worlds with each operator; a refused graph has its reason."""

    def result(*_: Any) -> Any:
        return replace(ROW, outcome=Outcome.HOLDS)

    for operator in STANDARD:
        found = run_standard(FAMILIES[name], operator.name, few, result)
        assert bool(found.why) == ((name, operator.name) in REFUSED)
        assert (found.scope is None) == bool(found.why)


def test_the_names_of_the_nodes_stay() -> None:
    scope = standard_scope(write_ahead.PROTOCOL, UNION)
    assert [name for name, _ in scope.graph.nodes] == ["source", "source-2", "node", "sink"]
    assert scope.graph.preds("node") == ("source", "source-2")
    assert [(name, one.length) for name, one in scope.inputs] == [("source", 1), ("source-2", 1)]


def test_a_graph_with_two_sources_keeps_them_or_loses_one() -> None:
    nodes = (("x", SOURCE), ("y", SOURCE), ("z", SOURCE), ("node", Union()), ("sink", SINK))
    edges = (("x", "node"), ("y", "node"), ("z", "node"), ("node", "sink"))
    own = Scope(Graph(nodes, edges), tuple((name, Inputs((), 1)) for name in "xyz"))
    protocol = with_scope(own, DETERMINISTIC)
    assert standard_scope(protocol, UNION).graph.preds("node") == ("x", "y")
    only = standard_scope(protocol, STANDARD[0])
    assert only.graph.preds("node") == ("x",)
    assert [name for name, _ in only.inputs] == ["x"]


def test_other_sources_and_operators_stay() -> None:
    nodes = (("x", SOURCE), ("y", SOURCE), ("a", Union()), ("b", Union()), ("sink", SINK))
    edges = (("x", "a"), ("a", "b"), ("y", "b"), ("b", "sink"))
    own = Scope(Graph(nodes, edges), tuple((name, Inputs((), 1)) for name in "xy"))
    scope = standard_scope(with_scope(own, ARBITRARY), STANDARD[0])
    assert [name for name, _ in scope.graph.nodes] == ["x", "y", "a", "b", "sink"]
    assert scope.graph.specs["a"] == STANDARD[0].box
    assert scope.graph.specs["b"] == Union()
    assert [(name, one.length) for name, one in scope.inputs] == [("x", 2), ("y", 1)]


def with_scope(scope: Scope, operators: OperatorClass) -> Protocol:
    pinned = replace(write_ahead.TWO, scope=scope, operators=operators).holds()
    return write_ahead.PROTOCOL.vary(scopes=(pinned,))


@given(st.integers(0, 5), st.integers(0, 9), st.sampled_from(STANDARD), st.sampled_from(Failures))
def test_events_and_crashes_are_like_the_protocols_own_and_few(
    crashes: int, length: int, operator: StandardOperator, failures: Failures
) -> None:
    (name, given_) = write_ahead.TWO.scope.inputs[0]
    own = replace(
        write_ahead.TWO.scope, crashes=crashes, inputs=((name, given_._replace(length=length)),)
    )
    protocol = with_scope(own, REPEATABLE).vary(assumes=Assumptions(failures))
    scope = standard_scope(protocol, operator)
    events = sum(one.length for _, one in scope.inputs)
    assert operator.least <= events <= operator.most
    assert events == length or events in (operator.least, operator.most)
    if failures is Failures.NONE:
        assert scope.crashes == 0
    else:
        assert 1 <= scope.crashes <= CRASHES
        assert scope.crashes in (crashes, 1, CRASHES)


# --- the words of the option ---------------------------------------------------------------------
def test_all_classes_or_some_are_named() -> None:
    assert named("all") == tuple(OperatorClass)
    assert named("arbitrary, repeatable") == (REPEATABLE, ARBITRARY)
    assert named("convergent-capable") == (CONVERGENT,)
    with pytest.raises(Invalid, match="no class 'arbitary'; did you mean 'arbitrary'"):
        named("all,arbitary")
    with pytest.raises(Invalid, match="no class ''"):
        named("")


def test_without_a_stream_there_is_no_operator() -> None:
    none = write_ahead.PROTOCOL.vary(scopes=())
    assert standard(none, ()) == ()
    with pytest.raises(Invalid, match="write_ahead: no scope has a stream"):
        standard(none, (ARBITRARY,))


# --- verdicts ------------------------------------------------------------------------------------
def test_a_log_that_is_written_too_late_holds_until_two_sources_race(wrong: Verdict) -> None:
    own = checked(FILE)
    assert own.outcome is Outcome.HOLDS
    assert own.untried_classes == (CONVERGENT, DETERMINISTIC, ARBITRARY)
    assert "in everyday words: exactly once, for repeatable operators" in printed(own)
    assert (
        "not tried: convergent-capable, deterministic and arbitrary operators "
        "(--operators all tries each class)"
    ) in printed(own)

    rows = {one.name: one.scope for one in wrong.standard if one.scope}
    assert [row.outcome for row in rows.values()] == [Outcome.HOLDS] * 3 + [Outcome.REFUTED]
    assert rows["union"].guarantee is Guarantee.GAP
    assert wrong.shortest is rows["union"].counterexample
    assert wrong.shortest is not None
    assert wrong.shortest.steps == 10
    assert (wrong.outcome, wrong.untried_classes) == (Outcome.REFUTED, ())
    assert wrong.expected  # no claim is about arbitrary operators
    lines = printed(wrong)
    assert lines[-1] == "write_ahead: refuted with arbitrary operators; its own scopes hold"
    said = "at most once at best: results are missing or have other content"
    assert f"in everyday words: {said}, for arbitrary operators" in lines
    assert "arbitrary operators: gap (claimed: nothing)" in lines
    assert not any("not tried" in line or "pinned" in line for line in lines)
    assert read(Verdict, plain(wrong)) == wrong


def test_a_log_that_is_written_first_holds_with_each() -> None:
    found = checked(f"{FILE}:flushed", *OperatorClass)
    assert (found.outcome, found.expected) == (Outcome.HOLDS, True)
    assert {*found.found.values()} == {Guarantee.PRECISE}


@pytest.mark.parametrize("kind", ["no crash", "no race"])
def test_the_union_finds_the_fault_by_a_crash_and_by_a_race(kind: str) -> None:
    """So a union without one of the two would be a check that cannot fail."""
    scope = standard_scope(write_ahead.PROTOCOL, UNION)
    nodes = tuple(
        (name, Ordered(Union()) if name == "node" else spec) for name, spec in scope.graph.nodes
    )
    weak = {
        "no crash": replace(scope, crashes=0),
        "no race": replace(scope, graph=replace(scope.graph, nodes=nodes)),
    }[kind]
    assert explore(write_ahead.PROTOCOL, scope).counterexample is not None
    if kind == "no race":
        assert class_of(weak) is not ARBITRARY
    else:
        assert explore(write_ahead.PROTOCOL, weak).counterexample is None


def test_a_claim_about_a_wider_class_is_contradicted() -> None:
    protocol = write_ahead.PROTOCOL.vary(claims={ARBITRARY: Guarantee.PRECISE})
    own = verdict(protocol, walks=2, examples=1)
    found = with_standard(replace(own, expected=True, vacuous=()), [ran(UNION, Guarantee.GAP)])
    assert found.weaker == (ARBITRARY,)
    assert not found.expected
    assert "arbitrary operators: gap (claimed: precise), weaker than claimed" in printed(found)
    assert printed(found)[-1].endswith("its own scopes hold - NOT AS EXPECTED")


def ran(operator: StandardOperator, guarantee: Guarantee, **changes: Any) -> StandardResult:
    """The result of an operator that left this guarantee."""
    outcome = Outcome.HOLDS if guarantee is Guarantee.PRECISE else Outcome.REFUTED
    row = replace(ROW, name=operator.name, operators=operator.operators)
    row = replace(row, outcome=outcome, guarantee=guarantee)
    return replace(StandardResult(operator.name, operator.operators, row), **changes)


ROW: ScopeResult = verdict(write_ahead.PROTOCOL, walks=1, examples=1).scopes[0]
CLASSES = st.sampled_from(OperatorClass)
GUARANTEES = st.dictionaries(CLASSES, st.sampled_from(Guarantee), min_size=1)


@given(GUARANTEES, GUARANTEES)
def test_claims_cover_the_classes_that_theirs_contains(
    claims: dict[OperatorClass, Guarantee], found: dict[OperatorClass, Guarantee]
) -> None:
    compared = compare(claims, found)
    for one, claimed in claims.items():
        inside = [guarantee for other, guarantee in found.items() if other <= one]
        assert (one in compared.weaker) == (max(inside, default=claimed) > claimed)
    for one in found:
        covered = any(claim >= one for claim in claims)
        assert (one in compared.unclaimed) is not covered
    assert {*untried_classes(found)} == {*OperatorClass} - {*found}


@given(GUARANTEES, st.sampled_from(STANDARD), st.sampled_from(Guarantee))
def test_a_class_that_nobody_claims_changes_no_expectation(
    claims: dict[OperatorClass, Guarantee], operator: StandardOperator, guarantee: Guarantee
) -> None:
    own = replace(OWN, claims=claims, weaker=(), expected=True, found={}, scopes=())
    found = with_standard(own, [ran(operator, guarantee)])
    covered = any(claim >= operator.operators for claim in claims)
    refuted = guarantee is not Guarantee.PRECISE
    assert found.expected == (not (covered and refuted))
    assert (found.outcome is Outcome.REFUTED) == (refuted or bool(found.weaker))
    assert guarantees([ran(operator, guarantee).scope or ROW]) == {operator.operators: guarantee}


OWN = verdict(write_ahead.PROTOCOL, walks=1, examples=1)


def test_the_verdict_without_operators_is_the_same() -> None:
    assert with_standard(OWN, []) is OWN


def test_a_protocol_that_refuses_each_operator_is_vacuous() -> None:
    refused = [StandardResult(one.name, one.operators, why="no") for one in STANDARD]
    found = with_standard(OWN, refused)
    assert (found.outcome, found.expected) == (Outcome.VACUOUS, False)
    assert "  vacuous: the protocol was deployed with no standard operator" in printed(found)
    assert "  union: not deployed: no" in printed(found)


def test_a_budget_that_is_spent_is_no_expectation_met() -> None:
    row = replace(ROW, outcome=Outcome.UNFINISHED, complete=False, spent="9 worlds")
    row = replace(row, operators=ARBITRARY)
    found = with_standard(OWN, [replace(ran(UNION, Guarantee.PRECISE), scope=row)])
    assert (found.outcome, found.expected) == (Outcome.UNFINISHED, False)
    lines = printed(found)
    assert "arbitrary operators: precise so far (claimed: nothing)" in lines
    assert "in everyday words so far: exactly once, for arbitrary operators" in lines
    assert "in everyday words: exactly once, for repeatable operators" in lines


def test_an_operator_that_never_crashed_is_vacuous() -> None:
    vacuous = ("crashes: 1 granted, and none could strike",)
    row = replace(ROW, outcome=Outcome.VACUOUS)
    found = with_standard(OWN, [StandardResult("union", ARBITRARY, row, vacuous=vacuous)])
    assert (found.outcome, found.expected) == (Outcome.VACUOUS, False)
    assert f"union: {vacuous[0]}" in found.vacuous


def test_a_run_without_a_failure_is_drawn_if_there_is_one() -> None:
    """The standby feeds its engine without windows: with this one, a crash is seen as soon."""
    found = checked(STANDBY, CONVERGENT)
    (only,) = found.standard
    assert only.unhurt
    assert found.shortest is not None
    kinds = {moment.kind for moment in found.shortest.story.moments}
    assert not kinds & {MomentKind.CRASH, MomentKind.RESTART}


def test_a_result_that_is_wrong_without_a_failure_says_nothing_about_recovery() -> None:
    """The relay feeds its engine without windows."""
    found = checked(RELAY, DETERMINISTIC)
    (only,) = found.standard
    assert (only.unhurt, found.outcome) == (True, Outcome.REFUTED)
    assert DETERMINISTIC in found.untried_classes
    lines = printed(found)
    assert any(line.startswith("  every second: wrong without a failure; ") for line in lines)
    assert "not tried: convergent-capable, deterministic and arbitrary operators (" in "\n".join(
        lines
    )


# --- the searches ------------------------------------------------------------------------------
@pytest.mark.parametrize("asked", [None, 77])
def test_a_search_with_a_standard_operator_ends_after_its_worlds(asked: int | None) -> None:
    """Also the search without faults; a budget says otherwise."""
    limits: list[int] = []

    def noting(protocol: Protocol, scope: Scope, **how: Any) -> Exploration:
        limits.append(how["limit"])
        return explore(protocol, scope, **{**how, "limit": min(how["limit"], 5_000)})

    tasks = list_tasks(
        RELAY, relay.PROTOCOL, "quick", walks=0, examples=0, mutants=False,
        operators=[*OperatorClass], budget=Budget(asked),
    )  # fmt: skip
    ours = [one for one in tasks if one.kind is TaskKind.OPERATOR]
    wrong = relay.PROTOCOL.vary(properties=(Property("never", When.ALWAYS, lambda *_: False),))
    rows = [perform_on(Subject(wrong, home=""), task, noting) for task in ours]
    results = [one.row for one in rows if isinstance(one, Done)]
    deployed = [one for one in results if isinstance(one, StandardResult) and not one.why]
    assert len(limits) == 2 * len(deployed) > 2
    assert {*limits} == {asked or STANDARD_WORLDS}


def test_a_property_that_fails_is_no_reason_of_a_deployment() -> None:
    """It is reported as in a scope of the protocol's own."""

    def holds(scope: Scope, _: Any) -> bool:
        assert len(scope.inputs) == 1
        return True

    protocol = write_ahead.PROTOCOL.vary(properties=(Property("mine", When.ALWAYS, holds),))
    with pytest.raises(Invalid, match="property 'mine' raises AssertionError"):
        run_standard(protocol, UNION.name, few, lambda *_: ROW)
