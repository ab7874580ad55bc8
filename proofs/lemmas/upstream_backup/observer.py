"""The observer: it follows the explorer through the worlds of a system, for an abstraction.

Rule of this file: it knows nodes, channels and the iterations of operators, and no lemma.  An
abstraction translates the observations into the symbols of its lemma.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from model.actions import Action, Deliver
from model.cep.merge import InputQueue, ready
from model.core import NodeName, Site
from model.events import BEGINNING, Event, Mark
from model.protocols.upstream_backup.buffers import Restore, join
from model.protocols.upstream_backup.nodes import reinstate
from model.protocols.upstream_backup.savepoints import NumberedOperator, push
from model.protocols.upstream_backup.states import OperatorNode
from model.system import System
from model.world import World
from proofs.lemmas.upstream_backup.reference import Reference, operator_of, scheme_of


class OperatorIteration(NamedTuple):
    """One call of `push`: the state before it, the event, the state after it, its outputs."""

    site: Site
    before: NumberedOperator
    edge: int
    event: Event
    after: NumberedOperator
    outputs: tuple[Event, ...]


class Observer:
    """A world system, its failure-free run, and the worlds that have been looked at."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.reference = Reference(system)
        self._known: set[tuple[Any, ...]] = set()

    def is_new(self, *key: Any) -> bool:
        """Is this looked at for the first time?  From now on it is known."""
        known = len(self._known)
        self._known.add(key)
        return len(self._known) > known

    def node(self, world: World, name: NodeName) -> Any:
        """The state of a node; DOWN after a crash."""
        return world.nodes[self.system.node_at[name]].state

    def channel(self, world: World, sender: NodeName, receiver: NodeName) -> tuple[Any, ...]:
        """The messages on their way, the first to be delivered first."""
        return world.channels[self.system.channel_at[sender, receiver]]

    def iterations(self, world: World, action: Action) -> Iterator[OperatorIteration]:
        """The iterations that an operator does with the message that the action delivers."""
        if not isinstance(action, Deliver):
            return
        node = self.node(world, action.node)
        if isinstance(node, OperatorNode):
            message = self.channel(world, action.sender, action.node)[0]
            yield from iterations(self.system.sites[action.node], node, action.sender, message)


@lru_cache(maxsize=4096, typed=True)  # messages of two types may be equal
def iterations(
    site: Site, node: OperatorNode, sender: NodeName, message: object
) -> tuple[OperatorIteration, ...]:
    """The iterations that a node does when it takes an event, a watermark or the last answer to
    its hello, with which it is restored.  Several abstractions ask for those of one step."""
    return tuple(_iterations(site, node, sender, message))


def _iterations(
    site: Site, node: OperatorNode, sender: NodeName, message: object
) -> Iterator[OperatorIteration]:
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
        after, outputs = push(operator_of(site), scheme_of(site), state, at, event)
        yield OperatorIteration(site, state, at, event, after, outputs)
        state = after


def _with(inlets: tuple[InputQueue, ...], at: int, inlet: InputQueue) -> tuple[InputQueue, ...]:
    return (*inlets[:at], inlet, *inlets[at + 1 :])
