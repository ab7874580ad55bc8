"""Streams of arrivals, and a graph through which any of them can run.

Rule of this file: it makes values, and reads no file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from model.cep.engines import Engine, Function, Match, Matches, Partitioned
from model.cep.one_run import OneRun, one_run
from model.cep.operator import Operator
from model.cep.patterns import AfterMatch, Pattern, Strategy, sequence
from model.cep.windows import CountWindows, TimeWindows
from model.core import Arrival, Scope
from model.errors import Invalid, nearest
from model.graph import SINK, SOURCE, Graph, chain
from model.protocol import Protocol
from model.system import System
from sim.inputs.drawn import Events

STRATEGIES: Mapping[str, Strategy] = {
    "next": Strategy.NEXT,
    "any": Strategy.ANY,
    "strict": Strategy.STRICT,
}
AFTER_MATCH: Mapping[str, AfterMatch] = {
    "none": AfterMatch.NO_SKIP,
    "past-last": AfterMatch.PAST_LAST_EVENT,
}
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
    """The pattern "a, b+, !c, d": types in order, "+" one or more, "!" none before the next."""
    for key, name, known in (
        ("strategy", search.strategy, STRATEGIES),
        ("skip", search.skip, AFTER_MATCH),
    ):
        if name not in known:
            raise Invalid(f"{key} {name!r}: it must be one of {', '.join(known)}")
    if not text.strip():
        raise Invalid('pattern: empty; give event types in order, such as "a, b+, !c, d"')
    steps = [step.strip() for step in text.split(",")]
    for step in steps:
        name = step.removeprefix("!").removesuffix("+")
        if name and types is not None and name not in types:
            raise Invalid(f"pattern: no event has the type {name!r}{nearest(name, sorted(types))}")
    strategy, after_match = STRATEGIES[search.strategy], AFTER_MATCH[search.skip]
    if not search.one_run:
        return sequence(
            *steps, strategy=strategy, after_match=after_match, consumes=search.consumes
        )
    if search.consumes or after_match is not AfterMatch.NO_SKIP:
        raise Invalid("one run: it knows no skip and no consumption; leave one of the two out")
    return one_run(*steps, strategy=strategy)


def _ends(window: Match) -> Matches:
    return ((window[0], window[-1]),)
