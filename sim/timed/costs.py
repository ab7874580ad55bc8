"""The costs of a run: service at nodes, links and stable storage.

Rule of this file: no float as a time of the driver.  People write seconds and bytes; the driver
counts whole picoseconds, so that sums and comparisons are exact and equal inputs give equal runs.

Sources and sinks stand for the outside world: their work costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from model.core import CHECKPOINTED, NodeName
from model.costs import Memory, Size

PS = 10**12
"""The number of picoseconds in a second."""

Some: TypeAlias = Annotated[float, Field(gt=0, allow_inf_nan=False)]
None_or_more: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Bytes: TypeAlias = Annotated[int, Field(ge=0)]


class ScenarioTable(BaseModel):
    """A table of a scenario file: unknown keys and values of another type are refused."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True
    )


class LinkCosts(ScenarioTable):
    """The costs of a link; every channel is a link of its own, FIFO."""

    delay_s: None_or_more = 0.0005
    """From the end of sending to the arrival."""
    bandwidth_bytes_per_s: Some | None = 125e6
    """Bytes that the link sends in a second."""


class Storage(ScenarioTable):
    """The costs of stable storage: each node has one device, FIFO.

    The effects of a step that saves take place when all its values are stored.  A write without a
    sync takes no time; the next sync, or the next synced write to its file, stores it in one write.
    """

    latency_s: None_or_more = 0.001
    """The time of a durable write of no bytes."""
    bandwidth_bytes_per_s: Some | None = 200e6
    """Bytes that the device writes in a second."""
    read_s: None_or_more = 0.0
    """The time in which a restarted node finds its state; the state of [costs.state] is then read
    at the bandwidth."""
    blocking: bool = True
    """The node does nothing else until its values are stored; false: it goes on with its next
    message."""


class StoreCosts(ScenarioTable):
    """The costs of one prompt site that stores messages, such as a log database, in place
    of those of [costs.storage].

    All nodes share its devices: transactions and reads are served in the order in which they come.
    A node waits for its transaction.
    """

    transaction_s: None_or_more
    """The time of a transaction of nothing."""
    event_s: None_or_more = 0.0
    """With each event in it, in addition."""
    item_s: None_or_more = 0.0
    """With each item in it, such as a state or a row of lineage, in addition."""
    bandwidth_bytes_per_s: Some | None = None
    """Bytes of events and items that a device writes in a second; without it, they take no time."""
    read_s: None_or_more = 0.0
    """The time of reading nothing, for an answer that a restarted node waits for."""
    read_event_s: None_or_more = 0.0
    """With each event in the answer, in addition."""
    devices: Annotated[int, Field(ge=1)] = 1
    """The number of requests that are served at the same time."""


class StateCosts(ScenarioTable):
    """The size of the state of one operator, in checkpoints and in memory.  It is written, sent and
    read back at the bandwidth of the store, storage or link that the protocol uses for it."""

    bytes: Bytes = 0
    """Of the part that does not depend on keys and windows and does not change."""
    key_bytes: Bytes = 0
    """Of each key (group) that the operator has seen, in addition."""
    window_bytes: Bytes = 0
    """Of each open window, in addition."""
    incremental: bool = False
    """A checkpoint has only the keys and windows that changed since the last one; a restart reads
    all of them."""
    local: bool = False
    """A node keeps a copy of its last checkpoint on its own disk, which a crash leaves: a restart
    reads the copy, at the bandwidth of [costs.storage], and not the shared store.  A host that is
    gone (`kind` of a failure) is gone with the copies."""


class SinkCosts(ScenarioTable):
    """The costs of each sink: it writes results to the outside world in batches, and processes a
    batch when it is written.  Its answers, such as acknowledgements, come after that.

    A write begins when a connection is free and the batch is full or has waited long enough; a
    message without events, such as a marker, makes the sink write all that came before.
    """

    latency_s: None_or_more
    """The time of a write of nothing."""
    event_s: None_or_more = 0.0
    """With each event in it, in addition."""
    batch: Annotated[int, Field(ge=1)] = 1
    """The number of events with which a batch is full."""
    linger_s: None_or_more = 0.0
    """The longest time for which the first event of a batch waits for others."""
    connections: Annotated[int, Field(ge=1)] = 1
    """The number of batches that are written at the same time; they count in their order."""


class HostCosts(ScenarioTable):
    """A host: its nodes share its cores and its link.  A node that is on no host has a core of its
    own and a link of its own to each other node.

    A step waits for a core, which it has for as long as its service takes, and not while the node
    waits for a store or for room.  Cores go to the nodes in the order in which they ask.
    """

    nodes: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    """The nodes on it: operators, sources, the sink, or other nodes that the protocol deploys."""
    cores: Annotated[int, Field(ge=1)]
    """The number of steps that are served at the same time."""
    bandwidth_bytes_per_s: Some | None = None
    """Bytes that the host sends to all other hosts in a second; without it, each channel has the
    bandwidth of [costs.link]."""
    within_s: None_or_more = 0.0
    """The delay of a message from one of its nodes to another, which takes no bandwidth."""


class Service(ScenarioTable):
    """The time for which an operator is busy."""

    event_s: None_or_more = 10e-6
    """With an event; [costs.work] has other times for some operators."""
    control_s: None_or_more = 2e-6
    """With a message without events."""
    item_s: None_or_more = 0.1e-6
    """With an item in a message, such as a window in a savepoint (model.core.Size)."""
    savepoint_s: None_or_more = 20e-6
    """With each savepoint that it makes, in addition."""


class OperatorWork(ScenarioTable):
    """The work of one operator."""

    event_s: None_or_more | None = None
    """The time with an event; without it, that of [costs.service]."""
    output_s: None_or_more = 0.0
    """The time with each event that the operator sends, for each receiver, also if it generates the
    event again; not for what a restart finds in a log and sends again."""


class Sizes(ScenarioTable):
    """The sizes of messages and of stored values."""

    event_bytes: Bytes = 100
    """Of an event."""
    control_bytes: Bytes = 40
    """Of a message without events."""
    item_bytes: Bytes = 16
    """Of an item in a message, such as a savepoint or a skip range, in addition; [costs.state] has
    the size of an operator's state."""
    saved_bytes: Bytes = 1000
    """Of a durable value without events and items."""


class Timer(ScenarioTable):
    """When a timer of one kind runs out: some time after it was set, or on the clock, then at the
    first tick that has not been used.

    If the name of the timer ends with ":overdue", it runs out at once if the tick after the last
    used one has passed.
    """

    after_s: Some | None = None
    """The time from the start of the timer to its end; give this or every_s."""
    every_s: Some | None = None
    """The time from one tick of the clock to the next."""
    phase_s: None_or_more = 0.0
    """The time of the first tick."""

    @model_validator(mode="after")
    def _one_kind(self) -> Timer:
        if (self.after_s is None) == (self.every_s is None):
            raise ValueError("give one of after_s and every_s")
        if self.phase_s and self.every_s is None:
            raise ValueError("phase_s goes with every_s")
        return self

    def due_ps(self, now: int, used: int | None, *, overdue: bool) -> int:
        """The time at which a timer runs out that is set now.  used: the time of the last one."""
        if self.every_s is None:
            return now + picoseconds(self.after_s or 0)
        every, phase = picoseconds(self.every_s), picoseconds(self.phase_s)
        if overdue and (used is None or _tick(used + 1, every, phase) < now):
            return now
        return _tick(now if used is None else max(now, used + 1), every, phase)


def _tick(at: int, every: int, phase: int) -> int:
    """The first tick at this time or later."""
    return phase + max(0, -(-(at - phase) // every)) * every


class Costs(ScenarioTable):
    """All costs of a scenario."""

    service: Service = Service()
    sizes: Sizes = Sizes()
    link: LinkCosts = LinkCosts()
    storage: Storage = Storage()
    timer_s: Some = 0.01
    """The time from the start of a timer to its end, if `timers` has nothing about its kind;
    families save, punctuate or begin batches by timers."""
    timers: dict[str, Timer] = {}
    """By kind of timer: a time of its own."""
    work: dict[str, OperatorWork] = {}
    """By operator: its own work."""
    slow: dict[str, Some] = {}
    """By operator: the factor by which its service takes longer than elsewhere."""
    notes: dict[str, None_or_more] = {}
    """By quantity that the protocol's notes count (`asif list`): the time for which an operator is
    busy with one."""
    state: dict[str, StateCosts] = {}
    """By operator: the size of its state; without it, the state takes no bytes of its own."""
    stores: dict[str, StoreCosts] = {}
    """By prompt site: its own costs as a store."""
    sink: SinkCosts | None = None
    """The costs of each sink; without them, a sink takes no time."""
    hosts: dict[str, HostCosts] = {}
    """By name: the hosts, and the nodes on them."""
    room: Annotated[int, Field(ge=1)] | None = None
    """The number of events from which a connection to an operator is full: who has to send on it
    waits.  Without it, a connection holds any number."""

    @model_validator(mode="after")
    def _nodes_wait(self) -> Costs:
        if self.waits and not self.storage.blocking:
            raise ValueError(
                "with stores, hosts, a sink or room, nodes wait for what they store; give "
                "storage.blocking = true"
            )
        return self

    @model_validator(mode="after")
    def _one_host_each(self) -> Costs:
        placed: dict[str, str] = {}
        for host, costs in self.hosts.items():
            for node in costs.nodes:
                if node in placed:
                    both = f"on {placed[node]} and on {host}"
                    raise ValueError(f"hosts: {node} is {both}; place it once")
                placed[node] = host
        return self

    @property
    def waits(self) -> bool:
        """Do nodes wait for stores, cores, sinks or room?"""
        return bool(self.stores or self.hosts) or self.sink is not None or self.room is not None

    def note_ps(self) -> Mapping[str, int]:
        """The price of a note, by the name of its quantity; others cost nothing."""
        prices = {CHECKPOINTED.name: self.service.savepoint_s, **self.notes}
        return {name: picoseconds(price) for name, price in prices.items() if price}

    def service_ps(self, size: Size, operator: NodeName = "") -> int:
        """The picoseconds for which a node that runs the operator is busy with the message."""
        each = self.service
        work = size.events * self._event_s(operator) if size.events else each.control_s
        return picoseconds(work + (size.items + size.copies) * each.item_s)

    def events_ps(self, size: Size, operator: NodeName) -> int:
        """The part of it that grows with the events."""
        return picoseconds(size.events * self._event_s(operator))

    def _event_s(self, operator: NodeName) -> float:
        own = self.work[operator].event_s if operator in self.work else None
        return self.service.event_s if own is None else own

    def output_ps(self, operator: NodeName) -> int:
        """The picoseconds for which a node is busy with an event that it sends."""
        return picoseconds(self.work[operator].output_s) if operator in self.work else 0

    def bytes(self, size: Size) -> int:
        each = self.sizes
        first = size.events * each.event_bytes or each.control_bytes
        return first + self._more_bytes(size)

    def _more_bytes(self, size: Size) -> int:
        """The bytes beyond the events that nodes process."""
        items, copies = size.items * self.sizes.item_bytes, size.copies * self.sizes.event_bytes
        return items + copies + size.state_bytes

    def memory_bytes(self, memory: Memory) -> int:
        event_bytes, item_bytes = self.sizes.event_bytes, self.sizes.item_bytes
        found = 0
        for events, items in memory:
            found += events * event_bytes + items * item_bytes
        return found

    def wire_ps(self, size: Size) -> int:
        """The picoseconds for which the message occupies the link."""
        bandwidth = self.link.bandwidth_bytes_per_s
        return picoseconds(self.bytes(size) / bandwidth) if bandwidth else 0

    def save_ps(self, *sizes: Size) -> int:
        """The picoseconds of a durable write of these values at once."""
        return picoseconds(self.storage.latency_s + self._moving_s(self.saved_bytes(*sizes)))

    def saved_bytes(self, *sizes: Size) -> int:
        """The bytes of durable values."""
        each = self.sizes
        return sum(
            each.saved_bytes + size.events * each.event_bytes + self._more_bytes(size)
            for size in sizes
        )

    def read_ps(self, state_bytes: int) -> int:
        """The picoseconds in which states of this size are read from stable storage."""
        return picoseconds(self.storage.read_s + self._moving_s(state_bytes))

    def _moving_s(self, moved: int) -> float:
        bandwidth = self.storage.bandwidth_bytes_per_s
        return moved / bandwidth if bandwidth else 0

    @property
    def keeps_copies(self) -> bool:
        """Do some nodes keep copies of their checkpoints on their own disks?"""
        return any(price.local for price in self.state.values())

    @property
    def sizes_states(self) -> bool:
        """Do states have a size, or reads of them a price?"""
        return bool(self.state) or self.storage.read_s > 0


def picoseconds(seconds: float) -> int:
    return round(seconds * PS)
