"""Sets of allowed outputs, lineage, and the recovery types of Figure 2."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.boxes.aggregate import Aggregate
from model.boxes.box import Of, Out, bodies
from model.boxes.stateless import AnyOf, Filter, Relay, Union
from model.cep.one_run import one_run
from model.cep.operator import Operator
from model.cep.windows import CountWindows
from model.core import Arrival, Guarantee, Inputs, Observation, Scope
from model.errors import Invalid
from model.events import Body
from model.graph import SINK, SOURCE, Graph, chain
from model.oracle import allowed, oracle
from model.predicates import Type
from model.properties import AS_IF, COMPLETE, guarantee
from model.recovery import beside, classify, recovery_type
from proofs.classify.figure2 import rows, tuples

A, B = Arrival(1, "a"), Arrival(1, "b")


# --- Figure 2 --------------------------------------------------------------------------------
def test_figure_2() -> None:
    found = rows()
    assert {row.found for row in found} == {*Guarantee}
    assert [row.found for row in found] == [row.paper for row in found]


def test_without_lineage_different_looks_like_lost() -> None:
    differing = [row.paper for row in rows() if row.by_values is not row.found]
    assert differing == [Guarantee.DIVERGENT]


@given(st.lists(st.integers(0, 5), max_size=8))
def test_a_gap_is_an_input_without_effect(places: list[int]) -> None:
    expected = tuples("t0 t1 t2 t3")
    observed = [Out(Body(n, f"t{n}'"), frozenset([Of(0, n)])) for n in places]
    found = beside(expected, observed)
    if observed:
        assert (found is Guarantee.GAP) is not ({0, 1, 2, 3} <= {*places})


@given(st.lists(st.integers(1, 4), max_size=3))
def test_rewinds_are_repeating_with_and_without_lineage(lengths: list[int]) -> None:
    expected = tuples("t1 t2 t3 t4")
    observed = [out for length in lengths for out in expected[:length]] + expected
    found = beside(expected, observed)
    assert found is classify(bodies(expected), bodies(observed))
    assert found is (Guarantee.REPEATING if lengths else Guarantee.PRECISE)


def test_the_strongest_type_beside_any_allowed_output_counts() -> None:
    one, two = tuples("t1 t2"), tuples("t2 t1")
    assert recovery_type([one, two], two) is Guarantee.PRECISE
    assert recovery_type([one], two) is Guarantee.DIVERGENT


# --- sets of outputs -------------------------------------------------------------------------
def merge(*boxes: tuple[str, object]) -> Graph:
    names = [name for name, _ in boxes]
    edges = [("r", names[0]), ("s", names[0]), *zip(names, [*names[1:], "sink"], strict=True)]
    return Graph((("r", SOURCE), ("s", SOURCE), *boxes, ("sink", SINK)), tuple(edges))


def test_a_union_allows_every_order() -> None:
    found = [
        "".join(out.body.type for out in expected["sink"][0])
        for expected in allowed(merge(("u", Union())), {"r": (A, A), "s": (B,)})
    ]
    assert sorted(found) == ["aab", "aba", "baa"]


def test_lineage_names_the_arrivals_of_each_source() -> None:
    graph = merge(("u", Union()), ("f", Filter(Type("b"))), ("g", Aggregate("count", 2, 2)))
    found = [*allowed(graph, {"r": (A, B), "s": (B,)})]
    assert {out.body.time for one in found for out in one["sink"][0]} == {1, 2}  # of the last item
    for expected in found:
        assert [out.of for out in expected["sink"][0]] == [{Of(0, 1), Of(1, 0)}]


def test_lineage_counts_sources_and_no_other_nodes() -> None:
    nodes = (("u", Union()), ("r", SOURCE), ("f", Filter(Type("b"))), ("s", SOURCE), ("t", SINK))
    edges = (("r", "f"), ("f", "u"), ("s", "u"), ("u", "t"))
    found = [*allowed(Graph(nodes, edges), {"r": (A, B), "s": (A,)})]
    assert {frozenset(out.of) for one in found for out in one["t"][0]} == {
        frozenset([Of(0, 1)]),
        frozenset([Of(1, 0)]),
    }


def test_one_choice_is_seen_by_all_sinks() -> None:
    nodes = (("r", SOURCE), ("x", AnyOf(("x", "y"))), ("t", SINK), ("u", SINK))
    graph = Graph(nodes, (("r", "x"), ("x", "t"), ("x", "u")))
    found = {
        tuple(bodies(edges[0])[0].type for edges in one.values())
        for one in allowed(graph, {"r": (A,)})
    }
    assert found == {("x", "x"), ("y", "y")}
    scope = Scope(graph, (("r", Inputs((A,), 1)),))
    x, y = (0, Body(1, "x")), (0, Body(1, "y"))
    for one, two, same in ((x, x, True), (y, y, True), (x, y, False)):
        seen = Observation(((A,),), ((one,), (two,)))
        assert COMPLETE.holds(scope, seen) is AS_IF.holds(scope, seen) is same
        assert (guarantee(scope, seen) is Guarantee.PRECISE) is same


def test_a_sink_that_the_graph_lacks_is_not_compared() -> None:
    scope = Scope(chain(("x", Relay())), (("source", Inputs((A,), 1)),))
    seen = Observation(((A,),), (((0, Body(1, "a")),), ((0, Body(1, "an entry of a log")),)))
    assert COMPLETE.holds(scope, seen)


def test_lineage_of_emitted_outputs_counts() -> None:
    scope = Scope(chain(("x", Relay())), (("source", Inputs((A, B), 2)),))
    other = ((0, Body(1, "A"), frozenset([Of(0, 0)])), (0, Body(2, "B"), frozenset([Of(0, 1)])))
    assert guarantee(scope, Observation(((A, B),), (other,))) is Guarantee.DIVERGENT
    assert guarantee(scope, Observation(((A, B),), (other[:1],))) is Guarantee.GAP


def test_the_cep_operator_is_a_spec_with_one_output() -> None:
    graph = chain(("q", Operator(one_run("a", "b"), CountWindows(2, 1))))
    (only,) = allowed(graph, {"source": (A, B, A, B)})
    assert [out.body.time for out in only["sink"][0]] == [2, 4]
    assert oracle(graph, {"source": (A, B, A, B)}) == {"sink": (bodies(only["sink"][0]),)}


def test_a_long_run_has_no_oracle_if_several_outputs_are_allowed() -> None:
    with pytest.raises(Invalid, match="allows several outputs"):
        oracle(merge(("u", Union())), {"r": (A,), "s": (B,)})
