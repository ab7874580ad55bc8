"""A recovery is read from rows, calibrates a scenario, and the simulator predicts the next one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flink_check.abs.outage import OutageMoments, OutageParts, explained_share, variance_shares
from flink_check.abs.recovery_rows import RowTime, read_recovery
from model.errors import Invalid
from sim.predictions.abs import recovery
from sim.predictions.abs.recovery import (
    PacedJob,
    RecoveryCosts,
    RecoveryParts,
    calibrate,
    predict,
    scenario,
)

JOB = PacedJob(20.0, 2.0)
COSTS = RecoveryCosts(service_s=0.02, checkpoint_s=0.03, outage_s=1.0)
START_S = 1_000.0
ON_KILLS = (
    # age, outage, recovery, replayed; 200 events a second of 3 or 4 ms, middles of 5 or 6 kills.
    (2.0, 0.003, 1.5, 3.4, 11.3, 303),
    (5.0, 0.003, 1.2, 3.6, 11.1, 234),
    (10.0, 0.003, 6.0, 3.7, 18.7, 1_206),
    (5.0, 0.004, 2.2, 2.5, 20.9, 443),
)
"""Measured on Flink 2.3.0: interval, service, age, outage, recovery, replayed events."""


def due_s(event: int) -> float:
    return START_S + event / JOB.rate_per_s


def written(costs: RecoveryCosts, killed_s: float, age_s: float, events: int) -> list[RowTime]:
    """The rows of a job that is killed once: a queue with one server, computed by hand."""
    rows, free_s = [], 0.0
    for event in range(events):
        free_s = max(free_s, due_s(event)) + costs.service_s
        if free_s > killed_s:
            break
        rows.append(RowTime(event, free_s))
    free_s = killed_s + costs.outage_s - costs.service_s
    first = next(event for event in range(events) if due_s(event) >= killed_s - age_s)
    for event in range(first, events):
        free_s = max(free_s, due_s(event)) + costs.service_s
        rows.append(RowTime(event, free_s))
    return rows


def simulated(
    tmp_path: Path, job: PacedJob, costs: RecoveryCosts, age_s: float
) -> recovery.RecoveryPrediction:
    file = tmp_path / "kill.toml"
    file.write_text(scenario(job, costs, age_s, "a kill"))
    return predict(file)


# --- rows ------------------------------------------------------------------------------------
def test_a_recovery_is_read_from_rows() -> None:
    """A kill at 6 s, a checkpoint 1 s old: 20 events come again, 20 more have waited at 7 s; each
    of those that follow makes up for 30 ms."""
    rows = written(COSTS, START_S + 6.0, 1.0, 400)
    found = read_recovery(rows, START_S + 6.0, due_s)
    assert found.first_s == pytest.approx(START_S + 7.0)
    assert found.replayed == 20
    assert found.service_s == pytest.approx(COSTS.service_s)
    whole_s = 1.0 + (1.0 + 1.0) * 0.4 / 0.6
    assert found.recovery_s == pytest.approx(whole_s, abs=0.05)


@given(
    age_s=st.floats(0.1, 2.0),
    outage_s=st.floats(0.1, 3.0),
    service_s=st.floats(0.005, 0.035),
)
def test_rows_have_the_recovery_that_made_them(
    age_s: float, outage_s: float, service_s: float
) -> None:
    costs = RecoveryCosts(service_s, 0.0, outage_s)
    found = read_recovery(written(costs, START_S + 3.0, age_s, 500), START_S + 3.0, due_s)
    assert found.first_s - START_S - 3.0 == pytest.approx(outage_s)
    assert found.replayed == pytest.approx(20 * age_s, abs=1.001)
    assert found.service_s == pytest.approx(service_s)
    busy = 20 * service_s
    whole_s = outage_s + (age_s + outage_s) * busy / (1 - busy)
    assert found.recovery_s == pytest.approx(whole_s, abs=0.15 / (1 - busy))


def test_rows_on_their_way_at_the_kill_are_none_of_the_restart() -> None:
    rows = written(COSTS, START_S + 6.0, 1.0, 400)
    back = next(at for at in range(1, len(rows)) if rows[at].event < rows[at - 1].event)
    late = RowTime(rows[back - 1].event + 1, START_S + 6.003)
    found = read_recovery([*rows[:back], late, *rows[back:]], START_S + 6.0, due_s)
    assert (found.first_s, found.replayed) == (rows[back].at_s, 21)


def test_an_earlier_kill_changes_nothing() -> None:
    rows = written(COSTS, START_S + 6.0, 1.0, 400)
    ended = [row for row in rows if row.at_s < START_S + 15]
    top = max(row.event for row in ended)
    free_s, again = START_S + 16.0, []
    for event in range(top - 10, 500):
        free_s = max(free_s, due_s(event)) + COSTS.service_s
        again.append(RowTime(event, free_s))
    found = read_recovery([*ended, *again], START_S + 15.0, due_s)
    assert found.replayed == 11
    assert found.first_s == pytest.approx(START_S + 16.02)


@pytest.mark.parametrize(("least", "most"), [(0, 6.0), (0, 7.5), (6.5, 99)])
def test_rows_without_a_whole_recovery_are_refused(least: float, most: float) -> None:
    rows = written(COSTS, START_S + 6.0, 1.0, 400)
    part = [row for row in rows if least <= row.at_s - START_S < most]
    with pytest.raises(Invalid):
        read_recovery(part, START_S + 6.0, due_s)


# --- the simulator ---------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("age_s", "outage_s", "service_s"), [(0.5, 1.0, 0.02), (1.9, 0.4, 0.01), (2.5, 2.0, 0.03)]
)
def test_a_scenario_has_the_recovery_of_the_rows(
    tmp_path: Path, age_s: float, outage_s: float, service_s: float
) -> None:
    """The last age is longer than the interval: a checkpoint was not complete in time."""
    costs = RecoveryCosts(service_s, 0.03, outage_s)
    found = simulated(tmp_path, JOB, costs, age_s)
    seen = read_recovery(written(costs, START_S + 3.0, age_s, 500), START_S + 3.0, due_s)
    assert found.same
    assert abs(found.replayed - seen.replayed) <= 1
    assert found.recovery_s == pytest.approx(seen.recovery_s, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("measured", ON_KILLS)
def test_the_middles_of_real_kills_are_predicted(
    tmp_path: Path, measured: tuple[float, float, float, float, float, int]
) -> None:
    interval_s, service_s, age_s, outage_s, recovery_s, replayed = measured
    costs = RecoveryCosts(service_s, 0.038, outage_s)
    found = simulated(tmp_path, PacedJob(200.0, interval_s), costs, age_s)
    assert found.recovery_s == pytest.approx(recovery_s, rel=0.05)
    assert found.replayed == pytest.approx(replayed, rel=0.03)


def test_costs_are_the_medians_of_kills() -> None:
    kills = [
        RecoveryParts(1.0, outage_s, 9.0, 100, service_s, checkpoint_s)
        for outage_s, service_s, checkpoint_s in (
            (3.0, 0.003, 0.1),
            (9.0, 0.004, 0.03),
            (4.0, 0.005, 0.04),
        )
    ]
    assert calibrate(kills) == RecoveryCosts(0.004, 0.04, 4.0)
    with pytest.raises(Invalid, match="one or more"):
        calibrate([])


@pytest.mark.parametrize("costs", [COSTS._replace(service_s=0.05), COSTS._replace(outage_s=0.02)])
def test_a_job_without_time_is_refused(costs: RecoveryCosts) -> None:
    with pytest.raises(Invalid, match="give a job"):
        scenario(JOB, costs, 1.0, "")


def test_a_stream_that_ends_too_soon_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "short.toml"
    text = scenario(JOB, COSTS, 1.0, "")
    (line,) = (one for one in text.splitlines() if one.startswith("seconds = "))
    file.write_text(text.replace(line, "seconds = 4.2"))
    with pytest.raises(Invalid, match="ends before"):
        predict(file)


# --- outages ---------------------------------------------------------------------------------
def test_an_outage_is_the_sum_of_its_parts() -> None:
    parts = OutageMoments(10.0, 10.1, 12.1, 13.4, 14.0).parts()
    assert parts == pytest.approx((0.1, 2.0, 1.3, 0.6))
    assert parts.outage_s == pytest.approx(4.0)


def test_the_part_that_varies_has_the_variance() -> None:
    """Between the series all parts differ, which is the difference of their settings."""
    one = [OutageParts(0.1, 2.0, process_s, 0.6) for process_s in (1.0, 2.0, 3.0)]
    other = [OutageParts(1.1, 1.0, process_s, 0.9) for process_s in (0.5, 0.7)]
    assert variance_shares([one, other]) == pytest.approx(
        {"detection": 0, "restart delay": 0, "start of the process": 1, "deployment": 0}
    )
    assert variance_shares([one[:1], other[:1]]) == {}


@given(st.lists(st.tuples(*[st.floats(0, 9)] * 4), min_size=2, max_size=6))
def test_shares_add_up_to_one(kills: Sequence[tuple[float, float, float, float]]) -> None:
    shares = variance_shares([[OutageParts(*kill) for kill in kills]])
    if shares and max(map(abs, shares.values())) < 1e6:  # else the parts cancel each other
        assert sum(shares.values()) == pytest.approx(1, abs=1e-6)


def test_errors_that_are_gone_are_explained() -> None:
    assert explained_share([0.1, -0.2], [0.0, 0.0]) == 1
    assert explained_share([0.1, -0.2], [0.1, -0.2]) == 0
    assert explained_share([0.2, 0.0], [0.0, 0.1]) == pytest.approx(0.75)
    assert explained_share([0.0], [0.0]) is None
