"""Patterns and their definition find the same matches in all small windows.

Two types are enough: a third one only adds events that no step takes, and `b` is such an event for
every pattern of `a` alone.  The two are alike, so that patterns begin with `a` or with any event.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given, settings

from model.cep.engines import Engine, Matches
from model.cep.patterns import Pattern, PatternStep, Strategy, sequence
from model.errors import Invalid
from model.predicates import ANYTHING, Predicate, Type
from proofs.explore.strategies import patterns
from proofs.explore.strategies import words as drawn_words
from tests.model.denotations.engines import search
from tests.model.denotations.words import Word, words, words_up_to

A, B = Type("a"), Type("b")


def every_pattern(most: int, takes: tuple[Predicate, ...]) -> Iterator[tuple[PatternStep, ...]]:
    """All steps of patterns that take so many events: plus and negation in every place."""
    one = [
        (PatternStep(predicate, plus=plus), *behind)
        for predicate in takes
        for plus in (False, True)
        for behind in ((), (PatternStep(A, negated=True),), (PatternStep(B, negated=True),))
    ]
    for count in range(1, most + 1):
        for first, *rest in product(one, repeat=count):
            if first[0].predicate != B:
                yield tuple(step for part in (first, *rest) for step in part)


def differs(engine: Engine, word: Word) -> bool:
    """Does the engine, fed event by event, say another thing than the definition?"""
    state = engine.begin()
    at: list[Matches] = []
    used: list[bool] = []
    for body in word:
        state, matches, touched = engine.feed(state, body)
        at.append(matches)
        used.append(touched)
    return (tuple(at), engine.close(state), tuple(used)) != search(engine, word)


def test_the_text_of_a_sequence() -> None:
    assert sequence("a", "!b", "c+").steps == (
        PatternStep(Type("a")),
        PatternStep(Type("b"), negated=True),
        PatternStep(Type("c"), plus=True),
    )
    assert sequence("a").strategy is Strategy.NEXT
    assert sequence("a", strategy=Strategy.ANY).strategy is Strategy.ANY
    assert Pattern((PatternStep(A),)).strategy is Strategy.NEXT
    assert PatternStep(A) == PatternStep(A, negated=False, plus=False)


TAKES, SHUNS = PatternStep(A), PatternStep(B, negated=True)
IMPOSSIBLE = {
    "pattern: empty; give at least one step that is not negated": (),
    "pattern: begins with a negated step; nothing comes before it": (SHUNS, TAKES),
    "pattern: two negated steps in a row; join them with Either": (TAKES, SHUNS, SHUNS),
    "pattern: a step is negated and plus; negation already covers all": (
        TAKES,
        PatternStep(B, negated=True, plus=True),
    ),
}


@pytest.mark.parametrize("message", IMPOSSIBLE)
def test_impossible_patterns_are_named(message: str) -> None:
    with pytest.raises(Invalid) as raised:
        Pattern(IMPOSSIBLE[message])
    assert str(raised.value) == message


def test_no_pattern_of_negated_steps_alone() -> None:
    with pytest.raises(Invalid, match="empty"):
        Pattern((SHUNS,))


@pytest.mark.parametrize("text", ["", "!", "+", "!+"])
def test_a_step_without_a_type_is_named(text: str) -> None:
    with pytest.raises(Invalid) as raised:
        sequence("a", text)
    assert str(raised.value) == f"pattern: step {text!r} names no event type"


@pytest.mark.parametrize("strategy", Strategy)
def test_steps_that_share_events_and_events_that_are_equal(strategy: Strategy) -> None:
    """One event may satisfy several steps; events of one time and type are equal."""
    windows = list(words_up_to(3))
    assert [
        (steps, word)
        for steps in every_pattern(2, (A, ANYTHING))
        for word in windows
        if differs(Pattern(steps, strategy), word)
    ] == []


@pytest.mark.slow
@pytest.mark.parametrize("strategy", Strategy)
def test_patterns_of_two_steps_in_windows_of_up_to_seven_events(strategy: Strategy) -> None:
    windows = list(words(7, gaps=(1,)))
    assert [
        (steps, word)
        for steps in every_pattern(2, (A, B))
        for word in windows
        if differs(Pattern(steps, strategy), word)
    ] == []


@pytest.mark.slow
@pytest.mark.parametrize("strategy", Strategy)
def test_patterns_of_three_steps(strategy: Strategy) -> None:
    windows = list(words(4, gaps=(1,)))
    assert [
        (steps, word)
        for steps in every_pattern(3, (A, B))
        for word in windows
        if differs(Pattern(steps, strategy), word)
    ] == []


@pytest.mark.exhaustive  # `make test` has all of two steps, and of three steps four events
@pytest.mark.parametrize("strategy", Strategy)
def test_patterns_of_three_steps_in_windows_of_up_to_seven_events(strategy: Strategy) -> None:
    windows = list(words(7, gaps=(1,)))
    for steps in every_pattern(3, (A, B, ANYTHING)):
        pattern = Pattern(steps, strategy)
        assert [word for word in windows if differs(pattern, word)] == []


@settings(max_examples=200)
@given(patterns(), drawn_words(longest=10))
def test_patterns_in_longer_windows(pattern: Pattern, word: Word) -> None:
    assert not differs(pattern, word)


def test_a_window_is_what_its_beginnings_are() -> None:
    """So the tests need the longest windows only: what comes with an event does not change."""
    for steps in every_pattern(2, (A, B)):
        for strategy in Strategy:
            pattern = Pattern(steps, strategy)
            for word in words(4, gaps=(1,)):
                whole, part = search(pattern, word), search(pattern, word[:3])
                assert (whole.at[:3], whole.used[:3]) == (part.at, part.used)
