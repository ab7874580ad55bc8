"""What a CEP operator means: its output over whole streams, window by window.

Rule of this file: the definitions of the splitter, the engine and the merge, and nothing
incremental; sequence numbers, buffers and messages do not occur.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from model.boxes.box import Out, Stream
from model.cep.engines import Engine, Match
from model.cep.windows import Extent, Splitter
from model.events import Body


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


def slices(operator: Definition, stream: Sequence[Body]) -> Iterator[Slice]:
    """The windows of a stream, in the order in which they open."""
    splitter = operator.splitter
    newest: Extent | None = None
    for first, opener in enumerate(stream):
        if splitter.opens(newest, opener):
            newest = Extent(splitter.start(opener), 0)
            yield _slice(operator, stream, first, newest.start)
        if newest is not None:
            newest = Extent(newest.start, newest.events + 1)


def _slice(operator: Definition, stream: Sequence[Body], first: int, start: int) -> Slice:
    splitter = operator.splitter
    for at in range(first, len(stream)):
        if splitter.expires(Extent(start, at - first), stream[at]):
            return Slice(start, first, at - 1, at)
        if splitter.completes(Extent(start, at - first + 1), stream[at]):
            return Slice(start, first, at, at)
    return Slice(start, first, len(stream) - 1, None)


def evaluate(operator: Definition, stream: Sequence[Body]) -> Iterator[Body]:
    """The complex events of a stream, in the order of (trigger, window, match).

    In serial processing, the event that closes a window triggers all matches of the window.
    """
    engine = operator.engine
    found: list[tuple[int, int, int, Body]] = []
    for number, window in enumerate(slices(operator, stream)):
        state = engine.begin()
        for at in range(window.first, window.last + 1):
            state, matches, _ = engine.feed(state, stream[at])
            trigger = at if operator.parallel else window.closer
            if trigger is not None:
                for match in matches:
                    body = operator.result(stream[trigger].time, match)
                    found.append((trigger, number, len(found), body))
        if window.closer is not None:
            for match in engine.close(state):
                body = operator.result(stream[window.closer].time, match)
                found.append((window.closer, number, len(found), body))
    found.sort(key=lambda entry: entry[:3])
    return (body for *_, body in found)
