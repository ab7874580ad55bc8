"""Pinned evidence: it is what it says, and the search finds it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.plans.design import READINGS
from model.plans.evidence import (
    MENDED,
    MYOPIC,
    UNDEFINED,
    UNPLACED,
    WORSE,
    Myopic,
    Worse,
    decoys,
    tiny,
)
from model.plans.greedy import Undefined, greedy
from model.plans.instance import Instance, PlanQuery
from model.plans.mended import mended
from model.plans.optimum import optimal
from model.plans.placement import place
from model.plans.plan import NOTHING, Planner
from proofs.plans.arrivals import Worth, choose_ahead, choose_now
from proofs.plans.smallest import Limits, budgets, instances, orders, smallest
from tests.plans.instances import instances as drawn

WITH_PRIORITIES, EQUAL = Limits(3, 3, 6, 3), Limits(3, 3, 8)


def values(instance: Instance, resources: int, planner: Planner) -> Iterator[int]:
    """What is recovered, for each order of the queries."""
    for other in orders(instance):
        yield instance.value(planner(other, resources, NOTHING).queries)


def best(instance: Instance, resources: int) -> int:
    return instance.value(optimal(instance, resources, NOTHING).queries)


def is_worse(planner: Planner) -> Callable[[Instance, int], bool]:
    def worse(instance: Instance, resources: int) -> bool:
        most = best(instance, resources)
        try:
            return all(value < most for value in values(instance, resources, planner))
        except Undefined:
            return False

    return worse


PINNED = [
    *((greedy(READINGS[name]), one) for name, pair in WORSE.items() for one in pair if one),
    *((mended(seeds), one) for seeds, pair in MENDED.items() for one in pair),
]


@pytest.mark.parametrize(("planner", "pinned"), PINNED)
def test_each_instance_is_planned_worse(planner: Planner, pinned: Worse) -> None:
    instance, resources, ours, most = pinned
    if len(instance.queries) < 7:
        assert max(values(instance, resources, planner)) == ours
    assert instance.value(planner(instance, resources, NOTHING).queries) == ours
    assert best(instance, resources) == most > ours


def test_every_reading_has_evidence() -> None:
    assert [*WORSE] == [*READINGS]


@pytest.mark.parametrize(
    ("name", "limits", "pinned"),
    [
        (name, limits, one)
        for name, pair in WORSE.items()
        for limits, one in zip((WITH_PRIORITIES, EQUAL), pair, strict=True)
        if one
    ],
)
def test_none_is_smaller(name: str, limits: Limits, pinned: Worse) -> None:
    found = smallest(limits, is_worse(greedy(READINGS[name])))
    assert found == (pinned.instance, pinned.resources)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, (_, equal) in WORSE.items() if equal is None])
def test_there_is_none_with_equal_priorities(name: str) -> None:
    assert smallest(EQUAL, is_worse(greedy(READINGS[name]))) is None


@pytest.mark.exhaustive
@pytest.mark.parametrize("limits", [WITH_PRIORITIES, Limits(5, 3, 7)])
def test_none_is_smaller_for_the_mended_one(limits: Limits) -> None:
    pinned = MENDED[1][limits.priority == 1]
    found = smallest(limits, is_worse(mended(1)))
    assert found == (pinned.instance, pinned.resources)


def test_two_seeds_plan_three_queries_as_well_as_can_be() -> None:
    for instance in instances(Limits(3, 2, 4, 2)):
        for resources in budgets(instance):
            assert best(instance, resources) in values(instance, resources, mended(2))


def test_nothing_smaller_divides_by_zero() -> None:
    assert next(instances(Limits(1, 1, 1))) == UNDEFINED
    with pytest.raises(Undefined):
        greedy(READINGS["frequency-others"])(UNDEFINED, 1, NOTHING)


@given(st.sampled_from([4, 6, 8, 10, 12]))
def test_densities_of_the_family_are_as_stated(resources: int) -> None:
    shares = [(resources - 1) / resources + 1, 2]
    assert 1 / shares[0] == pytest.approx(resources / (2 * resources - 1))
    assert 1 / shares[0] > 1 / shares[1]
    assert decoys(resources).sharing == resources


class Counted(dict[str, int]):
    """Prices that count how often they are read."""

    reads = 0

    def __getitem__(self, name: str) -> int:
        self.reads += 1
        return super().__getitem__(name)


@pytest.mark.parametrize("queries", [4, 8, 16])
def test_the_time_depends_on_operators_too(queries: int) -> None:
    """M queries with M operators each: more than M^3 / 2 costs are added, and not M^2 log M."""
    costs, needs = [], []
    for number in range(queries):
        costs += [1] * queries
        needs.append(frozenset(f"O{number * queries + at}" for at in range(1, queries + 1)))
    named = tiny(costs, (1, "1")).operators
    instance = Instance(named, tuple(PlanQuery(f"Q{at}", one) for at, one in enumerate(needs)))
    prices = Counted(instance.prices)
    vars(instance)["prices"] = prices
    assert len(greedy(READINGS["meant"])(instance, instance.total, NOTHING).queries) == queries
    assert queries**3 / 2 < prices.reads < 4 * queries**3


# --- over time -------------------------------------------------------------------------------
LOSES: dict[str, Callable[[Worth, Worth, bool], bool]] = {
    "less at the end": lambda now, ahead, _: now.end < ahead.end,
    "less over time": lambda now, ahead, _: now.served < ahead.served,
    "less over time, all at the end": lambda now, ahead, all_: all_ and now.served < ahead.served,
}


def most(instance: Instance, resources: tuple[int, ...]) -> tuple[Worth, Worth]:
    """The most that is served and recovered at the end: best at each moment, and of all."""
    now, ahead = [*choose_now(instance, resources)], [*choose_ahead(instance, resources)]
    return (
        Worth(max(one.served for one in now), max(one.end for one in now)),
        Worth(max(one.served for one in ahead), max(one.end for one in ahead)),
    )


@pytest.mark.parametrize("pinned", [one for pair in MYOPIC.values() for one in pair])
def test_choosing_well_now_loses_later(pinned: Myopic) -> None:
    now, ahead = most(pinned.instance, pinned.resources)
    assert now == (pinned.now, pinned.now_end)
    assert ahead == (pinned.ahead, pinned.ahead_end)


@pytest.mark.slow
@pytest.mark.parametrize("what", MYOPIC)
@pytest.mark.parametrize("priority", [3, 1])
def test_no_instance_that_loses_is_smaller(what: str, priority: int) -> None:
    pinned = MYOPIC[what][priority == 1]
    found = next(
        (instance, resources)
        for instance in instances(Limits(4, 3, 4, priority))
        for resources in combinations(range(1, instance.total + 1), len(pinned.resources))
        if LOSES[what](*most(instance, resources), resources[-1] >= instance.total)
    )
    assert found == (pinned.instance, pinned.resources)


@given(drawn(most=3), st.data())
def test_two_moments_with_everything_at_the_second_lose_nothing(
    instance: Instance, data: st.DataObject
) -> None:
    first = data.draw(st.integers(0, instance.total))
    now, ahead = most(instance, (first, instance.total))
    assert now == ahead


# --- placement -------------------------------------------------------------------------------
def test_sums_are_not_enough() -> None:
    for costs, capacities in UNPLACED:
        assert sum(costs) == sum(capacities)
        assert place(costs, capacities) is None
    _, second, third = UNPLACED
    assert max(second[0]) <= max(second[1])
    assert max(third[0]) <= min(third[1]) == max(third[1])


def test_no_smaller_sums_are_too_few() -> None:
    def lists(most_: int) -> list[tuple[int, ...]]:
        if most_ == 0:
            return [()]
        return [()] + [
            (head, *tail)
            for head in range(1, most_ + 1)
            for tail in lists(most_ - head)
            if not tail or tail[0] <= head
        ]

    sides = lists(6)
    bad = [
        (costs, hosts)
        for costs in sides
        for hosts in sides
        if costs and sum(costs) == sum(hosts) and place(costs, hosts) is None
    ]
    bad.sort(key=lambda one: (len(one[0]), sum(one[0]), len(one[1])))
    fitting = [one for one in bad if max(one[0]) <= max(one[1])]
    equal = [one for one in fitting if len(set(one[1])) == 1]
    assert (bad[0], fitting[0], equal[0]) == UNPLACED


@given(st.integers(1, 3), st.integers(0, 8), st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_equal_partitions_and_whole_places_need_the_sum_alone(
    cost: int, count: int, places: list[int]
) -> None:
    hosts = [cost * one for one in places]
    assert (place([cost] * count, hosts) is not None) == (count * cost <= sum(hosts))


def test_tiny_names_operators_by_their_numbers() -> None:
    instance = tiny((3, 1), (2, "12"))
    assert instance.prices == {"O1": 3, "O2": 1}
    assert instance.needs == {"Q1": frozenset({"O1", "O2"})}
