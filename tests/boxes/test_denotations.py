"""Each box beside a naive definition, over whole streams, with nothing incremental."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box, Fed, Item, Of, Out, Stream, attribute, bodies, inputs_in, oldest
from model.boxes.counted import Counted
from model.boxes.folds import FOLDS
from model.boxes.join import Join
from model.boxes.reorder import BSort, Resample
from model.boxes.running import Running
from model.boxes.stateless import AnyOf, Filter, Map, Relay, Union
from model.boxes.triggered import Triggered
from model.errors import Invalid
from model.events import BEGINNING, Body
from model.predicates import Type
from tests.boxes.items import ARRIVALS, NAIVE, fed, fed_state, items, made, two_edges


# --- without state -----------------------------------------------------------------------------
@given(ARRIVALS)
def test_stateless_boxes(arrivals: Any) -> None:
    given_ = items(arrivals)
    of_a = [(at, Out(i.body, i.of)) for at, i in enumerate(given_) if i.body.type == "a"]
    assert fed(Filter(Type("a")), given_) == of_a
    assert fed(Relay(), given_) == [(at, Out(i.body, i.of)) for at, i in enumerate(given_)]
    for keeps in ((), ("k",), ("other", "k"), None):
        assert fed(Map("c", keeps), given_) == [
            (at, Out(Body(i.body.time, "c", () if keeps == () else i.body.data), i.of))
            for at, i in enumerate(given_)
        ]


@given(two_edges())
def test_a_union_hands_on_what_arrives(given_: list[Item]) -> None:
    assert fed(Union(), given_, 2) == [(at, Out(i.body, i.of)) for at, i in enumerate(given_)]


def test_any_of_has_an_answer_for_each_type() -> None:
    (item,) = items([(1, "a", 0)])
    assert {f.outs[0].of for f in AnyOf(("x", "y")).feed((), item)} == {item.of}
    assert [f.outs[0].body.type for f in AnyOf(("x", "y")).feed((), item)] == ["x", "y"]


@given(two_edges(), st.sampled_from([None, "k", "type"]))
def test_a_running_fold_answers_each_item(given_: list[Item], group: str | None) -> None:
    expected = []
    for at, item in enumerate(given_):
        so_far = [
            one
            for one in given_[: at + 1]
            if group is None or attribute(one.body, group) == attribute(item.body, group)
        ]
        data = (*item.body.data, ("value", tuple(attribute(one.body, "type") for one in so_far)))
        of = frozenset().union(*(one.of for one in so_far))
        expected.append((at, Out(item.body._replace(data=data), of)))
    assert fed(Running("list", group=group), given_, 2) == expected


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


@given(ARRIVALS, SIZES, st.sampled_from([None, "k", "type"]), st.booleans(), st.booleans())
def test_aggregate_by_time(
    arrivals: Any, sizes: tuple[int, int], group: str | None, aligned: bool, any_closes: bool
) -> None:
    """Windows of a group: [s, s + size) with an item in it, for every start s; each closes with the
    first item of the group, or of any group, beyond it."""
    given_, (size, advance) = items(arrivals), sizes
    box = Aggregate("list", size, advance, "time", "k", group, aligned, any_closes=any_closes)
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
            rest = enumerate(given_) if any_closes else mine
            closers = [(at, item) for at, item in rest if item.body.time >= start + size]
            if inside and closers:
                at, closer = closers[0]
                values = tuple(attribute(item.body, "k") for item in inside)
                data: Any = ((group, key),) if group else ()
                data += (("start", start), ("value", values))
                expected.append((at, made(inside, "aggregate", closer.body.time, data)))
    by = "start" if group is None else group
    assert fed(box, given_) == sorted(
        expected,
        key=lambda one: (
            one[0],
            attribute(one[1].body, "start"),
            # The group is in the data: the attribute `type` of a result is "aggregate".
            repr(dict(one[1].body.data)[by]),
        ),
    )


@given(ARRIVALS, SIZES, st.sampled_from([None, "k"]), st.booleans(), st.booleans())
def test_aggregate_by_ticks(
    arrivals: Any, sizes: tuple[int, int], group: str | None, aligned: bool, hands_on: bool
) -> None:
    """Windows of a group: [s, s + size) with an item in it that is no tick; each closes with the
    first tick at its end or later, in the order of their starts and groups."""
    given_, (size, advance) = items(arrivals), sizes
    box = Aggregate(
        *("list", size, advance, "time", "k", group, aligned),
        any_closes=True,
        ticks="b",
        hands_on=hands_on,
    )
    ticks = [(at, item) for at, item in enumerate(given_) if item.body.type == "b"]
    others = [item for item in given_ if item.body.type != "b"]
    found: list[Any] = [(at, 40, "", Out(item.body, item.of)) for at, item in ticks if hands_on]
    for key in {attribute(item.body, group) if group else None for item in others}:
        mine = [i for i in others if group is None or attribute(i.body, group) == key]
        first = -4 * advance if aligned else mine[0].body.time
        for start in range(first, 40, advance):
            inside = [item for item in mine if start <= item.body.time < start + size]
            closers = [(at, item) for at, item in ticks if item.body.time >= start + size]
            if inside and closers:
                at, closer = closers[0]
                values = tuple(attribute(item.body, "k") for item in inside)
                data: Any = ((group, key),) if group else ()
                data += (("start", start), ("value", values))
                out = made(inside, "aggregate", closer.body.time, data)
                found.append((at, start, repr(key), out))
    assert fed(box, given_) == [(at, out) for at, *_, out in sorted(found, key=lambda one: one[:3])]


@given(st.lists(st.integers(-3, 3), max_size=6))
def test_folds(values: list[int]) -> None:
    assert FOLDS.keys() == NAIVE.keys()
    for name, fold in FOLDS.items():
        assert fold.result(functools.reduce(fold.add, values, fold.begin)) == NAIVE[name](values)


@given(ARRIVALS, SIZES, st.sampled_from(["count", "time"]), st.sampled_from([None, "k"]))
def test_a_timeout_closes_the_oldest_window(
    arrivals: Any, sizes: tuple[int, int], by: str, group: str | None
) -> None:
    """Its result has what came so far, and the time of the last item of these; the others stay."""
    box = Aggregate("list", *sizes, by=by, of="k", group=group, timeout=True)
    given_ = items(arrivals)
    state = fed_state(box, given_)
    assert dataclasses.replace(box, timeout=False).expire(state) == ()
    panes = [*state.open]
    while panes:
        pane, *panes = panes
        inside = [item for item in given_ if item.of <= pane.of]
        data: Any = ((group, attribute(inside[-1].body, "k")),) if group else ()
        data += () if by == "count" else (("start", pane.start.time),)
        data += (("value", tuple(attribute(item.body, "k") for item in inside)),)
        out = made(inside, "aggregate", inside[-1].body.time, data)
        after = state._replace(open=tuple(panes))
        assert box.expire(state) == (Fed(after, (out,)),)
        state = after
    assert box.expire(state) == ()


def test_what_stands_in_the_constructor_of_an_aggregate() -> None:
    whole = Aggregate("list", 2, 1, "count", "type", None, True, False, "aggregate", False)
    assert Aggregate("list", 2, 1) == whole
    assert Join(1) == Join(1, None, "time", False, "pair", False)
    assert (Relay().edges, Join(1).edges, Resample(1).edges, Union().edges) == (1, 2, 2, None)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Aggregate("median", 1, 1), "aggregate: no fold 'median'; there are count, sum"),
        (lambda: Aggregate("sum", 0, 1), "aggregate: size 0; give 1 or more"),
        (lambda: Aggregate("sum", 1, 0), "aggregate: advance 0; give 1 or more"),
        (lambda: Join(0, by="count"), "join: size 0; give 1 or more"),
        (lambda: Join(-1), "join: size -1; give 0 or more"),
        (lambda: Join(1, by="type"), "join: by 'type'; give 'time' or 'count'"),
        (lambda: Join(1, by="count", one_sided=True), "join: one_sided by 'count'; give 'time'"),
        (lambda: Aggregate("sum", 1, 1, any_closes=True), "aggregate: any_closes by 'count'"),
        (lambda: Aggregate("sum", 1, 1, any_closes=True, ticks="t"), "any_closes by 'count'"),
        (lambda: Aggregate("sum", 1, 1, "time", ticks="t"), "aggregate: ticks close windows by"),
        (
            lambda: Aggregate("sum", 1, 1, "k", any_closes=True, ticks="t"),
            "aggregate: ticks close windows by 'time' of all groups: any_closes=True",
        ),
        (lambda: BSort(-1), "bsort: slack -1; give 0 or more"),
        (lambda: Resample(-1), "resample: size -1; give 0 or more"),
        (lambda: Resample(0, "median"), "resample: no fold 'median'"),
        (lambda: Triggered(()), "triggered: limits 0; give 1 or more"),
        (lambda: Triggered((1, 0)), "triggered: limits 0; give 1 or more"),
        (lambda: Counted((2,)), "counted: 1 limits; give a full count and a size"),
        (lambda: Counted((0, 1)), "triggered: limits 0; give 1 or more"),
        (lambda: Triggered((1,), fold="median"), "triggered: no fold 'median'"),
    ],
)
def test_bad_parameters(build: Callable[[], Box], message: str) -> None:
    with pytest.raises(Invalid, match=message):
        build()


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


@given(two_edges(), st.integers(0, 3))
def test_a_one_sided_join(given_: list[Item], size: int) -> None:
    """Every pair whose left time is at most `size` after the right one."""
    expected = [
        (at, pair(item, other))
        for at, item in enumerate(given_)
        for other in given_[:at]
        if other.edge != item.edge
        and (other if item.edge else item).body.time - (item if item.edge else other).body.time
        <= size
    ]
    assert fed(Join(size, one_sided=True), given_, 2) == expected


@given(two_edges(), st.integers(0, 3))
def test_a_one_sided_join_never_lets_go_of_a_left_item(given_: list[Item], size: int) -> None:
    """Sebepou and Magoutis, V: its state only grows, whatever the window."""
    left, right = fed_state(Join(size, one_sided=True), given_, 2)
    assert left == tuple(item for item in given_ if item.edge == 0)
    assert right == fed_state(Join(size), given_, 2)[1]


@given(two_edges(), st.integers(0, 3))
def test_a_join_by_time_holds_what_may_still_find_a_partner(given_: list[Item], size: int) -> None:
    """All items but those that an item of the other edge has left behind."""
    assert fed_state(Join(size), given_, 2) == tuple(
        tuple(
            item
            for at, item in enumerate(given_)
            if item.edge == edge
            and not any(
                later.edge != edge and item.body.time < later.body.time - size
                for later in given_[at:]
            )
        )
        for edge in (0, 1)
    )


@given(two_edges(), st.integers(1, 3))
def test_join_by_count(given_: list[Item], size: int) -> None:
    """Every item with the last ones of the other edge."""
    expected = [
        (at, pair(item, other))
        for at, item in enumerate(given_)
        for other in [one for one in given_[:at] if one.edge != item.edge][-size:]
    ]
    assert fed(Join(size, by="count"), given_, 2) == expected


@given(two_edges(), st.sampled_from([Join(3, timeout=True), Join(2, by="count", timeout=True)]))
def test_a_timeout_lets_the_oldest_item_of_a_join_leave(given_: list[Item], box: Join) -> None:
    state = fed_state(box, given_, 2)
    assert dataclasses.replace(box, timeout=False).expire(state) == ()
    order = sorted((*state[0], *state[1]), key=lambda item: (item.body.time, item.edge))
    while order:
        ((state, outs),) = box.expire(state)
        _, *order = order
        assert outs == ()
        assert state == tuple(tuple(item for item in order if item.edge == edge) for edge in (0, 1))
    assert box.expire(state) == ()


def test_a_pair_of_equal_time_and_edge_loses_the_first() -> None:
    one, two = items([(1, "a", 0), (0, "a", 0)])
    ((state, _),) = Join(1, timeout=True).expire(((one, two), ()))
    assert state == ((two,), ())


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


@given(ARRIVALS.map(lambda some: some[:4]))
def test_the_runs_of_an_aggregate_with_timeouts(arrivals: Any) -> None:
    """The outputs of all ways to put timeouts between the items and behind them."""
    box = Aggregate("list", 2, 1, of="k", timeout=True)
    given_ = items(arrivals)
    ways: list[tuple[tuple[Out, ...], Any]] = [((), box.begin(1))]
    for place in range(len(given_) + 1):
        for outs, state in ways:  # grows
            ways += [(outs + after.outs, after.state) for after in box.expire(state)]
        if place < len(given_):
            ways = [
                (outs + after.outs, after.state)
                for outs, state in ways
                for after in box.feed(state, given_[place])
            ]
    found = {outs for outs, _ in ways}
    runs = [*box.runs((Stream(tuple(Out(item.body) for item in given_)),))]
    assert {run.outs for run in runs} == found
    assert len(runs) == len(found)
    for run in runs:
        assert run.mark == (run.outs[-1].body.time if run.outs else BEGINNING)


def test_what_a_state_needs_of_several_edges() -> None:
    needed = frozenset([Of(0, 3), Of(2, 1)])
    assert oldest((needed, (Of(0, 9), (frozenset([Of(0, 2)]),)), 7), 3) == (2, None, 1)


def test_a_box_without_code_is_no_operator() -> None:
    with pytest.raises(NotImplementedError):
        Box().feed((), items([(1, "a", 0)])[0])
    assert Box().expire(()) == ()
    assert (Box().horizon, Box().period, Box().begin(1)) == (0, 1, ())


def test_attributes() -> None:
    body = Body(3, "a", (("k", 1), ("l", 2)))
    names = ("time", "type", "k", "l", "m")
    assert [attribute(body, name) for name in names] == [3, "a", 1, 2, None]


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
