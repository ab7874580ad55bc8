"""The events that a restart may still need: what upstream backup may keep in a run without faults.

Rule of this file: no state of a node; what is needed follows from the arrivals, and from the
windows and the engine as the oracle sees them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from itertools import islice

from model.cep.denotation import evaluate, slices
from model.cep.operator import Operator
from model.core import Arrival, NodeName, Observation, Scope
from model.graph import SINK, SOURCE
from model.oracle import produced


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
            bounds[name] = sum(_count(specs[succ], arrivals, skips) for succ in succs)
    return bounds


def _count(operator: Operator, arrivals: Sequence[Arrival], skips: bool) -> int:
    """How many events of the stream a restart of the operator needs.

    The stream may be long: only its end is kept, from the oldest window on that matters.
    """
    latest = deque(evaluate(operator, produced(arrivals)), maxlen=1)
    if not latest:
        return len(arrivals)
    last = next(at for at, body in enumerate(produced(arrivals)) if body.time == latest[0].time)
    windows = slices(operator, produced(arrivals))
    first = min(w.first for w in windows if w.closer is None or w.closer >= last)
    if not (skips and operator.parallel):  # what one window leaves, the next one may use
        return len(arrivals) - first
    again = slices(operator, produced(arrivals))
    reaching = [w for w in again if w.last >= first or (w.closer is not None and w.closer >= first)]
    begin = min(window.first for window in reaching)
    bodies = [*islice(produced(arrivals), begin, None)]
    used = {at for window in reaching for at in (window.first, window.closer)}
    for window in reaching:
        state = operator.engine.begin()
        for at in range(window.first, window.last + 1):
            state, _, touched = operator.engine.feed(state, bodies[at - begin])
            used |= {at} if touched else set()
    return sum(at > last or at in used for at in range(first, len(arrivals)))
