"""Costs an hour and availability from rates: by arithmetic for runs in which nothing takes time."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import exp
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from asif.cli import application
from model.errors import Invalid
from model.events import Body
from model.results.study import Study
from model.results.table import Row
from sim.scenarios.overrides import overrides
from sim.scenarios.scenario import check_draft, draft
from sim.sweeps.recovery_spread import spread
from sim.sweeps.study import compare, replicate, study, truncate, union
from sim.timed.costs import PS
from sim.timed.emissions import Emission
from sim.timed.failures import FailureTable, plan_crashes
from tests.known import known
from tests.sim.test_scenarios import written

FREE = """\
protocol = "upstream-backup"
seed = 1

[stream]
seconds = 4
rate_per_s = 100
arrivals = "constant"
types = { a = 1 }

[[operators]]
name = "each"
pattern = "a"
windows = "count"
window = 1
slide = 1

[costs.service]
event_s = 0
control_s = 0
item_s = 0
savepoint_s = 0

[costs.link]
delay_s = 0
bandwidth_bytes_per_s = 1e300

[[failures]]
nodes = ["each"]
mean_between_s = 1_800
"""
"""Each event is a result at once.  Keep-alives every 0.1 s, 3 missing ones, restart after 0.5 s."""


def studied(folder: Path, text: str = FREE, *set_: str) -> Study:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return study(draft(path).override(overrides(set_)), folder / "kept.jsonl")


@pytest.mark.slow
def test_a_failure_costs_detection_and_restart(tmp_path: Path) -> None:
    """The detector notices at the third 0.1 s after the crash, and the node is back 0.5 s later:
    0.7 to 0.8 s.  Results are overdue from the next event on, one every 10 ms."""
    path = tmp_path / "bad.toml"
    for seed in range(20):
        scenario = written(tmp_path, FREE.replace("seed = 1", f"seed = {seed}"))
        (cost,) = replicate(scenario, 0, draft(path))
        assert 0.7 < cost["recovery_s"] <= 0.8
        overdue = cost["overdue_s"]
        assert overdue == pytest.approx(round(100 * overdue) / 100, abs=1e-9)
        assert 0 <= cost["recovery_s"] - overdue <= 0.01
        assert cost["missing_outputs"] == cost["surplus_outputs"] == 0
        assert cost["extra_events"] >= round(100 * overdue)  # what was sent in vain comes again
        assert cost["extra_bytes"] > 0


@pytest.mark.slow
def test_a_rate_multiplies_the_costs(tmp_path: Path) -> None:
    """Two failures an hour; the mean over all phases is 0.75 s of recovery, 0.745 s overdue."""
    result = studied(tmp_path)
    (failure,) = result.failures
    assert failure.recovery_s.mean == pytest.approx(0.75, abs=0.03)
    assert known(failure.recovery_s.mean) - known(failure.overdue_s.mean) == pytest.approx(
        0.005, abs=0.004
    )
    for cost in ("overdue_s", "extra_events", "extra_bytes"):
        assert result.per_hour[cost].mean == pytest.approx(2 * known(failure.cost(cost).mean))
    share = result.availability
    assert share.mean == pytest.approx(1 - known(failure.overdue_s.mean) / 1800)
    assert known(share.low) < known(share.mean) < known(share.high) < 1
    assert result.another_failure == pytest.approx(0.8 / 1800, rel=0.1)
    assert result.warm_up_s == 0
    assert result.narrow
    assert result.replications == 10


@pytest.mark.exhaustive  # `.ci/run` has the rates of one failure
def test_rates_of_several_failures_add_up(tmp_path: Path) -> None:
    second = '[[operators]]\nname = "then"\npattern = "each"\nwindows = "count"\nwindow = 1\n'
    text = FREE.replace("[costs.service]", f"{second}slide = 1\n\n[costs.service]")
    text += '\n[[failures]]\nnodes = ["each", "then"]\nmean_between_s = 3_600\n'
    result = studied(tmp_path, text)
    one, both = result.failures
    assert both.nodes == ("each", "then")
    for cost in ("overdue_s", "extra_events"):
        mean = 2 * known(one.cost(cost).mean) + known(both.cost(cost).mean)
        assert result.per_hour[cost].mean == pytest.approx(mean)


@pytest.mark.slow
def test_there_are_as_many_replications_as_the_interval_needs(tmp_path: Path) -> None:
    loose = studied(tmp_path)
    tight = studied(tmp_path, FREE, "study.half_width=0.015")
    assert tight.replications > loose.replications
    assert tight.half_width <= 0.015
    short = studied(tmp_path, FREE, "study.half_width=0.001", "study.replications=12")
    assert (short.replications, short.narrow) == (12, False)


@pytest.mark.slow
def test_a_study_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    class Interrupted(Exception):
        pass

    path = tmp_path / "mine.toml"
    path.write_text(FREE, encoding="utf-8")

    def interrupt(_stage: str, done: int, of: int, _what: str = "") -> None:
        assert 0 < done <= of
        if done == 4:
            raise Interrupted

    with pytest.raises(Interrupted):
        study(draft(path), tmp_path / "kept.jsonl", interrupt)
    resumed = studied(tmp_path)
    assert resumed.resumed == 4
    again = studied(tmp_path)
    assert again.resumed == again.replications
    assert replace(again, resumed=4) == resumed
    assert studied(tmp_path, FREE, "detector.restart_s=0.4").resumed == 0


@pytest.mark.slow
def test_a_study_that_is_to_be_narrower_goes_on(tmp_path: Path) -> None:
    """What it has is kept, unless the failures come at other times."""
    wide = studied(tmp_path, FREE, "study.half_width=0.001", "study.replications=10")
    assert (wide.replications, wide.resumed) == (10, 0)
    more = studied(tmp_path, FREE, "study.half_width=0.001", "study.replications=12")
    assert (more.replications, more.resumed) == (12, 10)
    assert studied(tmp_path, FREE, "study.warm_up_s=1.0").resumed == 0


# --- the spread of recoveries ------------------------------------------------------------------
def replications(*recoveries: tuple[float, ...]) -> list[Row]:
    """For each replication the recoveries from each failure."""
    return [{"failures": [{"recovery_s": one} for one in each]} for each in recoveries]


def test_percentiles_are_those_of_the_nearest_rank() -> None:
    """Of 1 to 100 s: half are at most 50 s, 95 at most 95 s, and 99 at most 99 s."""
    found = replications(*((float(second),) for second in range(100, 0, -1)))
    spread_ = spread([2.0], found, 31.0)
    assert (spread_.p50_s, spread_.p95_s, spread_.p99_s, spread_.longest_s) == (50, 95, 99, 100)
    assert known(spread_.within_target).mean == pytest.approx(0.3)
    few = spread([2.0], found[:99], None)
    assert (few.p95_s, few.p99_s, few.within_target) == (96, None, None)
    assert spread([2.0], found[:19], None).p95_s is None
    assert spread([2.0], found[:20], None).p95_s == 99


def test_a_failure_counts_as_often_as_its_rate() -> None:
    """Three crashes of 1 s for each of 10 s: three quarters are below 5 s, half at most 1 s."""
    spread_ = spread([3.0, 1.0], replications(*[(1.0, 10.0)] * 20), 5.0)
    assert (spread_.p50_s, spread_.p95_s, spread_.longest_s) == (1, 10, 10)
    assert known(spread_.within_target).mean == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("shorter", "of", "low", "high"),
    [
        (10, 10, 0.7225, 1.0),
        (0, 10, 0.0, 0.2775),
        (5, 10, 0.2366, 0.7634),
        (81, 263, 0.2553, 0.3662),
    ],
)
def test_the_interval_of_a_share_is_that_of_wilson(
    shorter: int, of: int, low: float, high: float
) -> None:
    """81 of 263: the example of Newcombe, 1998, Table I."""
    found = replications(*[(1.0,)] * shorter, *[(9.0,)] * (of - shorter))
    share = known(spread([1.0], found, 5.0).within_target)
    assert share.values == of
    assert share.mean == pytest.approx(shorter / of)
    assert share.low == pytest.approx(low, abs=6e-5)
    assert share.high == pytest.approx(high, abs=6e-5)


def test_a_recovery_as_long_as_the_target_is_not_below_it() -> None:
    assert known(spread([1.0], replications(*[(5.0,)] * 10), 5.0).within_target).mean == 0


@pytest.mark.slow
def test_a_study_stops_by_the_rule_of_choice(tmp_path: Path) -> None:
    """Recoveries are uniform from 0.7 to 0.8 s: seven in ten are below 0.77 s."""
    target = ("study.target_s=0.77", "study.half_width=0.15")
    by_target = studied(tmp_path, FREE, "study.stop=target", *target)
    assert by_target.narrow
    assert 10 < by_target.replications < 60
    share = known(by_target.recoveries.within_target)
    assert known(share.low) < 0.7 < known(share.high)
    assert share.half == by_target.half_width <= 0.15
    all_ = studied(tmp_path, FREE, "study.stop=replications", "study.replications=24", *target)
    assert (all_.replications, all_.narrow, all_.stop) == (24, True, "replications")
    assert 0.7 < known(all_.recoveries.p50_s) < known(all_.recoveries.p95_s) <= 0.8
    assert all_.recoveries == all_.failures[0].recoveries
    by_recovery = studied(tmp_path, FREE, "study.stop=recovery", "study.half_width=0.02")
    mean = by_recovery.failures[0].recovery_s
    assert by_recovery.half_width == pytest.approx(mean.half / known(mean.mean))
    assert by_recovery.half_width <= 0.02


@pytest.mark.slow
def test_a_year_has_8766_hours(tmp_path: Path) -> None:
    """A crash every half hour is 17,532 a year."""
    result = studied(tmp_path)
    assert result.times_a_year == result.failures[0].times_a_year == pytest.approx(17_532)
    for cost, hour in result.per_hour.items():
        year = result.per_year[cost]
        assert year.mean == pytest.approx(8766 * known(hour.mean))
        assert year.half == pytest.approx(8766 * hour.half)


def test_a_target_is_needed_to_stop_by_it(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match='stop = "target" needs the recovery that is wanted; give'):
        written(tmp_path, f'{FREE}\n[study]\nstop = "target"\n')


def test_lost_and_late_results_by_hand() -> None:
    """Due at 10, 20, 30, 40, 50; a crash at 15, over at 45.  That of 20 comes at 25, that of 30
    never, that of 40 early, and one of 50 twice: overdue from 20 to 25 and from 30 to 45."""

    def passed(*found: tuple[int, str]) -> dict[str, list[Emission]]:
        return {"sink": [Emission(at, (0, Body(0, name))) for at, name in found]}

    free = passed((10, "a"), (20, "b"), (30, "c"), (40, "b"), (50, "e"))
    ran = passed((10, "a"), (25, "b"), (38, "b"), (50, "e"), (51, "e"))
    assert compare(free, ran, 15, 45) == (5 + 15, 1, 1)
    assert compare(free, free, 15, 45) == (0, 0, 0)
    assert compare(
        free, passed((12, "a"), *((e.at_ps, e.output[1].type) for e in ran["sink"][1:])), 15, 45
    ) == (20, 1, 1)


@pytest.mark.slow
def test_a_study_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(FREE, encoding="utf-8")
    ran = CliRunner().invoke(
        application(), ["simulate", "mine.toml", "--study", "--json", "out.json"]
    )
    assert ran.exit_code == 0, ran.output
    assert "availability 99.95" in ran.output
    narrow = ["--set", "study.half_width=0.001", "--set", "study.replications=10"]
    ran = CliRunner().invoke(application(), ["simulate", "mine.toml", "--study", *narrow])
    assert ran.exit_code == 1
    assert "NOT 0.1% as asked" in ran.output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1_800", "5", "29: in 16% of the recoveries another failure comes; a study is for fail"),
        ("mean_between_s = 1_800", "at_s = 1", "27: failures[1] has no mean_between_s; a study"),
        ("seconds = 4", "seconds = 1", "27: the crash of each at "),
        ("event_s = 0\n", "event_s = 0.011\n", "1: the latencies of 400 outputs show no steady"),
        ("seconds = 4", "seconds = 0.4", "1: the latencies of 40 outputs show no steady state"),
        ("[[failures]]", "[study]\nwarm_up_s = 4\n[[failures]]", "28: study.warm_up_s = 4: the in"),
    ],
)
def test_what_a_study_cannot_do_is_reported_with_its_line(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert FREE.count(old) == 1
    with pytest.raises(Invalid) as error:
        studied(tmp_path, FREE.replace(old, new))
    assert str(error.value).startswith(f"{tmp_path / 'mine.toml'}:{message}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ("mean_between_s = 0", "29: failures[1].mean_between_s = 0: it should be greater than 0"),
        ("mean_between_s = 9\nat_s = 1", "27: failures[1]: say when: give one of at_s, at_event"),
        ("mean_between_s = 9\ntimes = 2\nevery_s = 1", "27: failures[1]: mean_between_s is a rate"),
    ],
)
def test_a_rate_that_is_wrong_is_reported(tmp_path: Path, new: str, message: str) -> None:
    with pytest.raises(Invalid) as error:
        written(tmp_path, FREE.replace("mean_between_s = 1_800", new))
    assert str(error.value).startswith(f"{tmp_path / 'bad.toml'}:{message}")


def test_an_input_that_ends_before_a_failure_may_come_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(FREE)
    made = draft(tmp_path / "mine.toml")
    scenario = check_draft(made)
    for late in (scenario.ends_ps, 2 * scenario.ends_ps):
        with pytest.raises(Invalid, match=r"the input ends at .* a failure may come from"):
            replicate(scenario, late, made)


def test_nothing_fails(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="1: a study needs"):
        studied(tmp_path, FREE.partition("[[failures]]")[0])


# --- the parts -------------------------------------------------------------------------------
def test_gaps_between_crashes_are_exponential() -> None:
    """Of 10,000 expected crashes: their number, and the share of gaps above the mean, 1 / e."""
    (table,) = (FailureTable(nodes=("A",), mean_between_s=2.0),)
    plans = plan_crashes([table], [0, 20_000 * PS], seed=3)
    assert len(plans) == pytest.approx(10_000, abs=6 * 100)
    times = [plan.at_ps for plan in plans]
    assert times == sorted(times)
    assert times[-1] <= 20_000 * PS
    gaps = [after - before for before, after in pairwise(times)]
    above = sum(gap > 2 * PS for gap in gaps) / len(gaps)
    assert above == pytest.approx(exp(-1), abs=6 * 0.005)
    assert plans != plan_crashes([table], [0, 20_000 * PS], seed=4)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=8))
def test_a_union_is_the_number_of_moments_in_any_interval(found: list[tuple[int, int]]) -> None:
    assert union(found) == len({at for start, end in found for at in range(start, end)})


def test_a_steady_run_has_no_warm_up() -> None:
    assert truncate([0.1] * 100) == 0
    assert truncate([0.1] * 49) is None


@given(st.integers(1, 20), st.floats(5, 1000))
def test_a_transient_is_left_out(batches: int, height: float) -> None:
    """Values swing by 1 around 0 for ever; the first few batches are far above."""
    steady = [(-1.0) ** at for at in range(400)]
    assert truncate([height] * (5 * batches) + steady) == 5 * batches


def test_growing_latencies_are_no_steady_state() -> None:
    assert truncate([float(at) for at in range(1000)]) is None
