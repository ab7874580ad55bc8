"""Schedules over time: nothing is undone, and the best one is the best of all."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.errors import Invalid
from model.plans.baselines import best_case, blocking, topological
from model.plans.design import MEANT
from model.plans.evidence import MYOPIC, tiny
from model.plans.greedy import greedy
from model.plans.instance import Instance
from model.plans.lookahead import MOST_QUERIES, best_schedule
from model.plans.mended import mended
from model.plans.optimum import optimal
from model.plans.schedule import Schedule, schedule, served
from model.plans.supply import Host, Supply
from proofs.plans.arrivals import choose_ahead
from proofs.plans.optimum import solve_schedule
from tests.plans.instances import instances

PLANNERS = (blocking, topological, greedy(MEANT), mended(1), optimal)


@st.composite
def supplies(draw: st.DrawFn) -> Supply:
    """Hosts at times of which some are equal, and of which some are no whole minutes."""
    times = st.integers(0, 8).map(lambda half: Fraction(half, 2))
    hosts = draw(st.lists(st.builds(Host, times, st.integers(1, 8)), min_size=1, max_size=4))
    return Supply(tuple(hosts), max(host.at for host in hosts) + draw(times) + 1)


def check_chain(instance: Instance, steps: Schedule) -> None:
    """A schedule fits at each moment, and undoes nothing."""
    before: tuple[str, ...] = ()
    for step in steps:
        assert step.plan.queries[: len(before)] == before
        assert instance.cost(step.plan.queries) <= step.plan.cost <= step.moment.resources
        before = step.plan.queries


@given(instances(), supplies())
def test_every_schedule_fits_and_none_exceeds_the_best(instance: Instance, supply: Supply) -> None:
    best = best_schedule(instance, supply)
    check_chain(instance, best)
    for planner in PLANNERS:
        steps = schedule(instance, supply, planner)
        check_chain(instance, steps)
        assert served(instance, steps) <= served(instance, best)
    if instance.total <= supply.moments[0].resources:
        everything = schedule(instance, supply, best_case)
        assert served(instance, everything) == served(instance, best)


@given(instances(most=4), supplies())
def test_the_best_schedule_is_that_of_z3(instance: Instance, supply: Supply) -> None:
    solved = solve_schedule(instance, supply)
    check_chain(instance, solved)
    assert served(instance, solved) == served(instance, best_schedule(instance, supply))


@given(instances(most=3), st.lists(st.integers(0, 12), min_size=1, max_size=3))
@settings(max_examples=50)
def test_the_best_schedule_is_the_best_of_all(instance: Instance, more: list[int]) -> None:
    hosts = tuple(Host(Fraction(at), one + 1) for at, one in enumerate(more))
    supply = Supply(hosts, Fraction(len(hosts)))
    all_of_them = choose_ahead(instance, [moment.resources for moment in supply.moments])
    most = max(worth.served for worth in all_of_them)
    assert served(instance, best_schedule(instance, supply)) == most


def test_a_host_earlier_or_a_larger_one_never_hurts_the_best() -> None:
    instance = MYOPIC["less over time"][0].instance
    worth = [
        served(instance, best_schedule(instance, Supply((Host(Fraction(at), size),), Fraction(9))))
        for at, size in ((4, 1), (3, 1), (3, 2), (3, 3), (2, 3))
    ]
    assert worth == sorted(worth)


@given(instances(priority=1, sharing=False), supplies())
def test_without_sharing_and_priorities_the_published_algorithm_is_best_over_time(
    instance: Instance, supply: Supply
) -> None:
    """The cheapest first: the best at every moment."""
    steps = schedule(instance, supply, greedy(MEANT))
    assert served(instance, steps) == served(instance, best_schedule(instance, supply))


def test_served_is_priority_times_minutes() -> None:
    instance = tiny((1, 2), (3, "1"), (5, "2"))
    supply = Supply((Host(Fraction(2), 1), Host(Fraction(7, 2), 2)), Fraction(6))
    assert [moment.resources for moment in supply.moments] == [1, 3]
    steps = schedule(instance, supply, optimal)
    assert served(instance, steps) == 3 * Fraction(4) + 5 * Fraction(5, 2)


@pytest.mark.parametrize(
    ("hosts", "until", "message"),
    [
        ([], 1, "no host comes"),
        ([Host(Fraction(-1), 1)], 1, "host 1 comes at -1"),
        ([Host(Fraction(0), 0)], 1, "host 1 has capacity 0"),
        ([Host(Fraction(3), 1)], 3, r"the end 3 is not after the last host \(3\)"),
    ],
)
def test_a_bad_supply_is_refused(hosts: list[Host], until: int, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        Supply(tuple(hosts), Fraction(until))


def test_too_many_queries_are_refused() -> None:
    many = tiny((1,), *[(1, "1")] * (MOST_QUERIES + 1))
    with pytest.raises(Invalid, match="17 failed queries; over time, at most 16"):
        best_schedule(many, Supply((Host(Fraction(1), 1),), Fraction(2)))
