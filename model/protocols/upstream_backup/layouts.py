"""Windows as savepoints know them, their layouts, and the replays that follow a layout.

Rule of this file: no numbering, skipping or saving; this file alone decides where a replay opens
and closes windows.  Lima et al., III-B5.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple

from model.cep.numbering import State
from model.cep.operator import CepState, OpenWindow
from model.cep.savepoint import DrawnWindow, Layout, Place
from model.cep.windows import Extent, Splitter
from model.events import SN, Body


class Drawing(Enum):
    """The part of the window layout that travels in a savepoint, if the splitter counts."""

    NOTHING = "nothing"
    OPENERS = "the events that opened windows, as published (III-B5)"
    LAYOUT = "openers, closers and counts"


class WindowRecord(NamedTuple):
    """The facts about an open window that a savepoint may need and the operator does not know.

    number: as the operator numbers the window.  before: the last event consumed before the opener,
    an edge each.  sequencer: the state before the iteration of the opener.  first: the number of
    the window's first complex event.
    """

    number: int
    opener: Place
    before: tuple[SN, ...]
    sequencer: State
    first: SN | None = None


class KeptWindow(NamedTuple):
    """A window not yet dropped: its record and the operator's own data.

    closer: the event that filled the window; None while the window is open, and if the window
    closed before any event filled it.
    """

    number: int
    opener: Place
    before: tuple[SN, ...]
    sequencer: State
    first: SN | None
    inner: OpenWindow
    closer: Place | None = None

    @property
    def start(self) -> int:
        return self.inner.extent.start

    @property
    def events(self) -> int:
        return self.inner.extent.events

    @property
    def state(self) -> Any:
        return self.inner.state


def draw(
    drawing: Drawing, windows: Sequence[KeptWindow], newest: Extent, last: tuple[SN, ...]
) -> Layout:
    """The layout of the windows kept, oldest first.

    last: the last event consumed, one for each edge.

    newest: the extent of all events since the newest window opened.
    """
    if drawing is Drawing.LAYOUT:
        drawn = tuple(DrawnWindow(w.opener, w.closer, w.events) for w in windows)
        return Layout(drawn, newest.events, last)
    # As published, a layout knows only where windows opened, so counting restarts there.
    edge, sn = windows[-1].opener
    before = windows[-1].before
    return Layout(
        tuple(DrawnWindow(w.opener, None, None) for w in windows),
        1,
        (*before[:edge], sn, *before[edge + 1 :]),
    )


# --- replays ---------------------------------------------------------------------------------
class Script(NamedTuple):
    """The layout that a replay follows instead of counting.  first: the number of the first window
    in this layout."""

    first: int
    layout: Layout

    def find_drawn(self, window: OpenWindow) -> DrawnWindow:
        return self.layout.windows[window.number - self.first]


class ReplayBoundaries(NamedTuple):
    """The boundaries of windows for one event of a replay (model.cep.operator.Boundaries)."""

    script: Script
    place: Place
    splitter: Splitter

    def opens(self, number: int) -> bool:
        next_ = number - self.script.first
        windows = self.script.layout.windows
        return next_ < len(windows) and windows[next_].opener == self.place

    def completes(self, window: OpenWindow, event: Body) -> bool:
        drawn = self.script.find_drawn(window)
        if drawn.events is not None:
            return drawn.closer == self.place
        return self.splitter.completes(window.extent, event)


def restore_counts(state: CepState, script: Script) -> CepState:
    """The state from which the splitter counts again: the replay has passed the frontier."""

    def restore(window: OpenWindow) -> OpenWindow:
        events = script.find_drawn(window).events
        if events is None:
            return window
        return window._replace(extent=window.extent._replace(events=events))

    newest = state.newest
    return state._replace(
        open=tuple(restore(window) for window in state.open),
        newest=newest and Extent(newest.start, script.layout.since),
    )


def rest(script: Script, number: int) -> Script:
    """The script without the windows before `number`, which have been dropped."""
    layout = script.layout
    return Script(number, layout._replace(windows=layout.windows[number - script.first :]))
