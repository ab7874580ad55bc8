"""The failure-free oracle: every output that an operator graph allows.

Rule of this file: no protocol and no operator.  Each node's spec says what the node may put out
(`runs`); sequence numbers, buffers, messages and incremental state do not occur.
"""

from __future__ import annotations

import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from model.boxes.box import Lineage, Of, Out, Stream
from model.core import Arrival
from model.errors import Invalid
from model.events import BEGINNING, Body
from model.graph import SINK, SOURCE, Graph

Output: TypeAlias = tuple[int, Body] | tuple[int, Body, Lineage]
"""A result that a sink passes on: (input edge, body), and its lineage where it is known: of the
arrivals of all sources, Of(place of the source among the graph's sources, place of the arrival)."""

Expected: TypeAlias = Mapping[str, tuple[tuple[Out, ...], ...]]
"""For every sink the outputs that arrive, by input edge."""


class Spec(typing.Protocol):
    """What a node computes."""

    def runs(self, inputs: tuple[Stream, ...]) -> Iterator[Stream]:
        """Every allowed output of these inputs; lineage names places in them."""
        ...


def assign_times(arrivals: Iterable[Arrival]) -> tuple[Body, ...]:
    """The bodies that a source makes of its arrivals: their times add up from 0."""
    return tuple(produced(arrivals))


def produced(arrivals: Iterable[Arrival]) -> Iterator[Body]:
    """The bodies that a source makes of its arrivals, one after the other."""
    now = 0
    for gap, type_, data in arrivals:
        now += gap
        yield Body(now, type_, data)


def allowed(graph: Graph, arrivals: Mapping[str, Sequence[Arrival]]) -> Iterator[Expected]:
    """Every output that a run without failures may have: one for all sinks together."""
    yield from _allowed(graph, arrivals, {}, graph.order())


def _allowed(
    graph: Graph,
    arrivals: Mapping[str, Sequence[Arrival]],
    streams: Mapping[str, Stream],
    order: tuple[str, ...],
) -> Iterator[Expected]:
    """As `allowed`, with the outputs of all nodes before the first one in `order`."""
    if not order:
        sinks = (name for name, spec in graph.nodes if spec is SINK)
        yield {name: tuple(streams[pred].outs for pred in graph.preds(name)) for name in sinks}
        return
    name, *rest = order
    for stream in outputs_of(graph, arrivals, streams, name):
        yield from _allowed(graph, arrivals, {**streams, name: stream}, tuple(rest))


def outputs_of(
    graph: Graph,
    arrivals: Mapping[str, Sequence[Arrival]],
    streams: Mapping[str, Stream],
    name: str,
) -> Iterator[Stream]:
    """Every allowed output of a node, given those above it."""
    spec: Any = graph.specs[name]
    if spec is SINK:
        yield Stream(())
        return
    if spec is SOURCE:
        number = [one for one, spec in graph.nodes if spec is SOURCE].index(name)
        bodies = assign_times(arrivals[name])
        outs = tuple(Out(body, frozenset([Of(number, at)])) for at, body in enumerate(bodies))
        yield Stream(outs, bodies[-1].time if bodies else BEGINNING)
        return
    inputs = tuple(streams[pred] for pred in graph.preds(name))
    for outs, mark in spec.runs(inputs):
        yield Stream(tuple(Out(body, _origin(of, inputs)) for body, of in outs), mark)


def _origin(of: Lineage, inputs: tuple[Stream, ...]) -> Lineage:
    """The arrivals behind these places in the inputs."""
    return frozenset().union(*(inputs[edge].outs[place].of for edge, place in of))


def oracle(
    graph: Graph, arrivals: Mapping[str, Sequence[Arrival]]
) -> Mapping[str, tuple[tuple[Body, ...], ...]]:
    """The failure-free output of a deterministic graph: for every sink the bodies, by input edge.

    Raises Invalid if several outputs are allowed: a long run cannot be compared with all of them.
    """
    found = (
        {
            name: tuple(tuple(out.body for out in outs) for outs in edges)
            for name, edges in expected.items()
        }
        for expected in allowed(graph, arrivals)
    )
    first = next(found)
    if any(other != first for other in found):
        raise Invalid("this graph allows several outputs; give operators that allow one")
    return first


def by_edge(outputs: Sequence[Output], edges: int) -> tuple[tuple[Body, ...], ...]:
    """A sink's outputs by input edge: the order between edges does not count."""
    return tuple(tuple(o[1] for o in outputs if o[0] == edge) for edge in range(edges))


def outs_by_edge(outputs: Sequence[Output], edges: int) -> tuple[tuple[Out, ...], ...]:
    """As `by_edge`, with lineage."""
    return tuple(tuple(Out(*o[1:]) for o in outputs if o[0] == edge) for edge in range(edges))
