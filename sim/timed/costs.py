"""What things cost: service at nodes, links, stable storage, and how long a failure goes unnoticed.

Rule of this file: people write seconds and bytes; the driver counts whole picoseconds, so that
adding up and comparing times is exact and equal inputs give equal runs.

Sources and sinks stand for the outside world: they work for nothing.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from model.core import Size

PS = 10**12
"""Picoseconds in a second."""

Some: TypeAlias = Annotated[float, Field(gt=0, allow_inf_nan=False)]
None_or_more: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Bytes: TypeAlias = Annotated[int, Field(ge=0)]


class Table(BaseModel):
    """A table of a scenario file: unknown keys and values of another type are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Link(Table):
    """Every channel is a link of its own, FIFO.  Without a bandwidth, bytes take no time."""

    delay_s: None_or_more = 0.0005
    bandwidth_bytes_per_s: Some | None = 125e6


class Storage(Table):
    """Stable storage, one device a node, FIFO.

    The effects of a step that saves take place when all is stored.  blocking: until then the node
    also does nothing else; otherwise it goes on with its next message.
    """

    latency_s: None_or_more = 0.001
    bandwidth_bytes_per_s: Some | None = 200e6
    blocking: bool = True


class Service(Table):
    """Seconds that an operator is busy: an event, a control message, an item carried by one (see
    model.core.Size), and on top of that each savepoint that it makes."""

    event_s: None_or_more = 10e-6
    control_s: None_or_more = 2e-6
    item_s: None_or_more = 0.1e-6
    savepoint_s: None_or_more = 0.0


class Sizes(Table):
    """Bytes: of an event, of a control message, of an item carried, and of a durable value."""

    event_bytes: Bytes = 100
    control_bytes: Bytes = 40
    item_bytes: Bytes = 16
    saved_bytes: Bytes = 1000


class Costs(Table):
    """timer_s: how long after it was set a timer runs out.  slow: nodes that need so many times
    as long for their service."""

    service: Service = Service()
    sizes: Sizes = Sizes()
    link: Link = Link()
    storage: Storage = Storage()
    timer_s: Some = 0.01
    slow: dict[str, Some] = {}

    def service_ps(self, size: Size) -> int:
        each = self.service
        work = size.events * each.event_s if size.events else each.control_s
        return picoseconds(work + size.items * each.item_s)

    def bytes(self, size: Size) -> int:
        each = self.sizes
        return (size.events * each.event_bytes or each.control_bytes) + size.items * each.item_bytes

    def wire_ps(self, size: Size) -> int:
        """How long the message occupies the link."""
        bandwidth = self.link.bandwidth_bytes_per_s
        return picoseconds(self.bytes(size) / bandwidth) if bandwidth else 0

    def save_ps(self, size: Size) -> int:
        saved = self.sizes.saved_bytes + size.items * self.sizes.item_bytes
        bandwidth = self.storage.bandwidth_bytes_per_s
        return picoseconds(self.storage.latency_s + (saved / bandwidth if bandwidth else 0))


class Detector(Table):
    """Every node says that it is alive at each multiple of the period; at the `misses`-th time in
    a row that it does not, it is taken for crashed and started again.

    The node is back `restart_s` after that.
    """

    keep_alive_s: Some = 0.1
    misses: Annotated[int, Field(ge=1)] = 3
    restart_s: None_or_more = 0.5

    def detected_ps(self, crashed_ps: int) -> int:
        """A node that crashes at the very time of a keep-alive has still sent it."""
        period = max(1, picoseconds(self.keep_alive_s))
        return (crashed_ps // period + self.misses) * period


def picoseconds(seconds: float) -> int:
    return round(seconds * PS)
