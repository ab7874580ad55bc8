"""The bounds of scopes, the events and crashes that still add something, and the words for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from asif.one_scope import check_scope
from docs.examples import mindful, relay
from model.boxes.stateless import Filter, Map, Union
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows
from model.core import Arrival, Deployment, Inputs, OperatorClass, Scope
from model.evidence import PinnedScope
from model.graph import NO_GRAPH, SINK, SOURCE, Graph, chain
from model.parts import deploy_graph, over_words
from model.predicates import Every, Type, Where
from model.protocol import Protocol
from model.registry import Subject
from model.results.plain import plain, read
from model.results.reach import (
    GraphFeature,
    GrowingField,
    LastOne,
    LeakComparison,
    LineageComparison,
    Reach,
    ReachBounds,
)
from model.results.verdict import Verdict
from proofs.explore.reach.bounds import bounds_of
from proofs.explore.reach.gather import without_last
from proofs.explore.saturation import measure_reach
from proofs.explore.search.meter import UNLIMITED
from proofs.explore.tasks import ScopeDone, Task, TaskResult, one_scope, perform_on
from proofs.explore.verdict import verdict
from reports.results.reach import MOST, paragraph

SEQUENCE = Operator(sequence("a", "c"), CountWindows(1, 1))
ANY = mindful.PROTOCOL.vary(deploy=lambda _design, scope: deploy_graph(scope.graph, replies=True))


def bounds(*scopes: Scope, of: Protocol = ANY) -> ReachBounds:
    pinned = [PinnedScope("", one, OperatorClass.REPEATABLE) for one in scopes]
    return bounds_of(of, pinned)


def one(spec: Any, *arrivals: Arrival, length: int = 2, crashes: int = 1) -> Scope:
    return Scope(chain(("A", spec)), (("source", Inputs(arrivals, length)),), crashes)


A = Arrival(1, "a")


def test_a_type_for_which_an_operator_asks_and_no_event_has() -> None:
    assert bounds(one(SEQUENCE, A)).untried_types == ("c",)
    assert bounds(one(SEQUENCE, A), one(SEQUENCE, Arrival(1, "c"))).untried_types == ()
    made = chain(("first", Map("c")), ("second", SEQUENCE))  # an operator gives the type
    assert bounds(over_words(made, 2, "a")).untried_types == ()


def test_an_attribute_for_which_an_operator_asks_and_no_event_has() -> None:
    box = Filter(Every((Type("a"), Where("x", ">", 0))))
    assert bounds(one(box, A)).untried_attributes == ("x",)
    assert bounds(one(box, Arrival(1, "a", (("x", 1),)))).untried_attributes == ()


@pytest.mark.parametrize(
    ("arrivals", "length", "ties", "last"),
    [((A,), 2, False, 2), ((A, Arrival(0, "a")), 2, True, 2), ((Arrival(0, "a"),), 1, False, 0)],
)
def test_equal_times_need_a_gap_of_none_and_two_events(
    arrivals: tuple[Arrival, ...], length: int, ties: bool, last: int
) -> None:
    found = bounds(one(SEQUENCE, *arrivals, length=length))
    assert (found.ties, found.last_time) == (ties, last)


def merged(left: int, right: int) -> Scope:
    nodes = (("left", SOURCE), ("right", SOURCE), ("A", Union()), ("sink", SINK))
    graph = Graph(nodes, (("left", "A"), ("right", "A"), ("A", "sink")))
    inputs = [
        (name, Inputs((Arrival(gap, "a"),), 2))
        for name, gap in zip(("left", "right"), (left, right), strict=True)
    ]
    return Scope(graph, tuple(inputs))


def test_two_sources_may_have_equal_times() -> None:
    assert bounds(merged(1, 2)).ties_between
    assert not bounds(merged(1, 5)).ties_between


def test_the_features_of_graphs() -> None:
    ends = (("source", SOURCE), ("sink", SINK))
    three = tuple((name, Union()) for name in "ABC")
    fork = (("source", "A"), ("source", "B"), ("A", "C"), ("B", "C"), ("C", "sink"))
    diamond = replace(one(SEQUENCE, A), graph=Graph((*ends, *three), fork))
    assert bounds(one(SEQUENCE, A)).graphs == (GraphFeature.ONE,)
    assert bounds(over_words(chain(("A", Union()), ("B", Union())), 1)).graphs == (
        GraphFeature.CHAIN,
    )
    assert bounds(merged(1, 1)).graphs == (GraphFeature.ONE, GraphFeature.MERGE)
    assert bounds(diamond).graphs == (
        GraphFeature.CHAIN,
        GraphFeature.MERGE,
        GraphFeature.FORK,
        GraphFeature.DIAMOND,
    )


def test_crashes_need_victims() -> None:
    scope = one(SEQUENCE, A, crashes=3)
    assert (bounds(scope).crashes, bounds(scope).restarts) == (3, 3)
    spared = replace(scope, victims=frozenset[str]())
    assert bounds(spared).crashes == 0
    assert bounds(spared).spared == ("A", "sink", "source")


def test_a_node_crashes_again_in_a_scope_in_which_it_returns() -> None:
    """The other scope has more crashes, and a victim that stays down."""

    def deploy(design: Any, scope: Scope) -> Deployment:
        return ANY.behaviour.deploy(design, scope)._replace(returning=frozenset({"B"}))

    two = over_words(chain(("A", Union()), ("B", Union())), 1)
    gone = replace(two, crashes=3, victims=frozenset({"A"}))
    back = replace(two, crashes=1, victims=frozenset({"B"}))
    of = ANY.vary(deploy=deploy)
    assert (bounds(gone, of=of).crashes, bounds(gone, of=of).restarts) == (3, 0)
    assert (bounds(gone, back, of=of).crashes, bounds(gone, back, of=of).restarts) == (3, 1)


def test_leaks_are_compared_in_scopes_without_crashes() -> None:
    needing = ANY.vary(needed=lambda _scope, _seen: {})
    safe, crashing = one(SEQUENCE, A, crashes=0), one(SEQUENCE, A)
    assert bounds(safe).leaks is LeakComparison.NEVER
    assert bounds(crashing, of=needing).leaks is LeakComparison.NEVER
    assert bounds(crashing, safe, of=needing).leaks is LeakComparison.WITHOUT_CRASHES


def test_a_scope_without_its_last_event_or_crash() -> None:
    scope = one(SEQUENCE, A, length=2, crashes=1)
    assert without_last(scope, LastOne.EVENT) == one(SEQUENCE, A, length=1, crashes=1)
    assert without_last(scope, LastOne.CRASH) == one(SEQUENCE, A, length=2, crashes=0)
    assert without_last(one(SEQUENCE, A, length=1, crashes=0), LastOne.EVENT) is None
    assert without_last(one(SEQUENCE, A, crashes=0), LastOne.CRASH) is None
    assert without_last(Scope(NO_GRAPH), LastOne.EVENT) is None


# --- a whole check -----------------------------------------------------------------------------
def reach_of(protocol: Protocol) -> Reach:
    found = verdict(protocol, walks=5, examples=1, reach=True).reach
    assert found is not None
    return found


def with_length(length: int, crashes: int = 1) -> Protocol:
    scope = over_words(relay.GRAPH, length, "a", crashes=crashes)
    pinned = PinnedScope("only", scope, OperatorClass.REPEATABLE)
    return relay.PROTOCOL.vary(scopes=(pinned,), must_occur=())


def test_the_last_event_adds_nothing_when_shapes_repeat() -> None:
    two, four = reach_of(with_length(2)), reach_of(with_length(4))
    event, crash = two.added
    assert (event.last, event.count, crash.last, crash.count) == ("event", 2, "crash", 1)
    assert "source: Source(now, number, kept: 2+)" in event.states
    assert "relay: down, saved nothing" in crash.states
    assert four.added[0].states == four.added[0].inputs == four.added[0].points == ()
    assert any("event 2: 1 shape" in line for line in paragraph(two))
    assert not any("new in event" in line for line in paragraph(four))


def test_a_large_scope_is_not_explored_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofs.explore.saturation.LARGEST", 100)
    found = reach_of(with_length(2))
    assert found.added == ()
    assert any("not measured in only" in line for line in paragraph(found))


def test_a_protocol_that_is_refuted_has_no_reach() -> None:
    from docs.examples import forgetful

    assert verdict(forgetful.PROTOCOL, walks=5, examples=1, reach=True).reach is None


def test_nothing_is_measured_unless_asked() -> None:
    assert verdict(mindful.PROTOCOL, walks=5, examples=1).reach is None


def test_random_runs_reach_further() -> None:
    found = reach_of(mindful.PROTOCOL)
    assert (found.chance_events, found.chance_crashes) == (5, 3)
    alone = verdict(mindful.PROTOCOL, walks=0, examples=0, reach=True).reach
    assert alone is not None
    assert (alone.chance_events, alone.chance_crashes) == (0, 0)


def test_results_that_name_their_inputs_are_left_to_own_properties() -> None:
    assert reach_of(mindful.PROTOCOL).lineage is LineageComparison.UNNAMED


@pytest.mark.parametrize("protocol", [mindful.PROTOCOL, relay.PROTOCOL, relay.LAZY])
def test_the_paragraph_is_short(protocol: Protocol) -> None:
    found = reach_of(protocol)
    assert len([*paragraph(found)]) <= MOST
    assert all(len(line) <= 100 for line in paragraph(found))
    assert len([*paragraph(found, long=True)]) > len([*paragraph(found)])


@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_a_hint_of_each_kind_is_shown_and_the_others_are_counted(count: int) -> None:
    found = reach_of(mindful.PROTOCOL)
    shapes = tuple(f"relay: shape {number}" for number in range(count))
    grown = tuple(
        GrowingField("relay", f"kept{number}", False, 2, 2, always=True) for number in range(count)
    )
    met = replace(found.met, uncrashed=shapes, unlost=shapes)
    many = replace(found, met=met, growing=grown)
    lines, long = [*paragraph(many)], [*paragraph(many, long=True)]
    usual = [*paragraph(replace(found, growing=()))]
    starts = [line.split(":")[0] for line in usual]
    assert [line.split(":")[0] for line in lines[: len(usual)]] == starts
    assert len(lines) <= MOST
    for words in ("hint: relay: kept0", "no crash came while", "no crash came after"):
        assert any(words in line for line in lines) is bool(count)
    assert len(long) > len(usual) + 3 * count
    counted = f"  {len(long) - len(lines) + 1} more lines with --long"
    assert (lines[-1] == counted) is (count > 1)


def test_a_reduced_scope_is_not_compared() -> None:
    """A whole search of the smaller scope could have shapes that the reduced one left out."""
    chosen = Subject(with_length(2), "")
    task = one_scope("only", chosen.protocol, "only", UNLIMITED)._replace(shapes=True)
    done = perform_on(chosen, task)
    assert isinstance(done, ScopeDone)
    less = replace(done, row=replace(done.row, reduced=True))
    asked: list[Task] = []

    def perform(tasks: Sequence[Task]) -> list[TaskResult]:
        asked.extend(tasks)
        return [perform_on(chosen, one) for one in tasks]

    assert measure_reach(chosen.protocol, [task], [done], perform) is not None
    assert [one.last for one in asked] == [*LastOne]
    found = measure_reach(chosen.protocol, [task], [less], perform)
    assert found is not None
    assert len(asked) == 2
    assert (found.added, found.reduced) == ((), ("only",))
    assert any("not measured in only, of which fewer" in line for line in paragraph(found))


def test_the_reach_in_json() -> None:
    found = verdict(mindful.PROTOCOL, walks=5, examples=1, reach=True)
    assert read(Verdict, plain(found)) == found


def test_one_scope_alone_has_a_reach() -> None:
    path = "docs/examples/mindful.py"
    found = check_scope(path, "two crashes", UNLIMITED, None, {}, None)  # type: ignore[arg-type]
    assert found.reach is not None
    assert found.reach.scopes == 1
    assert len(found.reach.added) == 2
