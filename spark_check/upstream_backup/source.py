"""A streaming data source for Spark in front of an upstream backup.

Rule of this file: it says to the buffer what Spark says to it, and keeps nothing itself.  Spark
plans a batch (latestOffset), logs it, acknowledges the one before (commit) and reads (read, in
tasks).  An offset is the number of the last event before it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows

from spark_check.runtime.breakpoints import Breakpoints
from spark_check.upstream_backup.buffer import Buffer

FORMAT = "upstream_backup"


class Stream(NamedTuple):
    """Which backup, for which incarnation, how many events a batch.  name: its breakpoints'."""

    name: str
    buffer: Buffer
    epoch: int
    start: int
    rows: int
    breakpoints: Breakpoints

    def here(self, place: str) -> None:
        self.breakpoints.here(f"{self.name} {place}")

    def options(self) -> Mapping[str, str]:
        return {"stream": json.dumps(self)}


def _stream(options: Mapping[str, str]) -> Stream:
    name, buffer, epoch, start, rows, breakpoints = json.loads(options["stream"])
    return Stream(name, Buffer(*buffer), epoch, start, rows, Breakpoints(*breakpoints))


class UpstreamBackup(DataSource):
    """Rows (sn, pickled body)."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return "sn BIGINT, body BINARY"

    def streamReader(self, schema: object) -> DataSourceStreamReader:
        return Reader(_stream(self.options))


class Range(InputPartition):
    """Events with numbers in (start, end]; first: of its batch."""

    def __init__(self, start: int, end: int, first: bool) -> None:
        self.start, self.end, self.first = start, end, first


class Reader(DataSourceStreamReader):
    def __init__(self, stream: Stream) -> None:
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
            stream.here("planned")
        return {"sn": end}

    def commit(self, end: dict[str, int]) -> None:
        stream = self.stream
        stream.here("logged")
        stream.buffer.release(stream.epoch, end["sn"])
        stream.here("acked")

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[Range]:
        """Two, so that the events do not come in order by themselves."""
        before, last = start["sn"], end["sn"]
        middle = (before + last + 1) // 2
        halves = [Range(before, middle, True), Range(middle, last, False)]
        return [half for half in halves if half.start < half.end]

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        assert isinstance(partition, Range)
        if partition.first:
            self.stream.here("read")
        yield from self.stream.buffer.events(partition.start, partition.end)
