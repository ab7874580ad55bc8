"""The failure-free oracle, and the guarantee that an observed output gives beside it.

Rule of this file: no protocol.  The oracle evaluates an operator graph on whole streams, window by
window, from the definitions of the splitter and the engine; sequence numbers, buffers, messages
and incremental state do not occur.
Recovery types: Hwang et al., Section 3.1, Fig. 2.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from model.cep.operator import Operator
from model.cep.windows import Extent
from model.core import Arrival, Guarantee
from model.events import BEGINNING, Body
from model.graph import SINK, SOURCE, Graph

Output: TypeAlias = tuple[int, Body]
"""A result that a sink passes on: (input edge, body)."""


class EdgeStream(NamedTuple):
    """The bodies that travel on an edge, and the time before which nothing more will follow."""

    bodies: tuple[Body, ...]
    mark: int


def assign_times(arrivals: Sequence[Arrival]) -> tuple[Body, ...]:
    """The bodies that a source makes of its arrivals: their times add up from 0."""
    bodies = []
    now = 0
    for gap, type_, data in arrivals:
        now += gap
        bodies.append(Body(now, type_, data))
    return tuple(bodies)


def oracle(
    graph: Graph, arrivals: Mapping[str, Sequence[Arrival]]
) -> Mapping[str, tuple[tuple[Body, ...], ...]]:
    """The failure-free output: for every sink the bodies that arrive, by input edge."""
    streams: dict[str, EdgeStream] = {}
    sinks: dict[str, tuple[tuple[Body, ...], ...]] = {}
    specs = graph.specs
    for name in graph.order():
        inputs = [streams[pred] for pred in graph.preds(name)]
        if specs[name] is SOURCE:
            bodies = assign_times(arrivals[name])
            streams[name] = EdgeStream(bodies, bodies[-1].time if bodies else BEGINNING)
        elif specs[name] is SINK:
            sinks[name] = tuple(stream.bodies for stream in inputs)
        else:
            merged, mark = _merge(inputs)
            streams[name] = EdgeStream(tuple(evaluate(specs[name], merged)), mark)
    return sinks


def _merge(inputs: Sequence[EdgeStream]) -> tuple[list[Body], int]:
    """All events that the merge may take, in order, and the watermark of the rest."""
    keyed = sorted(
        (body.time, edge, place)
        for edge, stream in enumerate(inputs)
        for place, body in enumerate(stream.bodies)
    )
    ends = [(stream.mark, edge) for edge, stream in enumerate(inputs)]
    taken = [0] * len(inputs)
    merged = []
    for time, edge, place in keyed:
        if any(
            end < (time, edge) and taken[other] == len(inputs[other].bodies)
            for other, end in enumerate(ends)
        ):
            break
        merged.append(inputs[edge].bodies[place])
        taken[edge] += 1
    rest = (
        stream.bodies[count].time if count < len(stream.bodies) else stream.mark
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


def slices(operator: Operator, stream: Sequence[Body]) -> Iterator[Slice]:
    """The windows of a stream, in the order in which they open."""
    splitter = operator.splitter
    newest: Extent | None = None
    for first, opener in enumerate(stream):
        if splitter.opens(newest, opener):
            newest = Extent(splitter.start(opener), 0)
            yield _slice(operator, stream, first, newest.start)
        if newest is not None:
            newest = Extent(newest.start, newest.events + 1)


def _slice(operator: Operator, stream: Sequence[Body], first: int, start: int) -> Slice:
    splitter = operator.splitter
    for at in range(first, len(stream)):
        if splitter.expires(Extent(start, at - first), stream[at]):
            return Slice(start, first, at - 1, at)
        if splitter.completes(Extent(start, at - first + 1), stream[at]):
            return Slice(start, first, at, at)
    return Slice(start, first, len(stream) - 1, None)


def evaluate(operator: Operator, stream: Sequence[Body]) -> Iterator[Body]:
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
                    body = Body(stream[trigger].time, operator.emits, match)
                    found.append((trigger, number, len(found), body))
        if window.closer is not None:
            for match in engine.close(state):
                body = Body(stream[window.closer].time, operator.emits, match)
                found.append((window.closer, number, len(found), body))
    found.sort(key=lambda entry: entry[:3])
    return (body for *_, body in found)


def by_edge(outputs: Sequence[Output], edges: int) -> tuple[tuple[Body, ...], ...]:
    """A sink's outputs by input edge: the order between edges does not count."""
    return tuple(tuple(body for e, body in outputs if e == edge) for edge in range(edges))


def classify(expected: Sequence[Body], observed: Sequence[Body]) -> Guarantee:
    """The strongest recovery type that this pair of finished outputs allows.

    Precise: the outputs are identical.  Gap: an expected output never came.  Otherwise all outputs
    came, and some came twice: repeating if the output is the expected one with rewinds to earlier
    outputs, from where it goes on to the end; convergent if the output is the expected one from
    some point on; divergent if there is no such point.
    """
    if list(expected) == list(observed):
        return Guarantee.PRECISE
    if Counter(expected) - Counter(observed):
        return Guarantee.GAP
    surplus = Counter(observed) - Counter(expected)
    if surplus.keys() <= set(expected) and _rewinds(expected, observed):
        return Guarantee.REPEATING
    if observed and expected and observed[-1] == expected[-1]:
        return Guarantee.CONVERGENT
    return Guarantee.DIVERGENT


def _rewinds(expected: Sequence[Body], observed: Sequence[Body]) -> bool:
    """Is `observed` the expected output with rewinds to earlier points, up to the end?

    From the furthest point reached, a rewind can reach every other point: only the furthest point
    counts.
    """
    places: dict[Body, list[int]] = {}
    for at, body in enumerate(expected):
        places.setdefault(body, []).append(at)
    furthest = 0
    for body in observed:
        reached = bisect_right(places.get(body, []), furthest)
        if not reached:
            return False
        furthest = places[body][reached - 1] + 1
    return furthest == len(expected)
