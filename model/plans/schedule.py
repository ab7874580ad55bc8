"""Schedules: a plan at each moment at which hosts come, and what the schedule is worth over time.

Rule of this file: no algorithm of its own; a planner makes each plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from model.plans.instance import Instance
from model.plans.plan import NOTHING, Plan, Planner
from model.plans.supply import Supply, SupplyMoment


class ScheduleStep(NamedTuple):
    """A moment, and the plan from then on."""

    moment: SupplyMoment
    plan: Plan


Schedule: TypeAlias = Sequence[ScheduleStep]


def schedule(instance: Instance, supply: Supply, planner: Planner) -> Schedule:
    """The plans that a planner makes as hosts come; it does not know what comes later."""
    plan, steps = NOTHING, []
    for moment in supply.moments:
        plan = planner(instance, moment.resources, plan)
        steps.append(ScheduleStep(moment, plan))
    return steps


def served(instance: Instance, steps: Schedule) -> Fraction:
    """The sum over the failed queries of priority and minutes for which the query is recovered."""
    return sum(
        (step.moment.lasts * instance.value(step.plan.queries) for step in steps), Fraction(0)
    )
