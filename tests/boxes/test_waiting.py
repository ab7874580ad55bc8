"""Boxes that keep items back, and Triggered, beside naive definitions over whole streams."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.boxes.box import Fed, Item, Of, Out, attribute
from model.boxes.counted import Counted
from model.boxes.folds import FOLDS
from model.boxes.hourly import Hourly
from model.boxes.join import Join
from model.boxes.reorder import BSort, Ordered, Resample
from model.boxes.stateless import AnyOf, Union
from model.boxes.triggered import Functions, Sets, Triggered
from model.errors import Invalid
from model.events import Body
from tests.boxes.items import ARRIVALS, NAIVE, fed, fed_state, items, made, two_edges


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
    order = {item.of: at for at, item in enumerate(given_)}
    expected.sort(
        key=lambda one: (one[0], min(order[frozenset([of])] for of in one[1].of if of.edge == 0))
    )
    assert fed(Resample(size, of="k"), given_, 2) == expected


@given(two_edges(), st.integers(0, 3))
def test_a_resample_holds_what_a_window_may_still_need(given_: list[Item], size: int) -> None:
    """Left items without an answer; the right ones near them or a later one, and the last one."""
    lefts, rights = ([item for item in given_ if item.edge == edge] for edge in (0, 1))
    waiting = [
        left
        for left in lefts
        if not any(right.body.time > left.body.time + size for right in rights)
    ]
    first = next(iter([*waiting, *lefts[-1:]]), None)
    around = [
        right
        for right in rights
        if right is rights[-1] or first is None or right.body.time >= first.body.time - size
    ]
    state = fed_state(Resample(size), given_, 2)
    assert (state.waiting, state.around) == (tuple(waiting), tuple(around))


@pytest.mark.parametrize("fold", FOLDS)
def test_a_sample_without_any_item_near(fold: str) -> None:
    (left,), (right,) = items([(0, "a", 1)]), items([(9, "a", 1)])
    ((_, out),) = fed(Resample(1, fold, "k"), [left, Item(1, right.body)], 2)
    assert attribute(out.body, "value") == NAIVE[fold]([])


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


@given(two_edges())
def test_an_ordered_box_takes_items_in_their_order(given_: list[Item]) -> None:
    """If the box inside chooses, every sequence of answers is allowed."""
    types = ("x", "y")
    known = [out for _, out in fed(Ordered(Union()), given_[:4], 2)]
    states: set[tuple[Any, tuple[Out, ...]]] = {(Ordered(AnyOf(types)).begin(2), ())}
    for item in given_[:4]:
        states = {
            (fed_.state, outs + fed_.outs)
            for state, outs in states
            for fed_ in Ordered(AnyOf(types)).feed(state, item)
        }
    assert {tuple((out.body.type, out.of) for out in outs) for _, outs in states} == {
        tuple(zip(chosen, (out.of for out in known), strict=True))
        for chosen in itertools.product(types, repeat=len(known))
    }


def test_a_timeout_of_an_ordered_box() -> None:
    inner = Join(1, timeout=True)
    box = Ordered(inner)
    left, right = items([(1, "a", 0), (1, "a", 0)])
    state = fed_state(box, [left, right, Item(1, left.body)], 2)
    assert state.inner == ((left,), (Item(1, left.body),))
    (after,) = box.expire(state)
    assert after == Fed(state._replace(inner=((), (Item(1, left.body),))))


@given(ARRIVALS, st.lists(st.integers(1, 3), min_size=1, max_size=3))
def test_triggered_by_group(arrivals: Any, limits: list[int]) -> None:
    """One set for each key, and one turn for all: whoever is complete next takes the next limit."""
    sets: dict[int, list[Item]] = {0: [], 1: [], 2: []}
    expected: list[tuple[int, Out]] = []
    for at, item in enumerate(items(arrivals)):
        key = attribute(item.body, "k")
        sets[key].append(item)
        if len(sets[key]) >= limits[len(expected) % len(limits)]:
            data = (("k", key), ("value", tuple(one.body.type for one in sets[key])))
            expected.append((at, made(sets[key], "batch", item.body.time, data)))
            sets[key] = []
    assert fed(Triggered(tuple(limits), "k"), items(arrivals)) == expected


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


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 2)), max_size=9))
def test_hourly(arrivals: list[tuple[int, int]]) -> None:
    """Each hour before the newest one of the item, in order, once: all items that have records of
    it.  An item begins in the last hour of the one before, or later."""
    given_: list[Item] = []
    spans: list[range] = []
    for hours, gap in arrivals:
        last = (spans[-1][-1] if spans else 10) + gap + hours - 1
        spans.append(range(last + 1 - hours, last + 1))
        body = Body(last, f"of {hours}", (("hours", hours),))
        given_.append(Item(0, body, frozenset([Of(0, len(given_))])))
    expected = []
    for hour in sorted({hour for span in spans for hour in span}):
        inside = [item for item, span in zip(given_, spans, strict=True) if hour in span]
        later = [at for at, span in enumerate(spans) if span[-1] > hour]
        data = (("value", tuple(item.body.type for item in inside)),)
        expected += [(at, made(inside, "window", hour, data)) for at in later[:1]]
    assert fed(Hourly(), given_) == expected


def test_an_item_of_hours_has_at_least_one_and_at_most_a_day() -> None:
    (item,) = items([(1, "a", 0)])
    for hours in (-1, 25):
        longer = item._replace(body=item.body._replace(data=(("hours", hours),)))
        with pytest.raises(Invalid, match=f"records of {hours} hours in one item; give 1 to 24"):
            Hourly().keys(longer)


@given(ARRIVALS, st.integers(1, 4), st.integers(1, 4))
def test_counted(arrivals: Any, full: int, size: int) -> None:
    """An item completes the set of its own key if its place is a multiple of the full count, or the
    set has its size."""
    sets: dict[int, list[Item]] = {0: [], 1: [], 2: []}
    expected: list[tuple[int, Out]] = []
    for at, item in enumerate(items(arrivals)):
        key = attribute(item.body, "k")
        sets[key].append(item)
        if (at + 1) % full == 0 or len(sets[key]) == size:
            data = (("k", key), ("value", tuple(one.body.type for one in sets[key])))
            expected.append((at, made(sets[key], "batch", item.body.time, data)))
            sets[key] = []
    assert fed(Counted((full, size), "k"), items(arrivals)) == expected


@given(ARRIVALS, st.integers(1, 4))
def test_an_item_that_is_counted_already_changes_its_set_alone(arrivals: Any, full: int) -> None:
    """To count first, and then to gather and to generate, is to feed."""
    box, (*before, item) = Counted((full, 99), "k"), [*items(arrivals), *items([(1, "a", 0)])]
    state = fed_state(box, before)
    counted = state._replace(done=(state.done + 1) % full)
    (key,) = box.keys(item)

    def gathered(state: Sets) -> Fed:
        after = box.gather(state, item)
        return box.generate(after, key) if box.is_ready(after, key) else Fed(after)

    assert box.count(state) == counted
    assert (gathered(counted),) == box.feed(state, item)
    again, outs = gathered(state)
    assert again.done == state.done
    assert bool(outs) == (state.done == 0)


@given(ARRIVALS, st.integers(1, 3))
def test_triggered_apart(arrivals: Any, limit: int) -> None:
    """A complete set has an output for each of its items, of the item alone."""
    known = items(arrivals)
    whole = known[: len(known) - len(known) % limit]
    expected = [
        made([item], "batch", item.body.time, (("value", (item.body.type,)),)) for item in whole
    ]
    assert [out for _, out in fed(Triggered((limit,), apart=True), known)] == expected


@given(st.lists(st.sampled_from("ab"), max_size=8), st.integers(1, 3), st.integers(1, 3))
def test_functions_over_the_same_items_do_not_see_each_other(
    types: list[str], one: int, other: int
) -> None:
    """Each has the outputs that it has alone; of one item, the first function comes first."""
    parts = Triggered((one,), group="type", emits="x"), Triggered((other, 1), emits="y")
    box = Functions(parts)
    stream = [Item(0, Body(at, type_), frozenset({Of(0, at)})) for at, type_ in enumerate(types)]
    together: list[Out] = []
    alone: list[Out] = []
    state, states = box.begin(1), [part.begin(1) for part in parts]
    for item in stream:
        ((state, outs),) = box.feed(state, item)
        together += outs
        for at, part in enumerate(parts):
            ((states[at], outs),) = part.feed(states[at], item)
            alone += outs
    assert together == alone
    assert state == tuple(states)


@given(st.lists(st.sampled_from("ab"), min_size=1, max_size=8), st.integers(1, 3))
def test_a_gathered_item_is_in_its_set_and_triggers_nothing(types: list[str], limit: int) -> None:
    box = Triggered((limit,), group="type")
    state = box.begin(1)
    for at, type_ in enumerate(types):
        state = box.gather(state, Item(0, Body(at, type_), frozenset({Of(0, at)})))
    gathered = {one.key: [item.body.time for item in one.items] for one in state.open}
    assert gathered == {
        type_: [at for at, other in enumerate(types) if other == type_] for type_ in {*types}
    }
    assert state.done == 0
