"""Costs are measured in a run, and predict that run and others to the second."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine_check.breakpoints import Breakpoints
from engine_check.check import CheckSetting, run_check
from model.errors import Invalid
from model.protocols.micro_batch.messages import Batch
from model.protocols.micro_batch.protocol import PROTOCOL
from model.results.engine import EngineOutage
from sim.predictions import micro_batch as predictions
from sim.predictions.linear import LinearCost
from sim.predictions.micro_batch import BatchCosts, BatchPhase, JobPrediction, admitting, predict
from spark_check.engine import ENGINE
from spark_check.micro_batch.calibration import (
    RUNNING,
    BatchCalibration,
    BatchTimes,
    CleanRun,
    arm,
    calibrate,
    read_run,
    read_times,
)
from spark_check.micro_batch.checks import prediction
from spark_check.micro_batch.checks.prediction import (
    PlannedRun,
    TimedStream,
    plan_runs,
    predict_crash,
)
from spark_check.micro_batch.costs import costs_of
from spark_check.micro_batch.crashes import JobCrash
from spark_check.micro_batch.external_store import RunningCountRow
from spark_check.micro_batch.stream import JobPoint, breakpoint_at
from spark_check.runtime.crash_kinds import CrashKind

COSTS = BatchCosts(start_s=10, trigger_s=0.03, save_s=0.02, batch_s=0.4, event_s=0.0001, stop_s=1.5)
ENDS = (5_000, 8_000, 8_200, 18_000)
seconds = st.floats(0.001, 10)


def _predicted(
    batch: int, phase: BatchPhase, share: float, away_s: float = 0.0, ends: Sequence[int] = ENDS
) -> JobPrediction:
    return predict(ends, COSTS, predictions.PhaseCrash(batch, phase, share, away_s))


def _batch_s(events: int) -> float:
    """From the offset log to the sink, with the version of the state."""
    return COSTS.batch_s + events * COSTS.event_s + COSTS.save_s


# --- the simulator's side --------------------------------------------------------------------
@pytest.mark.slow
@given(
    sizes=st.lists(st.integers(1, 60), min_size=1, max_size=6),
    costs=st.builds(BatchCosts, *[seconds] * 6),
)
@settings(max_examples=25)
def test_a_run_without_crashes_is_the_sum_of_its_parts(sizes: list[int], costs: BatchCosts) -> None:
    found = predict([*accumulate(sizes)], costs)
    each = costs.trigger_s + 3 * costs.save_s + costs.batch_s
    whole = costs.start_s + len(sizes) * each + sum(sizes) * costs.event_s + costs.stop_s
    assert found[:3] == (True, False, None)
    assert found.total_s == pytest.approx(whole, abs=1e-9)


@pytest.mark.parametrize("block", [1, 2, 100])
def test_events_can_be_counted_in_blocks(block: int) -> None:
    small, large = [3, 5, 9], [3 * block, 5 * block, 9 * block]
    dear = COSTS._replace(event_s=COSTS.event_s * block)
    crash = predictions.PhaseCrash(1, BatchPhase.RUNNING, 0.5)
    one, other = (predict(ends, costs, crash) for ends, costs in [(small, dear), (large, COSTS)])
    assert one.recovery_s == pytest.approx(other.recovery_s, abs=1e-9)
    assert one.total_s == pytest.approx(other.total_s, abs=1e-9)


def test_a_batch_that_was_not_logged_is_planned_again() -> None:
    found = _predicted(1, BatchPhase.PLANNING, 0.0)
    assert not found.again  # and at once: the job that starts does not wait for a trigger
    assert found.recovery_s == pytest.approx(COSTS.start_s + COSTS.save_s + _batch_s(3_000))


@pytest.mark.parametrize("share", [0.0, 0.25, 0.999])
def test_a_batch_that_was_logged_runs_again(share: float) -> None:
    found = _predicted(1, BatchPhase.RUNNING, share, away_s=2.0)
    assert found.again
    assert found.recovery_s == pytest.approx(2.0 + COSTS.start_s + _batch_s(3_000))
    undisturbed = predict(ENDS, COSTS).total_s
    lost = share * _batch_s(3_000)
    assert found.total_s == pytest.approx(undisturbed + lost + 2.0 + COSTS.start_s)


def test_a_batch_that_the_sink_has_runs_again_for_nothing() -> None:
    found = _predicted(3, BatchPhase.COMMITTING, 0.0)
    undisturbed = predict(ENDS, COSTS).total_s
    assert found.same
    assert found.again
    assert found.recovery_s == pytest.approx(COSTS.start_s + _batch_s(9_800))
    assert found.total_s == pytest.approx(undisturbed + COSTS.start_s + _batch_s(9_800))


@pytest.mark.slow
@given(
    batch=st.integers(0, 3),
    phase=st.sampled_from(BatchPhase),
    share=st.floats(0, 1),
    away_s=st.floats(0, 5),
)
@settings(max_examples=40)
def test_every_crash_costs_a_start_and_at_most_the_batch(
    batch: int, phase: BatchPhase, share: float, away_s: float
) -> None:
    found = _predicted(batch, phase, share, away_s)
    late = found.total_s - predict(ENDS, COSTS).total_s
    crashed = ENDS[batch] - (ENDS[batch - 1] if batch else 0)
    assert found.same
    assert away_s + COSTS.start_s <= late + COSTS.trigger_s + 1e-9
    assert late <= away_s + COSTS.start_s + COSTS.trigger_s + 3 * COSTS.save_s + _batch_s(crashed)


@pytest.mark.parametrize("variant", ["foreach-batch", "state-in-place"])
def test_a_protocol_that_fails_is_not_predicted_to_be_precise(
    variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "sim.predictions.micro_batch.PROTOCOL", PROTOCOL.named(f"micro-batch:{variant}")
    )
    assert not _predicted(1, BatchPhase.COMMITTING, 0.5).same


def test_admission_control_changes_no_batch_but_its_end() -> None:
    assert (
        admitting(PROTOCOL, [1]).vary(step=PROTOCOL.behaviour.step, size=PROTOCOL.behaviour.size)
        == PROTOCOL
    )


@pytest.mark.parametrize(
    ("ends", "batch", "complaint"),
    [
        ([], 0, "give at least one"),
        ([2, 2], 0, "each after the last"),
        ([0, 2], 0, "each after the last"),
        ([2, 4], 2, "a crash in batch 2: there are 0 to 1"),
    ],
)
def test_what_is_no_run_is_refused(ends: list[int], batch: int, complaint: str) -> None:
    with pytest.raises(Invalid, match=complaint):
        _predicted(batch, BatchPhase.RUNNING, 0.5, ends=ends)


# --- calibration -----------------------------------------------------------------------------
def _run(costs: BatchCosts, sizes: Sequence[int], cold_s: float) -> CleanRun:
    """A run as the model has it, whose first batch takes so much longer."""
    now = 100 + costs.start_s - cold_s
    batches = []
    for number, events in enumerate(sizes):
        planned = now + costs.trigger_s
        logged = planned + costs.save_s
        took = costs.batch_s + events * costs.event_s + costs.save_s + (0 if number else cold_s)
        reached = {p: logged + took * (n + 1) / 4 for n, p in enumerate(RUNNING)}
        batches.append(
            BatchTimes(
                events, planned, logged, reached, logged + took, logged + took + costs.save_s
            )
        )
        now = batches[-1].committed
    return CleanRun(100, tuple(batches), now + costs.stop_s)


@given(costs=st.builds(BatchCosts, *[seconds] * 6), cold_s=st.floats(0, 20))
def test_costs_are_found_again(costs: BatchCosts, cold_s: float) -> None:
    found = calibrate(_run(costs, (4_000, 200, 20_000, 200), cold_s))
    assert found.costs == pytest.approx(costs, abs=1e-6)
    for events in (200, 7_000):
        shares = [found.share(point, events) for point in RUNNING]
        assert shares == pytest.approx([0.25, 0.5, 0.75])
    assert found.spread == pytest.approx(0, abs=1e-6)


@st.composite
def _any_run(draw: st.DrawFn) -> CleanRun:
    """A run in which nothing is regular but that every batch takes longer than it has events."""
    now = 100.0
    batches = []
    for events in draw(st.permutations([2, 10, 30, 50])):
        planned = now + draw(seconds)
        logged = planned + draw(st.floats(0.001, 0.1))
        written = logged + 2 + events + draw(st.floats(0, 0.5))
        committed = written + draw(st.floats(0.001, 0.1))
        reached = dict.fromkeys(RUNNING, written)
        batches.append(BatchTimes(events, planned, logged, reached, written, committed))
        now = committed
    return CleanRun(0, tuple(batches), now + draw(seconds))


@given(run=_any_run())
@settings(max_examples=25)
def test_a_run_predicts_its_own_total_whatever_it_was(run: CleanRun) -> None:
    ends = [*accumulate(batch.events for batch in run.batches)]
    found = predict(ends, calibrate(run).costs)
    assert found.total_s == pytest.approx(run.ended - run.started)


@given(costs=st.builds(BatchCosts, *[seconds] * 6))
def test_costs_of_a_scenario_are_those_of_the_run(costs: BatchCosts) -> None:
    """A pause and a batch are one item; each of the saves took the same time."""
    found = {one.key: one.value for one in costs_of(_run(costs, (4_000, 200, 20_000, 200), 5.0))}
    assert found == pytest.approx(
        {
            "costs.storage.latency_s": costs.save_s,
            "costs.service.event_s": costs.event_s,
            "costs.service.item_s": costs.trigger_s + costs.batch_s,
            "detector.restart_s": costs.start_s,
        },
        abs=1e-6,
    )


def test_where_a_point_is_depends_on_how_large_the_batch_is() -> None:
    """After 0.1 s: late in a small batch, early in a large one."""
    run = _run(COSTS, (4_000, 200, 20_000), 5.0)
    early = [
        batch._replace(reached=dict.fromkeys(RUNNING, batch.logged + 0.1)) for batch in run.batches
    ]
    found = calibrate(run._replace(batches=tuple(early)))
    for batch in early[1:]:
        share = found.share(JobPoint.COUNT, batch.events)
        assert share == pytest.approx(0.1 / (batch.written - batch.logged))


def test_a_small_batch_that_took_longer_is_no_discount_for_events() -> None:
    costs = COSTS._replace(event_s=-0.00001)
    found = calibrate(_run(costs, (4_000, 200, 20_000), 5.0)).costs
    assert found.event_s == 0
    assert found.batch_s == pytest.approx(0.4 - 0.00001 * 10_100)


def test_batches_of_one_size_calibrate_nothing() -> None:
    with pytest.raises(Invalid, match=r"\[200, 200\] events.*two sizes"):
        calibrate(_run(COSTS, (4_000, 200, 200), 5.0))


def _leave(work: Path, times: Mapping[str, float]) -> None:
    for name, at in times.items():
        file = work / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        os.utime(file, (at, at))


def test_times_are_those_of_the_files_that_a_run_leaves(tmp_path: Path) -> None:
    _leave(
        tmp_path,
        {
            "run-0/plan-0.0": 10,
            "checkpoint/offsets/0": 11,
            "run-0/read-0.1": 12.5,
            "run-0/read-0.0": 12,
            "run-0/count-0.0": 13,
            "run-0/processed-0.0": 14,
            "run-0/written-0.0": 15,
            "checkpoint/commits/0": 16,
        },
    )
    found = read_run(tmp_path / "run-0", tmp_path / "checkpoint", [7], 1, 17)
    reached = {JobPoint.READ: 12.0, JobPoint.COUNT: 13.0, JobPoint.PROCESSED: 14.0}
    assert found == CleanRun(1, (BatchTimes(7, 10, 11, reached, 15, 16),), 17)
    with pytest.raises(Invalid, match="batch 1 left no time: 'read-7'"):
        read_run(tmp_path / "run-0", tmp_path / "checkpoint", [7, 9], 1, 17)


def test_a_run_that_is_armed_leaves_times_and_does_not_stop(tmp_path: Path) -> None:
    breakpoints = Breakpoints(str(tmp_path), arm([0, 7]))
    for point in JobPoint:
        breakpoints.here(breakpoint_at(point, 7))
        breakpoints.here(breakpoint_at(point, 7))
    assert read_times(tmp_path).keys() == {breakpoint_at(point, 7) for point in JobPoint}


# --- the check -------------------------------------------------------------------------------
def test_the_full_profile_crashes_every_kind_ten_times() -> None:
    full = plan_runs("full")
    for kind in (CrashKind.TREE, CrashKind.DRIVER, CrashKind.JVM, CrashKind.WORKER):
        mine = [plan for plan in full if plan.crash.kind is kind]
        assert len(mine) >= 10
        tasks = {JobPoint.READ, JobPoint.COUNT}
        points = {plan.crash.point for plan in mine}
        assert points == (tasks if kind is CrashKind.WORKER else tasks | {*prediction.DRIVERS})
    assert {plan.crash.batch for plan in full} == {1, 2, 3, 4}
    assert full == plan_runs("full")
    assert len(plan_runs("quick")) == 1


@pytest.mark.parametrize(
    ("kind", "point", "expected"),
    [
        (CrashKind.TREE, JobPoint.PLAN, (BatchPhase.PLANNING, 0.0, 0.0)),
        (CrashKind.DRIVER, JobPoint.READ, (BatchPhase.RUNNING, 0.25, 1.5)),
        (CrashKind.WORKER, JobPoint.COUNT, (BatchPhase.RUNNING, 0.5, 1.5)),
        (CrashKind.JVM, JobPoint.WRITTEN, (BatchPhase.COMMITTING, 0.0, 1.5)),
    ],
)
def test_the_simulator_knows_where_the_crash_will_be(
    kind: CrashKind, point: JobPoint, expected: tuple[BatchPhase, float, float]
) -> None:
    reached = {
        JobPoint.READ: LinearCost(0.425, 0.0),
        JobPoint.COUNT: LinearCost(0.05, 0.002),
    }
    known = BatchCalibration(COSTS, reached, LinearCost(0.1, 0.004), 0.0)
    crash = predict_crash(PlannedRun((200, 400), JobCrash(kind, point, 1)), known)
    phase, *times = expected
    assert crash[:2] == (1, phase)
    assert crash[2:] == pytest.approx(times)
    predict([200, 600], known.costs, crash)


def test_output_with_a_row_too_many_or_too_few_is_not_the_same(tmp_path: Path) -> None:
    stream = TimedStream(tmp_path / "run", (2, 3))
    stream.create()
    seen: dict[str, int] = {}
    rows = []
    for sn, type_ in enumerate(stream.store.events(), 1):
        seen[type_] = seen.get(type_, 0) + 1
        rows.append(RunningCountRow(sn, type_, seen[type_]))
    verdicts = []
    for number, (start, end) in enumerate(pairwise((0, *stream.ends))):
        stream.store.write(Batch(number, start, end), rows[start:end])
        verdicts.append(stream.same())
    stream.store.write(Batch(2, 5, 6), rows[4:])
    assert [*verdicts, stream.same()] == [False, True, False]


@pytest.mark.spark
@pytest.mark.exhaustive  # it measures time, and the full report runs it
def test_crashed_runs_are_predicted(tmp_path: Path) -> None:
    result = run_check(ENGINE, prediction.CHECK, CheckSetting(tmp_path, "quick", lambda *_: None))
    assert result.holds
    free, *crashed = result.cases
    assert free.details["event_s"] >= 0
    assert [case.crashed for case in crashed] == [
        (EngineOutage("tree", "count"),),
        (EngineOutage("tree", "written"),),
    ]
    for case in crashed:
        for predicted, measured in case.seconds.values():
            assert predicted > 0
            assert measured > 0
