"""All ways to plan a recovery, side by side: what `asif plan` reports, as plain data.

Rule of this file: no algorithm; those of model.plans.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

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
from sim.plans.read import PlannedTask

PLANNERS: Mapping[str, tuple[str, Planner]] = {
    "blocking": ("everything, once there is enough for all of it", blocking),
    "topological": ("partition after partition, upstream first", topological),
    "greedy": ("the published algorithm, as it is meant", greedy(MEANT)),
    "greedy, literal": ("the published algorithm, as it is printed", greedy(LITERAL)),
    "greedy, mended": ("the same as meant, from each start of at most two queries", mended()),
    "optimum now": ("the most priority at each moment", optimal),
}
"""For each algorithm what it does, and its planner."""
AHEAD = "optimum over time"
BEST = "best case"
"""Schedules that know when hosts come, or have them all at once."""


def compare(task: PlannedTask, watch: Progress = silent) -> dict[str, Any]:
    """Each algorithm with its schedule, beside the optimum: a JSON-able value.

    served: priority-minutes.  share: of what the optimum over time serves, or None without one.
    The optimum over time is left out for more than lookahead.MOST_QUERIES failed queries.
    """
    instance, supply = task.instance, task.supply
    rows = list[dict[str, Any]]()
    for row in _rows(task):
        rows.append(row)
        watch("planning", len(rows), len(PLANNERS) + 2, row["algorithm"])
    best = next((row["served"] for row in rows if row["algorithm"] == AHEAD), None)
    for row in rows:
        row["share"] = row["served"] / best if best and row["served"] is not None else None
    return {
        "name": task.name,
        "failed_queries": [*instance.needs],
        "priorities": dict(instance.priorities),
        "cost": instance.total,
        "sharing": instance.sharing,
        "bound": bound(instance.sharing),
        "until_min": float(supply.until),
        "moments": [
            {"at_min": float(moment.at), "resources": moment.resources} for moment in supply.moments
        ],
        "algorithms": rows,
        "below_bound": [*_below_bound(instance, supply)],
    }


def _rows(task: PlannedTask) -> Iterator[dict[str, Any]]:
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


def _row(task: PlannedTask, name: str, about: str, steps: Schedule) -> dict[str, Any]:
    """A row; without steps the algorithm has no plan."""
    instance = task.instance
    last = steps[-1].plan if steps else None
    return {
        "algorithm": name,
        "about": about,
        "served": float(served(instance, steps)) if steps else None,
        "value": instance.value(last.queries) if last else None,
        "cost": last.cost if last else None,
        "order": list(last.queries) if last else [],
        "steps": [
            {
                "at_min": float(step.moment.at),
                "value": instance.value(step.plan.queries),
                "cost": step.plan.cost,
                "queries": list(step.plan.queries),
                "placed": name == BEST or _placed(task, step.plan, step.moment.at),
            }
            for step in steps
        ],
    }


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
