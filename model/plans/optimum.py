"""An optimal plan, by branch and bound.

Rule of this file: exact for every instance; only its time depends on the instance.

The bound is the paper's own density.  A query's share is the sum of C_k / f_k over its operators,
where f_k counts all failed queries that need O_k.  The shares of any set of queries add up to at
most the cost of the set, as each operator is in at most f_k of them.  So no set within the
resources is worth more than a knapsack, filled by density, of items with these shares.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from model.plans.instance import Instance
from model.plans.plan import Plan


class _Item(NamedTuple):
    name: str
    priority: int
    share: int
    needs: frozenset[str]


class _Taken(NamedTuple):
    """queries: taken so far, with their value and their cost.  paid: operators that are there."""

    queries: tuple[str, ...]
    value: int
    cost: int
    paid: frozenset[str]

    def add(self, item: _Item, instance: Instance) -> _Taken:
        return _Taken(
            (*self.queries, item.name),
            self.value + item.priority,
            self.cost + instance.price(item.needs - self.paid),
            self.paid | item.needs,
        )


def optimal(instance: Instance, resources: int, before: Plan) -> Plan:
    """A plan that no other one exceeds in value, of those with these resources and this start."""
    paid = instance.operators_of(before.queries)
    scale, items = _items(instance, before, paid)
    room = resources - before.cost
    best, chosen = -1, tuple[str, ...]()

    def search(at: int, taken: _Taken, spared: int) -> None:
        """Try the items from `at` on; spared: the resources less the shares of what is taken."""
        nonlocal best, chosen
        if taken.value > best:
            best, chosen = taken.value, taken.queries
        if at == len(items) or taken.value + _most(items, at, spared) <= best:
            return
        more = taken.add(items[at], instance)
        if more.cost <= room:
            search(at + 1, more, spared - items[at].share)
        search(at + 1, taken, spared)

    search(0, _Taken((), 0, 0, paid), room * scale)
    queries = (*before.queries, *chosen)
    return Plan(queries, instance.cost(queries))


def _items(instance: Instance, before: Plan, paid: frozenset[str]) -> tuple[int, list[_Item]]:
    """The queries that are left, by density, with their shares as whole parts of 1 / scale."""
    left = [query for query in instance.needs if query not in before.queries]
    counts = {
        name: sum(name in instance.needs[query] for query in left) for name in instance.prices
    }
    scale = math.lcm(*(count for count in counts.values() if count))
    items = [
        _Item(
            query,
            instance.priorities[query],
            sum(instance.prices[name] * scale // counts[name] for name in needs),
            needs,
        )
        for query in left
        for needs in [instance.needs[query] - paid]
    ]
    return scale, sorted(items, key=_density, reverse=True)


def _density(item: _Item) -> float:
    return item.priority / item.share if item.share else math.inf


def _most(items: list[_Item], at: int, room: int) -> int:
    """The value of the knapsack of these shares, from this item on: at least that of any set."""
    value = 0
    for item in items[at:]:
        if item.share > room:
            return value + item.priority * room // item.share
        value += item.priority
        room -= item.share
    return value
