"""The states of the nodes of upstream backup, and the amounts that they hold.

Rule of this file: no step of a node.  Lima et al., Sections II and III.
"""

from __future__ import annotations

from typing import NamedTuple

from model.cep.merge import InputQueue
from model.cep.savepoint import Savepoint
from model.core import (
    NodeName,
    Quantity,
    Site,
)
from model.costs import NO_STATES, Amount, CarriedStates, Gauges, Memory
from model.events import BEGINNING, SN
from model.parts import contents
from model.protocols.upstream_backup.buffers import (
    Outlet,
    Replicas,
)
from model.protocols.upstream_backup.savepoints import (
    NumberedOperator,
)

RETAINED = Quantity("retained windows", "windows", "windows that a savepoint may still begin at")


class SourceNode(NamedTuple):
    latest: int
    now: int
    outlets: tuple[Outlet, ...]
    replicas: Replicas = ()


class OperatorNode(NamedTuple):
    """An operator, its queues, and the savepoints of the nodes below.

    operator: None from a crash until all predecessors have answered.  awaited: predecessors that
    have not answered.  greeted: successors to answer after the recovery.  marked: the watermark
    that successors know.
    """

    operator: NumberedOperator | None
    inlets: tuple[InputQueue, ...]
    outlets: tuple[Outlet, ...]
    replicas: Replicas
    mine: Savepoint
    marked: int = BEGINNING
    awaited: frozenset[NodeName] = frozenset()
    greeted: tuple[NodeName, ...] = ()


class SinkNode(NamedTuple):
    heard: tuple[SN, ...]


def gauges(site: Site, state: SourceNode | OperatorNode | SinkNode) -> Gauges:
    """The gauges of a node: the events kept for successors, the windows, and as progress the last
    event processed, one for each edge."""
    if isinstance(state, SinkNode):
        return Gauges(0, 0, state.heard, ((RETAINED, 0),))
    buffered = sum(len(outlet.backup) for outlet in state.outlets)
    if isinstance(state, SourceNode):
        return Gauges(buffered, 0, state.latest, ((RETAINED, 0),))
    if state.operator is None:
        return Gauges(buffered, 0, None, ((RETAINED, 0),))
    windows = len(state.operator.records)
    retained = windows + len(state.operator.closed)
    return Gauges(buffered, windows, state.operator.last, ((RETAINED, retained),))


def memory(_site: Site, state: SourceNode | OperatorNode | SinkNode) -> Memory:
    if isinstance(state, SinkNode):
        return Memory()
    buffers = Amount(sum(len(outlet.backup) for outlet in state.outlets))
    if isinstance(state, SourceNode):
        return Memory(buffers, Amount(0, count_items(state.replicas)))
    savepoints = Amount(0, count_items((*state.replicas, ("own", state.mine))))
    waiting = sum(len(inlet.queue) for inlet in state.inlets)
    if state.operator is None:
        return Memory(buffers, savepoints, Amount(waiting))
    events, items = contents(state.operator.cep)
    return Memory(buffers, savepoints, Amount(events + waiting, items + len(state.operator.closed)))


def operator_states(value: object) -> CarriedStates:
    """The operator's state in memory; no message and no disk has it."""
    match value:
        case OperatorNode(NumberedOperator() as operator):
            return CarriedStates((operator.cep,))
        case _:
            return NO_STATES


def count_items(replicas: Replicas) -> int:
    return sum(1 + (len(s.layout.windows) if s.layout else 0) for _, s in replicas)
