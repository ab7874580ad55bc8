"""A job that is killed while one of its threads waits at a gate, and the rows seen then.

Rule of this file: it runs a job and judges nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from flink_check.job import (
    CountJob,
    await_restored,
    host,
    on_disk,
    stop_with_savepoint,
    take_checkpoint,
)
from flink_check.runtime.cluster import FlinkCluster
from model.core import NodeName
from sim.predictions.abs.gates import COORDINATOR_DIES, EpochGate
from sim.predictions.abs.points import JobEvents, JobRow, PointPrediction
from sim.predictions.count_rows import CountRow

PATIENCE_S = 30
"""The longest wait for rows that are predicted: fewer ones are a difference, and no error."""


class FlinkPoint(NamedTuple):
    """A named point of Flink.

    name: of the case, its folder and its gate.  gate: one of flink_check.runtime.gates.POINTS, or
    "CLASS#METHOD" of Flink.  place: where the model holds a step for it.  dies: the nodes of the
    model that are in the process that is killed.
    """

    name: str
    gate: str
    place: EpochGate
    dies: tuple[NodeName, ...]

    @property
    def held(self) -> str:
        """The name of its gate in a cluster."""
        return self.name if "#" in self.gate else self.gate

    @property
    def killed(self) -> str:
        """The process that is killed, in words."""
        if self.dies == COORDINATOR_DIES:
            return "JobManager"
        return f"TaskManager of {self.dies[0]}"


class PointRun(NamedTuple):
    """The observation.

    appended_then, committed_then: rows of the two sinks at the kill.  on_disk: the newest
    checkpoint that has its _metadata then.  restored: the checkpoint.  settled: committed rows when
    all tasks run again.  committed: all of them at the end, by number.  appended: in their order.
    """

    appended_then: int
    committed_then: int
    on_disk: int
    restored: int
    settled: int
    committed: tuple[JobRow, ...]
    appended: tuple[JobRow, ...]


def run_point(
    flink: FlinkCluster,
    point: FlinkPoint,
    events: JobEvents,
    wanted: PointPrediction,
    folder: Path,
) -> PointRun:
    """Run the job to the point, kill there, let it recover and end.

    wanted: of it, the numbers of rows that are waited for.  Raises TimeoutError if nobody comes to
    the gate, or the job does not recover.
    """
    job = CountJob(folder, keys=events.keys)
    id_ = job.submit(flink)
    for end in events.ends[:-1]:
        _send(flink, job, end, end)
        take_checkpoint(flink, id_)
    _send(flink, job, events.ends[-1], events.ends[-1])
    flink.gates.hold(point.held)
    flink.rest.request_checkpoint(id_)
    flink.gates.stopped(point.held)
    _send(flink, job, events.held, wanted.appended_then)
    _await(flink, lambda: len(job.committed()) >= wanted.committed_then, "committed rows")
    appended, committed = len(job.appended()), len(job.committed())
    newest = max(on_disk(flink, id_), default=0)
    killed_at = _kill(flink, id_, point)
    restored = await_restored(flink, id_, killed_at)
    settled = len(job.committed())
    _send(flink, job, events.total, len(wanted.appended))
    stop_with_savepoint(flink, id_)
    return PointRun(
        *(appended, committed, newest, restored, settled),
        tuple(map(_row, job.committed())),
        tuple(_row(one.row) for one in job.appended()),
    )


def _send(flink: FlinkCluster, job: CountJob, until: int, rows: int) -> None:
    """Let the source send its events below `until`; wait for the rows of the appending sink."""
    job.allow(until)
    _await(flink, lambda: len(job.appended()) >= rows, "appended rows")


def _await(flink: FlinkCluster, read: Callable[[], bool], what: str) -> None:
    with suppress(TimeoutError):
        flink.wait_for(read, what, PATIENCE_S)


def _kill(flink: FlinkCluster, job: str, point: FlinkPoint) -> float:
    """Kill the process of the point, open the gate, start the process again: when it was killed.

    A thread that waits at the gate in a process that lives goes on.
    """
    if point.dies == COORDINATOR_DIES:
        at = flink.kill_job_manager()
        flink.gates.release(point.held)
        flink.start_job_manager()
        return at
    name = host(flink, job, point.dies[0])
    at = flink.kill_task_manager(name)
    flink.gates.release(point.held)
    flink.start_task_manager(name)
    return at


def _row(row: CountRow) -> JobRow:
    return JobRow(row.number, row.key, row.nth)
