"""The run with the same events and without faults, which stands beside a run.

Rule of this file: it follows the run as long as it can, and then lets the system rest.
"""

from __future__ import annotations

from typing import NamedTuple

from model.actions import Action, Crash, Disturb, Inject, Suspect, Timeout
from model.choices import offers, ready
from model.errors import StepFailed
from model.system import System
from model.world import World, apply, initial
from proofs.explore.explorer import Trace

REST = 300
"""The number of steps that the failure-free run may have more than the run beside it."""


class UnfailedRun(NamedTuple):
    """The failure-free run, up to rest if the other one is at rest.  beside: for each world of the
    run, the world of this one beside it.  parts: the first action of the run, from 1, that this one
    does not have as it is."""

    trace: Trace
    beside: tuple[int, ...]
    parts: int


def without_faults(trace: Trace) -> UnfailedRun | None:
    """The failure-free run beside a run; None if the run has no fault, or if a step fails."""
    if not any(_is_faulty(action) for action in trace.actions):
        return None
    try:
        return _Unfailed(trace.system).run(trace)
    except StepFailed:
        return None


class _Unfailed:
    def __init__(self, system: System) -> None:
        self.system = system
        self.done: list[Action] = []
        self.worlds: list[World] = [initial(system)]

    def run(self, trace: Trace) -> UnfailedRun:
        """The run beside this one."""
        beside, parts = [0], 0
        later: list[Inject] = []
        for number, action in enumerate(trace.actions, start=1):
            wanted = _without_fault(action)
            later += [one for one in [wanted] if isinstance(one, Inject)]
            if later and self._does(later[0]):
                later.pop(0)
            elif wanted is None or isinstance(wanted, Inject) or not self._does(wanted):
                parts = parts or number
            if wanted != action:
                parts = parts or number
            beside.append(len(self.done))
        if len(trace.worlds) > len(trace.actions) and not ready(self.system, trace.worlds[-1]):
            self._rest(later)
            beside[-1] = len(self.done)
        shown = Trace(self.system, tuple(self.done), tuple(self.worlds))
        return UnfailedRun(shown, tuple(beside), parts)

    def _does(self, action: Action) -> bool:
        """Do the action, if the world offers it."""
        world = self.worlds[-1]
        possible: tuple[Action, ...] = ready(self.system, world)
        if isinstance(action, Inject):
            possible = offers(self.system, world, action.node)
        if action not in possible:
            return False
        self.done.append(action)
        self.worlds.append(apply(self.system, world, action))
        return True

    def _rest(self, later: list[Inject]) -> None:
        """Let the system rest, and hand it the events that have still to come."""
        for _ in range(REST):
            if later and self._does(later[0]):
                later.pop(0)
                continue
            first = next(iter(ready(self.system, self.worlds[-1])), None)
            if first is None:
                return
            self._does(first)


def _is_faulty(action: Action) -> bool:
    return _without_fault(action) != action


def _without_fault(action: Action) -> Action | None:
    """The action as it would be without a fault; None: it is one."""
    if isinstance(action, Crash | Suspect | Disturb):
        return None
    if isinstance(action, Timeout) and action.early:
        action = action._replace(early=False)
    return action._replace(crash_after=None, group=())
