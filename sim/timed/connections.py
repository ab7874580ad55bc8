"""Bounded connections: which channels of a run carry the data stream, and how full each is.

Rule of this file: no time.  The file counts events, and sim.timed.queued_loop lets nodes wait.

A connection is a channel to an operator from a node that stands before it, or a prompt site that
the deployment calls a connection: such a site holds its events until the receiver lets it drop
them, also while the receiver is down.  An event is out of the connection when the receiver begins
with it.  LOG.io, Section 2.1.
"""

from __future__ import annotations

from collections.abc import Mapping

from model.core import NodeName, Received, Role
from model.system import System, read_gauges, size_of
from sim.timed.network import TimedNode


class BoundedConnection:
    """A connection to a receiver.  site: the prompt site that is the connection, if it is one.

    events: on the way, or waiting for the receiver, where no site counts them.  waiting: the nodes
    that wait for room.
    """

    __slots__ = ("events", "receiver", "site", "waiting")

    def __init__(self, receiver: TimedNode, site: TimedNode | None) -> None:
        self.receiver, self.site = receiver, site
        self.events = 0
        self.waiting: list[TimedNode] = []


Ends = Mapping[tuple[NodeName, NodeName], BoundedConnection]
"""Connections by sender and receiver of a channel."""


def find_connections(system: System, nodes: Mapping[NodeName, TimedNode]) -> tuple[Ends, Ends]:
    """The connections by the channels on which events come into them, and on which events leave
    them."""
    into: dict[tuple[NodeName, NodeName], BoundedConnection] = {}
    out: dict[tuple[NodeName, NodeName], BoundedConnection] = {}
    lasting = system.deployment.connections
    for sender, receiver in system.deployment.channels:
        node = nodes[receiver]
        if sender in lasting:
            out[sender, receiver] = BoundedConnection(node, nodes[sender])
        elif sender in node.site.preds and node.site.role is Role.OPERATOR:
            into[sender, receiver] = out[sender, receiver] = BoundedConnection(node, None)
    for (site, receiver), connection in out.items():
        if connection.site is not None:
            for channel in connection.site.incoming:
                if channel.sender != receiver:
                    into[channel.sender, site] = connection
    return into, out


def count_events(system: System, connection: BoundedConnection) -> int:
    """The number of events in the connection now."""
    site = connection.site
    if site is None:
        return connection.events
    held = read_gauges(system, site.name, site.state).buffered or 0
    return held - _begun(system, connection.receiver, site.name)


def _begun(system: System, receiver: TimedNode, site: NodeName) -> int:
    """The events of this connection in the step that the receiver has begun."""
    input_ = receiver.under_way
    if isinstance(input_, Received) and input_.sender == site:
        return size_of(system.protocol, input_.message).events
    return 0
