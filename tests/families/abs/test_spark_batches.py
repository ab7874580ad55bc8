"""ABS in micro-batches, without Spark: what the model predicts, the operator, and the sink."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine_check.check import CheckSetting, run_check
from engine_check.notes import read_notes
from model.core import Guarantee
from model.errors import Invalid
from model.events import Body
from model.recovery import classify
from sim.predictions.abs import batches as epochs
from sim.predictions.abs.batches import EpochPoint, EpochSink, expected, predict
from sim.predictions.crashes import BatchCrash
from sim.predictions.log_io.recovery import ReplayParts, calibrate
from sim.predictions.log_io.replay import TaskWork
from spark_check.abs.checks import crash_points
from spark_check.abs.checks.crash_points import ENDS, QUICK, TYPES
from spark_check.abs.job import CheckpointedQuery, write
from spark_check.abs.pairs import pair
from spark_check.abs.recovery import (
    CALIBRATING,
    NONE,
    PREDICTED,
    PairsSize,
    measure,
    output,
)
from spark_check.abs.timed_task import process
from spark_check.engine import ENGINE
from spark_check.log_io.external import WrittenPair, open_book
from spark_check.log_io.operators import PipelineStops
from spark_check.log_io.world import LogIoWorld
from spark_check.runtime.planned_failures import FailingBreakpoints, PlannedFailure
from spark_check.runtime.session import BRIEF, session

CRASHES = [
    [BatchCrash(point, batch) for batch in batches]
    for batches in ((0,), (1,), (2,), (1, 1), (1, 2), (2, 2, 2))
    for point in EpochPoint
]


@pytest.mark.parametrize("crashes", CRASHES, ids=lambda plans: ", ".join(map(str, plans)))
@pytest.mark.parametrize("sink", EpochSink)
def test_the_gap_is_between_the_write_and_the_commit(
    sink: EpochSink, crashes: list[BatchCrash[EpochPoint]]
) -> None:
    found = predict(TYPES, ENDS, crashes, sink)
    repeats = sink is EpochSink.PLAIN and crashes[0].point is EpochPoint.WRITTEN
    wanted = Guarantee.REPEATING if repeats else Guarantee.PRECISE
    assert classify(expected(TYPES), found.rows) is wanted
    sizes = [end - begin for begin, end in pairwise((0, *ENDS))]
    assert found.replayed == sum(sizes[plan.batch] for plan in crashes)


@pytest.mark.parametrize("batch", [1, 3])
def test_a_crash_in_a_batch_that_writes_nothing_is_refused(batch: int) -> None:
    plan = BatchCrash(EpochPoint.WRITTEN, batch)
    with pytest.raises(Invalid, match="writes nothing, or there is no such batch"):
        predict("aabab", (2, 3, 5), [plan], EpochSink.PLAIN)


# --- the job without Spark -------------------------------------------------------------------
class State:
    """What Spark hands to the operator as its state."""

    value: tuple[int] | None = None

    @property
    def exists(self) -> bool:
        return self.value is not None

    @property
    def get(self) -> tuple[int] | None:
        return self.value

    def update(self, value: tuple[int]) -> None:
        self.value = value


@given(st.lists(st.text("abc", min_size=1, max_size=6), min_size=1, max_size=4))
def test_the_operator_makes_the_pairs_of_the_oracle(batches: list[str]) -> None:
    states: dict[str, State] = {}
    found: list[Body] = []
    number = 0
    for batch in batches:
        rows: dict[str, list[int]] = {}
        for type_ in batch:
            number += 1
            rows.setdefault(type_, []).append(number)
        made: list[WrittenPair] = []
        for type_, numbers in rows.items():
            parts = [pd.DataFrame({"number": numbers[::-1]})]  # Spark keeps no order
            state = states.setdefault(type_, State())
            for frame in pair((type_,), parts, state):  # type: ignore[arg-type]
                made += [WrittenPair(*row) for row in frame.itertuples(index=False)]
        found += [one.body() for one in sorted(made, key=lambda one: one.second)]
    assert tuple(found) == expected("".join(batches))


@pytest.mark.parametrize("sink", EpochSink)
def test_the_sink_writes_a_batch_again_or_not(sink: EpochSink, tmp_path: Path) -> None:
    pipeline = CheckpointedQuery(str(tmp_path), TYPES, ENDS, str(tmp_path / "book.db"), sink)
    first, second = WrittenPair("a", 1, 2), WrittenPair("b", 3, 5)
    write(pipeline, 0, [first])
    write(pipeline, 1, [second])
    write(pipeline, 1, [second])
    with open_book(pipeline.book) as book:
        rows = [one for _, one in book.rows()]
    assert rows == [first, second, second][: 3 if sink is EpochSink.PLAIN else 2]


# --- recovery times --------------------------------------------------------------------------
@pytest.mark.parametrize("size", [PairsSize(4, 8), PairsSize(9, 4), PairsSize(12, 20, 1)])
def test_the_model_takes_as_many_steps_as_the_library(size: PairsSize, tmp_path: Path) -> None:
    """The last task of a pipeline that has failed: its transactions, and the inputs it replays."""
    world = LogIoWorld(
        str(tmp_path), size.types, size.ends, str(tmp_path / "log"), str(tmp_path / "book")
    )
    rows = [*enumerate(size.types, 1)]
    none = PipelineStops(NONE, world.name)
    place = none.place(size.crash.operator, size.crash.point)
    failing = PipelineStops(FailingBreakpoints("", {place: size.crash.passed}), world.name)
    process(world, none, rows[: size.waiting])
    with pytest.raises(PlannedFailure):
        process(world, failing, rows[size.waiting :])
    process(world, none, rows[size.waiting :])
    last = read_notes(world.folder)[-1]
    assert TaskWork(last["transactions"], last["replayed"], last["writes"]) == size.work()
    assert output(size, world.book) == "precise"


costs = st.floats(0.001, 10)
counts = st.lists(st.tuples(st.integers(1, 500), st.integers(1, 500)), min_size=1, max_size=5)


@given(costs, costs, costs, counts)
def test_costs_of_a_recovery_are_found_again(
    begin: float, replay: float, transaction: float, runs: list[tuple[int, int]]
) -> None:
    works = [TaskWork(*run) for run in runs]
    parts = [
        ReplayParts(work, begin, replay * work.replayed, transaction * work.commits)
        for work in works
    ]
    found = calibrate(parts, transaction)
    for one in parts:
        assert found.recovery_s(one.work) == pytest.approx(one.total_s)


@given(costs, costs, st.lists(st.integers(1, 500), min_size=1, max_size=5))
def test_costs_of_a_restart_are_found_again(made: float, row: float, runs: list[int]) -> None:
    parts = [epochs.RestartParts(rows, made, row * rows) for rows in runs]
    found = epochs.calibrate(parts)
    for one in parts:
        assert found.recovery_s(one.rows) == pytest.approx(one.total_s)


def test_no_size_is_predicted_from_itself() -> None:
    assert not {*CALIBRATING} & {*PREDICTED}
    assert all(size.pairs for size in CALIBRATING)


@pytest.mark.spark
@pytest.mark.exhaustive  # only the full profile of the check measures
def test_both_recoveries_are_measured_beside_each_other(tmp_path: Path) -> None:
    size = PairsSize(5, 8)
    with session(tmp_path / "session", conf=BRIEF) as spark:
        found = measure(spark, tmp_path / "run", size)
    assert found.outputs == ("precise", "precise")
    assert found.logged.work == size.work()
    assert found.restarted.rows == size.pairs


@pytest.mark.spark
@pytest.mark.exhaustive  # `.ci/run` runs the same check
def test_killed_queries_do_as_predicted(tmp_path: Path) -> None:
    result = run_check(ENGINE, crash_points.CHECK, CheckSetting(tmp_path, "quick", lambda *_: None))
    assert result.holds
    assert len(result.cases) == len(QUICK)
