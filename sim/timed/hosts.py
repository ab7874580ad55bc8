"""Hosts: the cores that their nodes share, and the link by which they send to other hosts.

Rule of this file: no step and no message; sim.timed.queued_loop asks for cores, and sends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from model.core import NodeName
from sim.timed.costs import Costs, HostCosts, picoseconds
from sim.timed.network import TimedLine, TimedNode


class TimedHost:
    """A host of a run.

    nodes: those that are deployed.  free: the number of cores that no step has.  using: the nodes
    that have a core, each with the time since when.  waiting: those that wait for one, in order.
    busy: the time for which cores were in use, added up.  out: the line to other hosts; None: each
    channel is a link of its own.
    """

    def __init__(self, name: str, costs: HostCosts, nodes: tuple[TimedNode, ...]) -> None:
        self.name, self.cores, self.free, self.nodes = name, costs.cores, costs.cores, nodes
        self.using: dict[NodeName, int] = {}
        self.waiting: deque[TimedNode] = deque()
        self.busy = 0
        bandwidth = costs.bandwidth_bytes_per_s
        self.out = TimedLine(bandwidth) if bandwidth else None

    @property
    def share(self) -> int:
        """The time for which each core was in use, in the mean."""
        return self.busy // self.cores

    @property
    def sharing(self) -> tuple[NodeName, ...]:
        """The nodes that may have to wait for a core."""
        working = tuple(node.name for node in self.nodes if node.pace)
        return working if len(working) > self.cores else ()

    def ask(self, node: TimedNode, now: int) -> bool:
        """Does the node have a core?  If none is free, the node waits."""
        if node.name in self.using:
            return True
        if self.free:
            self.free -= 1
            self.using[node.name] = now
            return True
        if node not in self.waiting:
            self.waiting.append(node)
        return False

    def leave(self, node: TimedNode, now: int) -> TimedNode | None:
        """The node gives its core back, or waits no more; return the node that has the core now."""
        if node in self.waiting:
            self.waiting.remove(node)
        since = self.using.pop(node.name, None)
        if since is None:
            return None
        self.busy += now - since
        if not self.waiting:
            self.free += 1
            return None
        following = self.waiting.popleft()
        self.using[following.name] = now
        return following


def place_nodes(costs: Costs, nodes: Mapping[NodeName, TimedNode]) -> tuple[TimedHost, ...]:
    """The hosts with the nodes that are deployed; the channels between them get the delays and the
    lines of the hosts."""
    hosts = tuple(
        TimedHost(name, host, tuple(nodes[one] for one in host.nodes if one in nodes))
        for name, host in costs.hosts.items()
    )
    for host in hosts:
        inside = TimedLine(None)
        within = picoseconds(costs.hosts[host.name].within_s)
        for node in host.nodes:
            for channel in node.outgoing.values():
                if channel.prompt:
                    continue
                if channel.receiver in host.nodes:
                    channel.line, channel.delay = inside, within
                else:
                    channel.line = host.out
    return hosts
