"""Streams of arrivals, and a graph through which any of them can run.

Rule of this file: it makes values, and reads no file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from itertools import accumulate, repeat
from operator import itemgetter
from typing import Any, NamedTuple

from model.cep.engines import Engine, Function, Match, Matches, Partitioned
from model.cep.one_run import OneRun
from model.cep.operator import Operator
from model.cep.patterns import AfterMatch, Pattern, PatternStep, Strategy, sequence, steps_of
from model.cep.windows import CountWindows, TimeWindows
from model.core import Arrival, Scope
from model.errors import Invalid, nearest, reasons
from model.graph import SINK, SOURCE, Graph, chain
from model.predicates import Every, Predicate
from model.protocol import Protocol
from model.system import System
from sim.inputs.conditions import condition
from sim.inputs.drawn import DrawnEvents, Events, last_time

STRATEGIES: Mapping[str, Strategy] = {
    "next": Strategy.NEXT,
    "any": Strategy.ANY,
    "strict": Strategy.STRICT,
}
AFTER_MATCH: Mapping[str, AfterMatch] = {
    "none": AfterMatch.NO_SKIP,
    "past-last": AfterMatch.PAST_LAST_EVENT,
}
TICK = "tick"
"""The type of an event that only says the time."""
TOGETHER = 3
"""How many recurrences one event of the summary stands for."""


class Search(NamedTuple):
    """How a pattern is searched: the names of a strategy and of an after-match skip; consumption.

    one_run: by the engine that follows one run at a time (model.cep.one_run), which has neither.
    """

    strategy: str = "next"
    skip: str = "none"
    consumes: bool = False
    one_run: bool = False


INDEPENDENT = Search()


@dataclass(frozen=True, slots=True)
class Workload:
    """The input of a run: a graph, the arrivals at its sources, and names of the two for people.

    events: by source, each in time order; some are drawn anew whenever they are read.  left_out:
    operators that are not deployed, since the protocol deploys a single one.
    """

    name: str
    pattern: str
    graph: Graph
    events: Mapping[str, Events]
    left_out: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        return sum(map(len, self.events.values()))


def deployable(workload: Workload, protocol: Protocol) -> Workload:
    """The workload; or, if the protocol cannot deploy its graph, its first operator alone.

    Raises Invalid, from the protocol, if it cannot deploy that either.
    """
    whole = workload.graph
    sources = [name for name, spec in whole.nodes if spec is SOURCE]
    try:
        System(protocol, Scope(whole, (), 0))
    except Invalid:
        operators = [n for n in whole.order() if whole.specs[n] not in (SOURCE, SINK)]
        if len(sources) > 1 or len(operators) == 1:
            raise
        alone = chain((operators[0], whole.specs[operators[0]]), source=sources[0])
        System(protocol, Scope(alone, (), 0))
        return replace(workload, graph=alone, left_out=tuple(operators[1:]))
    return workload


def deployed(protocol: Protocol, workloads: Sequence[Workload]) -> tuple[Workload, System]:
    """The first of these forms of a workload that the protocol deploys, and the deployment.

    Raises Invalid if it deploys none, for the form to which it objects least.
    """
    refused: list[Invalid] = []
    for workload in workloads:
        try:
            return workload, System(protocol, Scope(workload.graph, (), 0))
        except Invalid as error:
            refused.append(error)
    raise min(refused, key=lambda error: len(reasons(error)))


def arrivals(
    times: Sequence[int], types: Sequence[str], data: Sequence[tuple[Any, ...]] | None = None
) -> tuple[Arrival, ...]:
    """Arrivals at these times, which must not decrease; the first gap counts from 0."""
    known: dict[Arrival, Arrival] = {}
    events = []
    before = 0
    for at, (time, type_) in enumerate(zip(times, types, strict=True)):
        arrival = Arrival(time - before, type_, data[at] if data else ())
        events.append(known.setdefault(arrival, arrival))
        before = time
    return tuple(events)


def ticking(events: Events, every: int, until: int) -> DrawnEvents:
    """The events and ticks: one at every multiple of `every` up to `until`, before the events of
    its time."""

    def draw() -> Iterator[Arrival]:
        times = accumulate(arrival.gap for arrival in events)
        numbered = zip(times, repeat(1), events, strict=False)
        ticks = ((time, 0, Arrival(0, TICK)) for time in range(every, until + 1, every))
        before = 0
        for time, _, arrival in merge(numbered, ticks, key=itemgetter(0, 1)):
            yield arrival._replace(gap=time - before)
            before = time

    ticks = until // every
    return DrawnEvents(draw, len(events) + ticks, max(last_time(events), ticks * every))


def graph_for(
    text: str,
    size: int,
    slide: int,
    search: Search = INDEPENDENT,
    types: frozenset[str] | None = None,
    key: str | None = None,
    *,
    alone: bool = False,
) -> Graph:
    """source -> match -> recurrence -> summary -> sink, for any file.

    match: the pattern, in time windows of `size` every `slide`.  recurrence: every two matches
    that follow each other.  summary: the first and the last of every TOGETHER recurrences, its
    windows processed whole.  So time windows, overlapping and tumbling count windows, parallel
    and serial processing all take part.
    types: those that occur; Invalid if the pattern names another.  key: an attribute; the events of
    each of its values are matched alone.  alone: source -> match -> sink.
    """
    found: Engine = parsed(text, search, types)
    if key is not None:
        found = Partitioned(found, key)
    match = Operator(found, TimeWindows(size, slide), "match")
    if alone:
        return chain(("match", match))
    recurrence = Operator(sequence("match", "match"), CountWindows(2, 1), "recurrence")
    summary = Operator(Function(_ends), CountWindows(TOGETHER, TOGETHER), "summary", parallel=False)
    return chain(("match", match), ("recurrence", recurrence), ("summary", summary))


def added(graph: Graph) -> Mapping[str, str]:
    """The operators that `graph_for` has added behind the pattern, in words."""
    words = {
        "recurrence": "every two matches that follow each other",
        "summary": f"the first and the last of every {TOGETHER} recurrences",
    }
    return {name: words[name] for name, _ in graph.nodes if name in words}


def parsed(
    text: str, search: Search = INDEPENDENT, types: frozenset[str] | None = None
) -> Pattern | OneRun:
    """The pattern "a, b+, !c, d": types in order, "+" one or more, "!" none before the next.

    A step may have a condition on the event: "a, b where value > 5" (sim.inputs.conditions).
    """
    for key, name, known in (
        ("strategy", search.strategy, STRATEGIES),
        ("skip", search.skip, AFTER_MATCH),
    ):
        if name not in known:
            raise Invalid(f"{key} {name!r}: it must be one of {', '.join(known)}")
    if not text.strip():
        raise Invalid('pattern: empty; give event types in order, such as "a, b+, !c, d"')
    steps = tuple(_step(one.strip(), types) for one in text.split(","))
    strategy, after_match = STRATEGIES[search.strategy], AFTER_MATCH[search.skip]
    if not search.one_run:
        return Pattern(steps, strategy, after_match, search.consumes)
    if search.consumes or after_match is not AfterMatch.NO_SKIP:
        raise Invalid("one run: it knows no skip and no consumption; leave one of the two out")
    return OneRun(steps, strategy)


def conditions_of(text: str) -> tuple[Predicate, ...]:
    """The conditions in a pattern.  Raises Invalid."""
    parts = (step.partition(" where ") for step in text.split(","))
    return tuple(condition(asked) for _, where, asked in parts if where)


def _step(text: str, types: frozenset[str] | None) -> PatternStep:
    """A step of a pattern, with its condition.  Raises Invalid."""
    type_, where, asked = text.partition(" where ")
    (step,) = steps_of(type_.strip())
    name = str(step.predicate)
    if types is not None and name not in types:
        raise Invalid(f"pattern: no event has the type {name!r}{nearest(name, sorted(types))}")
    return replace(step, predicate=Every((step.predicate, condition(asked)))) if where else step


def _ends(window: Match) -> Matches:
    return ((window[0], window[-1]),)
