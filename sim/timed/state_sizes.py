"""The bytes of operators' states in messages, durable values and memories, by the user's prices.

Rule of this file: no time; the protocol says which states there are, and the scenario their sizes.

A checkpoint that is incremental has the keys and windows that have changed since the last one that
the node sent, saved or read back.  The fixed part is in the first checkpoint alone, since it does
not change.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from model.core import NodeName
from model.costs import CarriedStates, MessageKind, Size, StateParts
from model.errors import Invalid, brief, describe_error
from model.state_parts import count_changed, count_parts
from model.system import System, size_of
from sim.timed.costs import Costs, StateCosts

CARRYING = frozenset(
    {MessageKind.CHECKPOINT, MessageKind.UPLOAD, MessageKind.RECOVERY, MessageKind.COPY}
)
"""The kinds of messages that may have a state in them."""
ASKED_AGAIN = 8
"""The number of values whose size is remembered for each node: a loop asks for the size of a
message when a store takes the message, and again when the message departs."""


def states_of(system: System, name: NodeName, value: Any) -> CarriedStates:
    """The operators' states in a value of a node.  Raises Invalid unless there is one for each
    operator that the node runs, or none."""
    who = system.protocol.name
    try:
        found = system.protocol.behaviour.states(value)
    except BaseException as error:  # of a protocol, which may be anybody's
        raise Invalid(f"{who}: states raises {describe_error(error)} for {brief(value)}") from error
    if not isinstance(found, CarriedStates):
        raise Invalid(f"{who}: states returns {brief(found)}; return CarriedStates(...)")
    operators = system.operators_at(name)
    if found.states and len(found.states) != len(operators):
        raise Invalid(
            f"{who}: states returns {len(found.states)} states for {name}; give one for each of "
            f"{', '.join(operators)}"
        )
    return found


class NodeStates:
    """The states that a node has sent, saved or read back.

    base: the last ones; None: none.  write: the object of the last durable write.  known: the last
    values, with the sizes that were found.
    """

    __slots__ = ("base", "known", "write")

    def __init__(self) -> None:
        self.base: tuple[Any, ...] | None = None
        self.write: Any = None
        self.known: deque[tuple[Any, Size]] = deque(maxlen=ASKED_AGAIN)


class StateSizes:
    """The sizes of states in a run.

    prices: of a node that runs an operator with a price, one for each of its operators.  stored:
    the operators, as nodes run them together, of which there is a checkpoint.  bare: the nodes that
    have lost the copies on their disks, and have made no checkpoint since.
    """

    def __init__(self, system: System, costs: Costs) -> None:
        self.system, self.costs = system, costs
        self.prices: dict[NodeName, tuple[StateCosts | None, ...]] = {}
        self.nodes: dict[NodeName, NodeStates] = {}
        self.stored: set[tuple[NodeName, ...]] = set()
        self.bare: set[NodeName] = set()
        for name in system.sites:
            prices = tuple(costs.state.get(one) for one in system.operators_at(name))
            if any(prices):
                self.prices[name] = prices
                self.nodes[name] = NodeStates()

    def sent(self, sender: NodeName, receiver: NodeName, message: Any) -> Size:
        """The size of a message, with the states in it: the receiver reads them if the sender has
        none of its own."""
        size = size_of(self.system.protocol, message)
        if size.kind not in CARRYING:
            return size
        if sender in self.nodes:
            return self._written(sender, message, size)
        if receiver in self.nodes:
            whole = self.read(receiver, states_of(self.system, receiver, message))
            return size._replace(state_bytes=whole - self.read_locally(receiver, message))
        return size

    def read_locally(self, receiver: NodeName, message: Any) -> int:
        """The bytes of the states in an answer to a recovery that the receiver has on its own
        disk."""
        prices = self.prices.get(receiver, ())
        if receiver in self.bare or not any(price and price.local for price in prices):
            return 0
        states = states_of(self.system, receiver, message).states
        if not states or self.system.operators_at(receiver) not in self.stored:
            return 0
        kept = tuple(
            state if price is not None and price.local else None
            for price, state in zip(prices, states, strict=True)
        )
        return self._bytes(receiver, kept)

    def saved(self, name: NodeName, value: Any) -> Size:
        """The size of a durable value, with the states that are new in it."""
        size = size_of(self.system.protocol, value)
        return self._written(name, value, size) if name in self.nodes else size

    def read(self, name: NodeName, carried: CarriedStates) -> int:
        """The bytes of states that a node reads back; its next checkpoint follows them.  Before the
        first checkpoint there is nothing to read."""
        if not carried.states or self.system.operators_at(name) not in self.stored:
            return 0
        self.nodes[name].base = carried.states
        return self._bytes(name, carried.states)

    def restarted(self, name: NodeName, durable: Any, state: Any) -> int:
        """The bytes of states that a restart reads from the node's disk: those that the node then
        has, or those of the disk if the node waits with them."""
        own = self.nodes.get(name)
        if own is None:
            return 0
        stored = states_of(self.system, name, durable)
        own.base, own.write = None, stored.write
        own.known.clear()
        if not stored.states:
            return 0
        held = states_of(self.system, name, state)
        return self.read(name, held if held.states else stored)

    def held(self, name: NodeName, state: Any) -> int:
        """The bytes of states in a node's memory."""
        if name not in self.nodes:
            return 0
        found = states_of(self.system, name, state).states
        return self._bytes(name, found) if found else 0

    def _written(self, name: NodeName, value: Any, size: Size) -> Size:
        own = self.nodes[name]
        for known, found in own.known:
            if known is value:
                return found
        carried = states_of(self.system, name, value)
        if carried.states and (carried.write is None or carried.write is not own.write):
            before = None if carried.whole else own.base
            size = size._replace(state_bytes=self._bytes(name, carried.states, before))
            own.base, own.write = _merged(own.base, carried.states), carried.write
            self.stored.add(self.system.operators_at(name))
            self.bare.discard(name)
        own.known.append((value, size))
        return size

    def _bytes(
        self, name: NodeName, states: tuple[Any, ...], before: tuple[Any, ...] | None = None
    ) -> int:
        """before: the states of the last checkpoint, which an incremental one follows."""
        found = 0
        old = (None,) * len(states) if before is None else before
        for price, state, last in zip(self.prices[name], states, old, strict=True):
            if price is None or state is None:
                continue
            in_parts = price.incremental or isinstance(state, StateParts)
            changes = last is not None and in_parts
            parts = count_changed(last, state) if changes else count_parts(state)
            found += 0 if changes else price.bytes
            found += parts.keys * price.key_bytes + parts.windows * price.window_bytes
        return found


def _merged(before: Any, now: Any) -> Any:
    """The newest states; one that is not there (None) is as it was before."""
    if now is None:
        return before
    if type(now) is type(before) is tuple and len(now) == len(before):
        return tuple(_merged(old, new) for old, new in zip(before, now, strict=True))
    return now
