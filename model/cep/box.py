"""The CEP operator as a box: the same windows and engines behind the door of all operators.

Rule of this file: nothing is decided here; model.cep.operator does the work.  Its numbers and
positions grow for ever.  Here they count from the oldest open window, and what a splitter does not
ask for is left out, so that whoever compares states finds few of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from model.boxes.box import Box, Fed, Item, Lineage, Moment, Out, answer
from model.cep.operator import CepState, OpenWindow, Operator, process
from model.cep.windows import CountWindows, Extent, PatternWindows, TimeWindows
from model.errors import Invalid
from model.events import Body
from model.log import Log


class Window(NamedTuple):
    """An open window.  inner: the state of its engine.  of: its events."""

    start: Moment
    events: int
    inner: Any
    of: Lineage


class Windows(NamedTuple):
    """The open windows, oldest first.  newest: the start of the newest window (None: there was
    none), and the events since then.  queue: the events of open windows (serial processing)."""

    open: tuple[Window, ...] = ()
    newest: Moment | None = None
    since: int = 0
    queue: tuple[Body, ...] = ()


@dataclass(frozen=True)
class CepBox(Box):
    """A CEP operator behind its merge: one edge, the events in the order in which it takes them.

    Raises Invalid if nobody knows how far the operator's splitter looks back.
    """

    operator: Operator

    def __post_init__(self) -> None:
        splitter = self.operator.splitter
        if not isinstance(splitter, CountWindows | TimeWindows | PatternWindows):
            raise Invalid(f"box of a CEP operator: no known splitter: {type(splitter).__name__}")

    @property
    def horizon(self) -> int:
        splitter = self.operator.splitter
        if isinstance(splitter, TimeWindows):
            return splitter.size + splitter.slide
        return (splitter.span or 0) if isinstance(splitter, PatternWindows) else 0

    @property
    def period(self) -> int:
        splitter = self.operator.splitter
        return splitter.slide if isinstance(splitter, TimeWindows) and splitter.grid else 1

    def begin(self, _edges: int) -> Windows:
        return Windows()

    def feed(self, state: Windows, item: Item) -> tuple[Fed, ...]:
        after, iteration = process(self.operator, _numbered(state), item.body)
        of = {number: window.of for number, window in enumerate(state.open, 1)}
        for number in (window.number for window in (*iteration.filled, *after.open)):
            of[number] = of.get(number, frozenset()) | item.of
        outs = (Out(body, of[number]) for number, body in iteration.produced)
        return answer(self._relative(after, of), *outs)

    def _relative(self, state: CepState, of: dict[int, Lineage]) -> Windows:
        splitter = self.operator.splitter
        timed = self.horizon > 0
        counted = splitter.counts or not self.operator.parallel
        windows = tuple(
            Window(Moment(start * timed), events * counted, inner, of[number])
            for number, (start, events), inner, _ in state.open
        )
        if state.newest is None or isinstance(splitter, PatternWindows):
            return Windows(windows, queue=tuple(state.queue))
        start, events = state.newest
        return Windows(windows, Moment(start * timed), events * splitter.counts, tuple(state.queue))


def _numbered(state: Windows) -> CepState:
    """The state as the operator knows it.  Each window holds the last of the queued events."""
    windows = tuple(
        OpenWindow(number, Extent(start.time, events), inner, len(state.queue) - events)
        for number, (start, events, inner, _) in enumerate(state.open, 1)
    )
    newest = None if state.newest is None else Extent(state.newest.time, state.since)
    queue: Log[Body] = Log()
    return CepState(windows, len(windows), newest, queue.extend(state.queue))
