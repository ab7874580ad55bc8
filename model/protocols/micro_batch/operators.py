"""The operators of a query, which run within one batch, each on its own state.

Rule of this file: no batch is planned, saved or sent here.  Of several allowed answers of a box the
query gives the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from model.boxes.box import Box, Item
from model.cep.operator import CepState, Operator, process
from model.core import NodeName
from model.errors import refuse
from model.events import Body, Event
from model.graph import SINK, SOURCE, Graph
from model.parts import open_windows
from model.protocols.micro_batch.messages import States


class Target(NamedTuple):
    """The place to which items go: the operator with this number (OUT: they are rows), its edge."""

    operator: int
    edge: int = 0


OUT = -1


class StreamingQuery(NamedTuple):
    """The operators of a query, each behind those whose outputs it takes, and the ways of items:
    from each source, and from each operator."""

    names: tuple[NodeName, ...]
    operators: tuple[Operator | Box, ...]
    entries: tuple[tuple[Target, ...], ...]
    ways: tuple[tuple[Target, ...], ...]

    def begin(self) -> States:
        """The states before the first event."""
        edges = [0] * len(self.operators)
        for target in (target for targets in (*self.entries, *self.ways) for target in targets):
            if target.operator != OUT:
                edges[target.operator] += 1
        return tuple(
            CepState() if isinstance(operator, Operator) else operator.begin(number)
            for operator, number in zip(self.operators, edges, strict=True)
        )


def query_of(graph: Graph) -> StreamingQuery:
    """The query that runs all operators of the graph.  Raises Refused unless they are one query."""
    specs = graph.specs
    refuse("micro-batch", _objections(graph))
    names = tuple(name for name in graph.order() if specs[name] not in (SOURCE, SINK))

    def targets(name: NodeName) -> tuple[Target, ...]:
        return tuple(
            Target(OUT) if specs[succ] is SINK else Target(names.index(succ), _edge(name, succ))
            for succ in graph.succs(name)
        )

    def _edge(name: NodeName, succ: NodeName) -> int:
        return graph.preds(succ).index(name)

    sources = (name for name, spec in graph.nodes if spec is SOURCE)
    return StreamingQuery(
        names,
        tuple(specs[name] for name in names),
        tuple(map(targets, sources)),
        tuple(map(targets, names)),
    )


def _objections(graph: Graph) -> Iterator[str]:
    """Why the graph is no query."""
    specs = graph.specs
    sinks = [name for name, spec in graph.nodes if spec is SINK]
    if len(sinks) != 1 or len(graph.preds(sinks[0])) > 1:
        ends = " and ".join(f"{pred} -> {sink}" for sink in sinks for pred in graph.preds(sink))
        yield f"{ends}; a query has one last operator and one sink"
    for name, spec in graph.nodes:
        preds = graph.preds(name)
        if spec is SOURCE and any(specs[succ] is SINK for succ in graph.succs(name)):
            yield f"{name} goes to a sink; give an operator"
        elif spec in (SOURCE, SINK):
            continue
        elif isinstance(spec, Operator) and len(preds) > 1:
            yield f"{name} is a CEP operator with {len(preds)} inputs; give it one"
        elif not isinstance(spec, Box | Operator):
            yield f"{name} is a {type(spec).__name__}; give a box or a CEP operator"
        elif isinstance(spec, Box) and spec.edges not in (None, len(preds)):
            kind = type(spec).__name__
            yield f"{name} is a {kind} with {len(preds)} inputs; give a box that takes them"


def open_in(states: States) -> int:
    """How many windows are open in the states of the operators."""
    return sum(
        len(state.open) if isinstance(state, CepState) else open_windows(state) or 0
        for state in states
    )


def process_batch(
    query: StreamingQuery,
    states: States,
    events: Iterable[tuple[int, Event]],
    number: int | None = None,
) -> tuple[States, tuple[Event, ...]]:
    """The states after the events of a batch, each with its source, and the rows of these events.

    The number of a row is that of the event that triggered it, its window (0: of a box) and an
    index among the event's rows: a sink that knows rows by key compares these numbers.
    number: that of the last event before the batch, if events of several sources are counted
    together; None: their own numbers count.
    """
    rows: list[Event] = []
    after = [*states]
    for at, (source, event) in enumerate(events, 1):
        sn = event.sn if number is None else (number + at,)
        produced = _pass_on(query, after, query.entries[source], (0, event.body))
        rows += (Event((*sn, window, index), body) for index, (window, body) in enumerate(produced))
    return tuple(after), tuple(rows)


_Produced: TypeAlias = tuple[int, Body]
"""(number of the window, body)."""


def _pass_on(
    query: StreamingQuery, states: list[Any], targets: Iterable[Target], item: _Produced
) -> Iterator[_Produced]:
    """The rows that an item makes on its way; changes `states`."""
    for number, edge in targets:
        if number == OUT:
            yield item
            continue
        operator = query.operators[number]
        states[number], produced = _feed(operator, states[number], edge, item[1])
        for made in produced:
            yield from _pass_on(query, states, query.ways[number], made)


def _feed(
    operator: Operator | Box, state: Any, edge: int, body: Body
) -> tuple[Any, tuple[_Produced, ...]]:
    """The state after an item, and the outputs; of several answers of a box the first."""
    if isinstance(operator, Operator):
        state, iteration = process(operator, state, body)
        return state, iteration.produced
    fed, *_ = operator.feed(state, Item(edge, body))
    return fed.state, tuple((0, out.body) for out in fed.outs)
