"""A Flink job that is stopped with a savepoint, and the job that begins from it.

Rule of this file: the cases, run and compared.  All rows are by number: no case measures time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from engine_check.check import Check, CheckSetting, engine_case
from flink_check.job import (
    CountJob,
    cancel,
    host,
    stop_with_savepoint,
    take_checkpoint,
    take_savepoint,
)
from flink_check.runtime.cluster import FlinkCluster, cluster
from flink_check.runtime.configuration import gated
from flink_check.runtime.rest import SavepointFormat
from flink_check.unaligned_checkpoints.rows import RowFaults, faults
from model.results.engine import EngineCase, EngineOutage, Facts
from sim.predictions.count_rows import CountRow
from sim.predictions.unaligned_checkpoints.savepoints import (
    SavepointEvents,
    SavepointRows,
    copy,
    stop,
)

EVENTS = SavepointEvents(before=60, total=100, keys=7)
NATIVE, CANONICAL = SavepointFormat.NATIVE, SavepointFormat.CANONICAL
TASK_MANAGERS = 3
"""One for each of two counting tasks, and one for the others."""


def run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    """All cases, one after the other, in one cluster."""
    cases = []
    with cluster(setting.work / "cluster", task_managers=TASK_MANAGERS) as flink:
        for number, (name, make) in enumerate(CASES.items()):
            setting.report("savepoints", number, len(CASES))
            cases.append(make(flink, name, setting.work / f"case-{number}"))
    return tuple(cases)


def started(flink: FlinkCluster, job: CountJob) -> str:
    """The id of the job, which has counted the events before the savepoint; no checkpoint."""
    job.allow(EVENTS.before)
    id_ = job.submit(flink)
    job.await_rows(flink, EVENTS.before)
    return id_


def go_on(flink: FlinkCluster, job: CountJob, savepoint: str, appended: int) -> str:
    """The id of the next job, which has counted and committed all events.

    appended: how many rows the appending sink has then.
    """
    job.allow(EVENTS.total)
    id_ = job.submit(flink, savepoint)
    job.await_rows(flink, appended)
    take_checkpoint(flink, id_)
    job.await_committed(flink, EVENTS.total)
    return id_


def stopped(
    form: SavepointFormat, tasks: tuple[int, int], variant: str
) -> Callable[[FlinkCluster, str, Path], EngineCase]:
    """The case of a stop.  tasks: how many count before and after it.  variant: of the model."""

    def make(flink: FlinkCluster, name: str, folder: Path) -> EngineCase:
        wanted = stop(EVENTS, variant)
        before, after = (CountJob(folder, keys=EVENTS.keys, parallelism=one) for one in tasks)
        place = stop_with_savepoint(flink, started(flink, before), form)
        at_stop = len(before.committed())
        job = go_on(flink, after, place, EVENTS.total + wanted.appended_twice)
        seen = _seen(flink, after, job, at_stop)
        return engine_case(
            name, _facts(wanted), seen, {"counting tasks": f"{tasks[0]}, {tasks[1]}"}
        )

    return make


def copied(flink: FlinkCluster, name: str, folder: Path) -> EngineCase:
    """The job goes on after its savepoint and commits all events; then the next job begins."""
    wanted = copy(EVENTS)
    job = CountJob(folder, keys=EVENTS.keys)
    first = started(flink, job)
    place = take_savepoint(flink, first)
    job.allow(EVENTS.total)
    job.await_rows(flink, EVENTS.total)
    take_checkpoint(flink, first)
    job.await_committed(flink, EVENTS.total)
    at_stop = len(job.committed())
    cancel(flink, first)
    second = go_on(flink, job, place, EVENTS.total + wanted.appended_twice)
    job.await_committed(flink, EVENTS.total + wanted.twice)
    return engine_case(name, _facts(wanted), _seen(flink, job, second, at_stop))


def killed(flink: FlinkCluster, name: str, folder: Path) -> EngineCase:
    """The sink's process is killed after the commit of the savepoint, before the job has ended.

    If Flink restarted the job from a checkpoint, or from the beginning, all rows would come again.
    """
    wanted = stop(EVENTS, crashes=True)
    job = CountJob(folder, keys=EVENTS.keys)
    first = started(flink, job)
    victim = host(flink, first, "files")
    flink.gates.hold("after-commit")
    request = flink.rest.request_stop(first, gated(flink.folders.savepoints), CANONICAL, False)
    flink.gates.stopped("after-commit")
    at_stop = len(job.committed())
    flink.kill_task_manager(victim)
    flink.gates.release("after-commit")
    flink.start_task_manager(victim)
    ended = flink.wait_for(lambda: _ended(flink, first), "the stop ends", 120)
    flink.await_free_slots(TASK_MANAGERS)
    place = _newest_savepoint(flink)
    second = go_on(flink, job, place, EVENTS.total + wanted.appended_twice)
    return engine_case(
        name,
        {**_facts(wanted), "end of the first job": "FAILED"},
        {**_seen(flink, job, second, at_stop), "end of the first job": ended},
        {"answer to the user": _answer(flink, first, request)},
        crashed=(EngineOutage("TaskManager of the sinks", "the savepoint is committed"),),
    )


def _ended(flink: FlinkCluster, job: str) -> str | None:
    """The last state of a job; None while it may go on."""
    state = flink.rest.state(job)
    return state if state in ("FAILED", "FINISHED", "CANCELED") else None


def _answer(flink: FlinkCluster, job: str, request: str) -> str:
    try:
        return flink.rest.savepoint(job, request) or "none"
    except RuntimeError as error:
        return str(error)


def _newest_savepoint(flink: FlinkCluster) -> str:
    files = flink.folders.savepoints.glob("savepoint-*/_metadata")
    return gated(max(files, key=lambda path: path.stat().st_mtime_ns).parent)


def _facts(rows: SavepointRows) -> Facts:
    return {
        "begins from a savepoint": "yes",
        "committed at the end of the first job": rows.stopped,
        "events without a committed row": rows.missing,
        "committed rows that come twice": rows.twice,
        "appended rows that come twice": rows.appended_twice,
        "wrong counts": 0,
    }


def _seen(flink: FlinkCluster, job: CountJob, id_: str, at_stop: int) -> Facts:
    restored = flink.rest.checkpoints(id_).restored
    cancel(flink, id_)
    committed, appended = job.committed(), [one.row for one in job.appended()]
    found = _faults(committed)
    return {
        "begins from a savepoint": "yes" if restored and restored.savepoint else "no",
        "committed at the end of the first job": at_stop,
        "events without a committed row": found.missing,
        "committed rows that come twice": found.twice,
        "appended rows that come twice": _faults(appended).twice,
        "wrong counts": found.counts,
    }


def _faults(rows: Sequence[CountRow]) -> RowFaults:
    return faults(rows, EVENTS.total, keys=EVENTS.keys)


CASES = {
    "stopped, native savepoint": stopped(NATIVE, (1, 1), "savepoint"),
    "stopped, canonical savepoint": stopped(CANONICAL, (1, 1), "savepoint"),
    "stopped, then two counting tasks": stopped(CANONICAL, (1, 2), "savepoint-scale-up"),
    "stopped with two counting tasks, then one": stopped(NATIVE, (2, 1), "savepoint-scale-down"),
    "the job goes on after its savepoint": copied,
    "killed at the end of the stop": killed,
}

CHECK = Check(
    "savepoints",
    "Flink stopped with a savepoint, and the next job: also with another number of tasks",
    run,
    notes=(
        "Events come by number, and checkpoints on request: each number is exact.",
        "Predicted by the model's nodes (unaligned-checkpoints:savepoint, -scale-up, -scale-down "
        "and -copied).",
        "A job that is killed at the end of its stop has committed the savepoint.  Flink lets it "
        "fail for good; a restart from a checkpoint would bring the rows again "
        "(unaligned-checkpoints:savepoint-unused).",
    ),
)
