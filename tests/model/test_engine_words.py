"""Predicates and engines other than patterns, compared with their definitions over small words."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from model.cep.engines import Engine, Function, Mealy, Partitioned
from model.cep.patterns import Strategy, sequence
from model.errors import Invalid
from model.events import Body
from model.predicates import ANYTHING, COMPARISONS, Either, Every, Not, Predicate, Type, Where
from tests.model.denotations.predicates import satisfies
from tests.model.denotations.words import Word, words, words_up_to
from tests.model.test_pattern_words import differs

PAIRS = [(name, value) for name in ("x", "y") for value in (0, 1, 2)]
SAMPLES = [
    Body(0, type_, data)
    for type_ in "ab"
    for count in range(3)
    for data in product(PAIRS, repeat=count)
]
"""All events of two types, two attributes (each may come twice) and three values."""
SIMPLE: list[Predicate] = [
    Type("a"),
    Type("b"),
    *(Where("x", comparison, 1) for comparison in COMPARISONS),
    Where("y", "==", 1),
]
JOINED: list[Predicate] = [
    ANYTHING,
    Every((Type("a"),)),
    Either(()),
    *(Not(part) for part in SIMPLE),
    *(join(parts) for join in (Every, Either) for parts in product(SIMPLE, repeat=2)),
    Not(Either((Type("a"), Not(Where("x", "<", 2))))),
    Every((Type("a"), Either((Where("x", ">", 0), Where("y", "<=", 0))), Type("a"))),
]


@pytest.mark.parametrize("predicate", [*SIMPLE, *JOINED], ids=str)
def test_predicates(predicate: Predicate) -> None:
    assert [b for b in SAMPLES if predicate.holds(b) is not satisfies(predicate, b)] == []


@pytest.mark.parametrize(
    ("predicate", "text"),
    [
        (Type("a"), "a"),
        (Where("x", "<=", 1), "x <= 1"),
        (Where("x", "==", "Z"), "x == 'Z'"),
        (Every((Type("a"), Where("x", ">", 1))), "a and x > 1"),
        (ANYTHING, "any event"),
        (Either((Type("a"), Type("b"))), "a or b"),
        (Not(Type("a")), "not (a)"),
    ],
)
def test_the_text_of_a_predicate(predicate: Predicate, text: str) -> None:
    assert str(predicate) == text


def test_an_unknown_comparison_is_named() -> None:
    with pytest.raises(Invalid) as raised:
        Where("x", "=", 1)
    assert str(raised.value) == "comparison '=': it must be one of == != < <= > >="


def every_machine(states: int) -> list[Mealy]:
    """All machines of these states over the type `a` with up to two matches an event, and with one
    more type in the first state; with matches at the close, and without."""
    target = [(to, copies) for to in range(states) for copies in (0, 1, 2)]
    tables = [tuple((("a", *one),) for one in row) for row in product(target, repeat=states)]
    wider = [((*first, ("b", states - 1, 1)), *rest) for first, *rest in tables]
    return [
        Mealy(rows, close)
        for rows in (*tables, *wider)
        for close in ((), tuple(range(states)), (2,) * states)
    ]


@pytest.mark.parametrize("states", [1, 2])
def test_all_small_machines(states: int) -> None:
    windows = list(words_up_to(4, gaps=(1,)))
    assert [(m, word) for m in every_machine(states) for word in windows if differs(m, word)] == []


ROW = ("a", 0, 1)
IMPOSSIBLE = {
    "engine: a Mealy machine needs at least one state": (),
    "engine: transition to state 1 emitting 0": ((("a", 1, 0),),),
    "engine: transition to state -1 emitting 0": ((("a", -1, 0),),),
    "engine: transition to state 0 emitting -1": ((ROW, ("b", 0, -1)),),
}


@pytest.mark.parametrize("message", IMPOSSIBLE)
def test_impossible_machines_are_named(message: str) -> None:
    with pytest.raises(Invalid) as raised:
        Mealy(IMPOSSIBLE[message])
    assert str(raised.value) == message


INNER: list[Engine] = [
    sequence("a", "b"),
    sequence("a", "b", strategy=Strategy.STRICT),
    sequence("a", "a", strategy=Strategy.ANY),
    sequence("a", "!b"),
    sequence("b", "a+", "!b", strategy=Strategy.ANY),
    Mealy(((("a", 1, 0),), (("b", 0, 2),)), (0, 1)),
    Mealy(((("a", 0, 1),),), (1,)),
]


def at_origins(word: Word, origins: tuple[Any, ...]) -> Word:
    """The word with an attribute; events whose value is None lack it."""
    return tuple(
        body._replace(data=(("size", 7), ("origin", origin)) if origin is not None else ())
        for body, origin in zip(word, origins, strict=True)
    )


@pytest.mark.parametrize("inner", INNER, ids=range(len(INNER)))
def test_one_engine_for_each_value(inner: Engine) -> None:
    engine = Partitioned(inner, "origin")
    assert [
        word
        for length in range(5)
        for plain in words(length, gaps=(1,))
        for origins in product((1, 2, None), repeat=length)
        if differs(engine, word := at_origins(plain, origins))
    ] == []


def test_any_function_of_the_window() -> None:
    engine = Function(lambda word: (word, word[:1]) if len(word) > 1 else ())
    assert [word for word in words_up_to(4) if differs(engine, word)] == []
