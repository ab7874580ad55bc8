"""The costs of a run: service at nodes, links, stable storage, and the delay of failure detection.

Rule of this file: no float as a time of the driver.  People write seconds and bytes; the driver
counts whole picoseconds, so that sums and comparisons are exact and equal inputs give equal runs.

Sources and sinks stand for the outside world: their work costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from model.core import CHECKPOINTED, Memory, Size

PS = 10**12
"""The number of picoseconds in a second."""

Some: TypeAlias = Annotated[float, Field(gt=0, allow_inf_nan=False)]
None_or_more: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Bytes: TypeAlias = Annotated[int, Field(ge=0)]


class ScenarioTable(BaseModel):
    """A table of a scenario file: unknown keys and values of another type are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Link(ScenarioTable):
    """The costs of a link; every channel is a link of its own, FIFO.  Without a bandwidth, bytes
    take no time."""

    delay_s: None_or_more = 0.0005
    bandwidth_bytes_per_s: Some | None = 125e6


class Storage(ScenarioTable):
    """The costs of stable storage: each node has one device, FIFO.

    The effects of a step that saves take place when all its values are stored.  blocking: until
    then the node does nothing else; if false, the node goes on with its next message.
    """

    latency_s: None_or_more = 0.001
    bandwidth_bytes_per_s: Some | None = 200e6
    blocking: bool = True


class Service(ScenarioTable):
    """The seconds for which an operator is busy: with an event, with a control message, with an
    item in a message (see model.core.Size), and in addition with each savepoint that it makes."""

    event_s: None_or_more = 10e-6
    control_s: None_or_more = 2e-6
    item_s: None_or_more = 0.1e-6
    savepoint_s: None_or_more = 20e-6


class Sizes(ScenarioTable):
    """The bytes of an event, of a control message, of an item in a message, of a durable value."""

    event_bytes: Bytes = 100
    control_bytes: Bytes = 40
    item_bytes: Bytes = 16
    saved_bytes: Bytes = 1000


class Timer(ScenarioTable):
    """When a timer of one kind runs out (one of the two): after_s, so long after it was set;
    every_s, on the clock, at phase_s and every so many seconds from there.

    On the clock a timer runs out at the first tick that has not been used.  If its name ends with
    ":overdue", it runs out at once if the tick after the last used one has passed.
    """

    after_s: Some | None = None
    every_s: Some | None = None
    phase_s: None_or_more = 0.0

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
    """All costs of a scenario.  timer_s: the seconds from the start of a timer to its end, if
    `timers` has nothing about its kind (Protocol.timers).  slow: for some nodes, the factor by
    which their service takes longer.  notes: for some of the quantities that the protocol's notes
    count (`asif list`), the seconds for which an operator is busy with one."""

    service: Service = Service()
    sizes: Sizes = Sizes()
    link: Link = Link()
    storage: Storage = Storage()
    timer_s: Some = 0.01
    timers: dict[str, Timer] = {}
    slow: dict[str, Some] = {}
    notes: dict[str, None_or_more] = {}

    def note_ps(self) -> Mapping[str, int]:
        """The price of a note, by the name of its quantity; others cost nothing."""
        prices = {CHECKPOINTED.name: self.service.savepoint_s, **self.notes}
        return {name: picoseconds(price) for name, price in prices.items() if price}

    def service_ps(self, size: Size) -> int:
        each = self.service
        work = size.events * each.event_s if size.events else each.control_s
        return picoseconds(work + size.items * each.item_s)

    def bytes(self, size: Size) -> int:
        each = self.sizes
        return (size.events * each.event_bytes or each.control_bytes) + size.items * each.item_bytes

    def memory_bytes(self, memory: Memory) -> int:
        each = self.sizes
        return sum(part.events * each.event_bytes + part.items * each.item_bytes for part in memory)

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
    again.

    restart_s: the seconds from the detection to the restart.
    """

    keep_alive_s: Some = 0.1
    misses: Annotated[int, Field(ge=1)] = 3
    restart_s: None_or_more = 0.5

    def detected_ps(self, crashed_ps: int) -> int:
        """The time at which the detector notices a crash.  A node that crashes at the very time of
        a keep-alive has still sent the keep-alive."""
        period = max(1, picoseconds(self.keep_alive_s))
        return (crashed_ps // period + self.misses) * period


def picoseconds(seconds: float) -> int:
    return round(seconds * PS)
