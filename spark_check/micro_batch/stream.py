"""The source and the sink of the streaming job, as Spark calls them.

Rule of this file: it imports little; `spark_check.runtime.breakpoints` says why.  Whatever is
called, in whatever process, tells so before it does what it was called for: that is what a check
reads after a crash, as the job itself can say nothing any more.
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

from model.protocols.micro_batch.messages import Batch
from spark_check.micro_batch.external_store import Outside, Row
from spark_check.runtime.breakpoints import Breakpoints

PARTITIONS = 2
"""Of a batch; as many tasks run at once in local[2]."""


class Point(StrEnum):
    """Where the job can be stopped, in the order in which a batch passes the points."""

    PLAN = "plan"
    """In latestOffset: its range is not logged, the batch before is in the commit log."""
    ACK = "ack"
    """In commit: the range is logged, the upstream does not know yet that it may trim."""
    SPLIT = "split"
    """In partitions."""
    READ = "read"
    """In a task that reads."""
    COUNT = "count"
    """In a task of the stateful operator, which has begun to change the state."""
    PROCESSED = "processed"
    """The sink has the rows and has not written them; the new version of the state is on disk."""
    WRITTEN = "written"
    """The sink has written them for good; Spark does not know."""


def place(point: Point, start: int) -> str:
    """The breakpoint there, in the batch of the events from `start` + 1 on."""
    return f"{point}-{start}"


class Tracer(NamedTuple):
    """Tells what is called, and stops there if told to."""

    outside: Outside
    breakpoints: Breakpoints

    def at(self, point: Point, start: int, **more: Any) -> None:
        self.outside.tell(point, start=start, **more)
        self.breakpoints.here(place(point, start))


def tracer(options: Mapping[str, str]) -> Tracer:
    return Tracer(Outside(options["work"]), Breakpoints(*json.loads(options["breakpoints"])))


# --- the source ----------------------------------------------------------------------------------
class Range(InputPartition):
    """Events start + 1 to end, of the batch that begins after event `batch`."""

    def __init__(self, batch: int, start: int, end: int):
        self.batch, self.start, self.end = batch, start, end


class Stream(DataSource):
    """The upstream as a source, the sinks as a sink."""

    @classmethod
    def name(cls) -> str:
        return "stream"

    def schema(self) -> str:
        return "sn long, type string, batch long"

    def streamReader(self, schema: Any) -> Reader:
        cuts, trims = json.loads(self.options["cuts"]), json.loads(self.options["trims"])
        return Reader(tracer(self.options), cuts, trims)

    def streamWriter(self, schema: Any, overwrite: bool) -> Committer:
        return Committer(tracer(self.options))


class Reader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, tracer: Tracer, cuts: Sequence[int], trims: bool):
        self.tracer, self.cuts, self.trims, self.target = tracer, cuts, trims, 0

    def initialOffset(self) -> dict[str, int]:
        return {"end": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        self.target = len(self.tracer.outside.events())

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        after = start["end"]
        end = min((cut for cut in self.cuts if cut > after), default=max(after, self.target))
        self.tracer.at(Point.PLAN, after, end=end)
        return {"end": end}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[Range]:
        first, last = start["end"], end["end"]
        self.tracer.at(Point.SPLIT, first, end=last)
        acked = self.tracer.outside.acked()
        if self.trims and first < acked:
            raise LookupError(f"events {first + 1} to {last} are asked for, up to {acked} are gone")
        cuts = [first + (last - first) * n // PARTITIONS for n in range(PARTITIONS + 1)]
        return [Range(first, *cut) for cut in pairwise(cuts)]

    def read(self, partition: InputPartition) -> Iterator[tuple[int, str, int]]:
        assert isinstance(partition, Range)
        self.tracer.at(Point.READ, partition.batch, end=partition.end, attempt=attempt())
        types = self.tracer.outside.events()[partition.start : partition.end]
        events = enumerate(types, partition.start + 1)
        return iter([(sn, type_, partition.batch) for sn, type_ in events])

    def commit(self, end: dict[str, int]) -> None:
        self.tracer.at(Point.ACK, end["end"])
        self.tracer.outside.tell("acked", start=end["end"])


def attempt() -> int | None:
    """How often the task that runs here was tried before."""
    task = TaskContext.get()
    return task.attemptNumber() if task else None


# --- the sinks -----------------------------------------------------------------------------------
def written(tracer: Tracer, id_: int, rows: Iterable[Row]) -> None:
    """Every event gives a row, so the rows say which events the batch had."""
    ordered = sorted(rows)
    batch = Batch(id_, ordered[0].sn - 1, ordered[-1].sn)
    tracer.at(Point.PROCESSED, batch.start, end=batch.end, batch=id_)
    new = tracer.outside.write(batch, ordered)
    tracer.at(Point.WRITTEN, batch.start, end=batch.end, batch=id_, new=new)


class Part(WriterCommitMessage):
    """What a task has of a batch."""

    def __init__(self, rows: Iterable[Any]):
        self.rows = [Row(row.sn, row.type, row.running) for row in rows]


class Committer(DataSourceStreamWriter):
    def __init__(self, tracer: Tracer):
        self.tracer = tracer

    def write(self, iterator: Iterator[Any]) -> Part:
        return Part(iterator)

    def commit(self, messages: Sequence[WriterCommitMessage | None], batchId: int) -> None:
        parts = [part for part in messages if isinstance(part, Part)]
        written(self.tracer, batchId, [row for part in parts for row in part.rows])
