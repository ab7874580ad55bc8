"""Outputs that differ from the allowed ones in a known way are distinguished."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.actions import Inject
from model.boxes.box import Box, Fed, Of, Out
from model.boxes.stateless import Relay
from model.cep.engines import Function
from model.cep.operator import Operator
from model.cep.windows import CountWindows
from model.comparison import BAG, SEQUENCE, SET, Compare, table
from model.core import Answer, Arrival, Emit, Input, Property, Received, Role, Send, Site
from model.events import Body
from model.family import Family
from model.graph import Graph, chain
from model.parts import deploy_graph, over_words
from model.properties import AS_IF, COMPLETE
from model.protocol import Assumptions, Behaviour, Failures
from model.results.culprit import Culprit, CulpritKind
from model.results.story import Story
from model.system import System
from proofs.explore.culprit.differences import EdgeDifference, differ, nearest_allowed
from proofs.explore.culprit.find import find_culprit
from proofs.explore.shrinker import replay
from proofs.explore.story import story

RELAY = Operator(Function(lambda window: tuple((body,) for body in window)), CountWindows(1, 1))
GRAPH = chain(("relay", RELAY))
BODIES = st.lists(
    st.builds(Body, st.integers(0, 3), st.sampled_from("ab"), st.just(())), max_size=6
)
HOWS = st.sampled_from([SEQUENCE, BAG, SET, table(lambda row: row.type)])
LONGEST = 5


def expected(events: int) -> list[tuple[Body, frozenset[Of]]]:
    """The results of this number of events, one for each."""
    return [
        (Body(at, RELAY.emits, (Body(at, "a"),)), frozenset([Of(0, at - 1)]))
        for at in range(1, events + 1)
    ]


def emitting(
    outputs: Any, events: int, *properties: Property, graph: Graph = GRAPH
) -> tuple[Culprit, Story] | None:
    """The culprit and the story of a run whose sink emits these outputs at its last event."""

    def step(site: Site, state: int, input_: Input) -> Answer:
        match site.role, input_:
            case Role.SOURCE, Arrival(gap, type_, _):
                return state + gap, (Send("relay", Body(state + gap, type_)),)
            case Role.OPERATOR, Received(_, body):
                return state, (Send("sink", body),)
            case Role.SINK, Received():
                emits = [Emit((0, body), of) for body, of in outputs]
                return state + 1, (*emits,) if state + 1 == events else ()
        raise AssertionError(input_)

    behaviour = Behaviour(lambda _, scope: deploy_graph(scope.graph), lambda _: 0, step)
    family = Family("emits", "", "", behaviour, assumes=Assumptions(Failures.NONE))
    system = System(family.design(properties=properties), over_words(graph, events, "a", crashes=0))
    found = replay(system, (Inject("source", Arrival(1, "a")),) * events, 60)
    if found is None:
        return None
    shown_run = story(found.trace)
    return find_culprit(found, shown_run), shown_run


def shown(culprit: Culprit, run: Story) -> list[str]:
    """The results that the culprit points at."""
    return [run.moments[moment].emits[emit] for moment, emit in culprit.wrong]


@given(st.data(), st.integers(1, LONGEST), st.sampled_from([(COMPLETE,), (AS_IF, COMPLETE)]))
def test_a_dropped_result_is_missing(data: Any, events: int, law: tuple[Property, ...]) -> None:
    outputs = expected(events)
    at = data.draw(st.integers(0, events - 1))
    del outputs[at]
    found = emitting(outputs, events, *law)
    assert found is not None
    culprit, run = found
    assert culprit.kind is CulpritKind.MISSING
    assert culprit.result == f"{RELAY.emits}@{at + 1}(a@{at + 1})"
    assert culprit.made_of == (f"a@{at + 1}",)
    assert f"a@{at + 1} (step {at + 1})" in culprit.says
    assert culprit.result not in shown(culprit, run)


@given(st.data(), st.integers(1, LONGEST), st.sampled_from([(COMPLETE,), (AS_IF, COMPLETE)]))
def test_a_doubled_result_comes_twice(data: Any, events: int, law: tuple[Property, ...]) -> None:
    outputs = expected(events)
    at = data.draw(st.integers(0, events - 1))
    outputs.insert(data.draw(st.integers(at, events)), outputs[at])
    found = emitting(outputs, events, *law)
    assert found is not None
    culprit, run = found
    assert culprit.kind is CulpritKind.TWICE
    assert shown(culprit, run) == [culprit.result] == [f"{RELAY.emits}@{at + 1}(a@{at + 1})"]
    assert "comes twice" in culprit.says
    assert culprit.everyday.startswith("at least once")


@given(st.data(), st.integers(2, LONGEST), st.sampled_from([(COMPLETE,), (AS_IF, COMPLETE)]))
def test_swapped_results_are_out_of_order(
    data: Any, events: int, law: tuple[Property, ...]
) -> None:
    outputs = expected(events)
    one, other = data.draw(
        st.lists(st.integers(0, events - 1), min_size=2, max_size=2, unique=True)
    )
    outputs[one], outputs[other] = outputs[other], outputs[one]
    found = emitting(outputs, events, *law)
    assert found is not None
    culprit, run = found
    first = max(one, other) + 1
    assert culprit.kind is CulpritKind.OUT_OF_ORDER
    assert shown(culprit, run) == [culprit.result] == [f"{RELAY.emits}@{first}(a@{first})"]
    assert f"{RELAY.emits}@{min(one, other) + 1}(" in culprit.says


@given(st.data(), st.integers(1, LONGEST), st.sampled_from([(COMPLETE,), (AS_IF, COMPLETE)]))
def test_a_replaced_result_is_made_up(data: Any, events: int, law: tuple[Property, ...]) -> None:
    outputs = expected(events)
    at = data.draw(st.integers(0, events - 1))
    outputs[at] = (Body(99, "unseen"), frozenset())
    found = emitting(outputs, events, *law)
    assert found is not None
    culprit, run = found
    assert culprit.kind is CulpritKind.MADE_UP
    assert shown(culprit, run) == [culprit.result] == ["unseen@99"]
    if law == (COMPLETE,):
        assert f"in place of {RELAY.emits}@{at + 1}(" in culprit.says
        assert culprit.everyday == "", "the values alone would call it a gap"


@given(st.data(), st.integers(2, LONGEST))
def test_an_event_in_two_results_is_counted_twice(data: Any, events: int) -> None:
    """The lineage of a wrong result names an event of another one as well."""
    outputs = [(body.data[0], of) for body, of in expected(events)]
    at, other = data.draw(st.lists(st.integers(0, events - 1), min_size=2, max_size=2, unique=True))
    outputs[at] = (Body(99, "sum"), outputs[at][1] | outputs[other][1])
    found = emitting(outputs, events, COMPLETE, graph=chain(("relay", Relay())))
    assert found is not None
    culprit, run = found
    assert culprit.kind is CulpritKind.COUNTED_TWICE
    assert shown(culprit, run) == ["sum@99"]
    assert f"a@{other + 1} (step {other + 1}) counts twice" in culprit.says
    assert {*culprit.made_of} == {f"a@{at + 1}", f"a@{other + 1}"}


def test_a_result_that_is_no_body_is_made_up() -> None:
    found = emitting([("text", frozenset())], 1, AS_IF)
    assert found is not None
    culprit, run = found
    assert culprit.kind is CulpritKind.MADE_UP
    assert shown(culprit, run) == [culprit.result]


@dataclass(frozen=True)
class Growing(Box):
    """A box that refuses two events at one time, which no scope has."""

    def begin(self, edges: Any) -> Any:  # noqa: ARG002
        return 0

    def feed(self, state: Any, item: Any) -> Any:
        if item.body.time <= state:
            raise ValueError("times grow")
        yield Fed(item.body.time, (Out(item.body, frozenset()),))


def test_a_box_that_refuses_other_inputs_explains_no_result() -> None:
    found = emitting([(Body(77, "a"), frozenset())], 2, AS_IF, graph=chain(("relay", Growing())))
    assert found is not None
    assert found[0].kind is CulpritKind.MADE_UP


@pytest.mark.parametrize("events", range(1, LONGEST))
def test_right_outputs_have_no_culprit(events: int) -> None:
    assert emitting(expected(events), events, AS_IF, COMPLETE) is None


@given(BODIES, BODIES, HOWS, st.booleans())
def test_a_difference_says_exactly_what_the_comparison_sees(
    want: list[Body], got: list[Body], how: Compare, ended: bool
) -> None:
    """No difference where the sink sees none; and the difference mends the output."""
    found = differ(want, got, how, ended=ended)
    same = how.content(want) == how.content(got) if ended else how.is_begun(want, got)
    assert (found == EdgeDifference()) == same
    assert all(0 <= at < len(want) for at in found.missing)
    assert all(0 <= at < len(got) for at in found.surplus)
    kept = [body for at, body in enumerate(got) if at not in found.surplus]
    whole = kept + [want[at] for at in found.missing]
    if how is SEQUENCE and ended:
        assert Counter(whole) == Counter(want)
        if found.swap is not None:
            assert (found.missing, found.surplus) == ((), ())
            assert got[found.swap.early] != want[found.swap.early] == got[found.swap.late]
    elif ended and how in (BAG, SET):
        assert how.content(whole) == how.content(want)


@given(st.lists(BODIES, min_size=1, max_size=4), BODIES, st.booleans())
def test_the_nearest_allowed_output_is_the_one_that_differs_least(
    allowed: list[list[Body]], got: list[Body], ended: bool
) -> None:
    outs = [[Out(body) for body in want] for want in allowed]
    seen = [Out(body) for body in got]
    found = nearest_allowed(([(want, seen)] for want in outs), [SEQUENCE], ended=ended)
    costs = [differ(want, got, SEQUENCE, ended=ended).cost for want in allowed]
    assert found.edges[0].cost == min(costs)
    assert [out.body for out in found.pairs[0][0]] in allowed
