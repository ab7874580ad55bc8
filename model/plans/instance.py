"""What a recovery plan is made for: operators with failed partitions, and queries that need them.

Rule of this file: no plan and no time; values, and what follows from them alone.
Su and Zhou, Section 5.  Costs and priorities are whole numbers, so that every comparison is exact;
a finer unit gives finer costs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from model.errors import Invalid, nearest


@dataclass(frozen=True, slots=True)
class PlanOperator:
    """An operator O_i.  costs: c_ij, the resources that each of its partitions takes.  failed: the
    numbers of the failed partitions, from 0."""

    name: str
    costs: tuple[int, ...]
    failed: frozenset[int]


@dataclass(frozen=True, slots=True)
class PlanQuery:
    """A query Q_i.  operators: the names of its operators.  priority: prt_i."""

    name: str
    operators: frozenset[str]
    priority: int = 1


@dataclass(frozen=True)
class Instance:
    """operators: of the global topology, upstream ones before downstream ones.

    A query is failed if a partition of one of its operators is, and recovered if and only if all
    its failed partitions are; so a plan that recovers queries recovers whole operators.
    Raises Invalid for names that are unknown or used twice, and for costs and priorities below 1.
    """

    operators: tuple[PlanOperator, ...]
    queries: tuple[PlanQuery, ...]

    def __post_init__(self) -> None:
        _check_names("operator", [operator.name for operator in self.operators])
        _check_names("query", [query.name for query in self.queries])
        for operator in self.operators:
            _check_operator(operator)
        names = [operator.name for operator in self.operators]
        for query in self.queries:
            if query.priority < 1:
                raise Invalid(f"query {query.name}: priority {query.priority}; give at least 1")
            if not query.operators:
                raise Invalid(f"query {query.name} has no operators; name at least one")
            for name in sorted(query.operators.difference(names)):
                raise Invalid(f"query {query.name}: no operator {name!r}{nearest(name, names)}")

    # --- what has failed ---------------------------------------------------------------------
    @cached_property
    def prices(self) -> Mapping[str, int]:
        """For each operator with failed partitions, in order, the cost of all of them."""
        return {
            operator.name: sum(operator.costs[place] for place in operator.failed)
            for operator in self.operators
            if operator.failed
        }

    @cached_property
    def whole_prices(self) -> Mapping[str, int]:
        """For each operator, C_i: the cost of all its partitions."""
        return {operator.name: sum(operator.costs) for operator in self.operators}

    @cached_property
    def needs(self) -> Mapping[str, frozenset[str]]:
        """For each failed query, in order, its operators with failed partitions."""
        found = {query.name: query.operators & self.prices.keys() for query in self.queries}
        return {name: operators for name, operators in found.items() if operators}

    @cached_property
    def priorities(self) -> Mapping[str, int]:
        """The priority of each query."""
        return {query.name: query.priority for query in self.queries}

    @cached_property
    def members(self) -> Mapping[str, frozenset[str]]:
        """For each query, all its operators, also those without failed partitions."""
        return {query.name: query.operators for query in self.queries}

    @cached_property
    def sharing(self) -> int:
        """The largest number of failed queries that need one operator; 0 if nothing has failed."""
        return max(
            (sum(name in needs for needs in self.needs.values()) for name in self.prices), default=0
        )

    @cached_property
    def total(self) -> int:
        """The cost of all that failed queries need."""
        return self.cost(self.needs)

    # --- what a plan is worth ----------------------------------------------------------------
    def operators_of(self, queries: Iterable[str]) -> frozenset[str]:
        """The operators with failed partitions that these queries need."""
        return frozenset[str]().union(*(self.needs[query] for query in queries))

    def price(self, operators: Iterable[str]) -> int:
        """The cost of the failed partitions of these operators."""
        return sum(self.prices[name] for name in operators)

    def cost(self, queries: Iterable[str]) -> int:
        """The cost of all that these queries need; what they share is paid once."""
        return self.price(self.operators_of(queries))

    def covered(self, operators: Collection[str]) -> tuple[str, ...]:
        """The queries that are recovered once these operators are."""
        return tuple(name for name, needs in self.needs.items() if needs.issubset(operators))

    def value(self, queries: Iterable[str]) -> int:
        """The sum of the priorities."""
        return sum(self.priorities[query] for query in queries)


def _check_names(kind: str, names: list[str]) -> None:
    for at, name in enumerate(names):
        if name in names[:at]:
            raise Invalid(f"{kind} {name!r} is there twice; give it another name")


def _check_operator(operator: PlanOperator) -> None:
    if not operator.costs:
        raise Invalid(f"operator {operator.name} has no partitions; give the cost of at least one")
    if min(operator.costs) < 1:
        raise Invalid(f"operator {operator.name}: cost {min(operator.costs)}; give at least 1")
    for place in sorted(operator.failed.difference(range(len(operator.costs)))):
        raise Invalid(
            f"operator {operator.name}: no partition {place + 1}; it has {len(operator.costs)}"
        )
