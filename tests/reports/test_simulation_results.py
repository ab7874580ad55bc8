"""Plots of timed runs: everything of the run is drawn, and equal runs give equal bytes."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import isnan
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from model.results.report import ReportResults
from model.results.simulation import LatencySeries, Simulation
from reports.diagrams.picture import SUFFIXES
from reports.results.simulation_plots import _broken, about, over_time, picture
from reports.results.simulations import format_value
from sim.experiments.campaign import reproduce
from sim.experiments.lima.figure9 import FIG9
from sim.scenarios.run import simulate
from sim.scenarios.scenario import read
from sim.timed.metrics import overhead
from tests.known import known
from tests.reports.written import written

SVG = "{http://www.w3.org/2000/svg}"


@lru_cache
def ran(name: str = "everything") -> Simulation:
    return simulate(read(f"docs/scenarios/{name}.toml"))


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.0, "0 ms"), (0.99949, "999 ms"), (0.9996, "1 s"), (999.4, "999 s"), (12_345.6, "12,346 s")],
)
def test_a_time_has_no_exponent(seconds: float, shown: str) -> None:
    assert format_value("recovery_s", seconds) == shown


def words(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return [text.text or "" for text in root.iter(f"{SVG}text")]


@pytest.mark.slow
def test_all_panels_lines_and_phases_are_drawn() -> None:
    found = words(over_time(ran()))
    for what in ("Latency", "Events kept", "Messages in the input queue", "Recovery", "Without"):
        assert sum(text.startswith(what) for text in found) == 1
    phases = ("detection", "restart", "redirection", "replay", "catch-up")
    for what in ("median", "95 %", "99 %", "crash", *phases):
        assert found.count(what) == 1
    for node in ("left", "right", "both"):
        assert found.count(node) == 1


def test_every_crash_is_a_bar() -> None:
    found = words(over_time(ran()))
    failures = ran().failures
    for failure in failures:
        assert f"{failure.node} at {failure.crashed_s:.3g} s" in found
    assert sum("crashed again" in text for text in found) == 2 * 2  # in both panels
    longest = max(failure.recovery_s or 0 for failure in failures)
    assert f"{longest * 1000:.3g} ms" in found


@pytest.mark.slow
def test_a_recovery_that_is_cut_off_says_so() -> None:
    first, *others = ran("quickstart").failures
    found = words(over_time(replace(ran("quickstart"), failures=(replace(first, cut_off=True),))))
    assert not others
    assert any("≥" in text and "cut off by the end of the input" in text for text in found)
    assert not any("cut off" in text for text in words(over_time(ran("quickstart"))))


def test_a_line_has_a_gap_where_there_are_no_outputs() -> None:
    """Two stretches follow each other, a third comes later; each ends at its last output."""
    middle = (0.1, 0.2, 0.3)
    latency = LatencySeries(
        (1.0, 2.0, 5.0), (1, 1, 1), (False, False, True), middle, middle, middle
    )
    times, values = _broken(latency, "p50_s")
    assert times == [1.0, 2.0, 5.0, 5.0]
    assert values[:2] == [0.1, 0.2]
    assert isnan(values[2])
    assert values[3] == 0.3


def test_latencies_are_drawn_when_they_are_known() -> None:
    """An output is out at the time of its point or before, and after the point before."""
    series, ended = ran().series.latency, ran().metrics.ended_s
    crash = min(failure.crashed_s for failure in ran().failures)
    assert [*series.time_s] == sorted(series.time_s)
    assert series.time_s[-1] <= ended
    first = next(at for at, time in enumerate(series.time_s) if time > crash)
    assert series.broken[first]  # nobody hands on anything while the first operator is away
    assert series.time_s[first] - crash >= known(ran().failures[0].detection_s)


@pytest.mark.slow
@pytest.mark.parametrize(
    "suffix",
    # `.ci/run` has the bytes of SVG; the others are drawn from the same figure.
    [pytest.param(one, marks=() if one == ".svg" else pytest.mark.exhaustive) for one in SUFFIXES],
)
def test_equal_runs_give_equal_bytes(suffix: str) -> None:
    assert picture(ran()).content(suffix) == picture(ran()).content(suffix)


def test_words_for_who_cannot_see_it() -> None:
    text = about(ran())
    assert "left at 0.5 s" in text
    assert f"{ran().metrics.peak_backup_events:,} events" in text
    assert text.replace("&", "&amp;") in over_time(ran())


def without_failures() -> Simulation:
    result = ran("quickstart")
    free = result.without_failures
    return replace(
        result, failures=(), metrics=free, overhead=overhead(free, free, result.unprotected)
    )


def test_a_run_without_failures_or_outputs() -> None:
    result = without_failures()
    assert "detection" not in words(over_time(result))
    empty = LatencySeries((), (), (), (), (), ())
    quiet = replace(
        result,
        series=replace(result.series, latency=empty),
        metrics=replace(result.metrics, latency_p50_s=None, latency_p99_s=None),
    )
    assert "unknown" in about(quiet)
    assert "Latency of outputs; a gap where there are none" in words(over_time(quiet))


# --- the page ------------------------------------------------------------------------------------
def pages(tmp_path: Path, **changed: Any) -> tuple[str, str]:
    nothing = ReportResults(version="1", profile="quick", seconds=1.0)
    return written(replace(nothing, **changed), tmp_path).both


@pytest.mark.slow
def test_what_it_costs_is_on_both_pages(tmp_path: Path) -> None:
    again = reproduce(FIG9, tmp_path, seeds=1, events=2_000)
    for text in pages(tmp_path, simulated=(ran(),), reproduced=(again,)):
        assert "What recovery costs" in text
        assert "as if nothing had failed" in text
        assert "reduction of recovery time by skipping, slide 50" in text
        assert "fewer than published" in text
        assert "57.0%" in text


def test_a_run_whose_output_is_wrong_is_at_the_top(tmp_path: Path) -> None:
    wrong = replace(ran(), same=False, missing_outputs=7)
    for text in pages(tmp_path, simulated=(wrong,)):
        assert "Not as expected: 1" in text
        assert "NOT as if nothing had failed" in text
        assert "7 are missing" in text


def test_without_runs_there_is_no_such_section(tmp_path: Path) -> None:
    for text in pages(tmp_path):
        assert "What recovery costs" not in text
