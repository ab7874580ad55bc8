"""Splitters: where windows open and close.  Every rule is a function of the events alone.

Rule of this file: no other input.  A splitter is deterministic and reads only the event at hand,
the extent of a window, and the extent since the newest window opened, so that a replay from any
opening event gives the same windows again.  Windows close in the order in which they opened.
Lima et al., Sections II-A and III-B1.

Exact bounds.  A count window holds the `size` events from the one that opened it on and closes
with the last of them.  A time window [start, start + size) holds the events with
start <= time < start + size and closes with the first event at or after its end, which it does
not hold.  A pattern window holds the event that opened it and closes like a count or time
window, or with (and holding) an event that satisfies `closes`, whichever comes first.
"""

from __future__ import annotations

import typing
from dataclasses import dataclass
from typing import NamedTuple

from model.errors import Invalid
from model.events import Body
from model.predicates import Predicate


class Extent(NamedTuple):
    """The start of a window (time), and how many events the window holds so far."""

    start: int
    events: int


class Splitter(typing.Protocol):
    """The questions that an operator asks its splitter."""

    @property
    def counts(self) -> bool:
        """Does the splitter count events?  Then a replay without some events needs the layout."""
        ...

    def opens(self, newest: Extent | None, event: Body) -> bool:
        """Does `event` open a window?

        newest: the extent of *all* events since the newest window opened.
        """
        ...

    def start(self, event: Body) -> int:
        """The start of the window that `event` opens."""
        ...

    def expires(self, window: Extent, event: Body) -> bool:
        """Does `event` close the window without being in it?"""
        ...

    def completes(self, window: Extent, event: Body) -> bool:
        """Does `event`, just taken into the window (and counted), close it?"""
        ...


def _positive(what: str, value: int) -> None:
    if value < 1:
        raise Invalid(f"window {what} {value}: it must be at least 1")


@dataclass(frozen=True, slots=True)
class CountWindows:
    """A window of `size` events opens with every `slide`-th event, the first one included."""

    size: int
    slide: int
    counts: bool = True

    def __post_init__(self) -> None:
        _positive("size", self.size)
        _positive("slide", self.slide)

    def opens(self, newest: Extent | None, event: Body) -> bool:
        return newest is None or newest.events >= self.slide

    def start(self, event: Body) -> int:
        return event.time

    def expires(self, window: Extent, event: Body) -> bool:
        return False

    def completes(self, window: Extent, event: Body) -> bool:
        return window.events >= self.size


@dataclass(frozen=True, slots=True)
class TimeWindows:
    """Windows [start, start + size), in time units.

    Anchored (grid False), the first event opens a window that starts with it, and so does each
    event `slide` or more after the newest start.  On the grid, starts are multiples of `slide`
    and a window opens with the first event in its first `slide`; without such an event the window
    never opens.
    """

    size: int
    slide: int
    grid: bool = False
    counts: bool = False

    def __post_init__(self) -> None:
        _positive("size", self.size)
        _positive("slide", self.slide)

    def opens(self, newest: Extent | None, event: Body) -> bool:
        start = self.start(event)
        inside = event.time < start + self.size
        return inside and (newest is None or start >= newest.start + self.slide)

    def start(self, event: Body) -> int:
        return event.time - event.time % self.slide if self.grid else event.time

    def expires(self, window: Extent, event: Body) -> bool:
        return event.time >= window.start + self.size

    def completes(self, window: Extent, event: Body) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class PatternWindows:
    """A window opens with every event that satisfies `opens_on`.

    The window closes after `size` events, or at start + `span`, or with an event that satisfies
    `closes_on` (which closes all open windows): give one or more of the three.  An event that
    satisfies both predicates opens a window with this event alone and closes the others.
    """

    opens_on: Predicate
    size: int | None = None
    span: int | None = None
    closes_on: Predicate | None = None

    def __post_init__(self) -> None:
        if self.size is None and self.span is None and self.closes_on is None:
            raise Invalid("pattern windows never close: give size, span or closes_on")
        if self.size is not None:
            _positive("size", self.size)
        if self.span is not None:
            _positive("span", self.span)

    @property
    def counts(self) -> bool:
        return self.size is not None

    def opens(self, newest: Extent | None, event: Body) -> bool:
        return self.opens_on.holds(event)

    def start(self, event: Body) -> int:
        return event.time

    def expires(self, window: Extent, event: Body) -> bool:
        return self.span is not None and event.time >= window.start + self.span

    def completes(self, window: Extent, event: Body) -> bool:
        if self.size is not None and window.events >= self.size:
            return True
        return self.closes_on is not None and self.closes_on.holds(event)
