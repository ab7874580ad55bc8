"""Figures 3 and 5 of Su and Zhou, and what buffers cost: numbers, trends and pictures."""

from __future__ import annotations

import json
from functools import lru_cache
from xml.etree import ElementTree

import numpy as np
import pytest

from model.results.experiment import Reproduction
from model.results.plain import plain
from model.results.table import Row
from reports.results import experiments as drawing
from sim.experiments import published
from sim.experiments.campaign import compared
from sim.experiments.experiment import experiments
from sim.experiments.su import figure5_summary
from sim.experiments.su.overhead import BUFFERING, complete_s, kept, timed
from sim.experiments.su.setting import (
    BATCH_S,
    BATCHES_S,
    NEVER,
    PERIOD_S,
    POLICIES,
    RATE,
    RECOVERY,
    STEP_S,
    STORE_S,
    TUPLES_S,
    draw,
    steps,
)

PAPER = "Su and Zhou"
NAMES = ("su-fig3", "su-fig5", "su-overhead")
SEEDS = 4


@lru_cache
def rows(name: str) -> tuple[Row, ...]:
    experiment = experiments()[name]
    seeds = range(SEEDS)
    return tuple(row for seed in seeds for row in experiment.rows(seed, experiment.events))


def courses() -> list[Row]:
    return [row for row in rows("su-fig5") if row["what"] == "course"]


@lru_cache
def done(name: str) -> Reproduction:
    """The result of a few seeds, without a process of its own."""
    experiment = experiments()[name]
    return compared(experiment, rows(name), seeds=SEEDS, events=experiment.events)


def cell(policy: str, way: str) -> Row:
    cells = done("su-fig5").cells
    return next(one for one in cells if (one["policy"], one["way"]) == (policy, way))


# --- as of every experiment ----------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_an_experiment_is_plain_data_and_drawn(name: str) -> None:
    result = done(name)
    assert json.loads(json.dumps(plain(result))) == plain(result)
    assert not (experiments()[name].ours and result.numbers)
    drawn = drawing.figure(result)
    assert drawn is not None
    ElementTree.fromstring(drawn)
    assert drawn.count("-matplotlib.axis_") == 2 * len(result.panels or ())  # no empty axes
    bands = sum(bool(series.low) for panel in result.panels or () for series in panel.series)
    assert drawn.count('id="' + name + "-FillBetween") == bands
    for panel in result.panels or ():
        assert panel.title in drawn
        for series in panel.series:
            assert len(series.x) == len(series.y)
            assert len(series.low) == len(series.high) in (0, len(series.x))
            for low, high in zip(series.low, series.high, strict=True):
                assert low <= high


@pytest.mark.slow
def test_every_number_of_the_paper_is_compared_or_has_a_reason() -> None:
    compared = {number.id for name in NAMES for number in done(name).numbers}
    left_out = [line for name in NAMES for line in published.left_out(name)]
    mine = [number for number in published.numbers() if number.paper == PAPER]
    assert len(mine) >= 12
    for number in mine:
        assert (number.id in compared) != bool(number.why_not)
        assert not number.why_not or any(number.what in line for line in left_out)


# --- Figure 3 ------------------------------------------------------------------------------------
def test_the_range_of_180_samples_tells_our_choice_from_a_beta_distribution() -> None:
    longest = {one["shape"]: one["longest"] for one in done("su-fig3").cells}
    assert longest["truncated exponential"] > 5.5 > longest["beta"]


def test_best_case_is_rare() -> None:
    for one in done("su-fig3").cells:
        assert one["all_8_within_3"] < 0.03


# --- Figure 5 ------------------------------------------------------------------------------------
def test_opc_begins_half_as_late_again_as_best_case() -> None:
    """The published ratio is a ratio of times until hosts are there."""
    for way in (NEVER, RECOVERY):
        for seed in range(SEEDS):
            first = {
                row["policy"]: next(one for one in row["relative"] if one is not None)
                for row in courses()
                if (row["seed"], row["way"]) == (seed, way)
            }
            last = {
                row["policy"]: row["last_s"]
                for row in courses()
                if (row["seed"], row["way"]) == (seed, way)
            }
            behind = draw(seed).behind * STEP_S
            expected = (last["OPC"] + behind) / (last["BestCase"] + behind)
            assert first["OPC"] / first["BestCase"] == pytest.approx(expected, rel=0.05)


def test_the_formula_says_when_all_have_caught_up() -> None:
    """Hosts that wait for others are a little later."""
    loads = [row for row in rows("su-fig5") if row["what"] == "load"]
    assert len(loads) == SEEDS * len(TUPLES_S) * len(POLICIES)
    for row in loads:
        assert row["formula_s"] - 1 <= row["found_s"] <= 1.1 * row["formula_s"]


def test_progressive_recovery_ends_before_opc_if_hosts_have_cores_to_spare() -> None:
    """Its busiest host has more to do, which costs little if the load is low."""
    ends = {
        (policy, tuple_s): sum(
            row["found_s"]
            for row in rows("su-fig5")
            if row["what"] == "load" and (row["policy"], row["tuple_s"]) == (policy, tuple_s)
        )
        for policy in POLICIES
        for tuple_s in TUPLES_S
    }
    assert ends["progressive", TUPLES_S[0]] < ends["OPC", TUPLES_S[0]]
    assert ends["progressive", TUPLES_S[-1]] > ends["OPC", TUPLES_S[-1]]


def test_progressive_recovery_gains_from_not_blocking_alone() -> None:
    greedy, topological, opc = (
        cell(policy, NEVER) for policy in ("progressive", "topological", "OPC")
    )
    assert greedy["available"] == pytest.approx(topological["available"], rel=0.02)
    assert greedy["available"] > opc["available"]
    assert greedy["available_before_last"] > 0 == opc["available_before_last"]


def test_order_in_batches_makes_no_query_available_before_the_recovery_ends() -> None:
    assert cell("progressive", RECOVERY)["available_before_last"] == 0


def test_results_that_wait_for_checkpoints_lose_what_progressive_recovery_gains() -> None:
    waiting, at_once = (cell("progressive", way) for way in ("at global checkpoints", NEVER))
    assert waiting["first_result_s"] > waiting["last_query_s"] > at_once["first_result_s"]
    assert waiting["first_fresh_s"] >= cell("OPC", "at global checkpoints")["first_fresh_s"]
    numbered = cell("progressive", "always")
    assert numbered["first_fresh_s"] == pytest.approx(at_once["first_fresh_s"], abs=PERIOD_S)
    expected = at_once["stable_latency_s"] + PERIOD_S / 2 + STORE_S
    assert waiting["stable_latency_s"] == pytest.approx(expected, abs=0.2)
    assert numbered["stable_latency_s"] > at_once["stable_latency_s"] + BATCH_S / 2 - STEP_S


def test_a_batch_costs_half_of_it_without_failures() -> None:
    at_once = cell("progressive", NEVER)["stable_latency_s"]
    latencies = [row for row in rows("su-fig5") if row["what"] == "latency"]
    assert len(latencies) == SEEDS * len(BATCHES_S)
    for row in latencies:
        waits = at_once + (row["batch_s"] - STEP_S) / 2
        # At most 2 s of 3: a host needs less than half of its cores for each of three hops.
        assert waits - 1e-9 <= row["stable_s"] <= waits + 2 / 3 * row["batch_s"]


def test_all_are_available_only_when_they_stay_so() -> None:
    """A query may fall behind again."""
    row = {
        **courses()[0],
        **{what: [0, 15, 14, 15] for what in ("available", "fresh")},
    }
    one = figure5_summary.mean_of([row])
    assert one["all_available_s"] == one["all_fresh_s"] == 3 * PERIOD_S
    assert one["first_fresh_s"] == PERIOD_S


# --- buffers -------------------------------------------------------------------------------------
def test_adaptive_buffering_without_failures_is_source_buffering() -> None:
    source, adaptive, upstream = (timed(name, 0.1, 600) for name in BUFFERING.values())
    assert (source.backup_peak, source.backup_mean) == (adaptive.backup_peak, adaptive.backup_mean)
    assert (source.saves, source.traffic) == (adaptive.saves, adaptive.traffic)
    assert upstream.backup_peak > 3.5 * source.backup_peak


def test_peaks_are_those_of_the_formula() -> None:
    normal = [row for row in rows("su-overhead") if row["what"] == "normal"]
    assert len(normal) == 9
    assert complete_s() == pytest.approx(0.007)
    for row in normal:
        assert row["peak"] == pytest.approx(row["formula"], rel=0.02)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_buffers_grow_until_the_last_host_is_back(seed: int) -> None:
    drawn = draw(seed)
    last = steps(60 * float(drawn.minutes[-1]))
    for policy in ("progressive", "OPC"):
        source, outputs = kept(drawn, policy)
        until = np.arange(1, last + 1) + drawn.behind
        assert source[:last] == pytest.approx(RATE * STEP_S * until)
        assert (np.diff(outputs[:last]) >= 0).all()
        if policy == "OPC":
            assert not outputs.any()
        else:
            assert outputs.max() > source.max()
        assert outputs[-1] == 0
