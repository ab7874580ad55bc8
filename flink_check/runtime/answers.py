"""Answers of Flink's REST interface, as values.

Rule of this file: it reads decoded JSON; no request is made.  Raises KeyError, TypeError or
ValueError where an answer has another form.

Source of the names: https://nightlies.apache.org/flink/flink-docs-stable/docs/ops/rest_api/
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

Json: TypeAlias = Any
"""Decoded JSON of an answer, before it is a value."""


class ClusterSize(NamedTuple):
    """task_managers: registered ones.  free_slots, slots: of them."""

    task_managers: int
    free_slots: int
    slots: int


class Checkpoint(NamedTuple):
    """A checkpoint or savepoint of the history.

    status: PENDING, IN_PROGRESS, COMPLETED or FAILED.  triggered_at: seconds since the epoch.
    duration_s: until the coordinator had the last acknowledgement.  state_bytes: of all tasks.
    in_flight_bytes: of unaligned ones, persisted bytes of channels.  path: of a completed one.
    """

    id: int
    status: str
    savepoint: bool
    triggered_at: float
    duration_s: float
    state_bytes: int
    in_flight_bytes: int
    path: str | None


class Restored(NamedTuple):
    """From which checkpoint a job started last.  at: seconds since the epoch."""

    id: int
    at: float
    savepoint: bool


class CheckpointHistory(NamedTuple):
    """The checkpoints of a job, newest first, and the last one of each kind.

    completed: the newest completed checkpoint.  savepoint: the newest completed savepoint.
    """

    history: tuple[Checkpoint, ...]
    completed: Checkpoint | None
    savepoint: Checkpoint | None
    restored: Restored | None

    def named(self, id_: int) -> Checkpoint:
        """The checkpoint with this number.  Raises KeyError without one."""
        for one in self.history:
            if one.id == id_:
                return one
        raise KeyError(id_)


class JobFailure(NamedTuple):
    """A failure that made a job restart.  at: seconds since the epoch.  name: of the exception,
    without its package.  text: its first line."""

    at: float
    name: str
    text: str


class Subtask(NamedTuple):
    """One parallel part of a vertex.  number: from 0.  attempt: 0 before the first restart."""

    number: int
    attempt: int
    status: str
    task_manager: str


def cluster_size(answer: Json) -> ClusterSize:
    """Of /overview."""
    return ClusterSize(answer["taskmanagers"], answer["slots-available"], answer["slots-total"])


def history(answer: Json) -> CheckpointHistory:
    """Of /jobs/JOB/checkpoints."""
    latest = answer["latest"]
    restored = latest["restored"]
    return CheckpointHistory(
        tuple(map(checkpoint, answer["history"])),
        latest["completed"] and checkpoint(latest["completed"]),
        latest["savepoint"] and checkpoint(latest["savepoint"]),
        restored
        and Restored(
            restored["id"], restored["restore_timestamp"] / 1000, restored["is_savepoint"]
        ),
    )


def checkpoint(answer: Json) -> Checkpoint:
    """One entry of the history."""
    return Checkpoint(
        answer["id"],
        answer["status"],
        answer["is_savepoint"],
        answer["trigger_timestamp"] / 1000,
        answer["end_to_end_duration"] / 1000,
        answer["state_size"],
        answer["persisted_data"],
        answer.get("external_path"),
    )


def failures(answer: Json) -> tuple[JobFailure, ...]:
    """Of /jobs/JOB/exceptions, oldest first."""
    found = [
        JobFailure(
            one["timestamp"] / 1000,
            one["exceptionName"].rsplit(".", 1)[-1],
            (one["stacktrace"].splitlines() or [""])[0],
        )
        for one in answer["exceptionHistory"]["entries"]
    ]
    return tuple(sorted(found))


def vertices(answer: Json) -> Mapping[str, str]:
    """Of /jobs/JOB: the name of each vertex -> its id."""
    return {one["name"]: one["id"] for one in answer["vertices"]}


def all_running(answer: Json) -> bool:
    """Of /jobs/JOB: whether each subtask runs, or has ended as it should."""
    parts = answer["vertices"]
    good = sum(one["tasks"]["RUNNING"] + one["tasks"]["FINISHED"] for one in parts)
    return bool(answer["state"] == "RUNNING" and good == sum(one["parallelism"] for one in parts))


def subtasks(answer: Json) -> tuple[Subtask, ...]:
    """Of /jobs/JOB/vertices/VERTEX.  A TaskManager's name is that of its process."""
    return tuple(
        Subtask(one["subtask"], one["attempt"], one["status"], process_name(one["taskmanager-id"]))
        for one in answer["subtasks"]
    )


def process_name(resource: str) -> str:
    """The name of a TaskManager's process, of the id under which it registered ("tm0.3": "tm0")."""
    return resource.partition(".")[0]


def metrics(answer: Json) -> Mapping[str, float]:
    """Of /jobs/JOB/vertices/VERTEX/metrics?get=...: name -> value, of those that are numbers."""
    return {one["id"]: float(one["value"]) for one in answer if one["value"] not in ("NaN", "")}


def finished_operation(answer: Json) -> str | None:
    """Of /jobs/JOB/savepoints/REQUEST: the savepoint's address; None while it is under way.

    Raises ValueError with Flink's reason if the savepoint failed.
    """
    if answer["status"]["id"] != "COMPLETED":
        return None
    operation = answer["operation"]
    if "failure-cause" in operation:
        cause = operation["failure-cause"]
        raise ValueError((cause.get("stack-trace") or cause["class"]).splitlines()[0])
    return str(operation["location"])
