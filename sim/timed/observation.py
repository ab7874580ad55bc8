"""The driver's looks at a run: series of points, peaks, and the work of nodes and links.

Rule of this file: it reads nodes and channels and changes none, but for the effects that are due,
which the driver settles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from model.core import NodeName
from model.system import read_memory
from model.world import DOWN
from sim.timed.hosts import TimedHost
from sim.timed.network import TimedLine, TimedNode, is_stored
from sim.timed.record import Asked, SeriesPoint
from sim.timed.sinks import SinkWriter
from sim.timed.state_sizes import StateSizes
from sim.timed.stores import SharedStore

OTHERS = "other hosts"
"""The other end of the link of a host."""


class RunObservation:
    """The observations of a run so far.

    settle: lets the effects of a node take place that are due.  watched: are nodes' settled states
    kept?  gauged: the nodes with a backup.  queued: the nodes with a queue to look at.  peak: the
    largest backup up to the last point; peak_since: since then; most: in the whole run.
    stores, hosts, writers: those that nodes and sinks wait for.  weighed: the last state of each
    node whose memory was read, and its bytes: most nodes have the same state when the next one is
    read.
    """

    def __init__(
        self,
        sizes: StateSizes,
        nodes: Mapping[NodeName, TimedNode],
        settle: Callable[[TimedNode, int], None],
        watched: bool,
    ) -> None:
        self.sizes, self.nodes = sizes, nodes
        self.settle, self.watched = settle, watched
        self.gauged = [node for node in nodes.values() if node.gauged]
        self.queued = [n for n in nodes.values() if n.name in sizes.system.deployment.crashable]
        self.points: list[SeriesPoint] = []
        self.peak = self.peak_since = self.most = 0
        self.stores: Mapping[NodeName, SharedStore] = {}
        self.hosts: tuple[TimedHost, ...] = ()
        self.writers: Mapping[NodeName, SinkWriter] = {}
        self.memory_peaks = dict.fromkeys(nodes, 0)
        self.memory_peak = 0
        self.weighed: dict[NodeName, tuple[Any, int]] = dict.fromkeys(nodes, (DOWN, 0))

    def look(self, now: int) -> None:
        """Add a point to the series."""
        self.measure(now)
        queues = []
        for node in self.queued:
            self.settle(node, now)
            queues.append(node.longest)
            node.longest = len(node.unsettled) + len(node.inputs)
        self.points.append(SeriesPoint(now, self.peak_since, tuple(queues), self._weigh(now)))
        self.peak = max(self.peak, self.peak_since)
        self.peak_since = 0

    def _weigh(self, now: int) -> tuple[int, ...]:
        """The bytes in the memory of each node; they count for the peaks.

        Where nobody watches, steps that a node has begun count as done.
        """
        watched, weighed, peaks = self.watched, self.weighed, self.memory_peaks
        found = []
        for name, node in self.nodes.items():
            unsettled = node.unsettled
            if unsettled and unsettled[0][0] <= now:
                self.settle(node, now)
            state = node.settled if watched else node.state
            last, held = weighed[name]
            if state is not last:
                held = self._memory_bytes(name, state)
                weighed[name] = state, held
                if held > peaks[name]:
                    peaks[name] = held
            found.append(held)
        self.memory_peak = max(self.memory_peak, sum(found))
        return tuple(found)

    def _memory_bytes(self, name: NodeName, state: Any) -> int:
        if state is DOWN:
            return 0
        sizes = self.sizes
        memory = read_memory(sizes.system, name, state)
        return sizes.costs.memory_bytes(memory) + sizes.held(name, state)

    def count_asked(self, until: int) -> Asked:
        """The work that the input asked for.  until: the time of its last event."""
        wire: dict[tuple[str, str], int] = {}
        shared: dict[TimedLine | None, tuple[str, str]] = {
            host.out: (host.name, OTHERS) for host in self.hosts if host.out is not None
        }
        for node in self.nodes.values():
            for channel in node.incoming:
                ends = shared.get(channel.line, (channel.sender, node.name))
                sent = sum(t.count * t.wire for t in channel.tariffs.values())
                wire[ends] = wire.get(ends, 0) + sent
        service = {node.name: node.worked for node in self.queued}
        growing = {node.name: _growing(node) for node in self.queued}
        for name, store in self.stores.items():
            if store.busy:
                service[name], growing[name] = store.busy // len(store.free), 0
        for name, writer in self.writers.items():
            service[name], growing[name] = writer.share, 0
        hosts = {host.name: host.share for host in self.hosts}
        sharing = frozenset(name for host in self.hosts for name in host.sharing)
        return Asked(until, service, growing, wire, hosts, sharing)

    def measure(self, now: int) -> None:
        """Measure the backup of all nodes together."""
        total = 0
        for node in self.gauged:
            unsettled = node.unsettled
            if unsettled and unsettled[0][0] <= now:
                self.settle(node, now)
            total += node.kept
        if total > self.peak_since:
            self.peak_since = total
            if total > self.most:
                self.most = total
                self._weigh(now)


def _growing(node: TimedNode) -> int:
    """The work that grows with the events that the node receives and sends."""
    received = (t.count * t.growing for channel in node.incoming for t in channel.tariffs.values())
    sent = (
        tariff.count * tariff.events
        for channel in node.outgoing.values()
        for size, tariff in channel.tariffs.items()
        if not is_stored(channel, size)
    )
    return sum(received) + node.making * sum(sent)
