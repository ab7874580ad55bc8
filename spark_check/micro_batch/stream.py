"""The source and the sink of the streaming job, as Spark calls them.

Rule of this file: it imports little; `engine_check.breakpoints` says why.  Each call, in
whatever process, is noted before it does anything: a check reads these notes after a crash, when
the job itself can report nothing any more.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Any, NamedTuple

from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    SupportsTriggerAvailableNow,
)

from engine_check.breakpoints import Breakpoints
from model.protocols.micro_batch.messages import Batch
from spark_check.micro_batch.external_store import ExternalStore, RunningCountRow

PARTITIONS = 2
"""Partitions of a batch; as many tasks run at once in local[2]."""


class JobPoint(StrEnum):
    """Where the job can be stopped, in the order in which a batch passes the points."""

    PLAN = "plan"
    """In latestOffset: its range is not logged, the batch before is in the commit log."""
    ACK = "ack"
    """In commit: the range is logged, the batch before is not yet acknowledged to the upstream."""
    SPLIT = "split"
    """In partitions."""
    READ = "read"
    """In a task that reads."""
    COUNT = "count"
    """In a task of the stateful operator, which has begun to change the state."""
    PROCESSED = "processed"
    """The sink has the rows and has not written them; the new version of the state is on disk."""
    WRITTEN = "written"
    """The sink has written the rows durably; Spark does not know."""


def breakpoint_at(point: JobPoint, start: int) -> str:
    """The name of the breakpoint at the point, in the batch of the events from `start` + 1 on."""
    return f"{point}-{start}"


class Tracer(NamedTuple):
    """Notes each call, and stops there if the breakpoint is armed."""

    store: ExternalStore
    breakpoints: Breakpoints

    def at(self, point: JobPoint, start: int, **more: Any) -> None:
        self.store.note(point, start=start, **more)
        self.breakpoints.here(breakpoint_at(point, start))


def make_tracer(options: Mapping[str, str]) -> Tracer:
    """The tracer of the options that Spark hands to the data source."""
    return Tracer(ExternalStore(options["work"]), Breakpoints(*json.loads(options["breakpoints"])))


# --- the source ----------------------------------------------------------------------------------
class StreamPartition(InputPartition):
    """Events start + 1 to end, of the batch that begins after event `batch`."""

    def __init__(self, batch: int, start: int, end: int):
        self.batch, self.start, self.end = batch, start, end


class StreamSource(DataSource):
    """The upstream as a source, the sinks as a sink."""

    @classmethod
    def name(cls) -> str:
        return "stream"

    def schema(self) -> str:
        return "sn long, type string, batch long"

    def streamReader(self, schema: Any) -> StreamReader:
        cuts, trims = json.loads(self.options["cuts"]), json.loads(self.options["trims"])
        begins, group = json.loads(self.options["begins"]), json.loads(self.options["group"])
        return StreamReader(make_tracer(self.options), cuts, trims, begins, group)

    def streamWriter(self, schema: Any, overwrite: bool) -> StreamCommitter:
        return StreamCommitter(make_tracer(self.options))


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The upstream: it plans batches, reads them in tasks, and trims what is acknowledged."""

    def __init__(
        self, tracer: Tracer, cuts: Sequence[int], trims: bool, begins: int = 0, group: int = 1
    ):
        self.tracer, self.cuts, self.trims, self.target = tracer, cuts, trims, 0
        self.begins, self.group = begins, group

    def initialOffset(self) -> dict[str, int]:
        return {"end": self.begins}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        self.target = len(self.tracer.store.events())

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        after = start["end"]
        end = min((cut for cut in self.cuts if cut > after), default=max(after, self.target))
        self.tracer.at(JobPoint.PLAN, after, end=end)
        return {"end": end}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[StreamPartition]:
        first, last = start["end"], end["end"]
        self.tracer.at(JobPoint.SPLIT, first, end=last)
        gone = self.tracer.store.acked() // self.group * self.group
        if self.trims and first < gone:
            raise LookupError(f"events {first + 1} to {last} are asked for, up to {gone} are gone")
        cuts = [first + (last - first) * n // PARTITIONS for n in range(PARTITIONS + 1)]
        return [StreamPartition(first, *cut) for cut in pairwise(cuts)]

    def read(self, partition: InputPartition) -> Iterator[tuple[int, str, int]]:
        assert isinstance(partition, StreamPartition)
        self.tracer.at(JobPoint.READ, partition.batch, end=partition.end, attempt=task_attempt())
        types = self.tracer.store.events()[partition.start : partition.end]
        events = enumerate(types, partition.start + 1)
        return iter([(sn, type_, partition.batch) for sn, type_ in events])

    def commit(self, end: dict[str, int]) -> None:
        self.tracer.at(JobPoint.ACK, end["end"])
        self.tracer.store.note("acked", start=end["end"])


def task_attempt() -> int | None:
    """How often the task that runs here was tried before; None outside of tasks."""
    task = TaskContext.get()
    return task.attemptNumber() if task else None


# --- the sinks -----------------------------------------------------------------------------------
def write_batch(tracer: Tracer, id_: int, rows: Iterable[RunningCountRow]) -> None:
    """Write a batch to the sinks.  Every event gives a row, so the rows show the batch's range."""
    ordered = sorted(rows)
    batch = Batch(id_, ordered[0].sn - 1, ordered[-1].sn)
    tracer.at(JobPoint.PROCESSED, batch.start, end=batch.end, batch=id_)
    new = tracer.store.write(batch, ordered)
    tracer.at(JobPoint.WRITTEN, batch.start, end=batch.end, batch=id_, new=new)


class TaskRows(WriterCommitMessage):
    """The rows of a batch that one task has."""

    def __init__(self, rows: Iterable[Any]):
        self.rows = [RunningCountRow(row.sn, row.type, row.running) for row in rows]


class StreamCommitter(DataSourceStreamWriter):
    """The sinks behind a Python data source, which write when Spark commits a batch."""

    def __init__(self, tracer: Tracer):
        self.tracer = tracer

    def write(self, iterator: Iterator[Any]) -> TaskRows:
        return TaskRows(iterator)

    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:
        parts = [part for part in messages if isinstance(part, TaskRows)]
        write_batch(self.tracer, batchId, [row for part in parts for row in part.rows])
