"""The attach times, the placement and the loads of the setting of Su and Zhou."""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.experiments.su.attach import HIGH, LOW, TOGETHER, attach, shapes, truncated_exponential
from sim.experiments.su.figure5 import busy_cores
from sim.experiments.su.setting import (
    PER_TWEET,
    PLACES,
    POLICIES,
    RATE,
    RESTORE_S,
    TUPLE_S,
    Drawn,
    draw,
    place,
    rates,
    reads,
    steps,
)
from sim.plans.draw import PARTITIONS

SEEDS = range(8)
drawn = lru_cache(draw)


# --- attach times --------------------------------------------------------------------------------
@given(st.floats(2.2, 3.8))
@settings(max_examples=20, deadline=None)
def test_the_distribution_has_the_mean_and_the_form_that_it_is_asked_for(mean: float) -> None:
    found = truncated_exponential(mean)
    assert found.mean() == pytest.approx(mean, abs=1e-3)
    # The probability to wait longer falls by the same factor in each quarter of the range.
    quarters = np.diff([found.probability(LOW + at) for at in range(5)])
    assert (quarters[1:] / quarters[:-1]).tolist() == pytest.approx([quarters[1] / quarters[0]] * 3)


def test_our_choice_has_the_largest_entropy_of_its_mean() -> None:
    """Compared with the beta distribution, and with mixtures of it with our choice."""
    ours, beta = (np.diff(shapes()[name].below) for name in ("truncated exponential", "beta"))
    assert attach().mean() == pytest.approx(TOGETHER)
    for share in (0.1, 0.5, 1.0):
        other = (1 - share) * ours + share * beta
        assert entropy(other) < entropy(ours)


def entropy(shares: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    return -sum(share * math.log(share) for share in shares.tolist() if share > 0)


@pytest.mark.parametrize("name", shapes())
def test_means_of_the_last_host_are_those_of_draws(name: str) -> None:
    shape = shapes()[name]
    draws = shape.draw(np.random.default_rng(1), 80_000).reshape(-1, 8)
    assert draws.min() >= LOW
    assert draws.max() <= HIGH
    assert draws.max(axis=1).mean() == pytest.approx(shape.mean_of_last(8), rel=0.01)
    within = (draws <= TOGETHER).all(axis=1).mean()
    assert within == pytest.approx(shape.probability(TOGETHER) ** 8, abs=0.005)


def test_the_uniform_distribution_is_checked_with_a_pencil() -> None:
    uniform = shapes()["uniform"]
    assert uniform.mean_of_last(8) == pytest.approx(LOW + (HIGH - LOW) * 8 / 9)
    assert uniform.probability(TOGETHER) == pytest.approx(1 / 4)


# --- placement -----------------------------------------------------------------------------------
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_partition_has_a_place_on_a_host_that_is_there(policy: str, seed: int) -> None:
    case = drawn(seed)
    placed = place(case, policy)
    assert Counter(one.operator for one in placed) == dict.fromkeys(range(1, 16), PARTITIONS)
    assert max(Counter(one.host for one in placed).values()) <= PLACES
    minutes = [TOGETHER] * 8 if policy == "BestCase" else case.minutes
    for one in placed:
        assert one.starts >= steps(60 * float(minutes[one.host]) + RESTORE_S)


@pytest.mark.parametrize("seed", SEEDS)
def test_policies_start_as_they_say(seed: int) -> None:
    case = drawn(seed)
    starts = {policy: [one.starts for one in place(case, policy)] for policy in POLICIES}
    assert {*starts["BestCase"]} == {steps(185)}
    assert {*starts["OPC"]} == {steps(60 * float(case.minutes[-1]) + RESTORE_S)}
    assert {*starts["OPC"]} == {max(starts["progressive"])} == {max(starts["topological"])}
    assert min(starts["progressive"]) == steps(60 * float(case.minutes[0]) + RESTORE_S)
    by_start = sorted(place(case, "topological"), key=lambda one: one.starts)
    assert [one.operator for one in by_start] == sorted(one.operator for one in by_start)


@pytest.mark.parametrize("seed", SEEDS)
def test_queries_of_the_plan_start_whole(seed: int) -> None:
    """The greedy plan starts no part of an operator."""
    begins: dict[int, set[int]] = {}
    for one in place(drawn(seed), "progressive"):
        begins.setdefault(one.operator, set()).add(one.starts)
    assert all(len(times) == 1 for times in begins.values())


@pytest.mark.parametrize("seed", SEEDS)
def test_loads_are_those_of_all_tuples_wherever_partitions_are(seed: int) -> None:
    case: Drawn = drawn(seed)
    tags = RATE * PER_TWEET
    below = sum(len(of) for at, of in reads(case.instance).items() if at > 5)
    cores = (RATE + 4 * tags + below * tags) * TUPLE_S
    for policy in POLICIES:
        assert sum(busy_cores(place(case, policy)).values()) == pytest.approx(cores)
    assert sum(case.shares) == pytest.approx(1)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_topology_is_the_paper_s_as_far_as_it_is_known(seed: int) -> None:
    above = reads(drawn(seed).instance)
    assert above[1] == [0]
    assert [above[at] for at in range(2, 6)] == [[1]] * 4
    for at in range(6, 16):
        assert 1 <= len(above[at]) <= 3
        assert {2, 3, 4, 5}.issuperset(above[at])
    into = rates(drawn(seed).instance)
    assert into[1] == RATE
    assert into[2] == pytest.approx(600)
    assert into[6] == pytest.approx(600 * len(above[6]))
