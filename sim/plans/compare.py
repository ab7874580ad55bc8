"""All ways to plan a recovery, side by side: the result of `asif plan`.

Rule of this file: no algorithm; those of model.plans.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from model.plans.baselines import best_case, blocking, topological
from model.plans.design import LITERAL, MEANT
from model.plans.greedy import Undefined, greedy
from model.plans.instance import Instance
from model.plans.lookahead import MOST_QUERIES, best_schedule
from model.plans.mended import bound, mended
from model.plans.optimum import optimal
from model.plans.placement import place
from model.plans.plan import NOTHING, Plan, Planner
from model.plans.schedule import Schedule, schedule, served
from model.plans.supply import Supply
from model.progress import Progress, silent
from model.results.plans import PlanMoment, PlanResult, PlanRow, PlanStep
from sim.plans.read import PlannedTask

PLANNERS: Mapping[str, tuple[str, Planner]] = {
    "blocking": ("everything, once there is enough for all of it", blocking),
    "topological": ("partition after partition, upstream first", topological),
    "greedy": ("the published algorithm, as it is meant", greedy(MEANT)),
    "greedy, literal": ("the published algorithm, as it is printed", greedy(LITERAL)),
    "greedy, mended": ("the same as meant, from each start of at most two queries", mended()),
    "optimum now": ("the most priority at each moment", optimal),
}
"""For each algorithm a description, and its planner."""
AHEAD = "optimum over time"
BEST = "best case"
"""Schedules that know when hosts come, or have them all at once."""


def compare(task: PlannedTask, progress: Progress = silent) -> PlanResult:
    """Each algorithm with its schedule, beside the optimum.

    The optimum over time is left out for more than lookahead.MOST_QUERIES failed queries.
    """
    instance, supply = task.instance, task.supply
    rows = list[PlanRow]()
    for row in _rows(task):
        rows.append(row)
        progress("planning", len(rows), len(PLANNERS) + 2, row.algorithm)
    best = next((row.served for row in rows if row.algorithm == AHEAD), None)
    return PlanResult(
        name=task.name,
        failed_queries=tuple(instance.needs),
        priorities=dict(instance.priorities),
        cost=instance.total,
        sharing=instance.sharing,
        bound=bound(instance.sharing),
        until_min=float(supply.until),
        moments=tuple(PlanMoment(float(one.at), one.resources) for one in supply.moments),
        algorithms=tuple(_shared(row, best) for row in rows),
        below_bound=tuple(_below_bound(instance, supply)),
    )


def _shared(row: PlanRow, best: float | None) -> PlanRow:
    """The row with its share of the queries that the optimum over time serves."""
    return replace(row, share=row.served / best if best and row.served is not None else None)


def _rows(task: PlannedTask) -> Iterator[PlanRow]:
    instance, supply = task.instance, task.supply
    for name, (about, planner) in PLANNERS.items():
        try:
            yield _row(task, name, about, schedule(instance, supply, planner))
        except Undefined as error:
            yield _row(task, name, f"{about}: {error}", ())
    if len(instance.needs) <= MOST_QUERIES:
        about = "the most priority over time, if all arrivals were known"
        yield _row(task, AHEAD, about, best_schedule(instance, supply))
    about = "everything with the first host, as if all came with it"
    yield _row(task, BEST, about, schedule(instance, supply, best_case))


def _row(task: PlannedTask, name: str, about: str, steps: Schedule) -> PlanRow:
    """A row; without steps the algorithm has no plan."""
    instance = task.instance
    last = steps[-1].plan if steps else None
    return PlanRow(
        algorithm=name,
        about=about,
        served=float(served(instance, steps)) if steps else None,
        value=instance.value(last.queries) if last else None,
        cost=last.cost if last else None,
        order=tuple(last.queries) if last else (),
        steps=tuple(
            PlanStep(
                at_min=float(step.moment.at),
                value=instance.value(step.plan.queries),
                cost=step.plan.cost,
                queries=tuple(step.plan.queries),
                placed=name == BEST or _placed(task, step.plan, step.moment.at),
            )
            for step in steps
        ),
        share=None,
    )


def _placed(task: PlannedTask, plan: Plan, at: Fraction) -> bool:
    """Do the partitions of these queries fit on the single hosts that are there?"""
    needed = task.instance.operators_of(plan.queries)
    costs = [
        operator.costs[number]
        for operator in task.instance.operators
        if operator.name in needed
        for number in operator.failed
    ]
    return place(costs, [host.capacity for host in task.supply.hosts if host.at <= at]) is not None


def _below_bound(instance: Instance, supply: Supply) -> Iterator[float]:
    """The moments, in minutes, at which a mended plan from nothing is worth less than is proved."""
    share = bound(instance.sharing)
    for moment in supply.moments:
        most = instance.value(optimal(instance, moment.resources, NOTHING).queries)
        ours = instance.value(mended()(instance, moment.resources, NOTHING).queries)
        if ours < share * most:
            yield float(moment.at)
