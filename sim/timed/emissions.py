"""The outputs of a timed run as its sinks pass them on.

Rule of this file: a long run is not kept.  Its latencies are kept as numbers, 16 bytes an output,
and the outputs themselves only for whoever asks for them.
"""

from __future__ import annotations

import typing
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from model.core import NodeName
from model.errors import StepFailed
from model.events import Body
from model.system import System, faulty_output
from sim.timed.costs import PS

CHUNK = 256
"""The number of outputs that wait until they are checked, compared and measured together."""


class Emission(NamedTuple):
    """An output that a sink passed on; output: (input edge, body)."""

    at_ps: int
    output: tuple[int, Body]


Emissions: TypeAlias = Mapping[NodeName, Sequence[Emission]]
"""The emissions by sink, in order."""


class OutputReceiver(typing.Protocol):
    """A receiver of the outputs by sink and edge."""

    def take(self, sink: NodeName, edge: int, bodies: list[Body]) -> None: ...


class OutputRecord:
    """The outputs of a run so far.

    times_s, delays_s: when each output was passed on, and its latency.  emissions: the outputs
    themselves, if `kept`.  receiver: receives them, too.  waiting: the last outputs by sink, which
    are in none of them yet.

    Raises StepFailed for an output that is none.
    """

    def __init__(
        self,
        system: System,
        unit_ps: int,
        *,
        kept: bool = True,
        receiver: OutputReceiver | None = None,
    ) -> None:
        self.system, self.unit_ps, self.kept, self.receiver = system, unit_ps, kept, receiver
        self.waiting: dict[NodeName, list[tuple[int, Any]]] = {name: [] for name in system.sink_at}
        self.emissions: dict[NodeName, list[Emission]] = {name: [] for name in system.sink_at}
        self.times_s, self.delays_s = array("d"), array("d")

    def add(self, sink: NodeName, at_ps: int, output: Any) -> None:
        """Take an output of a sink."""
        waiting = self.waiting.get(sink)
        if waiting is None:
            raise StepFailed(sink, "a step", faulty_output(self.system, sink, output))
        waiting.append((at_ps, output))
        if len(waiting) == CHUNK:
            self._take(sink)

    def end(self) -> None:
        """Take the outputs that wait: the run is over."""
        for sink in self.waiting:
            self._take(sink)

    def _take(self, sink: NodeName) -> None:
        waiting = self.waiting[sink]
        for _, output in waiting:
            if why := faulty_output(self.system, sink, output):
                raise StepFailed(sink, "a step", why)
        unit_ps = self.unit_ps
        self.times_s.extend([float(at) / PS for at, _ in waiting])
        self.delays_s.extend([float(at - out[1].time * unit_ps) / PS for at, out in waiting])
        if self.receiver is not None:
            for edge in sorted({output[0] for _, output in waiting}):
                bodies = [output[1] for _, output in waiting if output[0] == edge]
                self.receiver.take(sink, edge, bodies)
        if self.kept:
            self.emissions[sink] += [Emission(*one) for one in waiting]
        waiting.clear()
