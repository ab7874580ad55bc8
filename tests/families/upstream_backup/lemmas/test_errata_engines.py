"""Which engines show the errata of x:y pairs: one run, or independent runs with a skip or without.

Rule of this file: a window is the word from its first event on; the matches found there are
counted, and x:y and the windows kept follow from III-B2 and III-B4 by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple, TypeAlias

import pytest

from model.cep.engines import Engine
from model.cep.numbering import PAIRS, PAIRS_FROM_FIRST_WINDOW
from model.cep.one_run import one_run
from model.cep.patterns import AfterMatch, Strategy, sequence
from model.events import Body
from tests.families.upstream_backup.lemmas.numbered_run import NumberedRun

STRICT, NEXT, ANY = Strategy
ONE_RUN, NO_SKIP, PAST_LAST, CONSUMES = "one run", "no skip", "past last", "consumes"
SHARED, FIRST_WINDOW, ITERATIONS = "shared", "first window", "iterations"
"""Points 1 to 3 of docs/explanation/findings/upstream-backup.md."""

Search: TypeAlias = tuple[str, Strategy]
SMALLEST: dict[str, dict[str, dict[Search, int]]] = {
    "types alone": {
        SHARED: {(NO_SKIP, NEXT): 3, (NO_SKIP, ANY): 3},
        FIRST_WINDOW: {(ONE_RUN, STRICT): 4},
        ITERATIONS: {
            **{(ONE_RUN, strategy): 6 for strategy in (STRICT, NEXT)},
            **{(after, strategy): 6 for after in (PAST_LAST, CONSUMES) for strategy in Strategy},
        },
    },
    "negation": {
        SHARED: {(NO_SKIP, NEXT): 4, (NO_SKIP, ANY): 3},
        FIRST_WINDOW: {(ONE_RUN, STRICT): 4, (ONE_RUN, NEXT): 4},
        ITERATIONS: {
            **{(ONE_RUN, strategy): 6 for strategy in (STRICT, NEXT)},
            **{(after, strategy): 6 for after in (PAST_LAST, CONSUMES) for strategy in Strategy},
        },
    },
    "plus": {
        SHARED: {(NO_SKIP, STRICT): 3, (NO_SKIP, NEXT): 3, (NO_SKIP, ANY): 2},
        FIRST_WINDOW: {(ONE_RUN, STRICT): 4},
        ITERATIONS: {
            **{(ONE_RUN, strategy): 6 for strategy in (STRICT, NEXT)},
            **{(after, strategy): 6 for after in (PAST_LAST, CONSUMES) for strategy in Strategy},
        },
    },
}
"""By the patterns: the events of the smallest stream, under the searches that have one."""


class Shown(NamedTuple):
    """A stream that shows a point."""

    word: str
    pattern: tuple[str, ...]
    size: int
    slide: int


def engine_of(pattern: tuple[str, ...], search: Search) -> Engine:
    after, strategy = search
    match after:
        case "one run":
            return one_run(*pattern, strategy=strategy)
        case "past last":
            skip = AfterMatch.PAST_LAST_EVENT
            return sequence(*pattern, strategy=strategy, after_match=skip)
        case _:
            return sequence(*pattern, strategy=strategy, consumes=after == CONSUMES)


SEARCHES: tuple[Search, ...] = (
    *((ONE_RUN, strategy) for strategy in (STRICT, NEXT)),
    *product((NO_SKIP, PAST_LAST, CONSUMES), Strategy),
)


def patterns(kind: str) -> Iterator[tuple[str, ...]]:
    """Patterns of up to three positive steps that begin with a, with such a step."""
    takes = ("a", "b", "a+", "b+") if kind == "plus" else ("a", "b")
    between = ("", "!a", "!b") if kind == "negation" else ("",)
    mark = {"plus": "+", "negation": "!"}.get(kind, "")
    for count in range(1, 4):
        for steps in product(takes, repeat=count):
            for negated in product(between, repeat=count - 1):
                pairs = zip(("", *negated), steps, strict=True)
                pattern = tuple(step for pair in pairs for step in pair if step)
                if pattern[0][0] == "a" and mark in "".join(pattern):
                    yield pattern


def completed(engine: Engine, word: str) -> list[list[int]]:
    """By opener and event: how many matches the window from the opener on completes there."""
    rows = []
    for opener in range(len(word)):
        state, row = engine.begin(), [0] * opener
        for place, type_ in enumerate(word[opener:], opener):
            state, matches, _ = engine.feed(state, Body(place, type_))
            row.append(len(matches))
        rows.append(row)
    return rows


def points(found: list[list[int]], size: int, slide: int) -> set[str]:
    """The points that these windows show, with some match acknowledged."""
    events = range(len(found))
    places = [
        (event, opener)
        for event in events
        for opener in range(0, event + 1, slide)
        if event - opener < size and found[opener][event]
    ]
    shown = {SHARED} if any(found[opener][event] > 1 for event, opener in places) else set[str]()
    x = {event: at for at, event in enumerate(dict.fromkeys(event for event, _ in places))}
    for theta, its_opener in places:
        unclosed = (o for o in range(0, theta + 1, slide) if theta - o + 1 < size)
        first = min(its_opener, next(unclosed, its_opener))
        kept = [place for place in places if place[1] >= first]
        if kept[0][1] != first:
            shown.add(FIRST_WINDOW)
        again = enumerate(dict.fromkeys(event for event, _ in kept), x[kept[0][0]])
        if any(number != x[event] for number, event in again):
            shown.add(ITERATIONS)
    return shown


def smallest(kind: str, search: Search, longest: int) -> dict[str, Shown]:
    """By point, a smallest stream that shows it, of `longest` events or fewer."""
    shown: dict[str, Shown] = {}
    for events in range(1, longest + 1):
        for pattern, letters in product(patterns(kind), product("ab", repeat=events)):
            word = "".join(letters)
            found = completed(engine_of(pattern, search), word)
            for size, slide in product(range(1, events + 2), range(1, events + 1)):
                for point in points(found, size, slide):
                    shown.setdefault(point, Shown(word, pattern, size, slide))
    return shown


def check(kind: str, search: Search, longest: int) -> None:
    shown = smallest(kind, search, longest)
    expected = {
        point: events[search]
        for point, events in SMALLEST[kind].items()
        if events.get(search, longest + 1) <= longest
    }
    assert {point: len(one.word) for point, one in shown.items()} == expected
    for point, one in shown.items():  # and on the operator
        numbering = PAIRS_FROM_FIRST_WINDOW if point == ITERATIONS else PAIRS
        engine = engine_of(one.pattern, search)
        run = NumberedRun(engine, one.word, one.size, one.slide, numbering)
        if point == SHARED:
            assert run.shared
        else:
            assert any(run.misnumbered(i) for i in range(len(run.produced)))


def ids(search: Search) -> str:
    return f"{search[0]}, {search[1].value}"


@pytest.mark.slow
@pytest.mark.parametrize("search", SEARCHES, ids=ids)
@pytest.mark.parametrize(("kind", "longest"), [("types alone", 6), ("negation", 4), ("plus", 4)])
def test_the_smallest_streams_that_show_a_point(kind: str, longest: int, search: Search) -> None:
    check(kind, search, longest)


@pytest.mark.exhaustive  # `make test` has six events, or four
@pytest.mark.parametrize("search", SEARCHES, ids=ids)
@pytest.mark.parametrize(("kind", "longest"), [("types alone", 8), ("negation", 7), ("plus", 7)])
def test_no_other_engine_shows_a_point(kind: str, longest: int, search: Search) -> None:
    check(kind, search, longest)
