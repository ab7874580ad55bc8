"""The check of Flink's named points: its judgement of a run, without Flink and with it.

Rule of this file: every fault here is one that the check must report as not predicted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from engine_check.check import CheckSetting, run_check
from flink_check.abs.checks import points
from flink_check.abs.checks.points import CHECK, EVENTS, POINTS, compare
from flink_check.abs.point import FlinkPoint, PointRun
from flink_check.abs.traces import APPENDED, COMMITTED, REFERENCE, write_traces
from flink_check.engine import ENGINE
from flink_check.runtime.agent import METHOD
from flink_check.runtime.gates import POINTS as GATES
from model.core import Guarantee
from sim.predictions.abs.gates import MARKED, OPERATOR_DIES, UNDECIDED
from sim.predictions.abs.points import PointPrediction, expected, predict
from spark_check.traces.verify import verify

POINT = POINTS[2]
ROWS = expected(EVENTS)
LOGS = Path("docs/examples/logs")


@cache
def predicted(point: FlinkPoint) -> PointPrediction:
    return predict(point.place, point.dies, EVENTS)


def as_predicted(point: FlinkPoint) -> PointRun:
    """The observation of a run as predicted."""
    job = predicted(point)
    return PointRun(
        *(job.appended_then, job.committed_then, job.restored, job.restored, job.settled),
        *(job.committed, job.appended),
    )


PREDICTED = predicted(POINT)
RUN = as_predicted(POINT)


# --- the table -------------------------------------------------------------------------------
def test_each_of_the_ten_points_has_a_name_and_a_gate_that_exists() -> None:
    assert len({point.name for point in POINTS}) == len({point.held for point in POINTS}) == 10
    for point in POINTS:
        assert METHOD.fullmatch(point.gate) if "#" in point.gate else point.gate in GATES


def test_a_further_point_is_one_line() -> None:
    """A gate at any method has the name of its point; no other line knows it."""
    one = FlinkPoint("aborted", "a.b.Task#abort", MARKED, OPERATOR_DIES)
    assert (one.held, one.killed) == ("aborted", "TaskManager of count")


# --- the judge -------------------------------------------------------------------------------
def test_a_run_as_predicted_agrees() -> None:
    case = compare(POINT, PREDICTED, RUN)
    assert case.agrees
    assert case.seen == {
        "restored checkpoint": 3,
        "rows at the kill": "40 committed, 75 appended",
        "rows that the restart commits": 20,
        "two-phase sink": "precise: 0-99",
        "appending sink": "repeating: 0-74 60-99",
        "rows that come twice there": "60-74",
    }


FAULTS: dict[str, Callable[[PointRun], PointRun]] = {
    "another checkpoint": lambda run: run._replace(restored=2),
    "one row less at the kill": lambda run: run._replace(appended_then=74),
    "a row is committed too early": lambda run: run._replace(committed_then=41),
    "the restart commits nothing": lambda run: run._replace(settled=40),
    "a committed row is lost": lambda run: run._replace(committed=ROWS[1:]),
    "a committed row comes twice": lambda run: run._replace(committed=(ROWS[0], *ROWS)),
    "a committed row has another count": lambda run: run._replace(
        committed=(*ROWS[:-1], ROWS[-1]._replace(nth=1))
    ),
    "an appended row is lost": lambda run: run._replace(appended=run.appended[1:]),
    "an appended row comes once": lambda run: run._replace(
        appended=(*run.appended[:75], *run.appended[76:])
    ),
    "an appended row has another count": lambda run: run._replace(
        appended=(*run.appended[:75], run.appended[75]._replace(nth=1), *run.appended[76:])
    ),
    "appended rows in another order": lambda run: run._replace(
        appended=(*run.appended[:1:-1], *run.appended[:2])
    ),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_run_that_differs_is_not_as_predicted(fault: Callable[[PointRun], PointRun]) -> None:
    assert fault(RUN) != RUN
    assert not compare(POINT, PREDICTED, fault(RUN)).agrees


# --- the traces ------------------------------------------------------------------------------
@pytest.mark.parametrize("point", POINTS, ids=[point.name for point in POINTS])
def test_another_judge_says_the_same_of_the_traces(point: FlinkPoint, tmp_path: Path) -> None:
    """`asif verify-trace` compares files, and knows nothing of the prediction."""
    run = as_predicted(point)
    write_traces(tmp_path, ROWS, run.committed, run.appended)
    files = verify(tmp_path / REFERENCE, tmp_path / COMMITTED)
    append = verify(tmp_path / REFERENCE, tmp_path / APPENDED)
    assert files.guarantee == Guarantee.PRECISE.name.lower()
    surplus = len(run.appended) - len(ROWS)
    assert append.guarantee == ("repeating" if surplus else "precise")
    assert append.rows.duplicated == surplus
    assert append.rows.missing == append.rows.unexpected == 0


def test_the_logs_on_the_page_are_those_of_their_point(tmp_path: Path) -> None:
    """They were recorded on Flink."""
    (point,) = (point for point in POINTS if point.name == "state-file")
    run = as_predicted(point)
    write_traces(tmp_path, ROWS, run.committed, run.appended)
    for recorded, name in (
        (LOGS / "counts.csv", REFERENCE),
        (LOGS / "counts-appended.csv", APPENDED),
    ):
        assert recorded.read_text().split() == (tmp_path / name).read_text().split()


# --- on Flink --------------------------------------------------------------------------------
@pytest.mark.flink
@pytest.mark.exhaustive  # `.ci/run` runs the same check
def test_flink_does_as_predicted(tmp_path: Path) -> None:
    result = run_check(ENGINE, CHECK, CheckSetting(tmp_path, "quick", lambda *_: None))
    assert [case.name for case in result.cases if not case.agrees] == []
    assert len(result.cases) == len(POINTS)


@pytest.mark.flink
@pytest.mark.exhaustive  # `.ci/run` compares every point with the model's
def test_a_point_that_the_model_has_elsewhere_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flink is killed before the snapshot, and the model after all acknowledgements: Flink goes on
    from the checkpoint before."""
    wrong = FlinkPoint("elsewhere", "snapshot", UNDECIDED, OPERATOR_DIES)
    monkeypatch.setattr(points, "POINTS", (wrong,))
    result = run_check(ENGINE, CHECK, CheckSetting(tmp_path, "quick", lambda *_: None))
    (case,) = result.cases
    assert not result.holds
    assert case.predicted["restored checkpoint"] == 3
    assert case.seen["restored checkpoint"] == 2
    assert case.predicted["two-phase sink"] == case.seen["two-phase sink"] == "precise: 0-99"
