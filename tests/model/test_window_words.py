"""Splitters and their definition draw the same windows in all small streams.

The oracle (`slices`) and the operator (`process`) ask the same splitters; both are compared here.
Count windows read nothing of an event and time windows only its time, so that the longest streams
have one type.
"""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings

from model.cep.denotation import slices
from model.cep.engines import Function
from model.cep.operator import CepState, Operator, process
from model.cep.windows import CountWindows, Extent, PatternWindows, Splitter, TimeWindows
from model.errors import Invalid
from model.events import Body
from model.predicates import ANYTHING, Predicate, Type
from proofs.explore.strategies import windows as drawn_windows
from proofs.explore.strategies import words as drawn_words
from tests.model.denotations.windows import Window, find_windows
from tests.model.denotations.words import Word, letters, words

SIZES = list(product((1, 2, 3), (1, 2, 3)))
"""Size and slide: slide below, equal to and above size."""
COUNTS: list[Splitter] = [CountWindows(size, slide) for size, slide in SIZES]
TIMES: list[Splitter] = [
    TimeWindows(size, slide, grid) for grid in (False, True) for size, slide in SIZES
]
A, B = Type("a"), Type("b")


def pattern_windows(
    opens_on: tuple[Predicate, ...], limits: tuple[int | None, ...]
) -> list[Splitter]:
    """All pattern windows with these bounds, and each way to close them."""
    return [
        PatternWindows(opens, size, span, closes)
        for opens, size, span, closes in product(opens_on, limits, limits, (None, A, B))
        if (size, span, closes) != (None, None, None)
    ]


PATTERNS = pattern_windows((A, ANYTHING), (None, 1, 2, 3))


def drawn_by_the_oracle(splitter: Splitter, word: Word) -> list[Window]:
    operator = Operator(Function(lambda _: ()), splitter)
    return [
        Window(cut.start, cut.first, cut.closer, tuple(range(cut.first, cut.last + 1)))
        for cut in slices(operator, word)
    ]


def drawn_by_the_operator(splitter: Splitter, word: Word) -> list[Window]:
    """From what `process` says of each event, and of the windows that stay open."""
    operator = Operator(Function(lambda _: ()), splitter)
    state, openers = CepState(), list[int]()
    closed: dict[int, Window] = {}
    for place, body in enumerate(word):
        state, happened = process(operator, state, body)
        openers += [place] * happened.opened
        for window in (*happened.expired, *happened.filled):
            opener = openers[window.number - 1]
            held = tuple(range(opener, opener + window.extent.events))
            closed[window.number] = Window(window.extent.start, opener, place, held)
            last = place if window in happened.filled else place - 1
            assert opener + window.extent.events - 1 == last
    for window in state.open:
        opener = openers[window.number - 1]
        held = tuple(range(opener, opener + window.extent.events))
        closed[window.number] = Window(window.extent.start, opener, None, held)
    since = [Extent(closed[n].start, len(word) - at) for n, at in enumerate(openers, 1)]
    assert (state.opened, state.newest) == (len(openers), since[-1] if since else None)
    return [closed[number] for number in sorted(closed)]


def differs(splitter: Splitter, word: Word) -> bool:
    windows = find_windows(splitter, word)
    return not (
        windows == drawn_by_the_oracle(splitter, word) == drawn_by_the_operator(splitter, word)
    )


def test_an_event_may_open_and_close_a_window_of_its_own() -> None:
    """It closes the others, too; and an event at the end of a span is not held."""
    both = PatternWindows(ANYTHING, closes_on=B)
    assert [w.held for w in drawn_by_the_oracle(both, letters("aab"))] == [(0, 1, 2), (1, 2), (2,)]
    short = PatternWindows(A, size=2, span=1)
    assert [(w.held, w.closer) for w in drawn_by_the_oracle(short, letters("ab"))] == [((0,), 1)]


class Behind(CountWindows):
    """A splitter of a user: the event behind the last of `size` events closes, and is not held."""

    def expires(self, window: Extent, event: Body) -> bool:
        return super().completes(window, event)

    def completes(self, window: Extent, event: Body) -> bool:
        return super().expires(window, event)


@pytest.mark.parametrize(("size", "slide"), SIZES)
def test_a_splitter_may_count_before_it_closes_a_window(size: int, slide: int) -> None:
    word = letters("abababa")
    expected = [
        Window(
            opener,
            opener,
            opener + size if opener + size < len(word) else None,
            tuple(range(opener, min(opener + size, len(word)))),
        )
        for opener in range(0, len(word), slide)
    ]
    splitter = Behind(size, slide)
    assert drawn_by_the_oracle(splitter, word) == expected
    assert drawn_by_the_operator(splitter, word) == expected


@pytest.mark.parametrize("splitter", [*COUNTS, *TIMES, *PATTERNS], ids=str)
def test_splitters_answer_yes_or_no(splitter: Splitter) -> None:
    for body, extent in product((Body(1, "a"), Body(3, "b")), (Extent(0, 2), Extent(1, 1))):
        answers = (
            splitter.counts,
            splitter.opens(extent, body),
            splitter.expires(extent, body),
            splitter.completes(extent, body),
        )
        assert {type(answer) for answer in answers} == {bool}


def test_which_splitters_count() -> None:
    assert CountWindows(2, 1).counts
    assert not TimeWindows(2, 1).counts
    assert not TimeWindows(2, 1).grid
    assert PatternWindows(A, size=1).counts
    assert not PatternWindows(A, span=1).counts
    assert not PatternWindows(A, closes_on=B).counts


@pytest.mark.parametrize(
    ("window", "message"),
    [
        (lambda: CountWindows(0, 1), "window size 0: it must be at least 1"),
        (lambda: CountWindows(1, 0), "window slide 0: it must be at least 1"),
        (lambda: TimeWindows(0, 1), "window size 0: it must be at least 1"),
        (lambda: TimeWindows(1, -1), "window slide -1: it must be at least 1"),
        (lambda: PatternWindows(A, size=0), "window size 0: it must be at least 1"),
        (lambda: PatternWindows(A, span=0), "window span 0: it must be at least 1"),
        (lambda: PatternWindows(A), "pattern windows never close: give size, span or closes_on"),
    ],
)
def test_impossible_windows_are_named(window: type, message: str) -> None:
    with pytest.raises(Invalid) as raised:
        window()
    assert str(raised.value) == message


def test_a_window_of_one_event_or_one_time_unit_is_possible() -> None:
    for word in (letters("ab"), (Body(3, "a"),)):
        for splitter in (CountWindows(1, 1), TimeWindows(1, 1), PatternWindows(A, 1, 1)):
            assert not differs(splitter, word)


STREAMS = {
    "all types and ties": list(words(4, starts=(0, 1))),
    "all times": list(words(5, types="a", gaps=(0, 1, 2), starts=(0, 2, 5))),
    "seven events": list(words(7, types="a", starts=(0, 1))),
}


@pytest.mark.parametrize("streams", STREAMS)
@pytest.mark.parametrize("splitter", [*COUNTS, *TIMES], ids=str)
def test_count_and_time_windows(splitter: Splitter, streams: str) -> None:
    assert [word for word in STREAMS[streams] if differs(splitter, word)] == []


@pytest.mark.parametrize("splitter", PATTERNS, ids=str)
def test_pattern_windows(splitter: Splitter) -> None:
    streams = [*words(4, starts=(1,)), *words(3, gaps=(0, 2))]
    assert [word for word in streams if differs(splitter, word)] == []


@pytest.mark.slow
def test_pattern_windows_in_streams_of_seven_events() -> None:
    streams = list(words(7, gaps=(1,)))
    assert [(s, word) for s in PATTERNS for word in streams if differs(s, word)] == []


@pytest.mark.exhaustive  # `make test` has shorter streams, and streams of one type
@pytest.mark.parametrize("splitter", [*COUNTS, *TIMES, *PATTERNS], ids=str)
def test_all_streams_of_seven_events(splitter: Splitter) -> None:
    assert [word for word in words(7) if differs(splitter, word)] == []


@settings(max_examples=200)
@given(drawn_windows(), drawn_words())
def test_longer_streams(splitter: Splitter, word: Word) -> None:
    assert not differs(splitter, word)


def test_windows_close_in_the_order_in_which_they_opened() -> None:
    for splitter in (*COUNTS, *TIMES, *PATTERNS):
        for word in words(4, starts=(1,)):
            ends = [
                len(word) if w.closer is None else w.closer for w in find_windows(splitter, word)
            ]
            assert ends == sorted(ends)
