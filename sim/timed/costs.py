"""The costs of a run: service at nodes, links, stable storage, and the delay of failure detection.

Rule of this file: no float as a time of the driver.  People write seconds and bytes; the driver
counts whole picoseconds, so that sums and comparisons are exact and equal inputs give equal runs.

Sources and sinks stand for the outside world: their work costs nothing.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from model.core import NodeName, Size

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


class Link(ScenarioTable):
    """The costs of a link; every channel is a link of its own, FIFO."""

    delay_s: None_or_more = 0.0005
    """From the end of sending to the arrival."""
    bandwidth_bytes_per_s: Some | None = 125e6
    """Bytes that the link sends in a second."""


class Storage(ScenarioTable):
    """The costs of stable storage: each node has one device, FIFO.

    The effects of a step that saves take place when all its values are stored.
    """

    latency_s: None_or_more = 0.001
    """The time of a durable write of no bytes."""
    bandwidth_bytes_per_s: Some | None = 200e6
    """Bytes that the device writes in a second."""
    blocking: bool = True
    """The node does nothing else until its values are stored; false: it goes on with its next
    message."""


class Service(ScenarioTable):
    """The time for which an operator is busy."""

    event_s: None_or_more = 10e-6
    """With an event; [costs.work] has other times for some operators."""
    control_s: None_or_more = 2e-6
    """With a message without events."""
    item_s: None_or_more = 0.1e-6
    """With an item in a message, such as a window in a savepoint (model.core.Size)."""
    savepoint_s: None_or_more = 0.0
    """With each savepoint that it makes, in addition."""


class Work(ScenarioTable):
    """The work of one operator."""

    event_s: None_or_more | None = None
    """The time with an event; without it, that of [costs.service]."""
    output_s: None_or_more = 0.0
    """The time with each event that the operator sends, for each receiver, also if it sends the
    event again."""


class Sizes(ScenarioTable):
    """The sizes of what is sent and stored."""

    event_bytes: Bytes = 100
    """Of an event."""
    control_bytes: Bytes = 40
    """Of a message without events."""
    item_bytes: Bytes = 16
    """Of an item in a message, in addition."""
    saved_bytes: Bytes = 1000
    """Of a durable value without items."""


class Costs(ScenarioTable):
    """All costs of a scenario."""

    service: Service = Service()
    sizes: Sizes = Sizes()
    link: Link = Link()
    storage: Storage = Storage()
    timer_s: Some = 0.01
    """The time from the start of a timer to its end; families save, punctuate or begin batches by
    timers."""
    work: dict[str, Work] = {}
    """By operator: its own work."""
    slow: dict[str, Some] = {}
    """By operator: the factor by which its service takes longer than elsewhere."""

    def service_ps(self, size: Size, node: NodeName = "") -> int:
        """The picoseconds for which the node is busy with the message."""
        each = self.service
        own = self.work[node].event_s if node in self.work else None
        event_s = each.event_s if own is None else own
        work = size.events * event_s if size.events else each.control_s
        return picoseconds(work + size.items * each.item_s)

    def output_ps(self, node: NodeName) -> int:
        """The picoseconds for which the node is busy with an event that it sends."""
        return picoseconds(self.work[node].output_s) if node in self.work else 0

    def bytes(self, size: Size) -> int:
        each = self.sizes
        return (size.events * each.event_bytes or each.control_bytes) + size.items * each.item_bytes

    def wire_ps(self, size: Size) -> int:
        """The picoseconds for which the message occupies the link."""
        bandwidth = self.link.bandwidth_bytes_per_s
        return picoseconds(self.bytes(size) / bandwidth) if bandwidth else 0

    def save_ps(self, size: Size) -> int:
        saved = self.sizes.saved_bytes + size.items * self.sizes.item_bytes
        bandwidth = self.storage.bandwidth_bytes_per_s
        return picoseconds(self.storage.latency_s + (saved / bandwidth if bandwidth else 0))


class Detector(ScenarioTable):
    """The failure detector.  At each multiple of the period, every node reports that it is alive;
    after `misses` missing reports in a row, the detector takes the node for crashed and starts it
    again."""

    keep_alive_s: Some = 0.1
    """The period of the reports."""
    misses: Annotated[int, Field(ge=1)] = 3
    """The number of missing reports in a row."""
    restart_s: None_or_more = 0.5
    """The time from the detection to the restart."""

    def detected_ps(self, crashed_ps: int) -> int:
        """The time at which the detector notices a crash.  A node that crashes at the very time of
        a keep-alive has still sent the keep-alive."""
        period = max(1, picoseconds(self.keep_alive_s))
        return (crashed_ps // period + self.misses) * period


def picoseconds(seconds: float) -> int:
    return round(seconds * PS)
