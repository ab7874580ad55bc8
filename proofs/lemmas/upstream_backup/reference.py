"""What the model does, for abstractions to look at: the failure-free run, and single iterations.

Rule of this file: it runs model.protocols.upstream_backup.nodes and model.cep.operator and adds
nothing of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from model.cep.merge import Inlet, ready
from model.cep.operator import Operator
from model.cep.savepoint import Savepoint
from model.core import Arrival, NodeName, Role, Site
from model.events import BEGINNING, Body, Event, Mark
from model.protocols.upstream_backup.buffers import Restore, join
from model.protocols.upstream_backup.nodes import OperatorNode, reinstate
from model.protocols.upstream_backup.savepoints import OperatorState, Scheme, origin, push, restore
from model.world import System

Arrivals = tuple[tuple[Arrival, ...], ...]
Taken = tuple[int, Event]
"""An input event with the input edge on which it comes."""


class Iteration(NamedTuple):
    """One call of `push`: the state before it, the event, the state after it, what it produced."""

    site: Site
    before: OperatorState
    edge: int
    event: Event
    after: OperatorState
    outputs: tuple[Event, ...]


class Reference:
    """The failure-free run of every node, for the arrivals of a world."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._inputs: dict[tuple[NodeName, Arrivals], tuple[Taken, ...]] = {}
        self._outputs: dict[tuple[NodeName, Arrivals], tuple[Event, ...]] = {}

    def inputs(self, name: NodeName, arrivals: Arrivals) -> tuple[Taken, ...]:
        """What the node takes, merged by time and edge."""
        key = (name, arrivals)
        if key not in self._inputs:
            site = self._system.sites[name]
            merged = [
                (event.body.time, edge, event)
                for edge, pred in enumerate(site.preds)
                for event in self.outputs(pred, arrivals)
            ]
            self._inputs[key] = tuple((edge, event) for _, edge, event in sorted(merged))
        return self._inputs[key]

    def outputs(self, name: NodeName, arrivals: Arrivals) -> tuple[Event, ...]:
        """What the node sends: a source its arrivals, an operator its complex events."""
        key = (name, arrivals)
        if key not in self._outputs:
            site = self._system.sites[name]
            if site.role is Role.SOURCE:
                self._outputs[key] = _produced(arrivals[self._system.source_at[name]])
            else:
                start = origin(_scheme(site), len(site.preds))
                self._outputs[key] = self.replay(name, start, arrivals)
        return self._outputs[key]

    def replay(self, name: NodeName, savepoint: Savepoint, arrivals: Arrivals) -> tuple[Event, ...]:
        """What the operator sends once it is restored, if nothing has been deleted upstream."""
        site = self._system.sites[name]
        state = restore(_scheme(site), savepoint)
        outputs: list[Event] = []
        for edge, event in self.inputs(name, arrivals):
            if event.sn > savepoint.trim[edge]:
                state, produced = push(_operator(site), _scheme(site), state, edge, event)
                outputs += produced
        return tuple(outputs)


def _produced(arrivals: tuple[Arrival, ...]) -> tuple[Event, ...]:
    events, now = [], 0
    for number, (gap, type_, data) in enumerate(arrivals, 1):
        now += gap
        events.append(Event((number,), Body(now, type_, data)))
    return tuple(events)


def iterations(
    site: Site, node: OperatorNode, sender: NodeName, message: object
) -> Iterator[Iteration]:
    """The iterations that a node does when it takes an event, a watermark or the last answer to
    its hello, with which it is restored."""
    if isinstance(message, Restore) and node.awaited == {sender}:
        answers = join(node.replicas, message.replicas)
        node = reinstate(site, node._replace(replicas=answers, awaited=frozenset()))
        message = Mark(BEGINNING)
    if node.operator is None or not isinstance(message, Event | Mark):
        return
    edge = site.preds.index(sender)
    inlet = node.inlets[edge]
    if isinstance(message, Mark):
        inlet = inlet._replace(mark=max(inlet.mark, message.time))
    elif message.sn > inlet.heard:
        inlet = inlet.hear(message)
    else:
        return
    inlets = _with(node.inlets, edge, inlet)
    state = node.operator
    while (at := ready(inlets)) is not None:
        event = inlets[at].queue.first()
        inlets = _with(inlets, at, inlets[at]._replace(queue=inlets[at].queue.rest()))
        after, outputs = push(_operator(site), _scheme(site), state, at, event)
        yield Iteration(site, state, at, event, after, outputs)
        state = after


def _with(inlets: tuple[Inlet, ...], at: int, inlet: Inlet) -> tuple[Inlet, ...]:
    return (*inlets[:at], inlet, *inlets[at + 1 :])


def _operator(site: Site) -> Operator:
    assert isinstance(site.spec, Operator)
    return site.spec


def _scheme(site: Site) -> Scheme:
    scheme = site.config.design.scheme
    assert isinstance(scheme, Scheme)
    return scheme
