"""A partial recovery plan, and what every way to make one returns.

Rule of this file: no choice of a query.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from model.plans.instance import Instance


class Plan(NamedTuple):
    """queries: those that are recovered, in the order of the choice.  cost: what is spent."""

    queries: tuple[str, ...]
    cost: int


NOTHING = Plan((), 0)

Planner: TypeAlias = Callable[[Instance, int, Plan], Plan]
"""planner(instance, resources, before): the plan for so many resources, of which `before` has spent
some already.  Nothing that is recovered is undone, so the plan contains `before`."""


def extend(instance: Instance, plan: Plan, query: str) -> Plan:
    """The plan with one more query, and with all queries that are then recovered, too."""
    operators = instance.operators_of((*plan.queries, query))
    others = [one for one in instance.covered(operators) if one not in (*plan.queries, query)]
    return Plan((*plan.queries, query, *others), instance.price(operators))
