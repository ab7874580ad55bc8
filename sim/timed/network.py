"""Nodes and channels of a timed run: what the driver knows of each at one moment.

Rule of this file: mutable state and how it is laid out; sim.timed.simulator changes it.  Hot, so
slots.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from simpy.events import Event

from model.core import Effect, NodeName, Site, Size
from sim.timed.clock import Moment
from sim.timed.costs import Costs
from sim.timed.failures import Outage
from sim.timed.record import LogEntry, Traffic


class Tariff:
    """Messages of one size on one channel: what each costs, and how many there were."""

    __slots__ = ("bytes", "count", "service", "wire")

    def __init__(self, costs: Costs, size: Size, pace: float) -> None:
        self.wire = costs.wire_ps(size)
        self.service = round(costs.service_ps(size) * pace)
        self.bytes = costs.bytes(size)
        self.count = 0


class Channel(Event):
    """A link, and the SimPy event that its first message arrives; then it is set for the next.

    flying: (arrives, departed, message, tariff) of what has not arrived; departed is when the
    effects of the step that sent it took place.  free: when the link has sent all that it was
    given.  size, tariff: those of the message sent last.
    """

    def __init__(
        self,
        sender: NodeName,
        receiver: Node,
        delay: int,
    ) -> None:
        self.sender, self.receiver, self.delay = sender, receiver, delay
        self.free = 0
        self.flying: deque[tuple[int, int, Any, Tariff]] = deque()
        self.tariffs: dict[Size, Tariff] = {}
        self.size: Size | None = None
        self.tariff: Tariff


Aftermath: TypeAlias = "tuple[tuple[Effect, ...], LogEntry | None, int | None]"
"""Of a step that is watched, until its effects take place: these, what to log, the backup then
kept."""


class Node:
    """busy: when the service of all that has arrived ends; worked: how long there was any.
    done: when the last effects take place.  since: what departed before was sent to a node that was
    down.  kept: the backup since kept_since; kept_area: what it came to before, in events times
    picoseconds.  longest: the most that has been pending since somebody looked.  pace: how many
    times as long as others it needs; 0 of sources and sinks.  again_ps: how long after its restart
    it crashes once more."""

    __slots__ = (
        *("again_ps", "busy", "done", "durable", "gauged", "incoming", "kept", "kept_area"),
        *("kept_since", "longest", "name", "outage", "outgoing", "pace", "pending", "since"),
        *("site", "state", "timers", "worked"),
    )

    def __init__(self, site: Site, state: Any, pace: float, gauged: bool) -> None:
        self.site, self.name, self.state, self.pace = site, site.name, state, pace
        self.durable: Any = None
        self.outgoing: dict[NodeName, Channel] = {}
        self.incoming: list[Channel] = []
        self.pending: deque[tuple[int, Aftermath | None]] = deque()
        self.busy = self.worked = self.done = self.longest = 0
        self.since: float = 0
        self.again_ps: int | None = None
        self.timers: dict[str, Moment] = {}
        self.outage: Outage | None = None
        self.gauged, self.kept, self.kept_area, self.kept_since = gauged, 0, 0, 0

    def keep(self, now: int, kept: int) -> None:
        """It keeps so many events from now on."""
        self.kept_area += self.kept * (now - self.kept_since)
        self.kept, self.kept_since = kept, now


def traffic(nodes: Iterable[Node]) -> Mapping[str, Traffic]:
    """What was sent on all channels, by the name of the traffic."""
    found: dict[str, Traffic] = {}
    for node in nodes:
        for channel in node.incoming:
            for size, tariff in channel.tariffs.items():
                count = tariff.count
                row = found.get(size.traffic, Traffic(0, 0, 0, 0))
                found[size.traffic] = Traffic(
                    row.messages + count,
                    row.events + count * size.events,
                    row.bytes + count * tariff.bytes,
                    row.service_ps + count * tariff.service,
                )
    return dict(sorted(found.items(), key=lambda item: item[0]))
