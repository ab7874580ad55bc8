"""Answers of REST as Flink 2.3.0 gave them, shortened, and the values that they become."""

from __future__ import annotations

import pytest

from flink_check.runtime import answers
from flink_check.runtime.answers import Checkpoint, ClusterSize, JobFailure, Restored, Subtask

COMPLETED = {
    "className": "completed",
    "id": 1,
    "status": "COMPLETED",
    "is_savepoint": False,
    "trigger_timestamp": 1795836326916,
    "latest_ack_timestamp": 1795836327181,
    "state_size": 5275,
    "end_to_end_duration": 265,
    "persisted_data": 12,
    "external_path": "gate:/cluster/checkpoints/9987/chk-1",
}
PENDING = COMPLETED | {
    "className": "in_progress",
    "id": 2,
    "status": "IN_PROGRESS",
    "end_to_end_duration": -1,
}
del PENDING["external_path"]
TASKS = {"RUNNING": 0, "FINISHED": 0, "INITIALIZING": 0}


def job(state: str, *tasks: dict[str, int]) -> answers.Json:
    return {
        "state": state,
        "vertices": [
            {"id": str(one), "name": f"v{one}", "parallelism": 2, "tasks": TASKS | some}
            for one, some in enumerate(tasks)
        ],
    }


def test_the_size_of_the_cluster() -> None:
    answer = {"taskmanagers": 2, "slots-total": 4, "slots-available": 1, "jobs-running": 1}
    assert answers.cluster_size(answer) == ClusterSize(2, 1, 4)


def test_the_history_of_checkpoints() -> None:
    restored = {"id": 1, "restore_timestamp": 1795836329476, "is_savepoint": False}
    found = answers.history(
        {
            "latest": {"completed": COMPLETED, "savepoint": None, "restored": restored},
            "history": [PENDING, COMPLETED],
        }
    )
    path = "gate:/cluster/checkpoints/9987/chk-1"
    done = Checkpoint(1, "COMPLETED", False, 1795836326.916, 0.265, 5275, 12, path)
    assert found.completed == found.named(1) == found.history[1] == done
    assert found.named(2).path is None
    assert found.restored == Restored(1, 1795836329.476, False)
    assert found.savepoint is None
    with pytest.raises(KeyError):
        found.named(3)


def test_a_job_without_a_checkpoint_has_an_empty_history() -> None:
    latest = {"completed": None, "savepoint": None, "restored": None}
    found = answers.history({"latest": latest, "history": []})
    assert found == ((), None, None, None)


@pytest.mark.parametrize(
    ("answer", "runs"),
    [
        (job("RUNNING", {"RUNNING": 2}, {"RUNNING": 1, "FINISHED": 1}), True),
        (job("RUNNING", {"RUNNING": 2}, {"RUNNING": 1, "INITIALIZING": 1}), False),
        (job("RESTARTING", {"RUNNING": 2}), False),
        (job("RUNNING", {}), False),
    ],
)
def test_all_tasks_run(answer: answers.Json, runs: bool) -> None:
    assert answers.all_running(answer) is runs


def test_failures_come_oldest_first_and_by_their_first_line() -> None:
    entries = [
        {"exceptionName": "a.b.Timeout", "stacktrace": "a.b.Timeout: t\n\tat x", "timestamp": 2000},
        {"exceptionName": "a.Lost", "stacktrace": "a.Lost: gone", "timestamp": 1000},
    ]
    assert answers.failures({"exceptionHistory": {"entries": entries}}) == (
        JobFailure(1.0, "Lost", "a.Lost: gone"),
        JobFailure(2.0, "Timeout", "a.b.Timeout: t"),
    )


def test_a_subtask_names_the_process_of_its_task_manager() -> None:
    one = {"subtask": 0, "attempt": 1, "status": "RUNNING", "taskmanager-id": "tm1.2"}
    assert answers.subtasks({"subtasks": [one]}) == (Subtask(0, 1, "RUNNING", "tm1"),)


def test_metrics_without_a_value_are_left_out() -> None:
    answer = [{"id": "0.numRecordsIn", "value": "12"}, {"id": "0.busy", "value": "NaN"}]
    assert answers.metrics(answer) == {"0.numRecordsIn": 12.0}


def test_an_operation_is_under_way_done_or_failed() -> None:
    done = {"location": "file:/s/savepoint-1"}
    failed = {"failure-cause": {"class": "E", "stack-trace": "E: no room\n\tat x"}}
    assert answers.finished_operation({"status": {"id": "IN_PROGRESS"}}) is None
    completed = {"status": {"id": "COMPLETED"}}
    assert answers.finished_operation({**completed, "operation": done}) == "file:/s/savepoint-1"
    with pytest.raises(ValueError, match=r"^E: no room$"):
        answers.finished_operation({**completed, "operation": failed})
