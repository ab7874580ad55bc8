"""Sinks that write to the outside world: batches, and the connections that write them.

Rule of this file: no step of a node.  A message that is written, or that needs no write, goes on to
its sink; the order of the messages stays as it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from sim.timed.clock import Occurrence
from sim.timed.costs import SinkCosts, picoseconds
from sim.timed.network import QueuedInput


class WrittenBatch:
    """A batch that is being written, or waits for those before it."""

    __slots__ = ("done", "inputs")

    def __init__(self, inputs: list[QueuedInput]) -> None:
        self.inputs, self.done = inputs, False


class SinkWriter:
    """The writer of one sink.

    at: sets an occurrence.  pass_on: receives (input, time), in the order of the inputs.  waiting:
    (time of arrival, input) of those that are in no batch yet.  gathered: the events in them;
    closing: the number of them that have none.  batches: those under way.  busy: the time for which
    connections write, added up.
    """

    def __init__(
        self,
        costs: SinkCosts,
        at: Callable[[int, Occurrence], None],
        pass_on: Callable[[QueuedInput, int], None],
    ) -> None:
        self.costs, self.at, self.pass_on = costs, at, pass_on
        self.linger = picoseconds(costs.linger_s)
        self.waiting: deque[tuple[int, QueuedInput]] = deque()
        self.batches: deque[WrittenBatch] = deque()
        self.writing = self.busy = self.gathered = self.closing = 0

    @property
    def share(self) -> int:
        """The time for which each connection writes, in the mean."""
        return self.busy // self.costs.connections

    def is_at_rest(self) -> bool:
        return not self.waiting and not self.batches

    def put(self, queued: QueuedInput, now: int) -> None:
        """A message comes to the sink."""
        self.waiting.append((now, queued))
        self.gathered += queued.events
        self.closing += not queued.events
        self._go_on(now)
        if self.waiting and self.waiting[-1][1] is queued and self.linger:
            self.at(now + self.linger, Occurrence(self._look_again, now + self.linger))

    def _look_again(self, moment: Occurrence) -> None:
        self._go_on(moment.what)

    def _go_on(self, now: int) -> None:
        """Begin the writes that may begin, and pass on the messages that need none."""
        while self.waiting:
            if not self.waiting[0][1].events:
                if self.batches:  # all that came before is written first
                    return
                self.closing -= 1
                self.pass_on(self.waiting.popleft()[1], now)
            elif self.writing == self.costs.connections or not self._may_begin(now):
                return
            else:
                self._write(now)

    def _may_begin(self, now: int) -> bool:
        """Is the first batch full, is it closed by a message without events, or has it waited?"""
        full = self.gathered >= self.costs.batch
        return full or self.closing > 0 or now >= self.waiting[0][0] + self.linger

    def _write(self, now: int) -> None:
        inputs: list[QueuedInput] = []
        events = 0
        while self.waiting and self.waiting[0][1].events and events < self.costs.batch:
            inputs.append(self.waiting.popleft()[1])
            events += inputs[-1].events
        takes = picoseconds(self.costs.latency_s + events * self.costs.event_s)
        batch = WrittenBatch(inputs)
        self.batches.append(batch)
        self.writing += 1
        self.busy += takes
        self.gathered -= events
        self.at(now + takes, Occurrence(self._end, (now + takes, batch)))

    def _end(self, moment: Occurrence) -> None:
        """A batch is written; batches count in their order."""
        now, batch = moment.what
        batch.done = True
        self.writing -= 1
        while self.batches and self.batches[0].done:
            for queued in self.batches.popleft().inputs:
                self.pass_on(queued, now)
        self._go_on(now)
