"""The events that a restart may still need: what upstream backup may keep in a run without faults.

Rule of this file: no state of a node; what is needed follows from the arrivals, and from the
windows and the engine as the oracle sees them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from model.cep.denotation import evaluate, slices
from model.cep.operator import Operator
from model.core import NodeName, Observation, Scope
from model.events import Body
from model.graph import SINK, SOURCE
from model.oracle import assign_times


def needed(skips: bool, scope: Scope, seen: Observation) -> Mapping[NodeName, int]:
    """The most events that a node needs to keep at rest.

    Operators above sinks alone need none; the source of a single such operator needs events from
    the oldest window on that was open at the last output.  For other nodes nothing is said.  skips:
    whether events that are not used are deleted.
    """
    graph, specs = scope.graph, scope.graph.specs
    bounds = {
        name: 0
        for name, spec in graph.nodes
        if spec not in (SOURCE, SINK) and all(specs[succ] is SINK for succ in graph.succs(name))
    }
    for (name, _), arrivals in zip(scope.inputs, seen.arrivals, strict=True):
        succs = graph.succs(name)
        if all(succ in bounds and graph.preds(succ) == (name,) for succ in succs) and succs:
            stream = assign_times(arrivals)
            bounds[name] = sum(_count(specs[succ], stream, skips) for succ in succs)
    return bounds


def _count(operator: Operator, stream: Sequence[Body], skips: bool) -> int:
    """How many events of the stream a restart of the operator needs."""
    outputs = [*evaluate(operator, stream)]
    if not outputs:
        return len(stream)
    last = next(at for at, body in enumerate(stream) if body.time == outputs[-1].time)
    windows = [*slices(operator, stream)]
    first = min(w.first for w in windows if w.closer is None or w.closer >= last)
    if not (skips and operator.parallel):  # what one window leaves, the next one may use
        return len(stream) - first
    used = {at for window in windows for at in (window.first, window.closer)}
    for window in windows:
        state = operator.engine.begin()
        for at in range(window.first, window.last + 1):
            state, _, touched = operator.engine.feed(state, stream[at])
            used |= {at} if touched else set()
    return sum(at > last or at in used for at in range(first, len(stream)))
