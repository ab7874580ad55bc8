"""The operators of a query: a chain that runs within one batch, each on its own state.

Rule of this file: no batch is planned, saved or sent here.  Of several allowed answers of a box the
query gives the first.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from model.boxes.box import Box, Item
from model.cep.operator import CepState, Operator, process
from model.errors import Invalid
from model.events import Body, Event
from model.graph import SOURCE, Graph
from model.parts import open_windows
from model.protocols.micro_batch.messages import States


def chain_of(graph: Graph) -> tuple[str, ...]:
    """The names of the graph's nodes in order: the source, the operators, the sink.

    Raises Invalid unless the operators stand in one chain between one source and one sink.
    """
    names = graph.order()
    alone = all(len(graph.preds(name)) < 2 and len(graph.succs(name)) < 2 for name in names)
    sources = [spec for spec in graph.specs.values() if spec is SOURCE]
    if not alone or len(sources) != 1 or len(names) < 3:
        raise Invalid(
            f"micro-batch: {' '.join(name for name, _ in graph.nodes)}; a query is a chain of "
            "operators between one source and one sink"
        )
    return names


def begin(operators: Iterable[Operator | Box]) -> States:
    """The states before the first event."""
    return tuple(
        CepState() if isinstance(operator, Operator) else operator.begin(1)
        for operator in operators
    )


def open_in(states: States) -> int:
    """How many windows are open in the states of the operators."""
    return sum(
        len(state.open) if isinstance(state, CepState) else open_windows(state) or 0
        for state in states
    )


def process_batch(
    operators: tuple[Operator | Box, ...], states: States, events: Iterable[Event]
) -> tuple[States, tuple[Event, ...]]:
    """The states after the events of a batch, and the rows that these events gave.

    The number of a row is that of the event that triggered it, its window (0: of a box) and an
    index among the event's rows: a sink that knows rows by key compares these numbers.
    """
    rows: list[Event] = []
    for event in events:
        after: list[Any] = []
        passing: tuple[_Produced, ...] = ((0, event.body),)
        for operator, state in zip(operators, states, strict=True):
            state, passing = _feed(operator, state, passing)
            after.append(state)
        states = tuple(after)
        rows += (
            Event((*event.sn, window, index), body) for index, (window, body) in enumerate(passing)
        )
    return states, tuple(rows)


_Produced: TypeAlias = tuple[int, Body]
"""(number of the window, body)."""


def _feed(
    operator: Operator | Box, state: Any, inputs: tuple[_Produced, ...]
) -> tuple[Any, tuple[_Produced, ...]]:
    found: list[_Produced] = []
    for _, body in inputs:
        if isinstance(operator, Operator):
            state, iteration = process(operator, state, body)
            found += iteration.produced
        else:
            fed, *_ = operator.feed(state, Item(0, body))
            state = fed.state
            found += ((0, out.body) for out in fed.outs)
    return state, tuple(found)
