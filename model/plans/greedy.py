"""The published algorithm: the failed query with the highest profit density that fits, repeatedly.

Rule of this file: every choice between readings is a field of PlanDesign.  Densities are fractions,
so that no rounding decides.  Su and Zhou, Section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from model.plans.design import (
    Cost,
    CountedQueries,
    Frequency,
    Limit,
    Misfit,
    PlanDesign,
    Recovered,
    Sum,
    Ties,
)
from model.plans.instance import Instance
from model.plans.plan import Plan, Planner, extend


class Undefined(ArithmeticError):
    """A density divides by zero: an operator that no other failed query shares has f_k = 0."""


def greedy(design: PlanDesign) -> Planner:
    """The algorithm in this reading.  The planner raises Undefined where a density is none."""

    def planner(instance: Instance, resources: int, before: Plan) -> Plan:
        plan = before
        while (chosen := choose(instance, design, resources, plan)) is not None:
            plan = extend(instance, plan, chosen)
        return plan

    return planner


def choose(instance: Instance, design: PlanDesign, resources: int, plan: Plan) -> str | None:
    """The next query of the plan; None if the plan is complete."""
    recovered = instance.operators_of(plan.queries)
    for query in rank(instance, design, plan):
        paid_again = instance.needs[query]
        needed = paid_again if design.fit is Recovered.PAID else paid_again - recovered
        room = resources - plan.cost - instance.price(needed)
        if room > 0 or (room == 0 and design.limit is Limit.AT_MOST):
            return query
        if design.misfit is Misfit.STOP:
            break
    return None


def rank(instance: Instance, design: PlanDesign, plan: Plan) -> Sequence[str]:
    """The failed queries that the plan does not recover, in descending order of their densities."""
    left = [query for query in instance.needs if query not in plan.queries]
    densities = _densities(instance, design, plan, left)
    if design.ties is Ties.LAST:
        left.reverse()
    return sorted(left, key=densities.__getitem__, reverse=True)


def _densities(
    instance: Instance, design: PlanDesign, plan: Plan, left: Sequence[str]
) -> dict[str, Fraction]:
    """PD_i of the queries that are left."""
    recovered = instance.operators_of(plan.queries)
    whole = design.cost is Cost.WHOLE
    prices = instance.whole_prices if whole else instance.prices
    operators = instance.members if whole else instance.needs
    counted = left if design.counted is CountedQueries.LEFT else [*instance.needs]
    every = frozenset[str]().union(*(operators[query] for query in left))
    shared = {name: sum(name in operators[query] for query in counted) for name in every}

    def share(name: str, query: str) -> Fraction | None:
        """C_k / f_k, for a query.  None: without bound."""
        if design.density is Recovered.FREE and name in recovered:
            return Fraction(0)
        count = shared[name]
        match design.frequency:
            case Frequency.OTHERS | Frequency.OTHERS_OR_NOTHING:
                count -= name in operators[query]
            case Frequency.OTHERS_OR_ONE:
                count = max(1, count - (name in operators[query]))
            case Frequency.ONE:
                count = 1
        if not count:
            if design.frequency is Frequency.OTHERS_OR_NOTHING:
                return None
            raise Undefined(f"query {query}: no other failed query shares {name}, so f = 0")
        return Fraction(prices[name], count)

    return {
        query: _density(
            instance.priorities[query],
            [share(name, query) for name in (every if design.sum is Sum.ALL else operators[query])],
        )
        for query in left
    }


def _density(priority: int, shares: Sequence[Fraction | None]) -> Fraction:
    """The priority over the sum of the shares; 0 if one of these is without bound."""
    finite = [share for share in shares if share is not None]
    return Fraction(0) if len(finite) < len(shares) else priority / sum(finite, Fraction(0))
