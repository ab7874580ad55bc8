"""Nodes that are suspended for a while, and wake before anybody takes them for crashed.

Rule of this file: no order of events; sim.timed.queued_loop has the loop, which begins no step of a
suspended node.

A suspended process keeps its memory, its connections and its messages, and does nothing: its
service goes on when it wakes.  A write that a store or a disk has begun goes on meanwhile, and a
core that the node has stays with it.
"""

from __future__ import annotations

from collections.abc import Callable

from sim.timed.clock import Occurrence
from sim.timed.network import QueuedInput, TimedNode
from sim.timed.running import RunState


class Suspensions:
    """The suspended nodes of a run.

    keep_busy: receives (node, its step, time, time of the end) when service goes on.  work:
    receives (node, time) when a node is awake.
    """

    def __init__(
        self,
        run: RunState,
        keep_busy: Callable[[TimedNode, QueuedInput, int, int], None],
        work: Callable[[TimedNode, int], None],
    ) -> None:
        self.run, self.keep_busy, self.work = run, keep_busy, work

    def suspend(self, node: TimedNode, now: int, until: int) -> None:
        """Let the node do nothing until it wakes."""
        first, left = (node.inputs[0] if node.inputs else None), 0
        if first is not None and first.began is not None and first.served is None:
            left = max(0, node.busy - now)
            node.busy, node.worked = node.busy - left, node.worked - left
        node.paused = until
        self.run.at(until, Occurrence(self._wake, (node, first, left, until)))

    def _wake(self, moment: Occurrence) -> None:
        """Go on, unless the node has crashed meanwhile."""
        node, first, left, now = moment.what
        if node.paused != now:
            return
        node.paused = 0
        if left and node.inputs and node.inputs[0] is first:
            self.keep_busy(node, first, now, now + left)
        self.work(node, now)
