"""The greedy algorithm with a bound: it also starts from each small set of queries.

Rule of this file: one mend, and the bound that follows.  docs/how-to/plans.md has the proof.

Set-union knapsack: Goldschmidt, Nehme and Yu, 1994; Arulselvan, 2014, starts from at most two.
"""

from __future__ import annotations

import math
from itertools import combinations

from model.plans.design import MEANT
from model.plans.greedy import greedy
from model.plans.instance import Instance
from model.plans.plan import Plan, Planner, extend

SEEDS = 2


def mended(seeds: int = SEEDS) -> Planner:
    """The best of what the greedy algorithm makes from each start of at most so many queries."""
    complete = greedy(MEANT)

    def planner(instance: Instance, resources: int, before: Plan) -> Plan:
        left = [query for query in instance.needs if query not in before.queries]
        plans = []
        for size in range(min(seeds, len(left)) + 1):
            for start in combinations(left, size):
                plan = before
                for query in start:
                    if query not in plan.queries:
                        plan = extend(instance, plan, query)
                if plan.cost <= resources:
                    plans.append(complete(instance, resources, plan))
        return max(plans, key=lambda plan: (instance.value(plan.queries), -plan.cost))

    return planner


def bound(sharing: int, seeds: int = SEEDS) -> float:
    """The share of the optimum that a plan is worth at least, if at most so many failed queries
    share an operator.  Without a start (seeds 0) there is no bound above 0."""
    share = 1 - math.exp(-1 / sharing)
    return (0.0, share / 2, min(0.5, share))[min(seeds, SEEDS)]
