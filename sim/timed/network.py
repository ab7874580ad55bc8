"""Nodes and channels of a timed run: the driver's data about each at one moment.

Rule of this file: no change of state; the file lays the mutable state out, with slots because it is
hot, and the loops, sim.timed.running and sim.timed.crashes change the state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from simpy.events import Event

from model.core import Effect, Input, NodeName, Site, TimerFired
from model.costs import MessageKind, Size
from sim.timed.clock import Occurrence
from sim.timed.costs import Costs, picoseconds
from sim.timed.failures import TimedCrash, TimedOutage
from sim.timed.record import LogEntry, SentMessages

LASTING = (MessageKind.CHECKPOINT, MessageKind.DETERMINANT)
"""The kinds of messages that a prompt site stores."""


class Tariff:
    """The costs of a message of one size on one channel, the events in it, and the number of such
    messages.  growing: the part of the service that grows with the events.  upload: the
    size, if a store writes the message beside the work of the sender.

    moved: a store at one end moves the states in the message, at its bandwidth and not at the
    link's.  A receiver that stores and is not prompt is busy with the write, also of an upload.
    """

    __slots__ = ("bytes", "count", "events", "growing", "service", "upload", "wire")

    def __init__(self, costs: Costs, size: Size, receiver: TimedNode, moved: bool = False) -> None:
        self.wire = costs.wire_ps(size._replace(state_bytes=0) if moved else size)
        self.service = round(costs.service_ps(size, receiver.operator) * receiver.pace)
        if receiver.stores and size.kind in (*LASTING, MessageKind.UPLOAD):
            self.service += costs.save_ps(size)
        self.growing = round(costs.events_ps(size, receiver.operator) * receiver.pace)
        self.bytes = costs.bytes(size)
        self.events = size.events
        self.upload = size if size.kind is MessageKind.UPLOAD else None
        self.count = 0


class TimedLine:
    """A line that several channels share.  free: the time at which it has sent all its messages.
    bandwidth: in bytes a second; None: it takes no time."""

    __slots__ = ("bandwidth", "free")

    def __init__(self, bandwidth: float | None) -> None:
        self.bandwidth, self.free = bandwidth, 0

    def wire_ps(self, sent: int) -> int:
        """The picoseconds for which so many bytes occupy the line."""
        return picoseconds(sent / self.bandwidth) if self.bandwidth else 0

    def send(self, ready: int, wire: int) -> int:
        """The time at which a message that is ready has been sent."""
        self.free = max(self.free, ready) + wire
        return self.free


class Channel(Event):
    """A link, and the SimPy event that its first message arrives; the same event is then set for
    the next message.

    flying: (arrives, departed, message, tariff) of the messages on their way; `departed` is the
    time at which the effects of the sending step took place.  free: the time at which the link has
    sent all its messages.  size, tariff: those of the last message sent.  prompt: the receiver
    takes each message at its departure.  upload: when the sender, a store, begins and ends to write
    the last upload of the receiver; it answers at the end.  reads: the sender is a store, which
    reads what a restarted node asks for.  line: the one of a host; None: the channel is a link of
    its own.
    """

    def __init__(
        self,
        sender: NodeName,
        receiver: TimedNode,
        delay: int,
        prompt: bool = False,
        reads: bool = False,
    ) -> None:
        self.sender, self.receiver, self.delay, self.prompt = sender, receiver, delay, prompt
        self.reads = reads
        self.free = 0
        self.upload = (0, 0)
        self.flying: deque[tuple[int, int, Any, Tariff]] = deque()
        self.tariffs: dict[Size, Tariff] = {}
        self.size: Size | None = None
        self.tariff: Tariff
        self.line: TimedLine | None = None

    def hold(self, begins: int, ends: int) -> None:
        """Let no answer depart before the upload is stored."""
        self.upload = begins, ends
        self.free = max(self.free, ends)

    def drop(self, now: int) -> int:
        """Drop all messages that are to come; return their number."""
        dropped = len(self.flying)
        self.flying.clear()
        self.free, self.upload = now, (now, now)
        return dropped


def is_stored(channel: Channel, size: Size) -> bool:
    """Does a prompt site store a message of this size?"""
    return channel.prompt and size.kind in LASTING


Aftermath: TypeAlias = "tuple[tuple[Effect, ...], LogEntry | None, int | None, Any, int]"
"""The rest of a watched step until its effects take place: (effects, entry for the log, number of
events then kept as backup, state, number of events that the step was given)."""


class QueuedInput:
    """An input that waits at a node, or the step on it that is under way (sim.timed.queued_loop).

    service: for the message.  events: in the input.  stores: the effects that the step still has to
    store.  began, served: None until then.
    """

    __slots__ = ("began", "effects", "events", "input_", "served", "service", "stores")

    def __init__(self, input_: Input | None, service: int, events: int = 0) -> None:
        self.input_, self.service, self.events = input_, service, events
        self.effects: tuple[Effect, ...] = ()
        self.stores: deque[Effect] = deque()
        self.began: int | None = None
        self.served: int | None = None

    @property
    def is_timer(self) -> bool:
        return isinstance(self.input_, TimerFired)


class TimedNode:
    """A node of a timed run.

    busy: the time at which the service of all arrived messages ends.  worked: the service time so
    far.  done: the time at which the last effects take place.  since: a message that departed
    before this time was sent while the node was down.

    unsettled: (time of the effects, Aftermath or None) of the steps whose effects have not taken
    place; only the fast loop fills it.  inputs: those that have come and are not processed, where
    the first one may be under way in the queued loop; the fast loop fills it for nodes that defer.
    under_way: the input of the step that the node has begun, in a queued run.  longest: the largest
    number of these inputs or steps since the last look.  defers: has it set a timer, which goes
    before messages that wait, so that steps are evaluated when the node is free for them?

    kept: the backup since kept_since.  kept_area: the sum of the backup before that, in events
    times picoseconds.  pace: the factor by which service takes longer than elsewhere; 0 for sources
    and sinks.  making: the service for each event that the node sends.  again: one more crash,
    whose time counts from the restart.  paused: the time until which the node is suspended.
    settled: the state with the effects that have taken place, in a watched run.  ticks: by kind,
    when a timer last ran out.  replicas: the other nodes with the same job.  job: the name of it.
    jobs_before: by sender, its job.  aged: are the ages of its events recorded?  asks: some channel
    of it leads to a prompt site.  operator: the first one that it runs, whose work and pace it has.
    reading: the time at which its state has been read back; it takes no message before.  stores: it
    is a store, and not prompt.  stored: the time at which a store has stored and read all that it
    was asked for, or a node all that it writes beside its work.  durable: as model.world.Node has
    it.  unsynced: by file, the sizes of the writes without a sync, also of steps that have not
    taken effect yet (sim.timed.files); () without files.
    """

    __slots__ = (
        *("again", "aged", "asks", "busy", "defers", "done", "durable", "gauged", "incoming"),
        *("inputs", "job", "jobs_before", "kept", "kept_area", "kept_since", "longest", "making"),
        *("name", "operator", "outage", "outgoing", "pace", "paused", "reading", "replicas"),
        *("settled", "since", "site", "state", "stored", "stores", "ticks"),
        *("timers", "under_way", "unsettled", "unsynced", "worked"),
    )

    def __init__(self, site: Site, state: Any, pace: float, making: int, gauged: bool) -> None:
        self.site, self.name, self.state, self.pace = site, site.name, state, pace
        self.settled = state
        self.making = making
        self.durable: Any = None
        self.unsynced: tuple[tuple[Size, ...], ...] = ()
        self.outgoing: dict[NodeName, Channel] = {}
        self.incoming: list[Channel] = []
        self.unsettled: deque[tuple[int, Aftermath | None]] = deque()
        self.inputs: deque[QueuedInput] = deque()
        self.busy = self.worked = self.done = self.longest = self.reading = 0
        self.since: float = 0
        self.again: TimedCrash | None = None
        self.paused = 0
        self.timers: dict[str, Occurrence] = {}
        self.ticks: dict[str, int] = {}
        self.replicas: tuple[TimedNode, ...] = ()
        self.job, self.aged = self.name, False
        self.jobs_before: dict[NodeName, NodeName] = {}
        self.outage: TimedOutage | None = None
        self.operator = self.name
        self.asks, self.stores, self.stored = False, False, 0
        self.defers = False
        self.under_way: Input | None = None
        self.gauged, self.kept, self.kept_area, self.kept_since = gauged, 0, 0, 0

    def wait(self, queued: QueuedInput) -> None:
        """Let an input wait: a timer before all messages that wait, after the step under way and
        the timers that ran out before; a message behind all."""
        inputs, at = self.inputs, len(self.inputs)
        if queued.is_timer:
            while at and inputs[at - 1].began is None and not inputs[at - 1].is_timer:
                at -= 1
        inputs.insert(at, queued)

    def keep(self, now: int, kept: int) -> None:
        """Record the number of events that the node keeps from now on."""
        self.kept_area += self.kept * (now - self.kept_since)
        self.kept, self.kept_since = kept, now


def traffic(nodes: Iterable[TimedNode]) -> Mapping[str, SentMessages]:
    """The messages sent on all channels, summed up by the name of the traffic."""
    found: dict[str, SentMessages] = {}
    for node in nodes:
        for channel in node.incoming:
            for size, tariff in channel.tariffs.items():
                count = tariff.count
                row = found.get(size.traffic, SentMessages(0, 0, 0, 0))
                found[size.traffic] = SentMessages(
                    row.messages + count,
                    row.events + count * size.events,
                    row.bytes + count * tariff.bytes,
                    row.service_ps + count * tariff.service,
                )
    return dict(sorted(found.items(), key=lambda item: item[0]))
