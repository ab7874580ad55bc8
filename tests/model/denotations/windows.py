"""The windows of a stream, from the table "Events and windows" of docs/reference/model.md.

Rule of this file: a window is a set of places; no count is kept along the stream.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from model.cep.windows import CountWindows, PatternWindows, Splitter, TimeWindows
from tests.model.denotations.predicates import satisfies
from tests.model.denotations.words import Word


class Window(NamedTuple):
    """opener, closer: places of events; closer is None while the window is open.  held: the places
    of the events that the window holds."""

    start: int
    opener: int
    closer: int | None
    held: tuple[int, ...]

    def is_open_behind(self, place: int) -> bool:
        """Is the window, once it has opened, still open when the event there has been taken?"""
        return self.closer is None or self.closer > place


def find_windows(splitter: Splitter, word: Word) -> list[Window]:
    """The windows of a stream, oldest first."""
    places = range(len(word))
    times = [body.time for body in word]
    match splitter:
        case CountWindows(size, slide):
            # "with every slide-th event, the first included | `size` events | with the last of
            # them"
            return [
                Window(
                    times[opener],
                    opener,
                    _first(p for p in places if p == opener + size - 1),
                    tuple(p for p in places if opener <= p < opener + size),
                )
                for opener in places
                if opener % slide == 0
            ]
        case TimeWindows(size, slide, grid):
            # It holds "start <= time < start + size", and closes "with the first event at or after
            # the end".
            return [
                Window(
                    start,
                    opener,
                    _first(p for p in places if p >= opener and times[p] >= start + size),
                    tuple(p for p in places if p >= opener and start <= times[p] < start + size),
                )
                for start, opener in (
                    _on_grid(times, size, slide) if grid else _anchored(times, slide)
                )
            ]
        case PatternWindows(opens_on):
            return [
                _pattern_window(splitter, word, opener)
                for opener in places
                if satisfies(opens_on, word[opener])
            ]
    raise AssertionError(splitter)


def _anchored(times: list[int], slide: int) -> list[tuple[int, int]]:
    """The (start, opener) of each window.

    "with the first event, and each `slide` or more after the newest start"
    """

    def opens(place: int) -> bool:
        return not any(times[place] < times[p] + slide for p in range(place) if opens(p))

    return [(times[place], place) for place in range(len(times)) if opens(place)]


def _on_grid(times: list[int], size: int, slide: int) -> list[tuple[int, int]]:
    """The (start, opener) of each window.

    "with the first event in the first `slide` of a window starting at a multiple of `slide`"
    "On the grid, an event that no window holds (`slide` above `size`) opens none."
    """
    starts = range(0, max(times, default=-1) + 1, slide)
    inside = {
        start: [p for p, t in enumerate(times) if start <= t < start + slide and t < start + size]
        for start in starts
    }
    return [(start, min(own)) for start, own in inside.items() if own]


def _pattern_window(splitter: PatternWindows, word: Word, opener: int) -> Window:
    """The window that this event opens.

    "from it on | with the `size`-th event (held), with the first at or after start + `span` (not
    held), or with one that satisfies `closes_on` (held), whichever comes first"
    "An event at or after start + `span` is not held, even if it is the `size`-th or satisfies
    `closes_on`."
    """
    later = range(opener, len(word))
    start = word[opener].time
    full = _first(p for p in later if splitter.size is not None and p - opener + 1 == splitter.size)
    over = _first(
        p for p in later if splitter.span is not None and word[p].time >= start + splitter.span
    )
    ended = _first(
        p
        for p in later
        if splitter.closes_on is not None and satisfies(splitter.closes_on, word[p])
    )
    closer = _first(p for p in (full, over, ended) if p is not None)
    held = tuple(p for p in later if closer is None or p < closer or (p == closer and p != over))
    return Window(start, opener, closer, held)


def _first(places: Iterable[int]) -> int | None:
    return min(places, default=None)
