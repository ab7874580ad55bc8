"""The class of a scope: CEP operators as boxes, and what operators behind others get."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docs.examples import forgetful, relay
from model.boxes.aggregate import Aggregate
from model.boxes.box import Item, Of, Out, Stream, bodies
from model.boxes.stateless import Filter, Map, Union
from model.cep.box import CepBox
from model.cep.engines import Mealy
from model.cep.one_run import one_run
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows, PatternWindows, TimeWindows
from model.core import Arrival, Inputs, OperatorClass, Scope
from model.errors import Invalid
from model.events import Body
from model.evidence import Outcome
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words
from model.predicates import Type
from model.registry import protocols
from proofs.classify.graphs import class_of
from proofs.explore.strategies import operators
from proofs.explore.verdict import verdict
from reports.results import verdicts as output

REPEATABLE = OperatorClass.REPEATABLE
CONVERGENT = OperatorClass.CONVERGENT_CAPABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC
ARBITRARY = OperatorClass.ARBITRARY

LEADING = Mealy(((("a", 1, 1), ("b", 1, 1)), (("a", 1, 0), ("b", 1, 0))))
"""A machine that matches the first event of a window only."""


def cep(engine: Any = LEADING, size: int = 2, slide: int = 2) -> Operator:
    return Operator(engine, CountWindows(size, slide))


# --- the CEP operator as a box ---------------------------------------------------------------
@given(operators(), st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), max_size=12))
def test_the_box_puts_out_what_the_operator_means(
    operator: Operator, arrivals: list[tuple[int, str]]
) -> None:
    now, outs = 0, []
    for gap, type_ in arrivals:
        now += gap
        outs.append(Out(Body(now, type_), frozenset()))
    inputs = (Stream(tuple(outs), now),)
    (boxed,), (meant,) = CepBox(operator).runs(inputs), operator.runs(inputs)
    assert bodies(boxed.outs) == bodies(meant.outs)


@given(operators(), st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), max_size=12))
def test_an_output_was_made_of_the_events_of_one_window(
    operator: Operator, arrivals: list[tuple[int, str]]
) -> None:
    """And the state still needs the oldest event of its oldest window, and no older one."""
    box, state, now = CepBox(operator), CepBox(operator).begin(1), 0
    seen: list[Body] = []
    for place, (gap, type_) in enumerate(arrivals):
        now += gap
        seen.append(Body(now, type_))
        (fed,) = box.feed(state, Item(0, seen[-1], frozenset([Of(0, place)])))
        for body, of in fed.outs:
            places = sorted(at for _, at in of)
            assert places == [*range(places[0], places[-1] + 1)]
            assert set(body.data) <= {seen[at] for at in places}
        state = fed.state
        for window in state.open:
            assert (0, place) in window.of
            assert len(window.of) == window.events or not window.events


def test_a_splitter_of_ones_own_is_no_box() -> None:
    class Other:
        counts = False

    with pytest.raises(Invalid, match="no known splitter: Other"):
        CepBox(Operator(LEADING, Other()))  # type: ignore[arg-type]


# --- the class of a graph --------------------------------------------------------------------
@pytest.mark.parametrize(
    ("splitter", "engine", "expected"),
    [
        (CountWindows(2, 2), LEADING, DETERMINISTIC),
        (CountWindows(2, 1), LEADING, REPEATABLE),
        (CountWindows(2, 2), sequence("a"), REPEATABLE),
        (TimeWindows(2, 2, grid=True), LEADING, CONVERGENT),
        (TimeWindows(2, 2), LEADING, DETERMINISTIC),
        (PatternWindows(Type("a"), size=2), LEADING, REPEATABLE),
    ],
)
def test_windows_and_engines(splitter: Any, engine: Any, expected: OperatorClass) -> None:
    assert class_of(over_words(chain(("A", Operator(engine, splitter))), 2)) is expected


def test_the_most_general_operator_decides_wherever_it_stands() -> None:
    harmless = cep(sequence("a"), 1, 1)
    behind = cep(Mealy(((("match", 1, 1),), (("match", 1, 0),))))
    assert class_of(over_words(chain(("A", harmless), ("B", harmless)), 2)) is REPEATABLE
    assert class_of(over_words(chain(("A", cep()), ("B", harmless)), 2)) is DETERMINISTIC
    assert class_of(over_words(chain(("A", harmless), ("B", behind)), 2)) is DETERMINISTIC


def test_an_operator_gets_what_the_one_before_puts_out() -> None:
    """A filter leaves only a, and a map makes c of it; behind them no window ever begins with b."""
    counting = Aggregate("list", 2, 2)
    only_b = Filter(Type("b"))
    nothing = chain(("A", only_b), ("B", counting))
    assert class_of(over_words(nothing, 2, "a")) is REPEATABLE
    assert class_of(over_words(nothing, 2, "ab")) is DETERMINISTIC
    first_c = cep(Mealy(((("c", 1, 1),), (("c", 1, 0),))))
    assert class_of(over_words(chain(("A", Map("c")), ("B", first_c)), 2, "ab")) is DETERMINISTIC
    assert class_of(over_words(chain(("A", Map("d")), ("B", first_c)), 2, "ab")) is REPEATABLE


def merge(spec: Any) -> Scope:
    ends = (("left", SOURCE), ("right", SOURCE), ("A", spec), ("sink", SINK))
    graph = Graph(ends, (("left", "A"), ("right", "A"), ("A", "sink")))
    inputs = Inputs((Arrival(1, "a"),), 2)
    return Scope(graph, (("left", inputs), ("right", inputs)))


def test_a_cep_operator_merges_by_time_and_a_union_by_arrival() -> None:
    assert class_of(merge(cep())) is DETERMINISTIC
    assert class_of(merge(Union())) is ARBITRARY


def test_what_is_no_box_or_too_large_or_raises_has_no_class() -> None:
    class Anything:
        def runs(self, inputs: Any) -> Any:
            yield inputs[0]

    assert class_of(over_words(chain(("A", Anything())), 2)) is None

    class Raising(Union):
        def feed(self, _state: Any, item: Item) -> Any:
            raise KeyError(item)

    assert class_of(over_words(chain(("A", Raising())), 2)) is None
    wide = cep(one_run("a", "b"), 99, 99)
    assert class_of(over_words(chain(("A", wide)), 2)) is None


# --- the check -------------------------------------------------------------------------------
UNDECIDED = {
    ("cec", "a join behind an operator, adjacent crashes"),
    ("cec", "a one-sided join"),
    ("cec", "windows that ticks close"),  # without a tick there are more and more of them
    ("crb", "windows that ticks close"),
    ("log-io:destructive-reads", "a queue of one event"),
    ("log-io:destructive-reads", "a queue"),
    ("log-io:destructive-reads-from-the-store", "a queue of one event"),
    ("log-io:acknowledged-reads", "a queue"),
}
"""Scopes whose class is not decided, and therefore pinned alone."""


@pytest.mark.exhaustive  # the report compares them, too
@pytest.mark.parametrize("name", protocols())
def test_the_pinned_class_of_every_scope_is_the_derived_one(name: str) -> None:
    for pinned in protocols()[name].evidence.scopes:
        derived = None if (name, pinned.name) in UNDECIDED else pinned.operators
        assert class_of(pinned.scope) is derived, pinned.name


def test_a_scope_with_another_class_is_not_as_pinned() -> None:
    wrong = replace(relay.TWO, operators=DETERMINISTIC).holds(6_327)
    claims = {DETERMINISTIC: relay.PROTOCOL.promise.claims[REPEATABLE]}
    broken = relay.PROTOCOL.vary(scopes=(wrong,), claims=claims)
    found = verdict(broken, examples=5)
    assert (found.outcome, found.expected) == (Outcome.HOLDS, False)
    assert found.scopes[0].derived is OperatorClass.REPEATABLE
    said = [line for line in output.verdict(found) if isinstance(line, str)]
    assert "  two events: repeatable operators; its case says deterministic" in said


@pytest.mark.slow
def test_a_class_that_is_not_derived_is_said_and_no_complaint() -> None:
    wide = over_words(chain(("A", cep(one_run("a", "b"), 99, 99))), 1)
    scopes = tuple(replace(one, scope=wide, states=None) for one in relay.PROTOCOL.evidence.scopes)
    found = verdict(relay.PROTOCOL.vary(scopes=scopes[:1], must_occur=()), examples=5)
    assert found.scopes[0].derived is None
    assert found.scopes[0].as_pinned
    said = [line for line in output.verdict(found) if isinstance(line, str)]
    assert "  one event: repeatable operators, as its case says; the class was not derived" in said


def test_examples_are_of_the_class_that_they_say() -> None:
    for pinned in (*relay.PROTOCOL.evidence.scopes, *forgetful.PROTOCOL.evidence.scopes):
        assert class_of(pinned.scope) is pinned.operators
