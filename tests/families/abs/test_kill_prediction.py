"""Series of kills become cases: near predictions agree, and each difference is found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flink_check.abs import moments
from flink_check.abs.checks import prediction
from flink_check.abs.checks.prediction import (
    PredictedKill,
    kill_case,
    near_recovery,
    near_replayed,
    outage_case,
    predict_series,
    series_case,
)
from flink_check.abs.kill_series import (
    LEAST,
    MOST,
    MeasuredKill,
    MeasuredSeries,
    SeriesSettings,
    due_s,
    last_complete,
    newest_row,
)
from flink_check.abs.outage import OutageParts
from flink_check.abs.recovery_rows import RowTime
from flink_check.job import ClockPace
from flink_check.runtime.answers import Checkpoint, CheckpointHistory, JobFailure
from sim.predictions.abs.recovery import RecoveryCosts, RecoveryParts, RecoveryPrediction
from sim.scenarios.scenario import read

SETTINGS = SeriesSettings(2.0, 0.002, 3)
KILL = MeasuredKill(
    RecoveryParts(1.6, 4.0, 7.7, 320, 0.002, 0.05), OutageParts(0.1, 2.0, 1.3, 0.6), 4, 4, 1
)
PREDICTED = PredictedKill(
    KILL,
    RecoveryCosts(0.002, 0.05, 3.0),
    RecoveryPrediction(True, 320, 6.1),
    RecoveryPrediction(True, 320, 7.73),
)


def series(*kills: MeasuredKill, exact: bool = True, missing: int = 0, repeated: int = 640) -> Any:
    return MeasuredSeries(SETTINGS, kills or (KILL, KILL), exact, missing, repeated)


# --- near numbers ----------------------------------------------------------------------------
def test_replayed_events_are_near_within_three_events_or_three_parts_in_a_hundred() -> None:
    assert [near_replayed(20 + off, 20) for off in (-4, -3, 3, 4)] == [False, True, True, False]
    assert [near_replayed(1_000 + off, 1_000) for off in (-31, 30)] == [False, True]


def test_a_recovery_is_near_within_five_parts_in_a_hundred() -> None:
    assert [near_recovery(s, 10.0) for s in (9.4, 9.6, 10.4, 10.6)] == [False, True, True, False]


# --- cases -----------------------------------------------------------------------------------
def test_a_kill_agrees_with_its_prediction_by_its_own_outage() -> None:
    case = kill_case(SETTINGS, 2, PREDICTED)
    assert case.agrees
    assert case.name == "every 2 s, 40% busy, kill 2"
    assert case.seconds == {
        "recovery": (6.1, 7.7),
        "recovery, outage as seen": (7.73, 7.7),
        "outage": (3.0, 4.0),
    }
    assert case.events["recovery"] == 320
    assert case.details["error_outage_seen"] == pytest.approx(0.0039)


@pytest.mark.parametrize(
    ("fault", "key"),
    [
        (PREDICTED._replace(kill=KILL._replace(restored=3)), "restored"),
        (PREDICTED._replace(own=PREDICTED.own._replace(replayed=331)), "replayed_near"),
        (PREDICTED._replace(own=PREDICTED.own._replace(recovery_s=8.2)), "recovery_near"),
        (PREDICTED._replace(own=PREDICTED.own._replace(same=False)), "same"),
    ],
)
def test_each_difference_of_a_kill_is_found(fault: PredictedKill, key: str) -> None:
    case = kill_case(SETTINGS, 2, fault)
    assert not case.agrees
    assert [name for name in case.seen if case.seen[name] != case.predicted[name]] == [key]


def test_a_series_agrees_if_its_files_are_exact_and_only_replayed_rows_come_twice() -> None:
    assert series_case(series(), 1).agrees
    for wrong in (series(exact=False), series(missing=1), series(repeated=641)):
        assert not series_case(wrong, 1).agrees


def test_an_outage_whose_moments_are_not_in_order_is_found() -> None:
    case = outage_case([series()], [PREDICTED])
    assert case.agrees
    assert case.details == {"errors that the outage explains": pytest.approx(1.0, abs=0.01)}
    wrong = KILL._replace(outage=OutageParts(-0.5, 2.6, 1.3, 0.6))
    assert not outage_case([series(KILL, wrong)], [PREDICTED]).agrees


def test_the_outage_case_has_the_shares_of_the_parts() -> None:
    slow = KILL._replace(outage=OutageParts(0.1, 2.0, 2.3, 0.6))
    shares = outage_case([series(KILL, slow)], [PREDICTED]).shares
    assert shares is not None
    assert shares["start of the process"] == pytest.approx(1)


def test_a_series_is_predicted_from_scenario_files(tmp_path: Path, monkeypatch: Any) -> None:
    """The files differ in the outage alone; the first kill calibrates both."""
    files: list[Path] = []

    def predicted(file: Path) -> RecoveryPrediction:
        files.append(file)
        return RecoveryPrediction(True, 320, float(len(files)))

    monkeypatch.setattr(prediction, "predict", predicted)
    late = KILL._replace(parts=KILL.parts._replace(outage_s=5.0, age_s=0.5))
    found = list(predict_series(tmp_path, series(KILL, late, late), 1))
    assert [(one.usual.recovery_s, one.own.recovery_s) for one in found] == [(1, 2), (3, 4)]
    assert [file.name for file in files] == [
        *("kill-2.toml", "kill-2-outage-as-seen.toml"),
        *("kill-3.toml", "kill-3-outage-as-seen.toml"),
    ]
    usual, own = map(read, files[:2])
    assert (usual.detector.restart_s, own.detector.restart_s) == pytest.approx((3.997, 4.997))
    assert usual.costs == own.costs
    assert usual.planned == own.planned


# --- a series --------------------------------------------------------------------------------
@pytest.mark.parametrize("kills", range(1, 9))
def test_ages_are_spread_over_the_interval(kills: int) -> None:
    ages = SeriesSettings(10.0, 0.002, kills).ages_s()
    width = (MOST - LEAST) / kills
    even = [10 * (LEAST + (number + 0.5) * width) for number in range(kills)]
    assert sorted(ages) == pytest.approx(even)
    if kills > 3:
        assert all(abs(one - other) > 10 * width * 1.5 for one, other in _pairs(ages))


def _pairs(ages: tuple[float, ...]) -> Iterator[tuple[float, float]]:
    """The ages of the kills 1 and 2, 3 and 4, ..."""
    return zip(ages[::2], ages[1::2], strict=False)


def test_the_newest_row_is_the_last_whole_one(tmp_path: Path) -> None:
    assert newest_row(tmp_path) is None
    file = tmp_path / "append.csv"
    lines = [f"0,{n},{n % 7},{n // 7 + 1},{1_700_000_000_000 + 5 * n}\n" for n in range(100)]
    file.write_text("".join(lines))
    assert newest_row(tmp_path) == RowTime(99, 1_700_000_000.495)
    file.write_text("".join(lines) + "0,100,2")
    assert newest_row(tmp_path) == RowTime(99, 1_700_000_000.495)


def test_the_last_checkpoint_began_before_the_kill_and_was_completed() -> None:
    statuses = {1: "COMPLETED", 2: "COMPLETED", 3: "FAILED", 4: "COMPLETED"}
    history = [
        Checkpoint(id_, status, False, 2.0 * id_, 0.05, 100, 0, None)
        for id_, status in statuses.items()
    ]
    savepoint = Checkpoint(9, "COMPLETED", True, 4.5, 0.05, 100, 0, None)
    known = CheckpointHistory((*history, savepoint), history[-1], None, None)
    assert [last_complete(known, killed_s) for killed_s in (3.0, 7.0, 8.1)] == [1, 2, 4]


def test_events_are_due_by_the_clock() -> None:
    assert due_s(ClockPace(50.0, 200.0), 300) == 51.5


# --- Flink's own moments -------------------------------------------------------------------------
def test_moments_are_read_from_answers() -> None:
    """As Flink 2.3.0 answers, without the parts that nobody reads."""
    job = {"timestamps": {"RUNNING": 1_795_834_592_126, "RESTARTING": 1_795_834_590_061}}
    vertices = [
        {"subtasks": [{"start-time": 1_795_834_596_114, "attempt": 1}]},
        {"subtasks": [{"start-time": 1_795_834_596_121, "attempt": 1}]},
    ]
    details = {"subtasks": [{"start_delay": 18, "status": "completed"}]}
    assert moments.restarted_s(job) == 1_795_834_592.126
    assert moments.placed_s(vertices) == 1_795_834_596.121
    assert moments.start_delay_s(details) == 0.018
    failures = [JobFailure(at, "Lost", "") for at in (3.0, 7.0, 8.1)]
    assert [one.at for one in moments.noticed(failures, 7.0)] == [7.0, 8.1]
