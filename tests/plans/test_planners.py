"""Planners: what every plan satisfies, and what the optimum and the bounds are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from model.errors import Invalid
from model.plans.baselines import best_case, blocking, topological
from model.plans.design import LITERAL, MEANT, READINGS, CountedQueries, PlanDesign
from model.plans.evidence import EXACT, UNDEFINED, bait, decoys, tiny
from model.plans.greedy import Undefined, greedy, rank
from model.plans.instance import Instance, PlanOperator, PlanQuery
from model.plans.lookahead import set_tables
from model.plans.mended import bound, mended
from model.plans.optimum import optimal
from model.plans.placement import place
from model.plans.plan import NOTHING, Plan, Planner, extend
from proofs.plans.optimum import solve_plan
from tests.plans.instances import instances, tasks

DEFINED = {
    name: design for name, design in READINGS.items() if design.frequency is not LITERAL.frequency
}
PLANNERS: Mapping[str, Planner] = {
    **{name: greedy(design) for name, design in DEFINED.items()},
    **{f"mended {seeds}": mended(seeds) for seeds in range(3)},
    "topological": topological,
    "blocking": blocking,
    "optimal": optimal,
}


def value(instance: Instance, resources: int, planner: Planner) -> int:
    return instance.value(planner(instance, resources, NOTHING).queries)


# --- every plan ------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("name", PLANNERS)
@settings(max_examples=25)
@given(tasks(), st.data())
def test_a_plan_fits_and_keeps_what_is_recovered(
    name: str, task: tuple[Instance, int], data: st.DataObject
) -> None:
    instance, resources = task
    first = PLANNERS[name](instance, data.draw(st.integers(0, resources)), NOTHING)
    plan = PLANNERS[name](instance, resources, first)
    assert plan.queries[: len(first.queries)] == first.queries
    assert len(set(plan.queries)) == len(plan.queries)
    assert set(plan.queries) <= set(instance.needs)
    assert instance.cost(plan.queries) <= plan.cost <= resources
    assert value(instance, resources, optimal) >= value(instance, resources, PLANNERS[name])


@pytest.mark.parametrize("name", sorted(PLANNERS.keys() - {"topological", "blocking"}))
@settings(max_examples=25)
@given(tasks())
def test_a_plan_has_all_queries_that_it_recovers(name: str, task: tuple[Instance, int]) -> None:
    instance, resources = task
    plan = PLANNERS[name](instance, resources, NOTHING)
    recovered = instance.operators_of(plan.queries)
    assert {*instance.covered(recovered)} == {*plan.queries}
    assert plan.cost == instance.price(recovered)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PLANNERS.keys() - {"limit-smaller"}))
@settings(max_examples=25)
@given(instances())
def test_with_enough_for_everything_everything_is_recovered(name: str, instance: Instance) -> None:
    plan = PLANNERS[name](instance, 2 * instance.total, NOTHING)
    assert {*plan.queries} == {*instance.needs}


# --- the published algorithm -----------------------------------------------------------------
def published(instance: Instance, resources: int) -> set[str]:
    """As it is meant, written down a second time, with sets of operators and without a list."""
    done, left = set[str](), set(instance.needs)
    while True:
        fitting = {
            query: cost
            for query in left
            for cost in [instance.price(instance.needs[query] - done)]
            if cost + instance.price(done) <= resources
        }
        if not fitting:
            return set(instance.needs) - left
        best = max(
            fitting,
            key=lambda query: (
                instance.priorities[query]
                / sum(
                    instance.prices[name] / sum(name in instance.needs[one] for one in left)
                    for name in instance.needs[query] - done
                ),
                -[*instance.needs].index(query),
            ),
        )
        done |= instance.needs[best]
        left = {query for query in left if not instance.needs[query] <= done}


@given(tasks())
def test_the_algorithm_is_the_published_one(task: tuple[Instance, int]) -> None:
    instance, resources = task
    densities = [
        (instance.priorities[query], sum(instance.prices[name] for name in needs))
        for query, needs in instance.needs.items()
    ]
    assume(len({priority / cost for priority, cost in densities}) == len(densities))
    assert {*greedy(MEANT)(instance, resources, NOTHING).queries} == published(*task)


@pytest.mark.parametrize("name", DEFINED)
@settings(max_examples=25)
@given(tasks(), st.randoms())
def test_the_order_of_operators_and_of_different_queries_does_not_matter(
    name: str, task: tuple[Instance, int], random: object
) -> None:
    instance, resources = task
    operators = list(instance.operators)
    random.shuffle(operators)  # type: ignore[attr-defined]
    other = Instance(tuple(operators), instance.queries)
    planner = PLANNERS[name]
    assert planner(instance, resources, NOTHING) == planner(other, resources, NOTHING)


def test_a_density_is_the_published_formula() -> None:
    """As in Figure 1: PD_1 = 2 / (4 / 2 + 3) and PD_2 = 1 / (4 / 2 + 1)."""
    instance = tiny((4, 3, 1), (2, "12"), (1, "13"))
    assert rank(instance, MEANT, NOTHING) == ["Q1", "Q2"]
    cheaper = tiny((4, 3, 1), (1, "12"), (1, "13"))
    assert rank(cheaper, MEANT, NOTHING) == ["Q2", "Q1"]


WHOLE = Instance(
    (
        PlanOperator("O1", (1, 5), frozenset({0})),
        PlanOperator("O2", (2,), frozenset({0})),
        PlanOperator("O3", (9,), frozenset()),
    ),
    (
        PlanQuery("Q1", frozenset({"O1"})),
        PlanQuery("Q2", frozenset({"O2"})),
        PlanQuery("Q3", frozenset({"O3"})),
    ),
)


def first(instance: Instance, name: str, before: Plan = NOTHING) -> str:
    return rank(instance, READINGS[name], before)[0]


def test_each_reading_differs_from_what_is_meant() -> None:
    assert first(WHOLE, "meant") == "Q1"
    assert first(WHOLE, "cost-whole") == "Q2"
    shared = tiny((3, 1), (1, "1"), (1, "1"), (1, "2"), (1, "12"))
    assert first(shared, "meant") == "Q3"
    assert first(tiny((3, 2), (1, "1"), (1, "1"), (1, "2")), "meant") == "Q1"
    for other in ("frequency-others-or-one", "frequency-one"):
        assert first(tiny((3, 2), (1, "1"), (1, "1"), (1, "2")), other) == "Q3"
    assert first(tiny((5, 2), *[(1, "1")] * 3, (1, "2")), "frequency-one") == "Q4"
    assert first(tiny((3, 2), *[(1, "1")] * 3, (1, "2")), "frequency-others-or-one") == "Q1"
    assert first(tiny((9, 1), (2, "1"), (1, "2")), "sum-all") == "Q1"
    assert first(tiny((9, 1), (2, "1"), (1, "2")), "meant") == "Q2"
    assert first(tiny((1, 1), (1, "1"), (1, "2")), "ties-last") == "Q2"


def test_what_is_recovered_costs_no_more() -> None:
    instance = tiny((4, 2, 3), (1, "1"), (1, "12"), (1, "3"))
    before = Plan(("Q1",), 4)
    assert first(instance, "meant", before) == "Q2"
    assert first(instance, "density-paid", before) == "Q3"
    assert greedy(MEANT)(instance, 6, before).queries == ("Q1", "Q2")
    assert greedy(READINGS["fit-paid"])(instance, 6, before).queries == ("Q1",)
    assert greedy(READINGS["density-paid"])(instance, 6, before).queries == ("Q1", "Q2")


@pytest.mark.slow
@given(tasks())
def test_among_which_queries_frequencies_count_makes_no_difference(
    task: tuple[Instance, int],
) -> None:
    """An operator that is not recovered is of no query that is."""
    counted = greedy(READINGS["counted-failed"])
    assert counted(*task, NOTHING) == greedy(MEANT)(*task, NOTHING)


def test_unless_what_is_recovered_costs_something() -> None:
    instance = tiny((6, 1, 4), (1, "1"), (1, "12"), (1, "3"))
    before = Plan(("Q1",), 6)
    paid = READINGS["density-paid"]
    assert rank(instance, paid, before)[0] == "Q3"
    assert rank(instance, replace(paid, counted=CountedQueries.FAILED), before) == ["Q2", "Q3"]


def test_an_operator_that_is_not_shared_divides_by_zero() -> None:
    for name in ("literal", "frequency-others"):
        with pytest.raises(Undefined, match="no other failed query shares O1"):
            greedy(READINGS[name])(UNDEFINED, 1, NOTHING)


def test_an_operator_that_is_not_shared_may_cost_without_bound() -> None:
    """Then the density of its query is 0: the query comes last, and is recovered if it fits."""
    never = READINGS["frequency-others-or-nothing"]
    instance = tiny((1, 1), (1, "1"), (1, "1"), (3, "2"))
    assert greedy(never)(UNDEFINED, 1, NOTHING).queries == ("Q1",)
    assert rank(instance, never, NOTHING) == ["Q1", "Q2", "Q3"]
    assert greedy(never)(instance, 2, NOTHING).queries == ("Q1", "Q2", "Q3")


def test_smaller_than_leaves_out_what_fits_exactly() -> None:
    planner = greedy(READINGS["limit-smaller"])
    assert planner(EXACT.instance, 1, NOTHING) == NOTHING
    assert planner(EXACT.instance, 2, NOTHING).queries == ("Q1",)


# --- the optimum -----------------------------------------------------------------------------
def brute_force(instance: Instance, resources: int) -> int:
    queries = [*instance.needs]
    return max(
        instance.value(chosen)
        for size in range(len(queries) + 1)
        for chosen in combinations(queries, size)
        if instance.cost(chosen) <= resources
    )


@given(tasks())
def test_three_ways_to_the_optimum_agree(task: tuple[Instance, int]) -> None:
    instance, resources = task
    costs, values = set_tables(instance)
    best = brute_force(instance, resources)
    assert value(instance, resources, optimal) == best
    assert max(v for c, v in zip(costs, values, strict=True) if c <= resources) == best


@given(tasks(most=4))
def test_the_optimum_is_that_of_z3(task: tuple[Instance, int]) -> None:
    instance, resources = task
    assert value(instance, resources, optimal) == solve_plan(instance, resources)


@given(tasks(), st.data())
def test_the_optimum_goes_on_from_any_plan(task: tuple[Instance, int], data: st.DataObject) -> None:
    instance, resources = task
    chosen = data.draw(st.lists(st.sampled_from([*instance.needs, ""]), unique=True))
    before = tuple(query for query in chosen if query)
    assume(instance.cost(before) <= resources)
    plan = optimal(instance, resources, Plan(before, instance.cost(before)))
    rest = [query for query in instance.needs if query not in before]
    assert instance.value(plan.queries) == max(
        instance.value((*before, *more))
        for size in range(len(rest) + 1)
        for more in combinations(rest, size)
        if instance.cost((*before, *more)) <= resources
    )


@given(tasks())
def test_more_resources_never_make_the_optimum_worse(task: tuple[Instance, int]) -> None:
    instance, resources = task
    assert value(instance, resources, optimal) <= value(instance, resources + 1, optimal)


# --- bounds ----------------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("seeds", [1, 2])
@given(tasks())
def test_the_mended_algorithm_keeps_its_bound(seeds: int, task: tuple[Instance, int]) -> None:
    instance, resources = task
    assume(instance.needs)
    best = value(instance, resources, optimal)
    assert value(instance, resources, mended(seeds)) >= bound(instance.sharing, seeds) * best


def test_bounds_are_the_proved_ones() -> None:
    share = 1 - math.exp(-1 / 3)
    assert [bound(3, seeds) for seeds in range(4)] == [0, share / 2, share, share]
    assert [bound(1, seeds) for seeds in range(4)] == [0, (1 - 1 / math.e) / 2, 0.5, 0.5]


@pytest.mark.slow
@given(tasks())
def test_with_the_first_refused_query_of_an_optimum_the_bound_is_whole(
    task: tuple[Instance, int],
) -> None:
    """Steps (1) to (3) of the proof in docs/how-to/plans.md."""
    instance, resources = task
    assume(instance.needs)
    optimum = optimal(instance, resources, NOTHING).queries
    plan, refused = NOTHING, set[str]()
    while left := [query for query in rank(instance, MEANT, plan) if query not in refused]:
        more = extend(instance, plan, left[0])
        if more.cost <= resources:
            plan = more
        elif left[0] in optimum:
            share = 1 - math.exp(-1 / instance.sharing)
            assert instance.value(more.queries) >= share * instance.value(optimum)
            return
        else:
            refused.add(left[0])
    assert {*optimum} <= {*plan.queries}
    assert plan.queries == greedy(MEANT)(instance, resources, NOTHING).queries


@given(tasks(), st.data())
def test_shares_add_up_to_at_most_the_cost(task: tuple[Instance, int], data: st.DataObject) -> None:
    instance, _ = task
    chosen = data.draw(st.sets(st.sampled_from([*instance.needs, ""])))
    queries = [query for query in chosen if query]
    counts = Counter(name for needs in instance.needs.values() for name in needs)
    shares = sum(
        Fraction(instance.prices[name], counts[name])
        for query in queries
        for name in instance.needs[query]
    )
    assert Fraction(instance.cost(queries), instance.sharing or 1) <= shares
    assert shares <= instance.cost(queries)


@given(tasks(priority=1))
def test_with_equal_priorities_the_published_algorithm_has_the_bound_of_one_seed(
    task: tuple[Instance, int],
) -> None:
    instance, resources = task
    assume(instance.needs)
    best = value(instance, resources, optimal)
    assert value(instance, resources, greedy(MEANT)) >= bound(instance.sharing, 1) * best


@given(tasks())
def test_more_seeds_never_make_a_plan_worse(task: tuple[Instance, int]) -> None:
    worth = [value(*task, mended(seeds)) for seeds in range(4)]
    assert worth == sorted(worth)
    assert worth[0] == value(*task, greedy(MEANT))


@pytest.mark.slow
@given(instances(priority=1, sharing=False), st.integers(0, 40))
def test_without_sharing_and_priorities_the_published_algorithm_is_optimal(
    instance: Instance, resources: int
) -> None:
    assert value(instance, resources, greedy(MEANT)) == value(instance, resources, optimal)


@pytest.mark.parametrize("resources", [4, 10, 20])
def test_there_is_no_bound_for_the_published_algorithm(resources: int) -> None:
    family = decoys(resources)
    assert value(family, resources, greedy(MEANT)) == 1
    assert value(family, resources, optimal) == resources // 2
    assert value(family, resources, mended(1)) == resources // 2
    assert value(bait(resources), resources, greedy(MEANT)) == 2
    assert value(bait(resources), resources, optimal) == resources


# --- baselines and placement -----------------------------------------------------------------
@given(tasks())
def test_blocking_is_all_or_nothing(task: tuple[Instance, int]) -> None:
    instance, resources = task
    plan = blocking(instance, resources, NOTHING)
    assert plan.queries == (tuple(instance.needs) if resources >= instance.total else ())
    assert best_case(instance, 1, NOTHING).queries == tuple(instance.needs)


def test_topological_order_goes_partition_by_partition() -> None:
    instance = Instance(
        (
            PlanOperator("O1", (1, 1), frozenset({0, 1})),
            PlanOperator("O2", (3,), frozenset({0})),
            PlanOperator("O3", (1,), frozenset({0})),
            PlanOperator("unused", (1,), frozenset({0})),
        ),
        (
            PlanQuery("Q1", frozenset({"O1"})),
            PlanQuery("Q2", frozenset({"O2"})),
            PlanQuery("Q3", frozenset({"O3"})),
        ),
    )
    plans = [topological(instance, resources, NOTHING) for resources in range(7)]
    assert [plan.cost for plan in plans] == [0, 1, 2, 2, 2, 5, 6]
    assert [len(plan.queries) for plan in plans] == [0, 0, 1, 1, 1, 2, 3]


@given(st.lists(st.integers(1, 4), max_size=5), st.lists(st.integers(1, 6), min_size=1, max_size=3))
def test_a_placement_is_one_and_is_found(costs: list[int], capacities: list[int]) -> None:
    def exists(left: list[int], room: tuple[int, ...]) -> bool:
        return not left or any(
            free >= left[0] and exists(left[1:], (*room[:at], free - left[0], *room[at + 1 :]))
            for at, free in enumerate(room)
        )

    hosts = place(costs, capacities)
    assert (hosts is not None) == exists(costs, tuple(capacities))
    for host, capacity in enumerate(capacities if hosts else ()):
        assert sum(c for c, at in zip(costs, hosts or (), strict=True) if at == host) <= capacity


# --- bad instances ---------------------------------------------------------------------------
def operator(name: str = "O1", costs: tuple[int, ...] = (1,), failed: int = 0) -> PlanOperator:
    return PlanOperator(name, costs, frozenset({failed}))


@pytest.mark.parametrize(
    ("operators", "queries", "message"),
    [
        ([operator(), operator()], [], "operator 'O1' is there twice"),
        ([operator(costs=())], [], "O1 has no partitions"),
        ([operator(costs=(0,))], [], "O1: cost 0; give at least 1"),
        ([operator(failed=1)], [], "O1: no partition 2; it has 1"),
        ([operator()], [PlanQuery("Q1", frozenset())], "query Q1 has no operators"),
        ([operator()], [PlanQuery("Q1", frozenset({"O2"}))], "no operator 'O2'; there are 'O1'"),
        ([operator()], [PlanQuery("Q1", frozenset({"O1"}), 0)], "query Q1: priority 0"),
    ],
)
def test_a_bad_instance_is_refused(
    operators: list[PlanOperator], queries: list[PlanQuery], message: str
) -> None:
    with pytest.raises(Invalid, match=message):
        Instance(tuple(operators), tuple(queries))


def test_a_design_is_one_choice_of_each_kind() -> None:
    assert PlanDesign() == MEANT
    names = [name for name in READINGS if name not in ("meant", "literal")]
    for name in names:
        changed = [
            field
            for field in PlanDesign.__dataclass_fields__
            if getattr(READINGS[name], field) != getattr(MEANT, field)
        ]
        assert len(changed) == 1
        assert replace(READINGS[name], **{changed[0]: getattr(MEANT, changed[0])}) == MEANT
