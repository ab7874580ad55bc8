"""The timers of a timed run: when each one runs out, and how often they may.

Rule of this file: no step; the loop of the run decides the effect of a timer that runs out.  A
timer waits for the step under way, and not for the messages that wait at the node.

A timer is named KIND or KIND:overdue (sim.timed.costs.Timer).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from model.core import CancelTimer, Effect, Input, Save, SetTimer, Sync, TimerFired
from model.errors import Invalid
from sim.timed.clock import Occurrence
from sim.timed.costs import picoseconds
from sim.timed.network import TimedNode
from sim.timed.running import NEVER, Evaluated, RunState

OVERDUE = ":overdue"
FIRINGS = 100_000
"""If timers run out more often than this after the last event, the run never ends."""


class Timers:
    """The timers of all nodes.  fire: receives (node, name, time) when a timer runs out, unless the
    timer was lost with its node; it returns a step that it has evaluated."""

    def __init__(
        self, run: RunState, fire: Callable[[TimedNode, str, int], Evaluated | None]
    ) -> None:
        self.run, self.fire = run, fire
        self.default_ps = picoseconds(run.costs.timer_s)
        self.background = run.protocol.behaviour.background
        self.firings_left = NEVER

    def start_all(self) -> None:
        """Set the timers with which the nodes start."""
        for node in self.run.nodes.values():
            self.set(node, 0, node.site.timers)

    def set(self, node: TimedNode, now: int, names: Iterable[str]) -> None:
        for name in names:
            if name not in node.timers:
                fires = self._expiry(node, name, now)
                moment = Occurrence(self._run_out, (node, name, fires))
                node.timers[name] = moment
                node.defers = node.pace > 0
                self.run.at(fires, moment)

    def take(self, node: TimedNode, now: int, effects: Iterable[Effect]) -> None:
        """Set and cancel timers, in the order of the effects."""
        for effect in effects:
            if isinstance(effect, SetTimer):
                self.set(node, now, (effect.name,))
            elif isinstance(effect, CancelTimer):
                node.timers.pop(effect.name, None)
                out = [one for one in node.inputs if one.input_ == TimerFired(effect.name)]
                for queued in out:
                    node.inputs.remove(queued)

    def unset(self, node: TimedNode, name: str, now: int) -> None:
        """The step on this timer begins."""
        del node.timers[name]
        node.ticks[_kind_of(name)] = now

    def end_input(self) -> None:
        """The last event was handed out: from now on, timers may run out FIRINGS times."""
        self.firings_left = FIRINGS

    def has_paid(self, input_: Input | None) -> bool:
        """Is this step the end of a write in the background?  Its saves took their time before."""
        return isinstance(input_, TimerFired) and _kind_of(input_.timer) in self.background

    def _write(self, node: TimedNode, name: str, now: int) -> int:
        """Write in the background the saves of the step on this timer: when are they stored?

        The device of the node writes one after the other.
        """
        _, effects = self.run.answered(node, node.state, TimerFired(name))
        saves = (effect for effect in effects if isinstance(effect, Save | Sync))
        takes = sum(self.run.store(node, effect) for effect in saves)
        node.stored = max(node.stored, now) + takes
        return node.stored

    def _expiry(self, node: TimedNode, name: str, now: int) -> int:
        kind = _kind_of(name)
        timer = self.run.costs.timers.get(kind)
        stored = self._write(node, name, now) if kind in self.background else None
        if timer is None:
            return now + self.default_ps if stored is None else stored
        return timer.due_ps(now, node.ticks.get(kind), overdue=name == kind + OVERDUE)

    def _run_out(self, moment: Occurrence) -> Evaluated | None:
        node, name, now = moment.what
        if node.timers.get(name) is not moment:  # the timer was lost with its node
            return None
        self.firings_left -= 1
        if self.firings_left < 0:
            raise Invalid(
                f"{self.run.protocol.name}: the run never ends: {node.name} sets the timer "
                f"{name!r} again whenever it runs out"
            )
        return self.fire(node, name, now)


def _kind_of(name: str) -> str:
    return name.partition(":")[0]
