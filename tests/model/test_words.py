"""Words for values that a protocol does not show: exact examples, and one short line for any."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.core import Guarantee, Lost, OperatorClass
from model.events import Body, Event
from model.log import Log
from model.registry import protocols
from model.words import ROOM, changes, cut, generic, listed, own_words, show_value


class Colour(Enum):
    DARK_RED = 1


class Commit(NamedTuple):
    number: int


class RollBack(NamedTuple):
    epoch: int
    reason: str | None = None


class End(NamedTuple):
    commits: bool


class Hello(NamedTuple):
    pass


class HTTPRequest(NamedTuple):
    colour: Colour


@dataclass(frozen=True)
class Checkpoint:
    number: int
    kept: Log[Event] = Log()
    inside: Any = None
    names: frozenset[str] = frozenset()


EMPTY: Log[Event] = Log()
A1 = Event((1,), Body(3, "a"))
EXAMPLES = [
    (Commit(2), "Commit 2"),
    (RollBack(1), "Roll back 1"),
    (RollBack(1, "late"), "Roll back 1 late"),
    (End(True), "End commits"),
    (End(False), "End not commits"),
    (Hello(), "Hello"),
    (HTTPRequest(Colour.DARK_RED), "HTTP request dark red"),
    (Checkpoint(1), "Checkpoint 1"),
    (Checkpoint(1, EMPTY.append(A1)), "Checkpoint 1 (a1)"),
    (Checkpoint(1, names=frozenset("cab")), "Checkpoint 1 {a b c}"),
    (Checkpoint(1, inside=Commit(7)), "Checkpoint 1 Commit 7"),
    (Checkpoint(1, inside=Checkpoint(2, inside=3)), "Checkpoint 1…"),
    (Checkpoint(1, EMPTY.extend([A1] * 9)), "Checkpoint 1 (a1 a1…)"),
    (A1, "a1"),
    (Event((1, 2), Body(3, "a")), "a1.2"),
    (Body(3, "a", (("x", 1),)), "a@3"),
    (7, "7"),
    (True, "true"),
    (None, "none"),
    ((), "()"),
    ((1, "b", None), "(1 b none)"),
    ({"b": 1, "a": 2}, "{a: 2 b: 1}"),
    ("two\nlines", "two lines"),
    ("x" * 99, "x" * 23 + "…"),
    (object(), "object"),
]


@pytest.mark.parametrize(("value", "expected"), EXAMPLES, ids=[said for _, said in EXAMPLES])
def test_a_value_has_words(value: object, expected: str) -> None:
    assert generic(value) == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (Commit(1), Commit(1), ""),
        (Commit(1), Commit(2), "number 2"),
        (End(True), End(False), "not commits"),
        (RollBack(1), RollBack(2, "x"), "epoch 2, reason x"),
        (Checkpoint(1, EMPTY.append(A1)), Checkpoint(1), "kept ()"),
        (Commit(1), Hello(), "Hello"),
        (1, 2, "state 2"),
        ((), (A1,), "state (a1)"),
        (None, Commit(3), "Commit 3"),
    ],
)
def test_a_state_is_shown_by_the_fields_that_change(
    before: object, after: object, expected: str
) -> None:
    assert changes(before, after) == expected


BODIES = st.tuples(st.integers(), st.text()).map(lambda parts: Body(*parts))
SMALL = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.sampled_from(Colour),
    st.integers().map(Commit),
    BODIES,
    st.tuples(st.tuples(st.integers()), BODIES).map(lambda parts: Event(*parts)),
)
VALUES = st.recursive(
    SMALL,
    lambda inner: st.one_of(
        st.lists(inner).map(tuple),
        st.dictionaries(st.text(), inner),
        st.tuples(st.integers(), st.lists(inner), inner).map(
            lambda parts: Checkpoint(parts[0], Log().extend(parts[1]), parts[2])
        ),
        st.tuples(inner, inner).map(lambda parts: RollBack(*parts)),
    ),
)


@given(VALUES, VALUES, st.integers(8, 60))
def test_any_value_has_one_short_line(value: object, other: object, room: int) -> None:
    for line in (generic(value, room), changes(value, other, room), changes(other, value, room)):
        assert len(line) <= room
        assert len(line.splitlines()) <= 1
        if "…" not in str((value, other)):
            assert "……" not in line
    assert changes(value, value) == "" or value != value  # NaN is no value to compare
    assert bool(generic(value)) or not str(value).strip()


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_records_with_other_numbers_have_other_words(one: int, other: int) -> None:
    assert (generic(Commit(one)) == generic(Commit(other))) == (one == other)
    assert changes(Commit(one), Commit(other)) == ("" if one == other else f"number {other}")


@given(st.text(), st.integers(2, 30))
def test_cut_text_begins_as_the_text(text: str, room: int) -> None:
    line = cut(text, room)
    assert " ".join(text.split()).startswith(line.removesuffix("…"))


def test_the_protocol_s_own_words_win() -> None:
    protocol = protocols()["abs"].vary(show=lambda value: "mine" if value == 1 else "")
    assert show_value(protocol, 1) == own_words(protocol, 1) == "mine"
    assert (show_value(protocol, Commit(2)), own_words(protocol, Commit(2))) == ("Commit 2", "")
    assert show_value(protocol, Lost("A")) == "lost A"
    assert ROOM == 24


@pytest.mark.parametrize(
    ("texts", "said"),
    [([], ""), (["a"], "a"), (["a", "b"], "a or b"), (["a", "b", "c"], "a, b or c")],
)
def test_texts_in_a_row(texts: list[str], said: str) -> None:
    assert listed(texts, "or") == said
    assert listed(texts) == said.replace(" or ", " and ")


def test_the_words_of_classes_and_guarantees() -> None:
    assert [one.word for one in OperatorClass] == [
        "repeatable",
        "convergent-capable",
        "deterministic",
        "arbitrary",
    ]
    assert [one.word for one in Guarantee] == [one.name.lower() for one in Guarantee]
