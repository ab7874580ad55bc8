"""Each box beside a naive definition, over whole streams, with nothing incremental."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box, Fed, Item, Of, Out, Stream, attribute, bodies, inputs_in, oldest
from model.boxes.join import Join
from model.boxes.network import INPUT, OUTPUT, Arc, Network
from model.boxes.reorder import BSort, Ordered, Resample
from model.boxes.stateless import AnyOf, Filter, Map, Relay, Union
from model.boxes.triggered import Triggered
from model.cep.predicates import Type
from model.errors import Invalid
from model.events import Body

ARRIVALS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.integers(0, 2)), max_size=9
)
"""(gap, type, key)"""
EDGES = st.lists(st.tuples(st.integers(0, 1), ARRIVALS.map(lambda some: some[:1])), max_size=9)


def items(arrivals: Any) -> list[Item]:
    """The items of one edge."""
    found, now = [], 0
    for place, (gap, type_, key) in enumerate(arrivals):
        now += gap
        found.append(Item(0, Body(now, type_, (("k", key),)), frozenset([Of(0, place)])))
    return found


@st.composite
def two_edges(draw: st.DrawFn) -> list[Item]:
    """Items of two edges in an order of arrival; times grow on each edge."""
    one = items(draw(ARRIVALS))
    two = [
        Item(1, item.body, frozenset([Of(1, of.place) for of in item.of]))
        for item in items(draw(ARRIVALS))
    ]
    found = []
    while one or two:
        found.append((one if one and (not two or draw(st.booleans())) else two).pop(0))
    return found


def fed(box: Box, given_: list[Item], edges: int = 1) -> list[tuple[int, Out]]:
    """(number of the item, output) of all outputs."""
    state = box.begin(edges)
    found = []
    for at, item in enumerate(given_):
        ((state, outs),) = box.feed(state, item)
        found += [(at, out) for out in outs]
    return found


def made(given_: list[Item], type_: str, time: int, data: Any) -> Out:
    return Out(Body(time, type_, data), frozenset().union(*(item.of for item in given_)))


# --- without state -----------------------------------------------------------------------------
@given(ARRIVALS)
def test_stateless_boxes(arrivals: Any) -> None:
    given_ = items(arrivals)
    of_a = [(at, Out(i.body, i.of)) for at, i in enumerate(given_) if i.body.type == "a"]
    assert fed(Filter(Type("a")), given_) == of_a
    assert fed(Relay(), given_) == [(at, Out(i.body, i.of)) for at, i in enumerate(given_)]
    assert [out.body for _, out in fed(Map("c", keeps=()), given_)] == [
        Body(item.body.time, "c") for item in given_
    ]


def test_any_of_has_an_answer_for_each_type() -> None:
    (item,) = items([(1, "a", 0)])
    assert [f.outs[0].body.type for f in AnyOf(("x", "y")).feed((), item)] == ["x", "y"]


# --- aggregates --------------------------------------------------------------------------------
SIZES = st.tuples(st.integers(1, 4), st.integers(1, 4))


@given(ARRIVALS, SIZES, st.sampled_from([None, "k", "type"]))
def test_aggregate_by_count(arrivals: Any, sizes: tuple[int, int], group: str | None) -> None:
    """Windows of a group: items k*advance to k*advance + size, if all are there."""
    given_, (size, advance) = items(arrivals), sizes
    box = Aggregate("list", size, advance, of="k", group=group)
    expected = []
    for key in {attribute(item.body, group) if group else None for item in given_}:
        mine = [
            (at, item)
            for at, item in enumerate(given_)
            if group is None or attribute(item.body, group) == key
        ]
        for start in range(0, len(mine), advance):
            window = mine[start : start + size]
            if len(window) == size:
                at, last = window[-1]
                inside = [item for _, item in window]
                values = tuple(attribute(item.body, "k") for item in inside)
                data: Any = ((group, key),) if group else ()
                data += (("value", values),)
                expected.append((at, made(inside, "aggregate", last.body.time, data)))
    assert fed(box, given_) == sorted(expected, key=lambda one: one[0])


@given(ARRIVALS, SIZES, st.sampled_from([None, "k", "type"]), st.booleans())
def test_aggregate_by_time(
    arrivals: Any, sizes: tuple[int, int], group: str | None, aligned: bool
) -> None:
    """Windows of a group: [s, s + size) with an item in it, for every start s; each closes with the
    first item of the group beyond it."""
    given_, (size, advance) = items(arrivals), sizes
    box = Aggregate("list", size, advance, "time", "k", group, aligned)
    expected = []
    for key in {attribute(item.body, group) if group else None for item in given_}:
        mine = [
            (at, item)
            for at, item in enumerate(given_)
            if group is None or attribute(item.body, group) == key
        ]
        first = mine[0][1].body.time
        starts = (
            [s for s in range(-size, 40) if s % advance == 0]
            if aligned
            else range(first, 40, advance)
        )
        for start in starts:
            inside = [item for _, item in mine if start <= item.body.time < start + size]
            closers = [(at, item) for at, item in mine if item.body.time >= start + size]
            if inside and closers:
                at, closer = closers[0]
                values = tuple(attribute(item.body, "k") for item in inside)
                data: Any = ((group, key),) if group else ()
                data += (("start", start), ("value", values))
                expected.append((at, made(inside, "aggregate", closer.body.time, data)))
    assert fed(box, given_) == sorted(
        expected, key=lambda one: (one[0], attribute(one[1].body, "start"))
    )


def test_folds() -> None:
    given_ = items([(1, "a", 2), (1, "a", 0), (1, "a", 1)])
    values = {
        fold: attribute(fed(Aggregate(fold, 3, 3, of="k"), given_)[0][1].body, "value")
        for fold in ("count", "sum", "max", "min", "mean", "list")
    }
    assert values == {"count": 3, "sum": 3, "max": 2, "min": 0, "mean": 1.0, "list": (2, 0, 1)}


def test_a_timeout_closes_the_oldest_window() -> None:
    box = Aggregate("list", 3, 1, of="k", timeout=True)
    state = box.begin(1)
    assert box.expire(state) == ()
    for item in items([(1, "a", 0), (1, "a", 1)]):
        ((state, _),) = box.feed(state, item)
    ((state, (out,)),) = box.expire(state)
    assert (out.body.time, attribute(out.body, "value")) == (2, (0, 1))
    assert len(state.open) == 1


@pytest.mark.parametrize("wrong", [{"fold": "median"}, {"size": 0}, {"advance": 0}])
def test_bad_parameters_of_an_aggregate(wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid, match=f"{next(iter(wrong.values()))}"):
        Aggregate(**{"fold": "sum", "size": 1, "advance": 1, **wrong})


# --- joins -------------------------------------------------------------------------------------
def pair(one: Item, other: Item) -> Out:
    left, right = sorted((one, other), key=lambda item: item.edge)
    time = max(left.body.time, right.body.time)
    return made([left, right], "pair", time, (left.body, right.body))


@given(two_edges(), st.integers(0, 3), st.sampled_from([None, "k", "type"]))
def test_join_by_time(given_: list[Item], size: int, on: str | None) -> None:
    """Every pair, one of each edge, near and with equal attribute, when the second one comes."""
    expected = [
        (at, pair(item, other))
        for at, item in enumerate(given_)
        for other in given_[:at]
        if other.edge != item.edge
        and abs(other.body.time - item.body.time) <= size
        and (on is None or attribute(other.body, on) == attribute(item.body, on))
    ]
    assert fed(Join(size, on), given_, 2) == expected


@given(two_edges(), st.integers(1, 3))
def test_join_by_count(given_: list[Item], size: int) -> None:
    """Every item with the last ones of the other edge."""
    expected = [
        (at, pair(item, other))
        for at, item in enumerate(given_)
        for other in [one for one in given_[:at] if one.edge != item.edge][-size:]
    ]
    assert fed(Join(size, by="count"), given_, 2) == expected


# --- boxes that wait ---------------------------------------------------------------------------
@given(ARRIVALS, st.integers(0, 3))
def test_bsort(arrivals: Any, slack: int) -> None:
    """Of all items so far, those that are not among the `slack` largest have left, smallest first;
    of equal ones the later one is the larger one."""
    given_ = items(arrivals)
    expected: list[tuple[int, Out]] = []
    for at in range(len(given_)):
        order = sorted(given_[: at + 1], key=lambda item: attribute(item.body, "k"))
        gone = order[: max(0, len(order) - slack)]
        before = [out for _, out in expected]
        expected += [
            (at, Out(item.body, item.of)) for item in gone if Out(item.body, item.of) not in before
        ]
    assert fed(BSort(slack, "k"), given_) == expected


@given(two_edges(), st.integers(0, 3))
def test_resample(given_: list[Item], size: int) -> None:
    """Each left item, once a right item is beyond its window, with all right ones in it."""
    expected = []
    rights = [(at, item) for at, item in enumerate(given_) if item.edge == 1]
    for here, left in enumerate(given_):
        beyond = [at for at, right in rights if right.body.time > left.body.time + size]
        if left.edge == 0 and beyond:
            near = [r for _, r in rights if abs(r.body.time - left.body.time) <= size]
            data = (("value", tuple(attribute(r.body, "k") for r in near)),)
            out = made([left, *near], "sample", left.body.time, data)
            expected.append((max(here, beyond[0]), out))
    found = fed(Resample(size, of="k"), given_, 2)
    lefts = [item for item in given_ if item.edge == 0]
    order = {frozenset(item.of): at for at, item in enumerate(lefts)}
    known = sorted(
        expected, key=lambda one: min(order[frozenset([of])] for of in one[1].of if of.edge == 0)
    )
    assert [out for _, out in found] == [out for _, out in known]
    assert all(
        at >= first for (at, _), (first, _) in zip(found, known, strict=True)
    )  # a left item that comes late waits for the next right one


@given(two_edges())
def test_an_ordered_union_sorts_what_it_can_know(given_: list[Item]) -> None:
    """In the order (time, edge), up to the first item that an item still to come might precede."""
    order = sorted(given_, key=lambda item: (item.body.time, item.edge))
    marks = [max([-1, *(i.body.time for i in given_ if i.edge == edge)]) for edge in (0, 1)]

    def known(item: Item) -> bool:
        return all((item.body.time, item.edge) <= (mark, edge) for edge, mark in enumerate(marks))

    expected = []
    for item in order:
        if not known(item):
            break
        expected.append(Out(item.body, item.of))
    assert [out for _, out in fed(Ordered(Union()), given_, 2)] == expected


@given(ARRIVALS, st.lists(st.integers(1, 3), min_size=1, max_size=3))
def test_triggered(arrivals: Any, limits: list[int]) -> None:
    """One set: cut into pieces whose sizes are the limits in turn."""
    left, expected, turn = items(arrivals), [], 0
    while len(left) >= limits[turn % len(limits)]:
        size = limits[turn % len(limits)]
        piece, left, turn = left[:size], left[size:], turn + 1
        data = (("value", tuple(attribute(item.body, "k") for item in piece)),)
        expected.append(made(piece, "batch", piece[-1].body.time, data))
    assert [out for _, out in fed(Triggered(tuple(limits), of="k"), items(arrivals))] == expected


# --- networks ----------------------------------------------------------------------------------
@given(ARRIVALS)
def test_a_chain_in_a_node_is_one_box_after_the_other(arrivals: Any) -> None:
    boxes = (("f", Filter(Type("a"))), ("g", Aggregate("list", 2, 1, of="k")))
    arcs = (Arc(INPUT, "f"), Arc("f", "g"), Arc("g", OUTPUT))
    given_ = items(arrivals)
    between = [Item(0, out.body, out.of) for _, out in fed(Filter(Type("a")), given_)]
    expected = [out for _, out in fed(Aggregate("list", 2, 1, of="k"), between)]
    assert [out for _, out in fed(Network(boxes, arcs), given_)] == expected


@pytest.mark.parametrize(
    ("arcs", "message"),
    [
        ((Arc(INPUT, "f"), Arc("f", "h")), "no box 'h'"),
        ((Arc(INPUT, "f"), Arc("f", "g"), Arc("g", "f")), "a circle of arcs among f, g"),
    ],
)
def test_bad_networks(arcs: tuple[Arc, ...], message: str) -> None:
    with pytest.raises(Invalid, match=message):
        Network((("f", Relay()), ("g", Relay())), arcs)


# --- all boxes ---------------------------------------------------------------------------------
@given(ARRIVALS.map(lambda some: some[:3]), ARRIVALS.map(lambda some: some[:3]))
def test_the_runs_of_a_union_are_all_interleavings(one: Any, two: Any) -> None:
    streams = tuple(Stream(tuple(Out(item.body) for item in items(some))) for some in (one, two))
    runs = [bodies(run.outs) for run in Union().runs(streams)]
    assert len(runs) == len(set(runs))
    assert set(runs) == set(interleaved(*(bodies(stream.outs) for stream in streams)))


def interleaved(one: tuple[Body, ...], two: tuple[Body, ...]) -> list[tuple[Body, ...]]:
    if not one or not two:
        return [one + two]
    return [(one[0], *rest) for rest in interleaved(one[1:], two)] + [
        (two[0], *rest) for rest in interleaved(one, two[1:])
    ]


def test_what_a_state_needs() -> None:
    box = Aggregate("list", 2, 1)
    state = box.begin(1)
    needed = []
    for item in items([(1, "a", 0)] * 3):
        ((state, _),) = box.feed(state, item)
        needed.append(oldest(state, 1))
    assert needed == [(0,), (1,), (2,)]
    assert all(of.edge == 0 for of in inputs_in(state))


@given(two_edges(), st.sampled_from([Join(1), Join(2, on="k"), Join(2, by="count")]))
def test_a_restart_from_the_oldest_input_goes_on_as_if_nothing_had_failed(
    given_: list[Item], box: Box
) -> None:
    """What `oldest` says is enough: fed from there, a new copy ends as the old one would."""
    for cut in range(len(given_)):
        state = box.begin(2)
        for item in given_[:cut]:
            state = box.feed(state, item)[0].state
        needed = oldest(state, 2)
        again = box.begin(2)
        for item in given_[:cut]:
            (of,) = item.of
            if (first := needed[item.edge]) is not None and of.place >= first:
                again = box.feed(again, item)[0].state
        assert fed_from(box, again, given_[cut:]) == fed_from(box, state, given_[cut:])


def fed_from(box: Box, state: Any, given_: list[Item]) -> list[Out]:
    outs: list[Out] = []
    for item in given_:
        answer: Fed = box.feed(state, item)[0]
        state, outs = answer.state, [*outs, *answer.outs]
    return outs
