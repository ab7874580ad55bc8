"""A query plans its batches on the clock, on real Spark as in the simulator."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_check.check import CheckSetting, run_check
from spark_check.engine import ENGINE
from spark_check.micro_batch.checks import triggers
from spark_check.micro_batch.checks.triggers import PlannedBatch, RestartedQuery


@pytest.mark.parametrize(
    ("before", "free", "due", "predicted"),
    [
        (8.05, 8.9, 12.0, "on the clock"),
        (7.996, 8.9, 12.0, "on the clock"),  # by the clock of files
        (8.05, 11.9, 12.0, "on the clock"),
        (8.05, 12.4, 12.4, "at once"),
        (8.05, 17.9, 17.9, "at once"),  # two triggers have passed
        (13.5, 14.2, 16.0, "on the clock"),  # after a batch that was late
    ],
)
def test_a_batch_is_due_on_the_clock_unless_its_trigger_has_passed(
    before: float, free: float, due: float, predicted: str
) -> None:
    batch = PlannedBatch(before, free, due + 0.05)
    assert (batch.due, batch.predicted, batch.seen) == (due, predicted, predicted)


def test_a_batch_that_waits_or_comes_too_early_is_seen() -> None:
    assert PlannedBatch(8.05, 8.9, 9.0).seen == "-3.0 s from on the clock"
    assert PlannedBatch(8.05, 12.4, 16.0).seen == "+3.6 s from at once"  # it waits for a trigger
    assert PlannedBatch(8.05, 8.9, 13.0).seen == "+1.0 s from on the clock"


def test_a_query_that_waits_after_its_restart_is_seen() -> None:
    assert RestartedQuery(3_700.0, 3_715.0).predicted == "at once"
    assert RestartedQuery(3_700.0, 3_715.0).seen == "at once"
    assert RestartedQuery(3_700.0, 7_200.1).seen == "on the clock"


@pytest.mark.spark
@pytest.mark.exhaustive  # it measures time, and the full report runs it
def test_a_query_on_spark_plans_as_predicted(tmp_path: Path) -> None:
    result = run_check(ENGINE, triggers.CHECK, CheckSetting(tmp_path, "quick", lambda *_: None))
    assert result.holds
    planned = [case.predicted["planned"] for case in result.cases]
    assert planned[1:] == ["at once", "on the clock", "on the clock", "at once"]
