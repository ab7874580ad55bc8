"""Savepoints and checkpoints under back pressure on a real Flink, as the model predicts."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_check.check import Check, CheckSetting
from flink_check.environment import FlinkHome
from flink_check.unaligned_checkpoints.checks import savepoints, unaligned
from model.progress import silent

pytestmark = [pytest.mark.flink, pytest.mark.exhaustive]  # `.ci/run` runs the same checks


@pytest.mark.parametrize(
    ("check", "cases"),
    [(savepoints.CHECK, 6), (unaligned.CHECK, 4)],
    ids=["savepoints", "unaligned"],
)
def test_each_case_is_as_predicted(
    home: FlinkHome, tmp_path: Path, check: Check, cases: int
) -> None:
    assert home.jars
    found = check.run(CheckSetting(tmp_path, "quick", silent))
    assert len(found) == cases
    for case in found:
        assert dict(case.seen) == dict(case.predicted), case.name
