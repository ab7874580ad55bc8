"""The properties that look inside: recoveries end, and states are as if nothing had failed.

Rule of this file: no output; model.properties has what the application sees.

The paper promises "exactly-once processing" (4).  Inside, that is a promise about the states of
partitions; outside, it is one about results.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from model.boxes.box import Box, Item, Packed
from model.cep.box import CepBox
from model.core import Arrival, NodeName, Observation, Property, Scope, When
from model.events import Body
from model.graph import SINK, SOURCE
from model.oracle import assign_times
from model.protocols.progressive.messages import CoordinatorPhase, CoordinatorState, PartitionState


def _is_over(_scope: Scope, seen: Observation) -> bool:
    for _, state in seen.states:
        if isinstance(state, CoordinatorState) and state.phase is not CoordinatorPhase.NORMAL:
            return False
        if isinstance(state, PartitionState) and (state.epoch is None or state.recovering):
            return False
    return True


def _is_inside(scope: Scope, seen: Observation) -> bool:
    names = [name for name, _ in scope.inputs]
    arrivals = dict(zip(names, seen.arrivals, strict=True))
    states = dict(seen.states)
    expected = _final_states(scope, arrivals)
    return all(
        _bare(states[name].box) == _bare(box) for name, box in expected.items() if name in states
    )


def _final_states(
    scope: Scope, arrivals: Mapping[NodeName, tuple[Arrival, ...]]
) -> Mapping[NodeName, Any]:
    """The failure-free state of each partition whose input comes in one order only."""
    graph, found = scope.graph, {}
    streams: dict[NodeName, list[Body]] = {}
    for name in graph.order():
        spec, preds = graph.specs[name], graph.preds(name)
        if spec is SOURCE:
            streams[name] = [*assign_times(arrivals[name])]
        elif spec is not SINK and len(preds) == 1 and preds[0] in streams:
            box = spec if isinstance(spec, Box) else CepBox(spec)
            state, streams[name] = box.begin(1), []
            for body in streams[preds[0]]:
                fed, *_ = box.feed(state, Item(0, body))
                state = fed.state
                streams[name] += (out.body for out in fed.outs)
            found[name] = state
    return found


def _bare(state: Any) -> Any:
    """The state without lineage, which is a ghost."""
    if isinstance(state, Item):
        return _bare((state.edge, state.body))
    if isinstance(state, Packed):
        return _bare(state.unpacked())
    if isinstance(state, frozenset):
        return frozenset()
    return tuple(map(_bare, state)) if isinstance(state, tuple) else state


RESTED = Property(
    "at rest, no recovery is under way", When.QUIESCENT, _is_over, nodes=True, outputs=False
)
INSIDE = Property(
    "at rest, states are those of a run without failures",
    When.QUIESCENT,
    _is_inside,
    nodes=True,
    outputs=False,
)
