"""Which ports have their lineage captured: scopes over the connections of a pipeline.

Rule of this file: sets of ports; nothing is logged or read here.
LOG.io, Section 3.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from spark_check.log_io.library.values import check_names

Port: TypeAlias = tuple[str, str]
"""An operator, and one of its ports or of its connections to external systems."""


class Connection(NamedTuple):
    """From an output port to an input port."""

    sender: str
    sender_port: str
    receiver: str
    receiver_port: str

    @property
    def start(self) -> Port:
        return self.sender, self.sender_port

    @property
    def end(self) -> Port:
        return self.receiver, self.receiver_port


class Scope(NamedTuple):
    """Lineage is captured from one output port to another one; `end` may be a connection on which
    an operator executes write actions, so that lineage reaches an external system."""

    start: Port
    end: Port


@dataclass(frozen=True, slots=True)
class Capture:
    """inputs: the set IN of all operators.  outputs: their set OUT.  kept: the output ports whose
    event bodies lineage queries need (3.6): OUT, and where scopes start.  ends: where scopes end.
    """

    inputs: frozenset[Port] = frozenset()
    outputs: frozenset[Port] = frozenset()
    kept: frozenset[Port] = frozenset()
    ends: frozenset[Port] = frozenset()

    @property
    def operators(self) -> frozenset[str]:
        """Those with an input port whose lineage is captured."""
        return frozenset(name for name, _ in self.inputs)


def capture(
    connections: Iterable[Connection], *scopes: Scope, writes: Iterable[Port] = ()
) -> Capture:
    """The ports on the lineage paths of the scopes.

    A path goes from an input port of an operator to each of its output ports.  writes: the
    connections to external systems on which operators write, for scopes that end there.  Raises
    ValueError for a scope whose end is unknown, or cannot be reached from its start, and for names
    that no query could ask for.
    """
    connections, writes = tuple(connections), tuple(writes)
    check_names(*(name for one in (*connections, *writes) for name in one))
    found = Capture()
    for scope in scopes:
        used = path_connections(connections, scope, writes)
        inputs = frozenset(one.end for one in used)
        starts = frozenset(one.start for one in used)
        found = Capture(
            found.inputs | inputs,
            found.outputs | (starts - {scope.start}) | {scope.end},
            found.kept | starts | {scope.end},
            found.ends | {scope.end},
        )
    return found


def ports_between(
    connections: Iterable[Connection], scope: Scope, writes: Iterable[Port] = ()
) -> frozenset[Port]:
    """The output ports on the lineage paths of a scope, for a query of this scope alone.

    writes: see capture, which also says what raises ValueError.
    """
    used = path_connections(tuple(connections), scope, writes)
    return frozenset(one.start for one in used) | {scope.end}


def path_connections(
    connections: tuple[Connection, ...], scope: Scope, writes: Iterable[Port]
) -> frozenset[Connection]:
    """The connections on the lineage paths of a scope."""
    if scope.end not in {*(one.start for one in connections), *writes}:
        raise ValueError(
            f"{'.'.join(scope.end)}: give an output port, or a connection to an external system"
            " that is among the writes"
        )
    after = _reach(connections, [one for one in connections if one.start == scope.start], True)
    last = [one for one in connections if one.receiver == scope.end[0]]
    found = after & _reach(connections, last, False)
    if not found:
        ports = [".".join(port) for port in scope]
        raise ValueError(f"no path from {ports[0]} to {ports[1]}: give the scope in this order")
    return found


def _reach(
    connections: tuple[Connection, ...], found: list[Connection], forward: bool
) -> frozenset[Connection]:
    """The connections that can be reached from those found, forward or backward."""
    reached = set(found)
    while found:
        one = found.pop()
        for other in connections:
            before, after = (one, other) if forward else (other, one)
            if before.receiver == after.sender and other not in reached:
                reached.add(other)
                found.append(other)
    return frozenset(reached)
