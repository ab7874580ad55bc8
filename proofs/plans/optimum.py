"""The best schedule, by Z3: the definition of the problem, word by word, and no search of ours.

Rule of this file: nothing of model.plans but the values; the plans of model.plans are compared with
it.  With a single moment it is RECOVERY PLAN OPTIMIZATION of Su and Zhou, Section 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import z3

from model.plans.instance import Instance
from model.plans.plan import Plan
from model.plans.schedule import Schedule, ScheduleStep
from model.plans.supply import Supply


def solve_plan(instance: Instance, resources: int) -> int:
    """The largest sum of priorities that a plan within the resources recovers."""
    (recovered,) = _solve(instance, [(resources, 1)])
    return instance.value(recovered)


def solve_schedule(instance: Instance, supply: Supply) -> Schedule:
    """A schedule that serves most priority over time, if all arrivals of hosts are known."""
    moments = supply.moments
    scale = math.lcm(*(moment.lasts.denominator for moment in moments))
    chain = _solve(instance, [(moment.resources, int(moment.lasts * scale)) for moment in moments])
    steps, done = [], tuple[str, ...]()
    for moment, recovered in zip(moments, chain, strict=True):
        done = (*done, *(query for query in recovered if query not in done))
        steps.append(ScheduleStep(moment, Plan(done, instance.cost(done))))
    return steps


def _solve(instance: Instance, moments: Sequence[tuple[int, int]]) -> list[list[str]]:
    """The queries that are recovered at each moment, given as (resources, weight of a priority)."""
    costs = {
        (operator.name, number): operator.costs[number]
        for operator in instance.operators
        for number in operator.failed
    }
    chosen = [{part: z3.Bool(f"{part} at {at}") for part in costs} for at in range(len(moments))]
    solver = z3.Optimize()
    for parts, (resources, _) in zip(chosen, moments, strict=True):
        if costs:
            solver.add(z3.PbLe([(parts[part], costs[part]) for part in costs], resources))
    for before, after in pairwise(chosen):
        solver.add([z3.Implies(before[part], after[part]) for part in costs])
    recovered = [
        {
            query.name: z3.And([parts[part] for part in costs if part[0] in query.operators])
            for query in instance.queries
            if query.name in instance.needs
        }
        for parts in chosen
    ]
    worth = [
        z3.If(is_recovered, weight * instance.priorities[name], 0)
        for queries, (_, weight) in zip(recovered, moments, strict=True)
        for name, is_recovered in queries.items()
    ]
    solver.maximize(z3.Sum([z3.IntVal(0), *worth]))
    assert solver.check() == z3.sat  # nothing at all is a schedule
    model = solver.model()
    return [
        [name for name, formula in queries.items() if z3.is_true(model.eval(formula, True))]
        for queries in recovered
    ]
