"""The state of an aggregate with many groups beside that with few, and the maps that it is of."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.boxes import panes
from model.boxes.aggregate import Aggregate
from model.boxes.box import Fed, Item, Of, held, oldest
from model.boxes.ends import WindowEnds
from model.boxes.panes import FEW, ManyPanes, Panes
from model.boxes.trie import DEEPEST, Trie, trie_of
from model.parts import contents, open_windows
from model.state_parts import count_changed, count_parts
from tests.boxes.items import items

MANY = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.integers(0, 40)),
    min_size=12,
    max_size=60,
    unique_by=lambda one: (one[1], one[2]),
).flatmap(lambda some: st.permutations(some + some[::2]))
"""(gap, type, key): more than FEW keys, some of them again."""
BOXES = (
    st.builds(
        Aggregate,
        st.sampled_from(["count", "list"]),
        st.integers(1, 6),
        st.integers(1, 4),
        st.just("time"),
        st.just("k"),
        st.sampled_from(["k", None]),
        st.booleans(),
        st.booleans(),
        any_closes=st.booleans(),
    )
    | st.builds(
        Aggregate,
        *(st.just(one) for one in ("list", 3, 2, "time", "k", "k")),
        any_closes=st.just(True),
        ticks=st.just("b"),
        hands_on=st.booleans(),
    )
    | st.builds(
        Aggregate,
        st.sampled_from(["sum", "list"]),
        st.integers(1, 3),
        st.integers(1, 3),
        of=st.just("k"),
        group=st.just("k"),
        timeout=st.booleans(),
    )
)


def course(box: Aggregate, given_: list[Item], few: int) -> list[Fed]:
    """The answer to each item, and to a timeout after it, if at most `few` groups are few."""
    state: Any = box.begin(1)
    answers = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(panes, "FEW", few)
        for item in given_:
            (fed,) = box.feed(state, item)
            answers += [fed, *box.expire(fed.state)]
            state = fed.state
    return answers


@given(BOXES, MANY)
def test_many_groups_are_as_few(box: Aggregate, arrivals: Any) -> None:
    """Every output and every state; equal states are equal values in either shape."""
    given_ = items(arrivals)
    few, many = course(box, given_, 1000), course(box, given_, 0)
    assert [fed.outs for fed in few] == [fed.outs for fed in many]
    for one, other in zip(few, many, strict=True):
        assert isinstance(one.state, Panes)
        if not one.state.turns:  # only ticks came
            continue
        assert isinstance(other.state, ManyPanes)
        assert other.state.unpacked() == one.state
        assert other.state.amounts == one.state.amounts
        assert contents(other.state) == contents(one.state)
        assert count_parts(other.state) == count_parts(one.state)
        assert count_changed(many[0].state, other.state) == count_changed(few[0].state, one.state)
        assert open_windows(other.state) == len(one.state.open) == open_windows(one.state)
        assert sorted(map(sorted, held(other.state))) == sorted(map(sorted, held(one.state)))
        assert oldest(other.state, 1) == oldest(one.state, 1)


@given(BOXES, MANY)
def test_a_state_is_one_value_whatever_way_it_came_about(box: Aggregate, arrivals: Any) -> None:
    """Also after it went to another process."""
    (*_, one), (*_, other) = (course(box, items(arrivals), few) for few in (0, FEW))
    if isinstance(other.state, ManyPanes):
        assert one.state == other.state
        assert hash(one.state) == hash(other.state)
        assert pickle.loads(pickle.dumps(one.state)) == one.state
    assert one.state != other.state.open


def test_a_state_turns_with_the_group_that_is_one_too_many() -> None:
    box, state = Aggregate("count", 2, 2, group="k"), Panes()
    for number, item in enumerate(items([(1, "a", key) for key in range(FEW + 1)]), 1):
        ((state, _),) = box.feed(state, item)
        assert isinstance(state, Panes if number <= FEW else ManyPanes)


def test_a_change_leaves_the_state_before_it_as_it_was() -> None:
    box = Aggregate("list", 4, 4, "time", group="k", any_closes=True)
    given_ = items([(1, "a", key % 11) for key in range(40)])
    states, state = [], box.begin(1)
    for item in given_:
        ((state, _),) = box.feed(state, item)
        states.append((state, state.open, state.turns))
    assert all((one.open, one.turns) == (open_, turns) for one, open_, turns in states)


# --- maps --------------------------------------------------------------------------------------
class Clash:
    """A key whose hash is that of all others."""

    def __init__(self, name: int) -> None:
        self.name = name

    def __hash__(self) -> int:
        return -1


KEYS = st.integers(-50, 2000) | st.text(max_size=2) | st.none()


@given(st.lists(st.tuples(KEYS, st.integers())))
def test_a_trie_is_a_dict(pairs: list[tuple[Any, int]]) -> None:
    trie: Trie[Any, int] = Trie()
    known: dict[Any, int] = {}
    for key, value in pairs:
        before = dict(trie.items())
        trie, known, old = trie.put(key, value), {**known, key: value}, trie
        assert dict(old.items()) == before
        assert (dict(trie.items()), len(trie)) == (known, len(known))
    assert all(trie.get(key, -1) == value for key, value in known.items())
    assert trie.get("none", -1) == -1
    for key in [*known][::2]:
        trie = trie.drop(key)
        del known[key]
    assert (dict(trie.items()), len(trie)) == (known, len(known))
    assert dict(pickle.loads(pickle.dumps(trie)).items()) == known


def test_keys_with_one_hash_stay_apart() -> None:
    keys = [Clash(number) for number in range(DEEPEST)]
    trie = trie_of({key: key.name for key in keys})
    assert [trie.get(key, -1) for key in keys] == [*range(DEEPEST)]
    assert trie.drop(keys[3]).get(keys[3], -1) == -1


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 3))))
def test_ends_come_in_order(pairs: list[tuple[int, int]]) -> None:
    ends = WindowEnds()
    for start, key in pairs:
        ends = ends.put(start, key)
    found = []
    while (first := ends.first(10)) is not None:
        keys, ends = ends.pop()
        found += [(first, key) for key in keys]
    assert found == sorted(pair for pair in pairs if pair[0] <= 10)
    assert len(ends.windows) == len({start for start, _ in pairs if start > 10})


def test_what_many_groups_hold_names_each_input() -> None:
    box, state = Aggregate("count", 2, 2, group="k"), Panes()
    for item in items([(1, "a", key) for key in range(FEW + 3)]):
        ((state, _),) = box.feed(state, item)
    assert frozenset().union(*held(state)) == {Of(0, place) for place in range(FEW + 3)}
