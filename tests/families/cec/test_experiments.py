"""Figures 5 to 9 of Sebepou and Magoutis: the extent's formula and bound, numbers and pictures."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.errors import Invalid
from model.results.experiment import Reproduction
from model.results.plain import plain, read
from reports.results import experiments as drawing
from sim.experiments import campaign, published
from sim.experiments.campaign import compared
from sim.experiments.experiment import Experiment, experiments
from sim.experiments.sebepou.extent import (
    SMALL,
    age_at_extent,
    age_at_rate,
    age_unchecked,
    check_rate,
    expected_extent,
    still_open,
    worst_case,
    worst_replay,
    zipf,
)
from sim.experiments.sebepou.kernel import ExtentSetting, ExtentStudyCosts, run
from sim.experiments.sebepou.paper import KEYS, OPEN, SIZE, costs, probabilities
from sim.experiments.sebepou.tradeoff import ALWAYS_S, OFTEN_S, drawn

PAPER = "Sebepou and Magoutis"
OURS = [one for name, one in experiments().items() if name.startswith("cec-")]
EVENTS = 600_000
COSTS = ExtentStudyCosts(tuple_s=1.0, check_s=0.25, write_s=1.0, copy_s=0.25, read_s=1.0)


# --- formulas ------------------------------------------------------------------------------------
@given(st.integers(1, 12), st.integers(1, 5000), st.floats(0, 2))
@settings(max_examples=50, deadline=None)
def test_the_extent_shrinks_to_the_open_windows(size: int, keys: int, exponent: float) -> None:
    """Whatever the distribution is."""
    found = expected_extent(zipf(keys, exponent), size, 1e-6)
    assert found == pytest.approx(keys * (size - 1) / size, rel=1e-3, abs=1e-3)


def test_a_window_is_open_until_its_last_tuple() -> None:
    none, few = np.array([0.0]), np.array([3.0])
    assert still_open(1, none) == 0
    assert still_open(2, none) == 1
    assert still_open(2, few) == pytest.approx(np.exp(-3))
    assert still_open(3, few) == pytest.approx(4 * np.exp(-3))


@pytest.mark.slow
@given(st.integers(2, 12), st.floats(0, 1.5), st.floats(10, 10**5))
@settings(max_examples=40, deadline=None)
def test_ages_are_found_again(size: int, exponent: float, age: float) -> None:
    keys = zipf(100, exponent)
    extent, rate = expected_extent(keys, size, age), check_rate(keys, size, age)
    assert expected_extent(keys, size, age_at_extent(keys, size, extent)) == pytest.approx(
        extent, rel=1e-4
    )
    assert check_rate(keys, size, age_at_rate(keys, size, rate)) == pytest.approx(
        rate, rel=1e-3, abs=1e-9
    )


def test_integral_and_sum_agree_where_one_takes_over() -> None:
    for size in (2, 3, 4, 10):
        below, above = (check_rate(zipf(10, 0), size, 10 * SMALL * x) for x in (0.999999, 1.000001))
        assert below == pytest.approx(above, rel=1e-3)


@pytest.mark.parametrize("exponent", [0.0, 1.0])
@pytest.mark.parametrize("size", [1, 2, 10])
def test_the_formula_is_what_runs_have(exponent: float, size: int) -> None:
    items = (drawn(0, 600_000, exponent) % 500).astype(np.int32)
    keys = np.bincount(items, minlength=500) / len(items)
    for age in (50, 500):
        how = ExtentSetting(
            COSTS, 500, size, u_target=age, period_s=OFTEN_S, busy_s=ALWAYS_S, warm=300_000
        )
        expected = expected_extent(keys, size, age) if size > 1 else 0.0  # nothing is open
        assert run(items, how).mean_extent == pytest.approx(expected, rel=0.01)


def test_the_oldest_window_without_checks_is_as_old_as_in_runs() -> None:
    ages = [
        run(
            drawn(seed, 400_000, 0) % 1000, ExtentSetting(COSTS, 1000, 10, warm=200_000)
        ).mean_extent
        for seed in range(3)
    ]
    keys = zipf(1000, 0)
    expected = expected_extent(keys, 10, age_unchecked(keys, 10))
    assert np.mean(ages) == pytest.approx(expected, rel=0.15)


def test_one_window_is_older_than_the_oldest_without_checks() -> None:
    """Windows of 2: half of the keys have one, and it is still open with exp(-age / keys)."""
    assert age_unchecked(zipf(1000, 0), 2) == pytest.approx(1000 * np.log(500), rel=1e-5)


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[int], ExtentSetting]:
    """Any stream: a key may never come again."""
    keys = draw(st.integers(1, 8))
    period = draw(st.sampled_from([1.0, 3.0, 8.0]))
    length = draw(st.integers(0, 200))  # else most lists are short
    items = draw(st.lists(st.integers(0, keys - 1), min_size=length, max_size=length))
    return items, ExtentSetting(
        COSTS,
        keys,
        size=draw(st.integers(1, 6)),
        q_target=draw(st.integers(1, 30)),
        period_s=period,
        busy_s=draw(st.sampled_from([0.25, 0.5, 1.0])),
    )


@settings(max_examples=300, deadline=None)
@given(streams())
def test_no_stream_exceeds_the_worst_case(case: tuple[list[int], ExtentSetting]) -> None:
    items, how = case
    assert how.period_s
    assert how.q_target
    checks, inputs = int(how.busy_s / COSTS.check_s), int(how.period_s) + 2
    ran = run(np.array(items, np.int32), how)
    per_input = 2 if how.size == 1 else 1
    assert ran.most_extent <= worst_case(how.q_target, how.keys, checks, inputs, per_input)
    ran = run(np.array(items, np.int32), replace(how, q_target=None, u_target=how.q_target))
    assert ran.most_replay <= worst_replay(how.q_target, how.keys, checks, inputs)


def test_without_a_target_no_bound_holds() -> None:
    items = np.array([0] + [1, 1] * 1000, np.int32)
    ran = run(items, ExtentSetting(COSTS, 2, 2))
    assert ran.most_extent == 2000


# --- calibration ---------------------------------------------------------------------------------
def test_costs_fit_the_numbers_that_they_are_from() -> None:
    each = costs()
    assert each.tuple_s * KEYS * (SIZE - 1) == pytest.approx(published.value("response-none"))
    assert each.read_s * published.value("extent-q1") == published.value("load-q1")
    assert len(probabilities()) * (SIZE - 1) / SIZE == OPEN


def test_no_number_that_calibrates_is_compared() -> None:
    for number in published.numbers():
        if "calibrates" in number.why_not:
            assert not number.ours
    assert sum("calibrates" in number.why_not for number in published.numbers()) >= 4


# --- what experiments have -----------------------------------------------------------------------
@lru_cache
def done(name: str) -> Reproduction:
    """The result of one short seed, without a process of its own."""
    experiment = experiments()[name]
    return compared(experiment, experiment.rows(0, EVENTS), seeds=1, events=EVENTS)


def test_all_figures_are_there() -> None:
    names = [f"cec-fig{number}" for number in range(5, 10)]
    assert {one.name for one in OURS} == {*names, "cec-tradeoff", "cec-extent"}


@pytest.mark.parametrize("experiment", OURS, ids=lambda one: one.name)
def test_an_experiment_is_plain_data_and_drawn(experiment: Experiment) -> None:
    result = done(experiment.name)
    assert json.loads(json.dumps(plain(result))) == plain(result)
    assert plain(read(Reproduction, plain(result))) == plain(result)
    assert not (experiment.ours and result.numbers)
    drawn_ = drawing.figure(result)
    assert drawn_ is not None
    ElementTree.fromstring(drawn_)
    for panel in result.panels or ():
        assert panel.title in drawn_
        assert all(len(series.x) == len(series.y) for series in panel.series)


def test_every_number_of_the_paper_is_compared_or_has_a_reason() -> None:
    compared = {number.id for one in OURS for number in done(one.name).numbers}
    left_out = {one.name: published.left_out(one.name) for one in OURS}
    for number in published.numbers():
        if number.paper != PAPER:
            continue
        if number.why_not:
            assert any(number.why_not in line for line in left_out[number.experiment])
        assert (number.id in compared) != bool(number.why_not)


@pytest.mark.slow
def test_a_campaign_says_what_it_does_not_compare(tmp_path: Path) -> None:
    first = campaign.reproduce(experiments()["cec-fig5"], tmp_path, seeds=1, events=5000)
    assert [line for line in first.notes if line.startswith("not compared: CPU of native")]
    again = campaign.reproduce(experiments()["cec-fig5"], tmp_path, seeds=1, events=5000)
    assert again.resumed == 1
    assert again.cells == first.cells


def test_too_few_events_for_a_response_time_are_one_line() -> None:
    experiment = experiments()["cec-fig8"]
    with pytest.raises(Invalid, match="no window closed within these events"):
        experiment.summary(experiment.rows(0, 1000))


@pytest.mark.slow
def test_figures_6_and_7_at_full_length() -> None:
    """Not calibrated: the extent at U = 1,000,000, and without G_checks."""
    rows = experiments()["cec-fig7"].rows(0, 6_000_000)
    assert rows[-1]["extent"] == pytest.approx(published.value("u-extent-largest"), rel=0.05)
    assert rows[0]["replay"] == pytest.approx(published.value("u-replay-smallest"), rel=0.05)
