"""Predictions of savepoints and of unaligned checkpoints for a real engine, and of their faults."""

from __future__ import annotations

import pytest

from flink_check.job import expected
from flink_check.unaligned_checkpoints.checks import unaligned
from flink_check.unaligned_checkpoints.rows import RowFaults, faults, two_counts
from sim.predictions.count_rows import CountRow
from sim.predictions.unaligned_checkpoints.overtaking import CheckpointCourse, course
from sim.predictions.unaligned_checkpoints.savepoints import (
    SavepointEvents,
    SavepointRows,
    copy,
    stop,
)

EVENTS = SavepointEvents(before=60, total=100, keys=7)
EXACT = SavepointRows(60, 0, 0, 0)


# --- savepoints ------------------------------------------------------------------------------
@pytest.mark.parametrize("variant", ["savepoint", "savepoint-scale-up", "savepoint-scale-down"])
@pytest.mark.parametrize("crashes", [False, True])
def test_a_stop_is_exact(variant: str, crashes: bool) -> None:
    assert stop(EVENTS, variant, crashes=crashes) == EXACT


def test_a_restart_from_before_the_savepoint_repeats_all_of_it() -> None:
    """No checkpoint came before, so all events of the first job come again."""
    assert stop(EVENTS, "savepoint-unused", crashes=True) == SavepointRows(60, 0, 60, 60)


def test_sinks_that_do_not_commit_lose_all() -> None:
    assert stop(EVENTS, "savepoint-uncommitted") == SavepointRows(0, 60, 0, 0)


def test_a_job_that_goes_on_brings_its_rows_again() -> None:
    """The 40 events behind the savepoint, at both sinks."""
    assert copy(EVENTS) == SavepointRows(100, 0, 40, 40)


# --- checkpoints under back pressure ---------------------------------------------------------
@pytest.mark.parametrize(
    ("variant", "wanted"),
    [
        ("aligned", CheckpointCourse("all", 0, 0, 0)),
        ("unaligned", CheckpointCourse("none", 80, 0, 0)),
        ("scale-up", CheckpointCourse("none", 80, 0, 0)),
        ("savepoint", CheckpointCourse("all", 0, 0, 0)),
        ("not-redistributed", CheckpointCourse("none", 80, 80, 0)),
    ],
)
def test_barriers_wait_or_take_the_records_with_them(
    variant: str, wanted: CheckpointCourse
) -> None:
    """80 events of the model; 4 are counted, and their rows are in the output buffer."""
    assert course(variant, 1000, 100) == wanted


def test_the_comparison_with_the_engine_has_the_same_course() -> None:
    """20 events of the model for each source, of which 4 are counted."""
    assert course("unaligned", unaligned.EVENTS, unaligned.FIRST).waits == "none"
    assert course("aligned", unaligned.EVENTS, unaligned.FIRST).waits == "all"


@pytest.mark.parametrize(
    ("counted", "wanted"),
    [((0, 0), "none"), ((999, 999), "none"), ((1000, 999), "some"), ((1000, 1000), "all")],
)
def test_a_checkpoint_waits_for_what_is_counted_when_it_is_complete(
    counted: tuple[int, int], wanted: str
) -> None:
    rows = [row for source in (0, 1) for row in expected(counted[source], source=source)]
    assert unaligned.waits(rows) == wanted


# --- rows ------------------------------------------------------------------------------------
def test_rows_of_a_run_without_faults_have_none() -> None:
    assert faults(expected(100), 100) == RowFaults(0, 0, 0)


def test_each_fault_of_rows_is_found() -> None:
    rows = expected(100)
    assert faults(rows[:-1], 100) == RowFaults(1, 0, 0)
    assert faults((*rows, rows[3]), 100) == RowFaults(0, 1, 0)
    forgetful = tuple(row._replace(nth=1) for row in rows[:14])
    assert faults(forgetful, 14) == RowFaults(0, 0, 7)


def test_events_with_two_counts_are_counted() -> None:
    first = CountRow(0, 5, 5, 1)
    assert two_counts((first, first)) == 0
    assert two_counts((first, first._replace(nth=2), CountRow(1, 5, 5, 2))) == 1
