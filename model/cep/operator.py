"""The CEP operator: a splitter, its open windows, their matching engines, the order of matches.

Rule of this file: no sequence number, savepoint or input edge.  An operator takes bodies, in the
order of the merged input, and returns bodies; each family numbers, saves and skips in its own
folder.  model.cep.windows and model.cep.engines define windows and engines.
Lima et al., Sections II-A and III-B1.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from model.boxes.box import Stream
from model.cep import denotation
from model.cep.engines import Engine, Match, Matches
from model.cep.windows import Extent, Splitter
from model.events import Body
from model.log import Log


@dataclass(frozen=True, slots=True)
class Operator:
    """The operator that a user writes: a matching engine, a splitter, the type of its complex
    events.

    emits: empty: a match of one event goes out as this event.
    parallel: feed each event to all open windows at once (data-parallel CEP, III-B); otherwise
    each window is processed whole when it closes, one after the other.
    """

    engine: Engine
    splitter: Splitter
    emits: str = "match"
    parallel: bool = True

    def result(self, time: int, match: Match) -> Body:
        """The output for a match that an event of this time has triggered."""
        return Body(time, self.emits, match) if self.emits else match[0]

    def runs(self, inputs: tuple[Stream, ...]) -> Iterator[Stream]:
        """The only allowed output; its lineage is not known."""
        return denotation.runs(self, inputs)


class OpenWindow(NamedTuple):
    """A window that has not closed.

    number: windows are numbered in the order in which they open.  state: of its engine.  at: the
    position of its first event, counted from the operator's first (serial processing).
    """

    number: int
    extent: Extent
    state: Any
    at: int


class CepState(NamedTuple):
    """The state of an operator between two events.

    open: oldest first.  opened: the number of the newest window.  newest: the extent of all events
    since that window opened.  queue, base, used: serial processing only (the events that open
    windows hold, the position of the first of these events, the positions used so far).
    """

    open: tuple[OpenWindow, ...] = ()
    opened: int = 0
    newest: Extent | None = None
    queue: Log[Body] = Log()
    base: int = 0
    used: frozenset[int] = frozenset()


class Iteration(NamedTuple):
    """The result of the processing of one event.

    opened: whether the event opened a window.  expired: the windows that the event closed without
    being in them.  filled: the windows that the event closed as their last one.
    produced: (number of the window, complex event), in the order of production: windows that
    closed come first, and windows of one kind come oldest first.
    settled: one answer for each event that no open window needs any more, oldest first: has an
    engine used the event?  In parallel processing this answer is about the event itself; in serial
    processing the answers wait until the last window that holds the event has closed.
    """

    opened: bool
    expired: tuple[OpenWindow, ...]
    filled: tuple[OpenWindow, ...]
    produced: tuple[tuple[int, Body], ...]
    settled: tuple[bool, ...]


class Boundaries(typing.Protocol):
    """The decisions where windows open and fill, made in place of the splitter (a replay with
    events left out cannot count)."""

    def opens(self, number: int) -> bool:
        """Does the event at hand open the window with this number, the next one?"""
        ...

    def completes(self, window: OpenWindow, event: Body) -> bool:
        """Does `event`, just taken into the window (and counted), close it?"""
        ...


new = tuple.__new__
"""A constructor that takes half the time of NamedTuple's own."""


def process(
    operator: Operator, state: CepState, body: Body, boundaries: Boundaries | None = None
) -> tuple[CepState, Iteration]:
    """The state after one input event, and the iteration of this event.

    boundaries: None if the splitter decides, as it does in every run without failures.
    """
    splitter, engine, parallel = operator.splitter, operator.engine, operator.parallel
    expired: list[OpenWindow] = []
    taking: list[OpenWindow] = []
    for window in state.open:
        if splitter.expires(window.extent, body):
            expired.append(window)
        else:
            taking.append(window)

    opened, newest = state.opened, state.newest
    opens = splitter.opens(newest, body) if boundaries is None else boundaries.opens(opened + 1)
    if opens:
        opened += 1
        newest = Extent(splitter.start(body), 0)
        at = state.base + len(state.queue)
        taking.append(OpenWindow(opened, newest, engine.begin() if parallel else None, at))
    if newest is not None:
        newest = Extent(newest.start, newest.events + 1)

    # Feed, and see which windows are full now.
    used = False
    found: dict[int, Matches] = {}
    filled: list[OpenWindow] = []
    open_: list[OpenWindow] = []
    for number, (start, events), inner, at in taking:
        if parallel:
            inner, matches, touched = engine.feed(inner, body)
            used = used or touched
            if matches:
                found[number] = matches
        window = new(OpenWindow, (number, new(Extent, (start, events + 1)), inner, at))
        full = (
            splitter.completes(window.extent, body)
            if boundaries is None
            else boundaries.completes(window, body)
        )
        (filled if full else open_).append(window)

    settled: tuple[bool, ...] = (used,)
    queue, base, positions = state.queue, state.base, state.used
    if not parallel:
        queue = queue.append(body)
        for closed in (expired, filled):
            positions |= _feed_windows(engine, closed, queue, base, found)
        queue, base, positions, settled = _settle(queue, base, positions, open_)
    for window in (*expired, *filled):
        if matches := engine.close(window.state):
            found[window.number] = (*found.get(window.number, ()), *matches)
    produced = _in_order(operator, body, found, (*expired, *filled, *open_)) if found else ()
    return (
        CepState(tuple(open_), opened, newest, queue, base, positions),
        Iteration(opens, tuple(expired), tuple(filled), produced, settled),
    )


def _in_order(
    operator: Operator, body: Body, found: dict[int, Matches], windows: Sequence[OpenWindow]
) -> tuple[tuple[int, Body], ...]:
    """The complex events of an iteration; their time is the time of the event that triggered the
    iteration."""
    return tuple(
        (window.number, operator.result(body.time, match))
        for window in windows
        for match in found.get(window.number, ())
    )


def _settle(
    queue: Log[Body], base: int, positions: frozenset[int], windows: Sequence[OpenWindow]
) -> tuple[Log[Body], int, frozenset[int], tuple[bool, ...]]:
    """Let go of the events before the oldest open window (serial processing).

    Returns the events that stay, the position of the first of these, the used positions among
    these, and for each event that goes whether an engine has used it.
    """
    end = windows[0].at if windows else base + len(queue)
    settled = tuple(position in positions for position in range(base, end))
    for _ in settled:
        queue = queue.rest()
    return queue, end, frozenset(p for p in positions if p >= end), settled


def _feed_windows(
    engine: Engine,
    windows: list[OpenWindow],
    queue: Log[Body],
    base: int,
    found: dict[int, Matches],
) -> frozenset[int]:
    """Feed each of the windows all its events (serial processing), and note its matches.

    Returns the positions of the events that the engine used.
    """
    used: frozenset[int] = frozenset()
    for nth, window in enumerate(windows):
        windows[nth], found[window.number], now_used = _feed_window(engine, window, queue, base)
        used |= now_used
    return used


def _feed_window(
    engine: Engine, window: OpenWindow, queue: Log[Body], base: int
) -> tuple[OpenWindow, Matches, frozenset[int]]:
    """Feed the window all its events (serial processing).

    Returns the window, its matches, and the positions of the events that the engine used.
    """
    inner = engine.begin()
    matches: Matches = ()
    used = set()
    for position, body in enumerate(queue, base):
        if window.at <= position < window.at + window.extent.events:
            inner, found, touched = engine.feed(inner, body)
            matches += found
            if touched:
                used.add(position)
    return window._replace(state=inner), matches, frozenset(used)
