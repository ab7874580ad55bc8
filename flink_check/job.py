"""The counting job: numbered events, a running count for each key, two sinks.

Rule of this file: how the job is submitted, and the rows of its sinks; it knows no crash.

    source0 [, source1, ...] -> count -> files (two-phase: exactly once)
                                      -> append (each row at once: at least once)

Event n of a source is the number n, its key n modulo `keys`.  Each source and both sinks are one
task; all of them share a slot, the counting tasks have slots of their own: with one slot for each
TaskManager, `count` runs alone on one.  The pace is by number (events come when a file allows
them, so that a run is the same on a machine of any speed) or by the clock (an outage makes a
backlog).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from flink_check.runtime.answers import Checkpoint
from flink_check.runtime.cluster import FlinkCluster
from flink_check.runtime.compiler import write_job_jar
from flink_check.runtime.configuration import gated
from flink_check.runtime.rest import SavepointFormat
from sim.predictions.count_rows import CountRow

MAIN = "counts.CountJob"
COUNT, FILES, APPEND = "count", "files", "append"
"""Names of vertices contain these; those of sources contain "source0", "source1", ..."""
UNLIMITED = 10**12


class AppendedRow(NamedTuple):
    """A row of the appending sink.  at: when it was written, seconds since the epoch."""

    row: CountRow
    at: float


class ClockPace(NamedTuple):
    """Event n exists from `start` + n / `rate`: seconds since the epoch, events a second."""

    start: float
    rate: float


@dataclass(frozen=True, slots=True)
class CountJob:
    """A counting job, which a cluster may run several times, one after the other.

    folder: of its sinks and allowances; made by `submit`.  pace: None: by number, see `allow`.
    events: of each source, after which it ends.  busy_s: for which an event keeps its counting task
    busy.  parallelism: of the counting operator.  files_uid: the identity of the two-phase sink;
    with another one, the sink does not find its state again.  port: of 127.0.0.1, from which the
    one source reads lines instead; no line comes twice (LineServer).
    """

    folder: Path
    pace: ClockPace | None = None
    keys: int = 7
    sources: int = 1
    events: int = UNLIMITED
    busy_s: float = 0.0
    parallelism: int = 1
    files_uid: str = FILES
    port: int | None = None

    # --- running -------------------------------------------------------------------------------
    def submit(
        self, flink: FlinkCluster, restore: str | None = None, *, may_drop: bool = False
    ) -> str:
        """Run the job until all its tasks run: its id.

        restore, may_drop: see Rest.run.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        jar = flink.rest.upload(write_job_jar(self.folder / "job.jar", flink.classes))
        job = flink.rest.run(jar, MAIN, self.words(), restore, may_drop=may_drop)
        flink.await_running(job)
        return job

    def words(self) -> list[str]:
        """The arguments of its main class: NAME=VALUE (java/counts/CountJob.java)."""
        root = self.folder.resolve()
        named: dict[str, object] = {
            "folder": root,
            "files": gated(root / "files"),
            "keys": self.keys,
            "sources": self.sources,
            "events": self.events,
            "busy_ns": round(self.busy_s * 1e9),
            "parallelism": self.parallelism,
            "files_uid": self.files_uid,
        }
        if self.port is not None:
            named["port"] = self.port
        if self.pace is not None:
            named |= {"start_ms": round(self.pace.start * 1000), "rate": self.pace.rate}
        return [f"{name}={value}" for name, value in named.items()]

    def allow(self, number: int, source: int = 0) -> None:
        """Let a source that is paced by number send its events below `number`, and no more.

        A source that starts again on an older checkpoint sends events again, also up to here.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        part = self.folder / f"allowed-{source}.part"
        part.write_text(f"{number}\n")
        os.replace(part, part.with_suffix(""))

    def await_rows(self, flink: FlinkCluster, number: int, timeout_s: float = 60) -> None:
        """Wait until the appending sink has this number of rows or more, also repeated ones."""
        flink.wait_for(lambda: len(self.appended()) >= number, f"{number} appended rows", timeout_s)

    def await_committed(self, flink: FlinkCluster, number: int, timeout_s: float = 60) -> None:
        """Wait until the two-phase sink has committed this number of rows or more.

        That is some time after the checkpoint is completed: the coordinator informs the sink then.
        """
        flink.wait_for(
            lambda: len(self.committed()) >= number, f"{number} committed rows", timeout_s
        )

    # --- the rows of the sinks ----------------------------------------------------------------
    def appended(self) -> tuple[AppendedRow, ...]:
        """The rows of the appending sink, in order; also repeated ones.  Complete lines alone."""
        path = self.folder / "append.csv"
        text = path.read_text() if path.exists() else ""
        return tuple(_appended(line) for line in text.splitlines(keepends=True) if "\n" in line)

    def committed(self) -> tuple[CountRow, ...]:
        """The rows of the files that the two-phase sink has committed, by source and number."""
        return _rows(path for path in self._parts() if not path.name.startswith("."))

    def hidden(self) -> tuple[CountRow, ...]:
        """The rows of files that are written and not committed, by source and number.

        A file that a killed task had open may hold less than the task had written.
        """
        return _rows(path for path in self._parts() if path.name.startswith("."))

    def _parts(self) -> Iterable[Path]:
        return (path for path in (self.folder / "files").rglob("*part-*") if path.is_file())


# --- requests that are waited for ------------------------------------------------------------
def take_checkpoint(flink: FlinkCluster, job: str, timeout_s: float = 60) -> Checkpoint:
    """Request a checkpoint and wait until it is completed.  Raises TimeoutError."""
    before = flink.rest.checkpoints(job).completed
    flink.rest.request_checkpoint(job)
    return flink.wait_for(
        lambda: _newer(flink.rest.checkpoints(job).completed, before),
        f"job {job} completes a checkpoint",
        timeout_s,
    )


def await_restored(flink: FlinkCluster, job: str, since: float, timeout_s: float = 120) -> int:
    """Wait until the job was restored after `since` and all its tasks run: the checkpoint's number.

    since: seconds since the epoch, as `kill_task_manager` returns them.
    """

    def restored() -> int | None:
        found = flink.rest.checkpoints(job).restored
        return found.id if found is not None and found.at >= since else None

    id_ = flink.wait_for(restored, f"job {job} is restored", timeout_s)
    flink.await_running(job, timeout_s)
    return id_


def on_disk(flink: FlinkCluster, job: str) -> Mapping[int, str]:
    """The number of each checkpoint whose _metadata is on disk -> its address.

    A JobManager need not know of it; `submit` restores it.
    """
    found = (flink.folders.checkpoints / job).glob("chk-*/_metadata")
    folders = {int(path.parent.name.removeprefix("chk-")): path.parent for path in found}
    return {number: gated(folders[number]) for number in sorted(folders)}


def take_savepoint(
    flink: FlinkCluster, job: str, form: SavepointFormat = SavepointFormat.CANONICAL
) -> str:
    """Take a savepoint while the job goes on: its address.  Raises RuntimeError if it fails."""
    request = flink.rest.request_savepoint(job, gated(flink.folders.savepoints), form)
    return flink.wait_for(lambda: flink.rest.savepoint(job, request), "the savepoint is taken")


def stop_with_savepoint(
    flink: FlinkCluster,
    job: str,
    form: SavepointFormat = SavepointFormat.CANONICAL,
    *,
    drain: bool = False,
) -> str:
    """Stop the job with a savepoint, wait for its end: the savepoint's address.

    drain: send all results, as at the end of the input.  The two-phase sink commits its rows in
    both cases.
    """
    request = flink.rest.request_stop(job, gated(flink.folders.savepoints), form, drain)
    place = flink.wait_for(lambda: flink.rest.savepoint(job, request), "the job stops")
    await_state(flink, job, "FINISHED")
    return place


def cancel(flink: FlinkCluster, job: str) -> None:
    """Cancel the job and wait for its end: nothing is committed, its checkpoints stay."""
    flink.rest.cancel(job)
    await_state(flink, job, "CANCELED")


def await_state(flink: FlinkCluster, job: str, state: str, timeout_s: float = 60) -> None:
    """Wait until the job is in the state, a word of Flink.  Raises TimeoutError."""
    flink.wait_for(lambda: flink.rest.state(job) == state, f"job {job} is {state}", timeout_s)


def host(flink: FlinkCluster, job: str, vertex: str, subtask: int = 0) -> str:
    """The name of the TaskManager on which a subtask runs.  vertex: a part of its name.

    Raises KeyError if no vertex has this part in its name.
    """
    for name, parts in flink.rest.subtasks(job).items():
        if vertex in name.lower():
            return parts[subtask].task_manager
    raise KeyError(vertex)


# --- rows ------------------------------------------------------------------------------------
def expected(events: int, keys: int = 7, source: int = 0) -> tuple[CountRow, ...]:
    """The rows of a run in which nothing fails, of one source alone."""
    return tuple(CountRow(source, n, n % keys, n // keys + 1) for n in range(events))


def _newer(found: Checkpoint | None, before: Checkpoint | None) -> Checkpoint | None:
    return found if found is not None and (before is None or found.id > before.id) else None


def _rows(paths: Iterable[Path]) -> tuple[CountRow, ...]:
    lines = (line for path in paths for line in path.read_text().splitlines(keepends=True))
    return tuple(sorted(CountRow(*map(int, line.split(","))) for line in lines if "\n" in line))


def _appended(line: str) -> AppendedRow:
    *row, at = map(int, line.split(","))
    return AppendedRow(CountRow(*row), at / 1000)
