"""A series of kills of a real Flink: its numbers fit together, whatever the machine's pace."""

from __future__ import annotations

from pathlib import Path

import pytest

from flink_check.abs.checks.prediction import (
    near_replayed,
    outage_case,
    predict_series,
    series_case,
)
from flink_check.abs.kill_series import RATE, SeriesSettings, run_series
from flink_check.environment import FlinkHome

pytestmark = pytest.mark.flink


@pytest.mark.exhaustive  # `.ci/run` kills Flink at points and after savepoints
def test_a_series_is_exact_and_its_numbers_fit_together(home: FlinkHome, tmp_path: Path) -> None:
    done: list[int] = []
    series = run_series(tmp_path, SeriesSettings(1.0, 0.001, 2), done.append)
    assert done == [0, 1]
    assert series_case(series, 1).agrees
    for kill in series.kills:
        assert kill.restored == kill.last
        assert kill.restarts >= 1
        assert kill.parts.outage_s == pytest.approx(kill.outage.outage_s)
        assert kill.parts.replayed <= RATE * kill.parts.age_s + 1
        assert kill.parts.recovery_s > kill.parts.outage_s
        assert kill.parts.service_s >= 0.0009
    (predicted,) = predict_series(tmp_path, series, 1)
    assert near_replayed(predicted.own.replayed, series.kills[1].parts.replayed)
    assert outage_case([series], [predicted]).agrees
