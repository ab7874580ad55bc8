"""The crashes that a run has still to make: when each is due, and at which effect it strikes.

Rule of this file: no crash is made here (sim.untimed.driver); a plan that cannot be is an error.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from model.core import Effect, Fail, NodeName
from model.errors import Invalid
from model.system import System
from model.world import real_effects
from sim.untimed.crashes import UntimedCrash, group_of


class CrashPlans:
    """The crashes to come, and those that wait for an effect of their node.

    armed: for each node, the effects that it has still to have before it crashes, with the plan.
    """

    def __init__(self, system: System, plans: Sequence[UntimedCrash]) -> None:
        for plan in plans:
            group_of(system, plan)
        self.system = system
        self.to_come = deque(sorted(plans, key=lambda plan: plan.event))
        self.armed: dict[NodeName, list[tuple[int, UntimedCrash]]] = {}

    def next(self, event: int) -> UntimedCrash | None:
        """Take the next crash that this event brings, if there is one."""
        if self.to_come and self.to_come[0].event == event:
            return self.to_come.popleft()
        return None

    def arm(self, plan: UntimedCrash) -> None:
        self.armed.setdefault(plan.node, []).append((plan.effects, plan))

    def strike(
        self, name: NodeName, effects: tuple[Effect, ...]
    ) -> tuple[int, tuple[NodeName, ...]] | None:
        """The number of effects of this step before its armed node crashes, and the failure group
        that goes down with it; None if it does not crash."""
        armed = self.armed.pop(name)
        points = len(real_effects(effects))
        first = min(left for left, _ in armed)
        passed = min(first, points)
        waiting = [(left - passed, plan) for left, plan in armed if left > passed]
        if waiting:
            self.armed[name] = waiting
        due = [plan for left, plan in armed if left == passed]
        if len(due) > 1:
            raise Invalid(f"crashes {due[0]} and {due[1]} strike at the same effect")
        if due and passed == points and isinstance(effects[-1], Fail):
            raise Invalid(f"crash {due[0]}: the node crashes by its own step there")
        return (passed, group_of(self.system, due[0])) if due else None

    def check_done(self) -> None:
        """Raise Invalid for a plan that waits for an effect that its node never had."""
        for _, plan in (entry for armed in self.armed.values() for entry in armed):
            raise Invalid(
                f"crash {plan}: from event {plan.event} on the node has fewer than "
                f"{plan.effects} effects; name an earlier event or fewer effects"
            )
