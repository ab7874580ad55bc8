"""Flink's checkpoints under back pressure, aligned and unaligned, and restarts from them.

Rule of this file: the cases, run and compared.  The counting operator is slower than its sources,
and all events are on their way when the checkpoint begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from engine_check.check import Check, CheckSetting, engine_case
from flink_check.job import (
    CountJob,
    await_restored,
    cancel,
    host,
    stop_with_savepoint,
    take_checkpoint,
)
from flink_check.runtime.answers import Checkpoint
from flink_check.runtime.cluster import FlinkCluster, cluster
from flink_check.unaligned_checkpoints.rows import faults, two_counts
from model.results.engine import EngineCase, EngineOutage, Facts
from sim.predictions.count_rows import CountRow
from sim.predictions.unaligned_checkpoints.overtaking import CheckpointCourse, course

EVENTS, KEYS, SOURCES, BUSY_S = 1000, 7, 2, 0.004
"""Of each source; the time for which an event keeps the counting operator busy."""
TOTAL = EVENTS * SOURCES
FIRST = 100
"""Events that are counted when the checkpoint begins."""
UNALIGNED = "execution.checkpointing.unaligned.enabled"
METRICS = {"metrics.fetcher.update-interval": "100"}
SENT = "0.numRecordsOut"
TASK_MANAGERS = 3
WAITS = "records on their way that the checkpoint waits for"


class SeenCheckpoint(NamedTuple):
    """counted: rows of the appending sink when the checkpoint was complete.  waits: for which of
    the records on their way it has waited: all, none or some."""

    counted: int
    waits: str
    in_flight_bytes: int
    seconds: float
    path: str | None


def run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    """A cluster with aligned checkpoints, then one with unaligned ones."""
    cases: list[EngineCase] = []
    for number, unaligned in enumerate((False, True)):
        work = setting.work / ("unaligned" if unaligned else "aligned")
        setting.report("unaligned", number, 2)
        settings = {**METRICS, UNALIGNED: str(unaligned).lower()}
        with cluster(work / "cluster", settings, task_managers=TASK_MANAGERS) as flink:
            cases.append(killed(flink, work / "killed", unaligned))
            if unaligned:
                cases.append(rescaled(flink, work / "rescaled"))
                cases.append(saved(flink, work / "saved"))
    return tuple(cases)


def overloaded(flink: FlinkCluster, folder: Path) -> tuple[CountJob, str]:
    """A job whose events are all sent, and of which the first are counted; and its id."""
    job = CountJob(folder, keys=KEYS, sources=SOURCES, busy_s=BUSY_S)
    for source in range(SOURCES):
        job.allow(EVENTS, source)
    id_ = job.submit(flink)
    flink.wait_for(lambda: _all_sent(flink, id_), "the sources have sent all events", 120)
    job.await_rows(flink, FIRST)
    return job, id_


def _all_sent(flink: FlinkCluster, id_: str) -> bool:
    sources = [name for name in flink.rest.subtasks(id_) if "source" in name.lower()]
    sent = [flink.rest.metrics(id_, name, [SENT]).get(SENT) for name in sources]
    return sent == [EVENTS] * SOURCES


def checkpointed(flink: FlinkCluster, job: CountJob, id_: str) -> SeenCheckpoint:
    """A checkpoint that is taken now."""
    found = take_checkpoint(flink, id_, 120)
    return _taken(job, found, found.path)


def _taken(job: CountJob, found: Checkpoint, place: str | None) -> SeenCheckpoint:
    rows = [one.row for one in job.appended()]
    return SeenCheckpoint(len(rows), waits(rows), found.in_flight_bytes, found.duration_s, place)


def waits(counted: Iterable[CountRow]) -> str:
    """For which of the records on their way a checkpoint has waited: all, none or some.

    counted: the rows when it was complete.  The last event of a source is the last one in front of
    its barrier: if it is not counted, the barrier has overtaken it.
    """
    last = {row.source for row in counted if row.number == EVENTS - 1}
    return "all" if len(last) == SOURCES else "some" if last else "none"


def killed(flink: FlinkCluster, folder: Path, unaligned: bool) -> EngineCase:
    """The process of the counting operator is killed after the checkpoint."""
    wanted = course("unaligned" if unaligned else "aligned", EVENTS, FIRST)
    job, id_ = overloaded(flink, folder)
    taken = checkpointed(flink, job, id_)
    victim = host(flink, id_, "count")
    since = flink.kill_task_manager(victim)
    counted = len(job.appended())
    flink.start_task_manager(victim)
    await_restored(flink, id_, since)
    seen = finished(flink, job, id_, taken)
    details = {
        "appended rows at the kill": counted,
        "appended rows": len(job.appended()),
        "events with two counts at the appending sink": two_counts(
            one.row for one in job.appended()
        ),
    }
    title = "unaligned" if unaligned else "aligned"
    return engine_case(
        f"{title} checkpoint, then a kill",
        _facts(wanted),
        seen,
        {**details, **_details(taken)},
        crashed=(EngineOutage("TaskManager of the counting operator", "the checkpoint is there"),),
    )


def rescaled(flink: FlinkCluster, folder: Path) -> EngineCase:
    """The next job begins from the unaligned checkpoint, with two counting tasks."""
    wanted = course("scale-up", EVENTS, FIRST)
    job, id_ = overloaded(flink, folder)
    taken = checkpointed(flink, job, id_)
    cancel(flink, id_)
    wider = CountJob(folder, keys=KEYS, sources=SOURCES, busy_s=BUSY_S, parallelism=2)
    next_ = wider.submit(flink, taken.path)
    seen = finished(flink, wider, next_, taken)
    return engine_case(
        "unaligned checkpoint, then two counting tasks", _facts(wanted), seen, _details(taken)
    )


def saved(flink: FlinkCluster, folder: Path) -> EngineCase:
    """The job is stopped with a savepoint, whose barriers are aligned."""
    wanted = course("savepoint", EVENTS, FIRST)
    job, id_ = overloaded(flink, folder)
    place = stop_with_savepoint(flink, id_)
    found = flink.rest.checkpoints(id_).savepoint
    assert found is not None
    taken = _taken(job, found, place)
    next_ = job.submit(flink, place)
    seen = finished(flink, job, next_, taken)
    return engine_case(
        "savepoint of a job with unaligned checkpoints", _facts(wanted), seen, _details(taken)
    )


def finished(flink: FlinkCluster, job: CountJob, id_: str, taken: SeenCheckpoint) -> Facts:
    """The facts when all events are counted and committed."""
    wanted = {(source, number) for source in range(SOURCES) for number in range(EVENTS)}
    flink.wait_for(
        lambda: wanted <= {(one.row.source, one.row.number) for one in job.appended()},
        "all events are counted",
        120,
    )
    last = {(row.source, row.number) for row in job.committed()}
    for _ in range(3):
        if last == wanted:
            break
        take_checkpoint(flink, id_, 120)
        last = {(row.source, row.number) for row in job.committed()}
    job.await_committed(flink, TOTAL)
    cancel(flink, id_)
    return _seen(job.committed(), [one.row for one in job.appended()], taken)


def _seen(
    committed: Sequence[CountRow], appended: Sequence[CountRow], taken: SeenCheckpoint
) -> Facts:
    found = faults(committed, EVENTS, SOURCES, KEYS)
    return {
        WAITS: taken.waits,
        "records on their way in it": "yes" if taken.in_flight_bytes else "no",
        "events without a committed row": found.missing,
        "committed rows that come twice": found.twice,
        "wrong counts": found.counts,
        "events that the appending sink lacks": faults(appended, EVENTS, SOURCES, KEYS).missing,
    }


def _facts(wanted: CheckpointCourse) -> Facts:
    return {
        WAITS: wanted.waits,
        "records on their way in it": "yes" if wanted.stored else "no",
        "events without a committed row": wanted.missing,
        "committed rows that come twice": wanted.twice,
        "wrong counts": 0,
        "events that the appending sink lacks": 0,
    }


def _details(taken: SeenCheckpoint) -> Facts:
    return {
        "rows when the checkpoint was complete": taken.counted,
        "bytes on their way": taken.in_flight_bytes,
        "seconds of the checkpoint": round(taken.seconds, 2),
    }


CHECK = Check(
    "unaligned",
    "Flink with an operator that is too slow: aligned and unaligned checkpoints, and restarts",
    run,
    notes=(
        "Two sources send all events at once; the counting operator takes 4 ms for each.",
        "Predicted by the model's nodes (unaligned-checkpoints:aligned, unaligned-checkpoints, "
        "-checkpoints:scale-up and :savepoint), with all events in the input buffer.",
        "A checkpoint waits for all records if the last event of each source is counted when it is "
        "complete, and for none if no source's is.  Flink counts on meanwhile; the model does not.",
        "The sources have sent all events before it and send none again, so an event that is "
        "neither counted in it nor on its way in it has no row in the end.",
        "A union of two sources is a choice: after a restart the appending sink may have events "
        "with two counts, and their number is no prediction.",
    ),
)
