"""The failure-free output of an operator graph as a stream, read as far as somebody asks.

Rule of this file: no operator and no other definition than model.oracle's: `expected_streams` gives
the bodies of `oracle`, in the same order.

Every edge of a sink has a stream of its own, which evaluates all operators above it: no edge waits
for another one, and nothing is kept but open windows and states of boxes.  An operator whose output
depends on whole inputs (a box that takes several edges as they come) evaluates them whole, as the
oracle does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from itertools import repeat
from typing import Any

from model.boxes.box import Box, Item, Out, Stream
from model.boxes.reorder import Ordered
from model.cep.denotation import evaluate
from model.cep.operator import Operator
from model.core import Arrival
from model.errors import Invalid
from model.events import BEGINNING, Body
from model.graph import SINK, SOURCE, Graph
from model.oracle import produced


def expected_streams(
    graph: Graph, arrivals: Mapping[str, Iterable[Arrival]]
) -> Mapping[str, tuple[Iterator[Body], ...]]:
    """For every sink the bodies that arrive, by input edge.

    arrivals: by source; they are read once for each way from the source to an edge of a sink.
    Raises Invalid, while a stream is read, if several outputs are allowed.
    """
    return {
        name: tuple(iter(_stream(graph, arrivals, pred)) for pred in graph.preds(name))
        for name, spec in graph.nodes
        if spec is SINK
    }


class LazyStream:
    """The outputs of a node; the mark is known when all have been read (model.boxes.box.Stream)."""

    def __init__(self) -> None:
        self.bodies: Iterator[Body] = iter(())
        self.mark = BEGINNING

    def __iter__(self) -> Iterator[Body]:
        return self.bodies

    def whole(self) -> Stream:
        """All of it; lineage is not known."""
        outs = tuple(Out(body) for body in self.bodies)
        return Stream(outs, self.mark)


def _stream(graph: Graph, arrivals: Mapping[str, Iterable[Arrival]], name: str) -> LazyStream:
    spec: Any = graph.specs[name]
    stream = LazyStream()
    if spec is SOURCE:
        stream.bodies = _arrive(arrivals[name], stream)
        return stream
    inputs = [_stream(graph, arrivals, pred) for pred in graph.preds(name)]
    if isinstance(spec, Operator):
        stream.bodies = evaluate(spec, _merge(inputs, stream))
    elif isinstance(spec, Ordered) or (isinstance(spec, Box) and len(inputs) == 1):
        stream.bodies = _feed(spec, inputs, stream)
    else:
        stream.bodies = _run(spec, inputs, stream)
    return stream


def _arrive(arrivals: Iterable[Arrival], stream: LazyStream) -> Iterator[Body]:
    for body in produced(arrivals):
        stream.mark = body.time
        yield body


def _merge(inputs: list[LazyStream], stream: LazyStream) -> Iterator[Body]:
    """The events of all inputs by (time, edge), up to the first one that an input which has ended
    might still precede (model.cep.denotation.merge_streams)."""
    if len(inputs) == 1:
        yield from inputs[0].bodies
        stream.mark = inputs[0].mark
        return
    heads = [next(one.bodies, None) for one in inputs]
    while True:
        low, edge = min(
            (one.mark if head is None else head.time, edge)
            for edge, (one, head) in enumerate(zip(inputs, heads, strict=True))
        )
        head = heads[edge]
        if head is None:
            stream.mark = low
            return
        yield head
        heads[edge] = next(inputs[edge].bodies, None)


def _feed(box: Box, inputs: list[LazyStream], stream: LazyStream) -> Iterator[Body]:
    """The outputs of a box that has one answer to each item and no timeout.  It takes the items of
    several edges by (time, edge)."""
    state = box.begin(len(inputs))
    items = (map(Item, repeat(edge), one.bodies) for edge, one in enumerate(inputs))
    for item in merge(*items, key=lambda item: (item.body.time, item.edge)):
        if box.expire(state):
            raise _several(box)
        (state, outs), *others = box.feed(state, item)
        if others:
            raise _several(box)
        for out in outs:
            stream.mark = out.body.time
            yield out.body
    if box.expire(state):
        raise _several(box)


def _run(spec: Any, inputs: list[LazyStream], stream: LazyStream) -> Iterator[Body]:
    """The outputs of an operator that needs whole inputs."""
    first, *others = spec.runs(tuple(one.whole() for one in inputs))
    if others:
        raise _several(spec)
    stream.mark = first.mark
    yield from (out.body for out in first.outs)


def _several(spec: Any) -> Invalid:
    return Invalid(f"{type(spec).__name__}: several outputs are allowed")
