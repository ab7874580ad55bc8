"""The best schedule if all arrivals of hosts are known, by tables over all sets of queries.

Rule of this file: exact.  Time and space double with each failed query.

Nothing that is recovered is undone, so a schedule is a chain of sets, each within the resources of
its moment.  For each moment and each set S, a table has the most that a chain which ends in S can
be worth; the best set before S is a maximum over the subsets of S, one query at a time.
"""

from __future__ import annotations

import math

from model.errors import Invalid
from model.plans.instance import Instance
from model.plans.plan import Plan
from model.plans.schedule import Schedule, ScheduleStep
from model.plans.supply import Supply

MOST_QUERIES = 16
NEVER = -1
"""The worth of what does not fit."""


def best_schedule(instance: Instance, supply: Supply) -> Schedule:
    """A schedule that serves most priority over time (model.plans.schedule.served).

    Raises Invalid for more than MOST_QUERIES failed queries.
    """
    queries = [*instance.needs]
    if len(queries) > MOST_QUERIES:
        raise Invalid(f"{len(queries)} failed queries; over time, at most {MOST_QUERIES} can be")
    costs, values = set_tables(instance)
    moments = supply.moments
    scale = math.lcm(*(moment.lasts.denominator for moment in moments))
    tables, before = [], [0] * len(costs)
    for moment in moments:
        weight = int(moment.lasts * scale)
        table = [
            worth + weight * value if cost <= moment.resources else NEVER
            for worth, value, cost in zip(before, values, costs, strict=True)
        ]
        tables.append(table)
        before = _over_subsets(table)
    return _trace_back(instance, queries, tables, supply)


def set_tables(instance: Instance) -> tuple[list[int], list[int]]:
    """(costs, values) of all sets of failed queries; a set is the number with the bits of its
    queries."""
    unions: list[frozenset[str]] = [frozenset()]
    values = [0]
    for query, needs in instance.needs.items():
        unions += [union | needs for union in unions]
        values += [value + instance.priorities[query] for value in values]
    prices = {union: instance.price(union) for union in set(unions)}
    return [prices[union] for union in unions], values


def _over_subsets(table: list[int]) -> list[int]:
    """For each set, the maximum over its subsets."""
    table, width = [*table], 1
    while width < len(table):
        for low in range(0, len(table), 2 * width):
            without, with_ = table[low : low + width], table[low + width : low + 2 * width]
            table[low + width : low + 2 * width] = map(max, without, with_)
        width *= 2
    return table


def _trace_back(
    instance: Instance, queries: list[str], tables: list[list[int]], supply: Supply
) -> Schedule:
    """The chain of a largest value of the last table, from its end."""
    chain, within = list[int](), len(tables[0]) - 1
    for table in reversed(tables):
        subsets = (one for one in range(within + 1) if one & ~within == 0)
        within = max(subsets, key=lambda one: (table[one], one.bit_count()))
        chain.append(within)
    steps, done = [], tuple[str, ...]()
    for moment, members in zip(supply.moments, reversed(chain), strict=True):
        recovered = [query for at, query in enumerate(queries) if members >> at & 1]
        done = (*done, *(query for query in recovered if query not in done))
        steps.append(ScheduleStep(moment, Plan(done, instance.cost(done))))
    return steps
