"""The moments of a job's restart after a kill, from the answers of Flink's REST interface.

Rule of this file: it reads decoded answers; no request is made, and nothing is averaged.  Raises
KeyError where an answer has another form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from flink_check.runtime.answers import JobFailure, Json


def noticed(failures: Sequence[JobFailure], killed_s: float) -> tuple[JobFailure, ...]:
    """The failures since the kill, each of which made the job restart."""
    return tuple(one for one in failures if one.at >= killed_s)


def restarted_s(job: Json) -> float:
    """Of /jobs/JOB: when the job last began to run its tasks; after a kill, when the restart delay
    was over.  Seconds since the epoch."""
    return float(job["timestamps"]["RUNNING"]) / 1000


def placed_s(vertices: Iterable[Json]) -> float:
    """Of /jobs/JOB/vertices/VERTEX of all vertices: when the last subtask had a slot, and its
    deployment began.  Seconds since the epoch."""
    return (
        max(float(part["start-time"]) for vertex in vertices for part in vertex["subtasks"]) / 1000
    )


def start_delay_s(subtasks: Json) -> float:
    """Of /jobs/JOB/checkpoints/details/ID/subtasks/VERTEX of a source: how long after the order of
    the coordinator the source began the checkpoint.  Seconds."""
    return max(float(part["start_delay"]) for part in subtasks["subtasks"]) / 1000
