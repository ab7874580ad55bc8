"""The kernel of Figure 5 and a reference with dictionaries do the same; and what must be true."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.experiments.su.kernel import Floats, Partition, Rules, committed, run

Above = Mapping[int, Sequence[int]]
RULES = Rules(behind=0, period=10, store=1, batch=None, always=False, speed=10.0, cores=2.0)


def reference(
    above: Above, partitions: Sequence[Partition], rules: Rules, steps: int
) -> list[dict[int, float]]:
    """Step by step, as the kernel's docstring says."""
    start = -float(rules.behind)
    place = dict.fromkeys(partitions_by_number(partitions), start)
    front = dict.fromkeys([0, *above], start)
    resumes = min(one.starts for one in partitions)
    stored: int | None = None
    course = []
    for step in range(steps):
        ordered = rules.batch and (rules.always or stored is None or step < stored)
        wanted: dict[int, tuple[float, float]] = {}
        for number, one in partitions_by_number(partitions).items():
            if step >= one.starts:
                ready = min(front[other] for other in above[one.operator])
                if ordered:
                    assert rules.batch
                    batches = math.floor((ready + rules.behind) / rules.batch)
                    ready = batches * rules.batch - rules.behind
                if ready > place[number]:
                    wanted[number] = ready, min(1.0, (ready - place[number]) * one.load)
        for number, (ready, cores) in wanted.items():
            one = partitions[number]
            asked = sum(c for other, (_, c) in wanted.items() if partitions[other].host == one.host)
            cores *= min(1.0, rules.cores / asked)
            whole = cores >= (ready - place[number]) * one.load
            place[number] = ready if whole else place[number] + cores / one.load
        if step >= resumes:
            front[0] = min(step + 1.0, front[0] + rules.speed)
        for operator in above:
            mine = (n for n, one in enumerate(partitions) if one.operator == operator)
            front[operator] = min(place[number] for number in mine)
        if stored is None and min(front.values()) >= rules.period - rules.behind:
            stored = step + rules.store
        course.append(dict(front))
    return course


def partitions_by_number(partitions: Sequence[Partition]) -> dict[int, Partition]:
    return dict(enumerate(partitions))


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[int, list[int]], list[Partition], Rules]:
    operators = draw(st.integers(1, 4))
    above = {
        operator: sorted(draw(st.sets(st.integers(0, operator - 1), min_size=1)))
        for operator in range(1, operators + 1)
    }
    partitions = [
        Partition(
            operator,
            draw(st.sampled_from([0.125, 0.25, 0.5, 0.75])),
            draw(st.integers(0, 2)),
            draw(st.integers(0, 12)),
        )
        for operator in above
        for _ in range(draw(st.integers(1, 2)))
    ]
    rules = Rules(
        behind=draw(st.integers(0, 6)),
        period=draw(st.integers(1, 8)),
        store=draw(st.integers(0, 3)),
        batch=draw(st.sampled_from([None, 1, 2, 5])),
        always=draw(st.booleans()),
        speed=draw(st.sampled_from([1.0, 1.5, 4.0])),
        cores=draw(st.sampled_from([0.5, 1.0, 2.0])),
    )
    return above, partitions, rules


STEPS = 60


@settings(max_examples=300, deadline=None)
@given(cases())
def test_kernel_and_reference_agree(
    case: tuple[dict[int, list[int]], list[Partition], Rules],
) -> None:
    above, partitions, rules = case
    found = run(above, partitions, rules, STEPS)
    for row, expected in zip(found, reference(above, partitions, rules, STEPS), strict=True):
        assert row.tolist() == pytest.approx([expected[at] for at in range(len(above) + 1)])


@settings(max_examples=200, deadline=None)
@given(cases())
def test_nobody_is_ahead_of_what_it_reads_or_goes_back(
    case: tuple[dict[int, list[int]], list[Partition], Rules],
) -> None:
    above, partitions, rules = case
    front = run(above, partitions, rules, STEPS)
    assert (np.diff(front, axis=0) >= -1e-9).all()
    assert (front[:, 0] <= np.arange(1, STEPS + 1)).all()
    for operator, others in above.items():
        for other in others:
            assert (front[1:, operator] <= front[:-1, other] + 1e-9).all()
    checkpoint = committed(front, rules)
    assert (checkpoint <= front.min(axis=1) + 1e-9).all()
    assert ((checkpoint + rules.behind) % rules.period == 0).all()


@settings(max_examples=100, deadline=None)
@given(cases())
def test_an_operator_does_not_begin_before_all_its_partitions(
    case: tuple[dict[int, list[int]], list[Partition], Rules],
) -> None:
    above, partitions, rules = case
    front = run(above, partitions, rules, STEPS)
    for one in partitions:
        assert (front[: one.starts, one.operator] == -rules.behind).all()


def chain(load: float, partitions: int = 1, **changes: int) -> tuple[Above, list[Partition]]:
    """Three operators one after another, each on a host of its own."""
    above = {1: [0], 2: [1], 3: [2]}
    starts = changes.get("starts", 0)
    return above, [
        Partition(operator, load, operator, starts) for operator in above for _ in range(partitions)
    ]


def test_without_a_failure_an_operator_is_as_many_steps_behind_as_hops() -> None:
    front = run(*chain(0.5), RULES, 50)
    assert (np.arange(1, 51)[10:, None] - front[10:] == [0, 1, 2, 3]).all()


@pytest.mark.parametrize(("load", "partitions", "pace"), [(0.5, 1, 2), (0.8, 2, 1.25), (0.8, 4, 0)])
def test_the_time_to_catch_up_is_lag_over_pace_minus_1(
    load: float, partitions: int, pace: float
) -> None:
    """One thread each: 1 / load; four of 0.8 ask for 3.2 of 2 cores, and never catch up."""
    starts, behind = 400, 20
    rules = RULES._replace(behind=behind)
    front = run(*chain(load, partitions, starts=starts), rules, 3000)
    late = np.arange(1, 3001) - front[:, 3]
    if not pace:
        assert (np.diff(late[starts:]) > 0).any()
        assert late[-1] > starts
        return
    stable = int(np.flatnonzero(late > 4)[-1])
    assert stable == pytest.approx(starts + (starts + behind) / (pace - 1), abs=20)


def test_ordered_partitions_wait_for_the_end_of_a_batch() -> None:
    rules = RULES._replace(batch=5, always=True, cores=9.0)
    front = run(*chain(0.1), rules, 50)
    assert (front[:, 1:] % 5 == 0).all()
    ages = np.arange(1, 51)[25:45, None] - front[25:45]
    assert ages.mean(axis=0).tolist() == [0, 3, 4, 5]  # half a batch, beside the hops


def test_the_order_of_a_recovery_ends_at_the_first_global_checkpoint() -> None:
    above, partitions = chain(0.1, starts=30)
    rules = RULES._replace(behind=4, batch=5, store=7, cores=9.0)
    ordered, free = (run(above, partitions, rules._replace(batch=b), 90) for b in (5, None))
    passed = int(np.flatnonzero(ordered.min(axis=1) >= rules.period - rules.behind)[0])
    differ = np.flatnonzero((ordered != free).any(axis=1))
    assert differ[0] > 30
    assert passed < differ[-1] <= passed + rules.store + 3  # hops, until it has passed all


def test_a_global_checkpoint_needs_all_partitions_and_is_stored() -> None:
    above, partitions = chain(0.1)
    late = partitions[-1]._replace(starts=40)
    rules = RULES._replace(behind=3, period=10, store=2)
    front: Floats = run(above, [*partitions[:-1], late], rules, 80)
    first = int(np.flatnonzero(committed(front, rules) > -3)[0])
    assert first == int(np.flatnonzero(front[:, 3] >= 7)[0]) + 2
    assert first >= 42
