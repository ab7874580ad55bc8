"""The output of operators and graphs without failures.

Rule of this file: whole streams only; a stream is a tuple, and an output is a set in an order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import NamedTuple

from model.cep.operator import Operator
from model.core import Arrival
from model.events import Body
from model.graph import SINK, SOURCE, Graph
from tests.model.denotations.engines import Findings, search
from tests.model.denotations.windows import Window, find_windows
from tests.model.denotations.words import Word


class Output(NamedTuple):
    """A complex event: the place of its trigger, the number of its window, the event."""

    trigger: int
    window: int
    body: Body


class Edge(NamedTuple):
    """mark: no event of an earlier time will follow."""

    bodies: Word
    mark: int


@cache  # windows of many words hold the same events
def _search(operator: Operator, held: Word) -> Findings:
    return search(operator.engine, held)


def searched(operator: Operator, word: Word) -> list[tuple[Window, Findings]]:
    return [
        (window, _search(operator, tuple(word[place] for place in window.held)))
        for window in find_windows(operator.splitter, word)
    ]


def outputs(operator: Operator, word: Word) -> list[Output]:
    """The complex events of a stream, in order.

    "A match is triggered by the event that completes it, and a match that comes at the end of its
    window by the closer. In serial processing, the closer triggers all matches of the window. A
    complex event has the time of its trigger. Complex events come in the order of trigger, window
    and match."
    """
    found = [
        (place if operator.parallel else window.closer, number, match)
        for number, (window, findings) in enumerate(searched(operator, word), 1)
        for place, matches in (
            *zip(window.held, findings.at, strict=True),
            (window.closer, findings.close),
        )
        for match in matches
    ]
    return [
        Output(trigger, number, Body(word[trigger].time, operator.emits, match))
        for trigger in range(len(word))
        for when, number, match in sorted_by_window(found)
        if when == trigger
    ]


def sorted_by_window(
    found: Sequence[tuple[int | None, int, tuple[Body, ...]]],
) -> list[tuple[int | None, int, tuple[Body, ...]]]:
    """Matches of one window stay in their order."""
    return sorted(found, key=lambda entry: entry[1])


def settled(operator: Operator, word: Word) -> list[list[bool]]:
    """The answers that come with each event.

    "In parallel processing, an answer whether an event was used comes with the event. In serial
    processing, it comes when no open window holds the event or an earlier one any more, and is yes
    if one of the windows that held the event used it."
    """
    windows = searched(operator, word)
    users = [
        any(
            findings.used[window.held.index(place)]
            for window, findings in windows
            if place in window.held
        )
        for place in range(len(word))
    ]
    if operator.parallel:
        return [[used] for used in users]

    def needed(place: int) -> int:
        """The oldest event that a window needs which is open behind the event at this place."""
        open_ = [w.opener for w, _ in windows if w.opener <= place and w.is_open_behind(place)]
        return min(open_, default=place + 1)

    bounds = [0, *map(needed, range(len(word)))]
    return [users[bounds[place] : bounds[place + 1]] for place in range(len(word))]


def merge(edges: Sequence[Edge]) -> list[tuple[int, int]]:
    """The (edge, place) of all events that can be taken, in order.

    "An operator merges its inputs by (time, edge), and within an edge in order, never by arrival."
    "An event is taken only when no earlier event can follow on any other edge": the
    mark of every other edge comes behind its place in the order.
    """
    ends = [max([edge.mark, *(body.time for body in edge.bodies)]) for edge in edges]
    return [
        (number, place)
        for time, number, place in sorted(
            (body.time, number, place)
            for number, edge in enumerate(edges)
            for place, body in enumerate(edge.bodies)
        )
        if all((time, number) <= (end, other) for other, end in enumerate(ends) if other != number)
    ]


def watermark(edges: Sequence[Edge]) -> int:
    """The watermark of the merged stream.

    "The watermark of the merged stream is the smallest time that an event still to be taken may
    have."
    """
    taken = set(merge(edges))
    return min(
        min(
            [
                max([edge.mark, *(body.time for body in edge.bodies)]),
                *(b.time for place, b in enumerate(edge.bodies) if (number, place) not in taken),
            ]
        )
        for number, edge in enumerate(edges)
    )


def sinks(graph: Graph, arrivals: Mapping[str, Sequence[Arrival]]) -> dict[str, tuple[Word, ...]]:
    """For every sink the bodies that arrive, by input edge."""
    specs = dict(graph.nodes)

    def inputs(name: str) -> list[Edge]:
        return [stream(above) for above, below in graph.edges if below == name]

    def stream(name: str) -> Edge:
        if specs[name] is SOURCE:
            times = accumulate(arrival.gap for arrival in arrivals[name])
            bodies = tuple(
                Body(time, arrival.type, arrival.data)
                for time, arrival in zip(times, arrivals[name], strict=True)
            )
            return Edge(bodies, max((body.time for body in bodies), default=-1))
        edges = inputs(name)
        merged = tuple(edges[edge].bodies[place] for edge, place in merge(edges))
        return Edge(tuple(one.body for one in outputs(specs[name], merged)), watermark(edges))

    return {
        name: tuple(edge.bodies for edge in inputs(name))
        for name, spec in graph.nodes
        if spec is SINK
    }
