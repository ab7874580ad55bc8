"""The outputs of a run, compared with the expected ones while they come.

Rule of this file: no verdict on outputs that differ; from the first difference on they are kept,
and whoever judges them has all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from model.core import Arrival, NodeName
from model.events import Body
from model.graph import Graph
from sim.expected import expected_streams
from sim.outputs import Outputs, RunningDigest


class EdgeComparison:
    """An input edge of a sink.  equal: the number of outputs that came as expected.  rest: those
    from the first difference on; None: there was none."""

    __slots__ = ("equal", "expected", "rest")

    def __init__(self, expected: Iterator[Body]) -> None:
        self.expected = expected
        self.equal = 0
        self.rest: list[Body] | None = None

    def take(self, bodies: list[Body]) -> bool:
        """Compare the next outputs; are they those that were expected next?"""
        if self.rest is None:
            if bodies == self._next(len(bodies)):
                self.equal += len(bodies)
                return True
            self.rest = []  # some of these may be as expected
        self.rest += bodies
        return False

    def ends(self) -> bool:
        """Are all expected outputs here, and no others?"""
        return self.rest is None and self._next(1) == []

    def _next(self, count: int) -> list[Body] | None:
        """The next expected outputs; None if the operators fail on the input: the oracle, which is
        asked after the run, reports why."""
        try:
            return [*islice(self.expected, count)]
        except Exception:
            return None


class OutputComparison:
    """The comparison of all edges of all sinks with the oracle's streams."""

    def __init__(self, graph: Graph, arrivals: Mapping[NodeName, Sequence[Arrival]]) -> None:
        streams = expected_streams(graph, arrivals)
        self.sinks = {name: [*map(EdgeComparison, edges)] for name, edges in streams.items()}
        counts = [len(edges) for edges in streams.values()]
        self.first = {name: sum(counts[:at]) for at, name in enumerate(streams)}
        self.running = RunningDigest(counts)
        self.same = True

    def take(self, sink: NodeName, edge: int, bodies: list[Body]) -> None:
        """Compare the next outputs of an edge."""
        equal = self.sinks[sink][edge].take(bodies)
        self.same = self.same and equal
        if self.same:
            self.running.add(self.first[sink] + edge, bodies)

    def end(self) -> bool:
        """The run is over: are the outputs those that were expected, in order?"""
        self.same = self.same and all(
            edge.ends() for edges in self.sinks.values() for edge in edges
        )
        return self.same

    @property
    def count(self) -> int:
        """The number of outputs that came as expected."""
        return sum(edge.equal for edges in self.sinks.values() for edge in edges)

    def observed(self, expected: Outputs) -> Outputs:
        """The outputs of the run by sink and edge."""
        return tuple(
            tuple(
                (*full[: edge.equal], *(edge.rest or ()))
                for edge, full in zip(edges, outputs, strict=True)
            )
            for edges, outputs in zip(self.sinks.values(), expected, strict=True)
        )
