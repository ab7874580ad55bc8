"""An operator with several inputs gives what its box allows, however often it restarts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box, Of, Out, Stream, bodies
from model.boxes.join import Join
from model.boxes.reorder import Ordered
from model.boxes.stateless import Union
from model.core import Guarantee, Received, Role, Site, TimerFired
from model.errors import Invalid
from model.events import BEGINNING, Body, Event
from model.evidence import Case, Outcome
from model.protocols.cec import scopes
from model.protocols.cec.deployment import CecConfig
from model.protocols.cec.design import MENDED, Interleaving, Position
from model.protocols.cec.family import CEC
from model.protocols.cec.messages import LoggedBox, NodeState
from model.protocols.cec.nodes import CHECK, boot, deploy, recover, step
from model.protocols.cec.scopes import joined
from model.queues import Entry, Inlets, Replayed, Stamp
from proofs.explore.explorer import explore

BOXES = (Join(9), Join(1), Join(0), Join(1, by="count"), Join(2, by="count"), Union())
WINDOWS = (Aggregate("list", 2, 2, of="time"), Aggregate("list", 2, 3, of="time"))
PREDS = ("left", "right")
Streams = tuple[tuple[Event, ...], tuple[Event, ...]]


@st.composite
def streams(draw: st.DrawFn, most: int = 4) -> Streams:
    """The events of two inputs; times may be equal."""
    return tuple(  # type: ignore[return-value]
        tuple(Event((place,), Body(sum(gaps[:place]), "a")) for place in range(1, len(gaps) + 1))
        for gaps in draw(st.tuples(*[st.lists(st.integers(0, 2), max_size=most)] * 2))
    )


def merged(draw: st.DrawFn, after: tuple[int, ...], given_: Streams) -> Iterator[tuple[int, Event]]:
    """The rest of both inputs after these places, in an order of arrival."""
    places = [*after]
    while ready := [edge for edge in (0, 1) if places[edge] < len(given_[edge])]:
        edge = draw(st.sampled_from(ready))
        yield edge, given_[edge][places[edge]]
        places[edge] += 1


def restarted(site: Site, state: NodeState) -> NodeState:
    """The state after a crash, with both inputs connected again."""
    state = recover(site, state.disk).state
    for pred, end in zip(PREDS, state.inlets.ends, strict=True):
        assert end.request is not None
        assert end.request.after is not None
        answer = Replayed(end.request, max(0, end.request.after))
        state = step(site, state, Received(pred, answer)).state
    return state


@st.composite
def runs(draw: st.DrawFn, boxes: st.SearchStrategy[Box]) -> tuple[Box, Streams, NodeState]:
    """An operator, its inputs, and its state when it took all of them, with up to two crashes."""
    box, given_ = draw(boxes), draw(streams())
    config = CecConfig(MENDED, trims=False, sources=PREDS)
    site = Site("join", Role.OPERATOR, LoggedBox(box, checks=True), PREDS, ("sink",), config)
    state = boot(site)
    assert isinstance(state, NodeState)
    for crashes in reversed(range(draw(st.integers(1, 3)))):
        arrivals = [*merged(draw, state.inlets.places, given_)]
        count = draw(st.integers(0, len(arrivals))) if crashes else len(arrivals)
        for edge, event in arrivals[:count]:
            state = step(site, state, Received(PREDS[edge], event)).state
            if draw(st.booleans()):
                state = step(site, state, TimerFired(CHECK)).state
        if crashes:
            state = restarted(site, state)
    return box, given_, state


def check(box: Box, given_: Streams, state: NodeState) -> None:
    """The log's results are a run of the box."""
    inputs = tuple(
        Stream(tuple(Out(event.body, frozenset([Of(edge, at)])) for at, event in enumerate(events)))
        for edge, events in enumerate(given_)
    )
    records = [record for segment in state.disk.log for record in segment.records]
    results = tuple(record.out.body for record in records if record.out)
    assert results in {bodies(run.outs) for run in box.runs(inputs)}


@given(runs(st.sampled_from(BOXES)))
def test_results_by_arrival_are_a_run_of_the_box(run: tuple[Box, Streams, NodeState]) -> None:
    check(*run)


@given(runs(st.builds(Ordered, st.sampled_from((*BOXES, *WINDOWS)))))
def test_results_by_time_are_the_run_of_the_box(run: tuple[Box, Streams, NodeState]) -> None:
    check(*run)


# --- the inlets ------------------------------------------------------------------------------
def entries(given_: Streams, until: tuple[int, ...], *, ordered: bool) -> list[Entry]:
    """What is taken when the left input comes before the right one."""
    inlets, found = Inlets(Inlets().ends * 2, ((), ()), until), []
    for edge, events in enumerate(given_):
        for event in events:
            inlets, entry = inlets.add(edge, event, frozenset()).take(ordered=ordered)
            while entry is not None:
                found.append(entry)
                inlets, entry = inlets.take(ordered=ordered)
    assert [entry.event.sn for entry in found] == [(n,) for n in range(1, len(found) + 1)]
    assert sum(inlets.places) == len(found)
    return found


@given(streams(6), st.data())
def test_what_the_log_covers_is_taken_first(given_: Streams, data: st.DataObject) -> None:
    until = tuple(data.draw(st.integers(0, len(events))) for events in given_)
    taken = entries(given_, until, ordered=False)
    first = [entry.edge for entry in taken[: sum(until)]]
    assert (first.count(0), first.count(1)) == until
    assert len(taken) == sum(map(len, given_))


@given(streams(6))
def test_ordered_inlets_take_by_time_and_input(given_: Streams) -> None:
    taken = [(entry.event.body.time, entry.edge) for entry in entries(given_, (), ordered=True)]
    both = [(event.body.time, edge) for edge, events in enumerate(given_) for event in events]
    assert taken == sorted(both)[: len(taken)]
    newest = [events[-1].body.time if events else BEGINNING for events in given_]
    assert {one for one in both if one[0] < min(newest)} <= {*taken}


# --- readings --------------------------------------------------------------------------------
def holding(case: Case) -> set[tuple[Stamp, Position, Interleaving]]:
    """The readings of V that hold in the scope."""
    found = set()
    for stamp, position, interleaving in product(Stamp, Position, Interleaving):
        design = replace(MENDED, stamp=stamp, position=position, interleaving=interleaving)
        explored = explore(CEC.design("reading", design), case.scope, until=Guarantee.PRECISE)
        if explored.outcome is Outcome.HOLDS:
            found.add((stamp, position, interleaving))
    return found


def test_a_join_by_arrival_needs_a_place_in_each_input_and_the_order_of_the_log() -> None:
    assert holding(scopes.A_JOIN) == {(Stamp.PLACE, Position.VECTOR, Interleaving.LOGGED)}


def test_a_join_by_time_needs_places_alone() -> None:
    expected = {(Stamp.PLACE, Position.VECTOR, order) for order in Interleaving}
    assert holding(scopes.A_JOIN_BY_TIME) == expected


@pytest.mark.slow
def test_one_time_is_enough_for_a_join_by_time_if_no_two_tuples_have_one_time() -> None:
    found = holding(scopes.A_JOIN_BY_TIME_DISTINCT_TIMES)
    assert {(Stamp.TIME, Position.SCALAR, order) for order in Interleaving} <= found


def test_an_operator_that_the_order_of_its_inputs_changes_is_refused() -> None:
    with pytest.raises(Invalid, match=r"^cec: join is a Aggregate with 2 inputs; give a Join"):
        deploy(MENDED, joined(Aggregate("list", 2, 2), 1, 1))
    assert deploy(MENDED, joined(Ordered(Aggregate("list", 2, 2)), 1, 1))
