"""What a CEP operator means: its output over whole streams, window by window.

Rule of this file: the definitions of the splitter, the engine and the merge, and nothing
incremental; sequence numbers, buffers and messages do not occur.
"""

from __future__ import annotations

import typing
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from model.boxes.box import Out, Stream
from model.cep.engines import Engine, Match
from model.cep.windows import Extent, Splitter
from model.events import Body

TRIGGER = itemgetter(0)


class Definition(typing.Protocol):
    """The parts of an operator that define its output; model.cep.operator.Operator has them."""

    @property
    def engine(self) -> Engine: ...
    @property
    def splitter(self) -> Splitter: ...
    @property
    def parallel(self) -> bool: ...
    def result(self, time: int, match: Match) -> Body: ...


def runs(operator: Definition, inputs: tuple[Stream, ...]) -> Iterator[Stream]:
    """The only allowed output: the operator merges its inputs in the order of their times."""
    merged, mark = merge_streams(inputs)
    yield Stream(tuple(Out(body) for body in evaluate(operator, merged)), mark)


def merge_streams(inputs: Sequence[Stream]) -> tuple[list[Body], int]:
    """All events that the merge may take, in order, and the watermark of the rest."""
    keyed = sorted(
        (out.body.time, edge, place)
        for edge, stream in enumerate(inputs)
        for place, out in enumerate(stream.outs)
    )
    ends = [(stream.mark, edge) for edge, stream in enumerate(inputs)]
    taken = [0] * len(inputs)
    merged = []
    for time, edge, place in keyed:
        if any(
            end < (time, edge) and taken[other] == len(inputs[other].outs)
            for other, end in enumerate(ends)
        ):
            break
        merged.append(inputs[edge].outs[place].body)
        taken[edge] += 1
    rest = (
        stream.outs[count].body.time if count < len(stream.outs) else stream.mark
        for stream, count in zip(inputs, taken, strict=True)
    )
    return merged, min(rest)


class Slice(NamedTuple):
    """A window of a stream: events [first, last]; closer: the event that closed the window, None
    while the window is open."""

    start: int
    first: int
    last: int
    closer: int | None


class Passage:
    """The part of a stream that open windows still need, by place.

    first: the place of the oldest event that is kept; the stream is read as far as somebody asks.
    """

    def __init__(self, stream: Iterable[Body]) -> None:
        self.rest, self.kept, self.first = iter(stream), list[Body](), 0

    def reaches(self, place: int) -> bool:
        """Has the stream an event at this place?"""
        while place - self.first >= len(self.kept):
            body = next(self.rest, None)
            if body is None:
                return False
            self.kept.append(body)
        return True

    def __getitem__(self, place: int) -> Body:
        return self.kept[place - self.first]

    def forget(self, place: int) -> None:
        """Nobody asks for an event before this place again."""
        if place - self.first > len(self.kept) // 2:
            del self.kept[: place - self.first]
            self.first = place


def slices(operator: Definition, stream: Iterable[Body]) -> Iterator[Slice]:
    """The windows of a stream, in the order in which they open."""
    return _slices(operator, Passage(stream))


def _slices(operator: Definition, stream: Passage) -> Iterator[Slice]:
    splitter = operator.splitter
    newest: Extent | None = None
    first = 0
    while stream.reaches(first):
        stream.forget(first)
        opener = stream[first]
        if splitter.opens(newest, opener):
            newest = Extent(splitter.start(opener), 0)
            yield _slice(operator, stream, first, newest.start)
        if newest is not None:
            newest = Extent(newest.start, newest.events + 1)
        first += 1


def _slice(operator: Definition, stream: Passage, first: int, start: int) -> Slice:
    splitter, at, extent = operator.splitter, first, Extent(start, 0)
    while stream.reaches(at):
        event = stream[at]
        if splitter.expires(extent, event):
            return Slice(start, first, at - 1, at)
        at += 1
        extent = Extent(start, at - first)
        if splitter.completes(extent, event):
            return Slice(start, first, at - 1, at - 1)
    return Slice(start, first, at - 1, None)


def evaluate(operator: Definition, stream: Iterable[Body]) -> Iterator[Body]:
    """The complex events of a stream, in the order of (trigger, window, match).

    In serial processing, the event that closes a window triggers all matches of the window.  No
    event before the first one of a window triggers a match of it or of a later window: the stream
    is read window by window, and the matches that come before are returned.
    """
    passage = Passage(stream)
    found: list[tuple[int, Body]] = []  # sorted by triggers: windows and matches come in order
    for window in _slices(operator, passage):
        before = bisect_left(found, window.first, key=TRIGGER)
        yield from (body for _, body in found[:before])
        found = [*found[before:], *_matches(operator, passage, window)]
        found.sort(key=TRIGGER)
    yield from (body for _, body in found)


def _matches(operator: Definition, stream: Passage, window: Slice) -> Iterator[tuple[int, Body]]:
    """The complex events of a window, with the places of their triggers."""
    engine = operator.engine
    state = engine.begin()
    for at in range(window.first, window.last + 1):
        state, matches, _ = engine.feed(state, stream[at])
        trigger = at if operator.parallel else window.closer
        if trigger is not None:
            for match in matches:
                yield trigger, operator.result(stream[trigger].time, match)
    if window.closer is not None:
        for match in engine.close(state):
            yield window.closer, operator.result(stream[window.closer].time, match)
