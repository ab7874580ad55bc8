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
from model.cep.one_run import OneRun, one_run
from model.cep.patterns import AfterMatch, Pattern, PatternStep, Steps, Strategy, sequence
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


AFTER = tuple(product(AfterMatch, (False, True)))
"""After a match: the skip, and whether its events are consumed."""
SEARCHES = tuple(product(Strategy, AFTER))


def engines(steps: Steps) -> Iterator[Engine]:
    """All engines of these steps."""
    for strategy, after in SEARCHES:
        yield Pattern(steps, strategy, *after)
    for strategy in (Strategy.STRICT, Strategy.NEXT):
        yield OneRun(steps, strategy)


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
    assert one_run("a", "!b", "c+").steps == sequence("a", "!b", "c+").steps
    assert sequence("a") == Pattern(
        (PatternStep(A),), Strategy.NEXT, AfterMatch.NO_SKIP, consumes=False
    )
    assert one_run("a") == OneRun((PatternStep(A),), Strategy.NEXT)
    assert one_run("a", strategy=Strategy.STRICT).strategy is Strategy.STRICT
    assert sequence("a", strategy=Strategy.ANY).strategy is Strategy.ANY
    after = AfterMatch.PAST_LAST_EVENT
    assert sequence("a", after_match=after, consumes=True) == Pattern(
        (PatternStep(A),), Strategy.NEXT, after, consumes=True
    )
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


def test_one_run_follows_no_choice() -> None:
    with pytest.raises(Invalid) as raised:
        one_run("a", strategy=Strategy.ANY)
    assert str(raised.value) == ("one run: skip till any match follows every choice; use a Pattern")


def wrong(steps: Iterator[Steps] | list[Steps], windows: list[Word]) -> list[tuple[Engine, Word]]:
    """The engines and windows that differ from the definition."""
    return [
        (engine, word)
        for one in steps
        for word in windows
        for engine in engines(one)
        if differs(engine, word)
    ]


@pytest.mark.slow
def test_steps_that_share_events_and_events_that_are_equal() -> None:
    """One event may satisfy several steps; events of one time and type are equal."""
    assert wrong(every_pattern(2, (A, ANYTHING)), list(words_up_to(3))) == []


SHORT = tuple(words_up_to(7, "abc", gaps=(1,)))
"""All words of up to seven letters, one of which no step takes: 3,280."""


def two_steps(share: int) -> None:
    """Every strategy, skip, consumption, negation and quantifier, each in other words."""
    steps = list(every_pattern(2, (A, B)))
    assert len(steps) == 78
    for at, one in enumerate(steps):
        assert wrong([one], list(SHORT[at :: len(steps) * share])) == []


def test_patterns_of_two_steps_in_few_words_of_up_to_seven_letters() -> None:
    two_steps(share=20)


@pytest.mark.slow
def test_patterns_of_two_steps_in_some_words_of_up_to_seven_letters() -> None:
    two_steps(share=1)


@pytest.mark.slow
def test_patterns_of_three_steps_in_words_of_two_letters() -> None:
    windows = list(words_up_to(4, gaps=(1,)))
    for at, one in enumerate(every_pattern(3, (A, B))):
        assert wrong([one], windows[at % 4 :: 4]) == []


@pytest.mark.exhaustive  # `make test` has a sample of each
@pytest.mark.parametrize("part", range(26))
def test_patterns_of_two_steps_in_all_words_of_up_to_seven_letters(part: int) -> None:
    for steps in list(every_pattern(2, (A, B)))[part::26]:
        assert wrong([steps], list(SHORT)) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("strategy", Strategy)
def test_patterns_of_three_steps_in_windows_of_up_to_seven_events(strategy: Strategy) -> None:
    windows = list(words(7, gaps=(1,)))
    for steps in every_pattern(3, (A, B, ANYTHING)):
        pattern = Pattern(steps, strategy)
        assert [word for word in windows if differs(pattern, word)] == []


@settings(max_examples=200)
@given(patterns(), drawn_words(longest=10))
def test_patterns_in_longer_windows(pattern: Engine, word: Word) -> None:
    assert not differs(pattern, word)


@pytest.mark.slow
def test_a_window_is_what_its_beginnings_are() -> None:
    """The matches of an event do not change with later ones."""
    for steps in every_pattern(2, (A, B)):
        for engine in engines(steps):
            for word in words(4, gaps=(1,)):
                whole, part = search(engine, word), search(engine, word[:3])
                assert (whole.at[:3], whole.used[:3]) == (part.at, part.used)
