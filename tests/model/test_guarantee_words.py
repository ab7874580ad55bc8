"""The guarantee of an output, and the properties, compared with their definitions."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.boxes.box import Of, Out, bodies
from model.cep.engines import Mealy
from model.cep.operator import Operator
from model.cep.windows import CountWindows
from model.core import Arrival, Guarantee, Inputs, Observation, Scope, When
from model.events import Body
from model.graph import SINK, SOURCE, Graph
from model.oracle import by_edge
from model.properties import AS_IF, COMPLETE, allowed_outputs, comparisons, guarantee
from model.recovery import beside, classify, recovery_type
from tests.model.denotations.guarantees import guarantee_of, recovery_of

EXPECTED = ["", "a", "aa", "ab", "aaa", "aab", "aba", "abb", "abc"]
"""All outputs of up to three results, except for their names."""


def body_of_each(text: str) -> tuple[Body, ...]:
    return tuple(Body(0, type_) for type_ in text)


def test_every_output_of_up_to_five_results() -> None:
    for length in range(6):
        for observed in map("".join, product("abcx", repeat=length)):
            for expected in EXPECTED:
                found = classify(body_of_each(expected), body_of_each(observed))
                assert found is guarantee_of(expected, observed), (expected, observed)


def test_longer_outputs_of_two_kinds() -> None:
    for expected in map("".join, product("ab", repeat=4)):
        for observed in map("".join, product("ab", repeat=7)):
            found = classify(body_of_each(expected), body_of_each(observed))
            assert found is guarantee_of(expected, observed), (expected, observed)


def with_lineage(length: int) -> list[tuple[Out, ...]]:
    """All outputs of up to so many results of two kinds, made of up to two inputs."""
    one, two = Of(0, 0), Of(0, 1)
    made_of = [(), (one,), (two,), (one, two)]
    results = [Out(Body(0, type_), frozenset(of)) for type_ in "ab" for of in made_of]
    return [outs for size in range(length + 1) for outs in product(results, repeat=size)]


def test_every_output_with_lineage_of_up_to_three_results() -> None:
    for expected in with_lineage(2):
        for observed in with_lineage(3):
            if all(out.of for out in (*expected, *observed)):
                assert beside(expected, observed) is recovery_of(expected, observed)
            else:  # by values alone
                assert beside(expected, observed) is classify(bodies(expected), bodies(observed))


INPUTS = st.sampled_from([Of(0, 0), Of(0, 1), Of(1, 0)])
RESULTS = st.tuples(st.sampled_from("ab"), st.frozensets(INPUTS, max_size=2)).map(
    lambda result: Out(Body(0, result[0]), result[1])
)


@given(st.lists(RESULTS, max_size=3), st.data())
@settings(max_examples=300)
def test_longer_outputs_with_lineage(expected: list[Out], data: st.DataObject) -> None:
    """Most of the observed results are expected ones, so that all types occur."""
    some = RESULTS | st.sampled_from(expected) if expected else RESULTS
    observed = data.draw(st.lists(some, min_size=1, max_size=6))
    if all(out.of for out in (*expected, *observed)):
        assert beside(expected, observed) is recovery_of(expected, observed)


def test_either_of_two_equal_results_may_be_the_duplicate() -> None:
    one, two = (Out(Body(0, "a"), frozenset([Of(0, place)])) for place in (0, 1))
    assert beside([one, two], [one, one, two]) is Guarantee.REPEATING
    assert beside([one, two], [two]) is Guarantee.GAP


def test_the_strongest_type_counts() -> None:
    one, two = (Out(Body(0, name), frozenset([Of(0, 0)])) for name in "ab")
    assert recovery_type([[two], [one]], [one]) is Guarantee.PRECISE
    assert recovery_type([[two]], [one]) is Guarantee.DIVERGENT


ECHO = Operator(Mealy(((("a", 0, 1), ("b", 0, 0)),)), CountWindows(1, 1))
NODES = (("r", SOURCE), ("s", SOURCE), ("A", ECHO), ("t", SINK), ("u", SINK))
EDGES = (("r", "A"), ("A", "t"), ("s", "t"), ("A", "u"))
"""One sink with two edges, and one with one."""
ALPHABET = Inputs((Arrival(1, "a"), Arrival(1, "b")), 2)
SCOPE = Scope(Graph(NODES, EDGES), (("r", ALPHABET), ("s", ALPHABET)), 0)
MATCH = Body(1, "match", (Body(1, "a"),))
SENT = Body(1, "b")
ARRIVALS = ((Arrival(1, "a"),), (Arrival(1, "b"),))


def seen(t: tuple[tuple[int, Body], ...], u: tuple[tuple[int, Body], ...]) -> Observation:
    return Observation(ARRIVALS, (t, u))


def test_outputs_by_edge() -> None:
    outputs = ((1, SENT), (0, MATCH), (1, MATCH))
    assert by_edge(outputs, 3) == ((MATCH,), (SENT, MATCH), ())
    assert by_edge((), 1) == ((),)


def test_the_expected_outputs_of_a_scope() -> None:
    assert expected(ARRIVALS) == [(MATCH,), (SENT,), (MATCH,)]
    assert expected(((Arrival(1, "b"),), ())) == [(), (), ()]


def expected(arrivals: tuple[tuple[Arrival, ...], ...]) -> list[tuple[Body, ...]]:
    (only,) = allowed_outputs(SCOPE, arrivals)
    return [*map(bodies, only)]


def test_properties_are_about_every_edge_of_every_sink() -> None:
    """Outputs of up to two results on each of the three edges: AS_IF has prefixes, COMPLETE has
    all, and the weakest guarantee counts."""
    some = [(), (MATCH,), (SENT,), (MATCH, MATCH), (SENT, MATCH), (MATCH, SENT)]
    for first, second, third in product(some, repeat=3):
        for swapped in (False, True):  # the order between edges does not count
            on_first = tuple((0, body) for body in first)
            on_second = tuple((1, body) for body in second)
            mixed = (*on_second, *on_first) if swapped else (*on_first, *on_second)
            what = seen(mixed, tuple((0, body) for body in third))
            edges = [((MATCH,), first), ((SENT,), second), ((MATCH,), third)]
            (compared,) = comparisons(SCOPE, what)
            assert [(bodies(want), bodies(got)) for want, got in compared] == edges
            assert AS_IF.holds(SCOPE, what) is all(got in ((), want) for want, got in edges)
            assert COMPLETE.holds(SCOPE, what) is all(got == want for want, got in edges)
            assert guarantee(SCOPE, what) is max(guarantee_of(*edge) for edge in edges)


def test_a_prefix_of_a_longer_output() -> None:
    what = Observation((ARRIVALS[0] * 2, ()), (((0, MATCH),), ()))
    assert AS_IF.holds(SCOPE, what) is True
    assert COMPLETE.holds(SCOPE, what) is False


def test_an_observation_of_another_scope_is_an_error() -> None:
    """Not the outputs of some sources and sinks, as if the others had none."""
    with pytest.raises(ValueError, match="zip"):
        list(comparisons(SCOPE, Observation(ARRIVALS, ((),))))
    with pytest.raises(ValueError, match="zip"):
        allowed_outputs(SCOPE, (*ARRIVALS, ()))


def test_when_the_properties_count() -> None:
    assert (AS_IF.when, COMPLETE.when) == (When.ALWAYS, When.QUIESCENT)
    assert AS_IF.name == "outputs are a prefix of the failure-free outputs"
    assert COMPLETE.name == "at rest, all failure-free outputs have been seen"


def test_without_sinks_nothing_is_lost() -> None:
    empty = Scope(Graph((), ()), (), 0)
    assert guarantee(empty, Observation((), ())) is Guarantee.PRECISE
