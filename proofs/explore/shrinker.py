"""Short failing runs: a run that failed, without the actions that its failure does not need.

Rule of this file: no action that model.world does not allow.  Hypothesis shrinks only runs that it
has drawn itself (it shrinks no explicit example, and no public call takes a run to begin with), so
the runs of walks are shrunk here, by delta debugging (Zeller and Hildebrandt, 2002).
"""

from __future__ import annotations

from collections.abc import Sequence

from model.actions import Action
from model.choices import enabled, ready
from model.errors import StepFailed
from model.observations import first_violation
from model.system import System
from model.world import apply, initial
from proofs.explore.explorer import Counterexample, Trace, answer_property, append_failing_action


def shrink(failure: Counterexample) -> Counterexample:
    """A failing run from which no single action can be dropped; the same run gives the same one."""
    system = failure.trace.system
    size = len(failure.trace.actions) // 2
    while size:
        before = failure
        at = 0
        while at < len(failure.trace.actions):
            actions = failure.trace.actions
            rest = actions[:at] + actions[at + size :]
            shorter = replay(system, rest, len(actions) - 1)
            if shorter is None:
                at += size
            else:
                failure = shorter
        if size > 1 or failure is before:
            size //= 2
    return failure


def replay(system: System, actions: Sequence[Action], limit: int) -> Counterexample | None:
    """The run of those actions that are possible, and from there to rest, up to its first
    violation; None if the first `limit` actions of this run violate nothing."""
    left = iter(actions)
    done: list[Action] = []
    worlds = [initial(system)]
    for _ in range(limit):
        world = worlds[-1]
        try:
            action = next((action for action in left if action in enabled(system, world)), None)
            if action is None:
                action = next(iter(ready(system, world)), None)
            if action is None:
                return None
            worlds.append(apply(system, world, action))
        except StepFailed as error:
            run = Trace(system, tuple(done), tuple(worlds))
            return Counterexample(answer_property(error), append_failing_action(run, error))
        done.append(action)
        broken = first_violation(system, worlds[-1])
        if broken is not None:
            return Counterexample(broken, Trace(system, tuple(done), tuple(worlds)))
    return None
