"""The smallest instances with a property, by exhaustive search within stated limits.

Rule of this file: the order of the search, and no property.  An instance is smaller than another
one if it has fewer queries; then fewer operators; then less cost in total; then smaller priorities;
then fewer resources.  Every operator has one partition, which failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations_with_replacement, permutations, product
from typing import NamedTuple

from model.plans.instance import Instance, PlanOperator, PlanQuery


class Limits(NamedTuple):
    """The largest instances of a search: numbers, the total cost, and the largest priority."""

    queries: int
    operators: int
    cost: int
    priority: int = 1


def instances(limits: Limits) -> Iterator[Instance]:
    """All instances within the limits, smallest first; of those that differ in the order of queries
    or operators alone, at least one."""
    for queries in range(1, limits.queries + 1):
        for operators in range(1, limits.operators + 1):
            for cost in range(operators, limits.cost + 1):
                yield from sorted(_of_size(queries, operators, cost, limits.priority), key=_worth)


def budgets(instance: Instance) -> range:
    """The resources that matter: more than the cost of everything change nothing."""
    return range(1, instance.total + 1)


def orders(instance: Instance) -> Iterator[Instance]:
    """The instance with its queries in every order, so that no tie decides."""
    for queries in permutations(instance.queries):
        yield Instance(instance.operators, queries)


def smallest(limits: Limits, found: Callable[[Instance, int], bool]) -> tuple[Instance, int] | None:
    """The smallest instance and resources with this property; None if there are none."""
    for instance in instances(limits):
        for resources in budgets(instance):
            if found(instance, resources):
                return instance, resources
    return None


def _worth(instance: Instance) -> int:
    return sum(query.priority for query in instance.queries)


def _of_size(queries: int, operators: int, cost: int, priority: int) -> Iterator[Instance]:
    names = [f"O{number}" for number in range(1, operators + 1)]
    subsets = [
        frozenset(name for name, there in zip(names, bits, strict=True) if there)
        for bits in product((True, False), repeat=operators)
        if any(bits)
    ]
    items = [*product(range(1, priority + 1), subsets)]
    for costs in _falling(cost, operators, cost):
        for chosen in combinations_with_replacement(items, queries):
            if len(frozenset[str]().union(*(needs for _, needs in chosen))) == operators:
                yield Instance(
                    tuple(
                        PlanOperator(name, (price,), frozenset({0}))
                        for name, price in zip(names, costs, strict=True)
                    ),
                    tuple(
                        PlanQuery(f"Q{number}", needs, worth)
                        for number, (worth, needs) in enumerate(chosen, 1)
                    ),
                )


def _falling(total: int, parts: int, largest: int) -> Iterator[Sequence[int]]:
    """All ways to write the total as a sum of `parts` numbers, none larger than the one before."""
    if parts == 0:
        if total == 0:
            yield ()
        return
    for first in range(min(total - parts + 1, largest), 0, -1):
        for rest in _falling(total - first, parts - 1, first):
            yield (first, *rest)
