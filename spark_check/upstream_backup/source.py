"""A streaming data source for Spark in front of an upstream backup.

Rule of this file: it passes Spark's calls on to the buffer, and keeps nothing itself.  It imports
little; `engine_check.breakpoints` says why.  Spark plans a batch (latestOffset), logs it,
acknowledges the one before (commit) and reads (read, in tasks).  An offset is the number of the
last event before it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows

from engine_check.breakpoints import Breakpoints
from spark_check.upstream_backup.buffer import Buffer

FORMAT = "upstream_backup"


class BackupStop(StrEnum):
    """Where the job can be stopped, in the order in which a batch passes the points."""

    PLANNED = "planned"
    """In latestOffset: Spark has not logged the batch."""
    LOGGED = "logged"
    """In commit: the batch is logged, the batch before is not acknowledged."""
    ACKED = "acked"
    """In commit: the batch before is acknowledged."""
    READ = "read"
    """In the task that reads the first half of the batch."""
    PROCESSED = "processed"
    """The operator has taken the events; the sink has none of their outputs."""
    TAKEN = "taken"
    """The sink has taken the outputs; there are no savepoints."""
    SAVED = "saved"
    """The savepoints are in the outbox; Spark has not committed the batch."""


class BackupStream(NamedTuple):
    """A backup, for one incarnation, with its events a batch.  name: in its breakpoints' names."""

    name: str
    buffer: Buffer
    epoch: int
    start: int
    rows: int
    breakpoints: Breakpoints

    def here(self, point: BackupStop) -> None:
        self.breakpoints.here(breakpoint_at(self.name, point))

    def options(self) -> Mapping[str, str]:
        return {"stream": json.dumps(self)}


def breakpoint_at(name: str, point: BackupStop) -> str:
    """The breakpoint at a point, of the pipeline with this name."""
    return f"{name} {point}"


def _stream(options: Mapping[str, str]) -> BackupStream:
    name, buffer, epoch, start, rows, breakpoints = json.loads(options["stream"])
    return BackupStream(name, Buffer(*buffer), epoch, start, rows, Breakpoints(*breakpoints))


class UpstreamBackup(DataSource):
    """Rows (sn, pickled body)."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return "sn BIGINT, body BINARY"

    def streamReader(self, schema: object) -> DataSourceStreamReader:
        return BackupReader(_stream(self.options))


class BackupPartition(InputPartition):
    """Events with numbers in (start, end]; first: of its batch."""

    def __init__(self, start: int, end: int, first: bool) -> None:
        self.start, self.end, self.first = start, end, first


class BackupReader(DataSourceStreamReader):
    def __init__(self, stream: BackupStream) -> None:
        self.stream = stream

    def initialOffset(self) -> dict[str, int]:
        return {"sn": self.stream.start}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self.stream.rows)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        assert isinstance(limit, ReadMaxRows)
        stream = self.stream
        end = stream.buffer.arrive(stream.epoch, start["sn"], limit.max_rows)
        if end > start["sn"]:
            stream.here(BackupStop.PLANNED)
        return {"sn": end}

    def commit(self, end: dict[str, int]) -> None:
        stream = self.stream
        stream.here(BackupStop.LOGGED)
        stream.buffer.release(stream.epoch, end["sn"])
        stream.here(BackupStop.ACKED)

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[BackupPartition]:
        """Two, so that the events do not come in order by themselves."""
        before, last = start["sn"], end["sn"]
        middle = (before + last + 1) // 2
        halves = [BackupPartition(before, middle, True), BackupPartition(middle, last, False)]
        return [half for half in halves if half.start < half.end]

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        assert isinstance(partition, BackupPartition)
        if partition.first:
            self.stream.here(BackupStop.READ)
        yield from self.stream.buffer.events(partition.start, partition.end)
