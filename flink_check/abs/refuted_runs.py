"""Runs of the counting job on a real Flink that a wrong form spoils, each with its two sinks.

Rule of this file: events, kills and restarts in their order; no prediction and no judgement.
"""

from __future__ import annotations

import time
from pathlib import Path

from flink_check.job import (
    APPEND,
    COUNT,
    CountJob,
    await_restored,
    cancel,
    host,
    take_checkpoint,
)
from flink_check.runtime.cluster import FlinkCluster
from flink_check.runtime.lines import LineServer
from sim.predictions.abs.refuted import EpochEnds, RefutedRows

OTHER_FILES = "other-files"
"""The uid of a sink that does not find the state of the sink before it."""


def dropped(flink: FlinkCluster, folder: Path, ends: EpochEnds, keys: int) -> RefutedRows:
    """Cancelled before the sink commits a complete checkpoint, and restored from this checkpoint
    with a sink that does not find its state."""
    job = CountJob(folder, keys=keys)
    id_ = job.submit(flink)
    _send(flink, job, ends.epoch, ends.epoch)
    take_checkpoint(flink, id_)
    flink.wait_for(lambda: len(job.committed()) >= ends.epoch, "the first epoch is committed")
    _send(flink, job, ends.failure, ends.failure)
    flink.gates.hold("before-commit")
    checkpoint = take_checkpoint(flink, id_)
    flink.gates.stopped("before-commit")
    cancel(flink, id_)
    flink.gates.release("before-commit")
    other = CountJob(folder, keys=keys, files_uid=OTHER_FILES)
    id_ = other.submit(flink, checkpoint.path, may_drop=True)
    _send(flink, other, ends.last, ends.last)
    return _ended(flink, other, id_)


def unreplayable(flink: FlinkCluster, folder: Path, ends: EpochEnds, keys: int) -> RefutedRows:
    """A source of lines on a connection, and a crash of the counting task."""
    with LineServer() as server:
        job = CountJob(folder, keys=keys, port=server.port)
        id_ = job.submit(flink)
        server.await_reader()
        server.write(range(ends.epoch))
        job.await_rows(flink, ends.epoch)
        take_checkpoint(flink, id_)
        server.write(range(ends.epoch, ends.failure))
        job.await_rows(flink, ends.failure)
        _crash(flink, id_)
        server.await_reader()
        server.write(range(ends.failure, ends.last))
        job.await_rows(flink, ends.last)
        return _ended(flink, job, id_)


def reordered(flink: FlinkCluster, folder: Path, ends: EpochEnds) -> RefutedRows:
    """Two sources of one key: after a crash, the other one is faster."""
    job = CountJob(folder, keys=1, sources=2)
    id_ = job.submit(flink)
    rows = 0
    for source in (0, 1):
        rows += ends.epoch
        _send(flink, job, ends.epoch, rows, source)
    take_checkpoint(flink, id_)
    rows += ends.failure - ends.epoch
    _send(flink, job, ends.failure, rows)
    job.allow(ends.epoch)
    _crash(flink, id_)
    for source in (1, 0):
        rows += ends.last - ends.epoch
        _send(flink, job, ends.last, rows, source)
    found = _ended(flink, job, id_)
    return found._replace(files=tuple(sorted(found.files, key=lambda row: row.nth)))


def orphaned(
    flink: FlinkCluster, folder: Path, ends: EpochEnds, written: int, keys: int
) -> RefutedRows:
    """The JobManager is killed, and nobody knows its job but the tasks; a new one gets the job with
    its checkpoint, and two fresh TaskManagers.  Old and new tasks write at one time."""
    job = CountJob(folder, keys=keys)
    id_ = job.submit(flink)
    _send(flink, job, ends.epoch, ends.epoch)
    checkpoint = take_checkpoint(flink, id_)
    _send(flink, job, ends.failure, ends.failure)
    orphans = {host(flink, id_, vertex) for vertex in (COUNT, APPEND)}
    flink.kill_job_manager()
    flink.start_job_manager()
    for name in ("fresh0", "fresh1"):
        flink.start_task_manager(name)
    flink.await_free_slots(2)
    id_ = job.submit(flink, checkpoint.path)
    again = ends.failure + written - ends.epoch
    _send(flink, job, written, again + written - ends.failure)
    for name in orphans:
        flink.kill_task_manager(name)
    _send(flink, job, ends.last, again + ends.last - ends.failure)
    return _ended(flink, job, id_)


def orphaned_and_found(
    flink: FlinkCluster, folder: Path, ends: EpochEnds, written: int, keys: int
) -> RefutedRows:
    """The JobManager is killed under high availability: the tasks write on until they are fenced,
    and a new JobManager finds the job."""
    job = CountJob(folder, keys=keys)
    id_ = job.submit(flink)
    _send(flink, job, ends.epoch, ends.epoch)
    take_checkpoint(flink, id_)
    _send(flink, job, ends.failure, ends.failure)
    killed = flink.kill_job_manager()
    _send(flink, job, written, written)
    flink.start_job_manager()
    await_restored(flink, id_, killed)
    again = written - ends.epoch
    _send(flink, job, ends.last, ends.last + again)
    return _ended(flink, job, id_)


def woken(flink: FlinkCluster, folder: Path, ends: EpochEnds, keys: int) -> RefutedRows:
    """The TaskManager of the sinks is suspended until another one has taken over, and wakes."""
    job = CountJob(folder, keys=keys)
    id_ = job.submit(flink)
    _send(flink, job, ends.epoch, ends.epoch)
    take_checkpoint(flink, id_)
    _send(flink, job, ends.failure, ends.failure)
    name = host(flink, id_, APPEND)
    since = time.time()
    flink.suspend(name)
    await_restored(flink, id_, since)
    again = ends.failure - ends.epoch
    _send(flink, job, ends.failure, ends.failure + again)
    flink.resume(name)
    flink.await_task_managers(3)
    _send(flink, job, ends.last, ends.last + again)
    return _ended(flink, job, id_)


# --- steps ---------------------------------------------------------------------------------------
def _send(flink: FlinkCluster, job: CountJob, end: int, rows: int, source: int = 0) -> None:
    """Let a source send its events below `end`, until `rows` rows are appended."""
    job.allow(end, source)
    job.await_rows(flink, rows)


def _crash(flink: FlinkCluster, id_: str) -> None:
    """Kill the TaskManager of the counting task and start it again, until the job runs."""
    name = host(flink, id_, COUNT)
    killed = flink.kill_task_manager(name)
    flink.start_task_manager(name)
    await_restored(flink, id_, killed)


def _ended(flink: FlinkCluster, job: CountJob, id_: str) -> RefutedRows:
    """The rows of both sinks after a last checkpoint, whose commit is over; the job ends."""
    take_checkpoint(flink, id_)
    before = len(job.committed())
    flink.wait_for(lambda: _is_committed(job), f"the last epoch is committed, of {before} rows")
    cancel(flink, id_)
    return RefutedRows(tuple(job.committed()), tuple(one.row for one in job.appended()))


def _is_committed(job: CountJob) -> bool:
    """Are the last event's rows in both sinks?"""
    last = job.appended()[-1].row
    return any((row.source, row.number) == (last.source, last.number) for row in job.committed())
