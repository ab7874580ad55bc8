"""A series of kills of a real Flink: the job goes on between them, with the same settings.

Rule of this file: it runs and measures; nothing is predicted here.

A kill is that of the TaskManager on which the counting operator runs, some time after a checkpoint
has begun.  A new process with the same settings starts at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from flink_check.abs import moments
from flink_check.abs.outage import OutageMoments, OutageParts
from flink_check.abs.recovery_rows import ON_TIME_S, RowTime, read_recovery
from flink_check.job import (
    COUNT,
    ClockPace,
    CountJob,
    await_restored,
    expected,
    host,
    stop_with_savepoint,
)
from flink_check.runtime.answers import Checkpoint, CheckpointHistory
from flink_check.runtime.cluster import FlinkCluster, cluster
from sim.predictions.abs.recovery import RecoveryParts

RATE = 200.0
"""Events a second."""
CALM_S = 0.5
"""The events of so long a time are on time before a checkpoint begins that a kill follows."""
LEAST, MOST = 0.1, 0.9
"""Shares of the interval: a kill comes so long after the beginning of a checkpoint."""
TIMEOUT_S = 300
TAIL_BYTES = 200


class SeriesSettings(NamedTuple):
    """interval_s: from one checkpoint to the next.  busy_s: for which an event keeps its operator
    busy.  kills: their number."""

    interval_s: float
    busy_s: float
    kills: int

    @property
    def title(self) -> str:
        return f"every {self.interval_s:g} s, {RATE * self.busy_s:.0%} busy"

    def ages_s(self) -> tuple[float, ...]:
        """The planned ages of the checkpoints, spread evenly; neighbours are far apart."""
        width = (MOST - LEAST) / self.kills
        even = [LEAST + (number + 0.5) * width for number in range(self.kills)]
        half = -(-self.kills // 2)
        mixed = [one for pair in zip(even[:half], even[half:], strict=False) for one in pair]
        mixed += even[half - 1 : half] if self.kills % 2 else []
        return tuple(share * self.interval_s for share in mixed)


class MeasuredKill(NamedTuple):
    """last, restored: the newest checkpoint that had begun before the kill and was completed, and
    the one that was restored.  restarts: of the job."""

    parts: RecoveryParts
    outage: OutageParts
    last: int
    restored: int
    restarts: int


class MeasuredSeries(NamedTuple):
    """exact: have the files of the two-phase sink the rows of a run without failures?  missing:
    rows that the appending sink lacks.  repeated: rows that it has more than once."""

    settings: SeriesSettings
    kills: tuple[MeasuredKill, ...]
    exact: bool
    missing: int
    repeated: int


class _KillSeen(NamedTuple):
    """A kill as the JobManager sees it.  began_s: when the source began the restored checkpoint."""

    killed_s: float
    last: int
    restored: int
    began_s: float
    checkpoint_s: float
    restarts: int
    noticed_s: float
    restarted_s: float
    placed_s: float


def run_series(
    work: Path, settings: SeriesSettings, report: Callable[[int], None]
) -> MeasuredSeries:
    """Run the job, kill it again and again, stop it, and read the rows of its sinks.

    work: a folder of its own.  report: receives the number of kills so far.
    """
    options = {"execution.checkpointing.interval": f"{round(1000 * settings.interval_s)} ms"}
    seen = []
    with cluster(work / "cluster", options) as flink:
        pace = ClockPace(round(time.time() + 5, 3), RATE)
        job = CountJob(work / "job", pace, busy_s=settings.busy_s)
        id_ = job.submit(flink)
        for number, age_s in enumerate(settings.ages_s()):
            report(number)
            _await_age(flink, job, id_, age_s)
            seen.append(_kill(flink, id_))
        _await_caught_up(flink, job)
        stop_with_savepoint(flink, id_, drain=True)
    return _measured(settings, job, seen)


def due_s(pace: ClockPace, event: int) -> float:
    """When the event comes into being; seconds since the epoch."""
    return pace.start + event / pace.rate


# --- a kill ------------------------------------------------------------------------------------
def _await_age(flink: FlinkCluster, job: CountJob, id_: str, age_s: float) -> None:
    """Wait until a checkpoint that began while all events were on time is complete and so old."""
    calm_s = _await_caught_up(flink, job) + CALM_S
    flink.wait_for(lambda: time.time() > calm_s, "events are on time")

    def fresh() -> Checkpoint | None:
        found = flink.rest.checkpoints(id_).completed
        return found if found is not None and found.triggered_at > calm_s else None

    found = flink.wait_for(fresh, "a checkpoint is complete", TIMEOUT_S)
    flink.wait_for(
        lambda: time.time() >= found.triggered_at + age_s, "the checkpoint is old enough"
    )


def _await_caught_up(flink: FlinkCluster, job: CountJob) -> float:
    """Wait until the newest row is on time: when that was, in seconds since the epoch."""

    def on_time() -> float | None:
        newest = newest_row(job.folder)
        if newest is None or job.pace is None:
            return None
        late_s = newest.at_s - due_s(job.pace, newest.event) - job.busy_s
        return newest.at_s if late_s < ON_TIME_S and time.time() - newest.at_s < 1 else None

    return flink.wait_for(on_time, "the job has caught up", TIMEOUT_S)


def newest_row(folder: Path) -> RowTime | None:
    """The last row of the appending sink of a job in this folder; None: there is none."""
    path = folder / "append.csv"
    if not path.exists():
        return None
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - TAIL_BYTES, 0))
        lines = file.read().decode().split("\n")[1:-1]  # whole lines
    return _row(lines[-1]) if lines else None


def _row(line: str) -> RowTime:
    _, event, *_, at_ms = map(int, line.split(","))
    return RowTime(event, at_ms / 1000)


def last_complete(known: CheckpointHistory, killed_s: float) -> int:
    """The newest checkpoint that began before the kill and was completed; also after the kill, by
    the JobManager, which lives on."""
    began = (one for one in known.history if one.triggered_at < killed_s and not one.savepoint)
    return max(one.id for one in began if one.status == "COMPLETED")


def _kill(flink: FlinkCluster, id_: str) -> _KillSeen:
    """Kill the process of the counting operator, start another, and wait until the job runs."""
    victim = host(flink, id_, COUNT)
    killed_s = flink.kill_task_manager(victim)
    flink.start_task_manager(victim)
    restored = await_restored(flink, id_, killed_s)
    known = flink.rest.checkpoints(id_)
    found = known.named(restored)
    whole = flink.rest.get(f"/jobs/{id_}")
    vertices = [flink.rest.get(f"/jobs/{id_}/vertices/{one['id']}") for one in whole["vertices"]]
    source = next(one["id"] for one in whole["vertices"] if "source" in one["name"].lower())
    details = flink.rest.get(f"/jobs/{id_}/checkpoints/details/{restored}/subtasks/{source}")
    failures = moments.noticed(flink.rest.failures(id_), killed_s)
    return _KillSeen(
        killed_s,
        last_complete(known, killed_s),
        restored,
        found.triggered_at + moments.start_delay_s(details),
        found.duration_s,
        len(failures),
        failures[0].at,
        moments.restarted_s(whole),
        moments.placed_s(vertices),
    )


# --- measurements -------------------------------------------------------------------------
def _measured(settings: SeriesSettings, job: CountJob, seen: Sequence[_KillSeen]) -> MeasuredSeries:
    """The series, from the rows of both sinks."""
    assert job.pace is not None
    appended = job.appended()
    rows = [RowTime(one.row.number, one.at) for one in appended]
    kills = []
    for number, one in enumerate(seen):
        end_s = seen[number + 1].killed_s if number + 1 < len(seen) else float("inf")
        kills.append(_recovery([row for row in rows if row.at_s < end_s], job.pace, one))
    want = {*expected(max(row.event for row in rows) + 1)}
    have = {one.row for one in appended}
    return MeasuredSeries(
        settings,
        tuple(kills),
        job.committed() == expected(len(want)),
        len(want - have),
        len(appended) - len(have),
    )


def _recovery(rows: Sequence[RowTime], pace: ClockPace, seen: _KillSeen) -> MeasuredKill:
    found = read_recovery(rows, seen.killed_s, lambda event: due_s(pace, event))
    times = OutageMoments(
        seen.killed_s, seen.noticed_s, seen.restarted_s, seen.placed_s, found.first_s
    )
    parts = RecoveryParts(
        age_s=seen.killed_s - seen.began_s,
        outage_s=found.first_s - seen.killed_s,
        recovery_s=found.recovery_s,
        replayed=found.replayed,
        service_s=found.service_s,
        checkpoint_s=seen.checkpoint_s,
    )
    return MeasuredKill(parts, times.parts(), seen.last, seen.restored, seen.restarts)
