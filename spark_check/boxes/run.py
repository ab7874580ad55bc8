"""Streaming queries over micro-batches that are given, and the outputs of each of them.

Rule of this file: it runs any query, and compares nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import Row as SparkRow
from pyspark.sql.streaming.query import StreamingQuery

from spark_check.boxes.streams import BATCHES, BoxRow
from spark_check.runtime.micro_batches import read_batches, write_batches

TYPES = dict.fromkeys(BoxRow._fields, "int64") | {"type": "string", "k": "Int64"}
SCHEMA = ", ".join(f"{name} {'string' if name == 'type' else 'long'}" for name in BoxRow._fields)


class BoxRun(NamedTuple):
    """found: (batch, output) in the order in which Spark put them out.  The others by micro-batch:
    how many rows it had, its watermark (None without), and how many rows were dropped as late."""

    found: list[tuple[int, SparkRow]]
    rows: list[int]
    watermarks: list[int | None]
    dropped: list[int]


class Started(NamedTuple):
    """A query that runs, and the outputs so far."""

    query: StreamingQuery
    found: list[tuple[int, SparkRow]]


def feed(spark: SparkSession, folder: Path, rows: Iterable[BoxRow], edges: int) -> list[DataFrame]:
    """The stream of each edge, whose rows are written to a new folder."""
    by_file: dict[tuple[int, int], list[BoxRow]] = {
        (edge, batch): [] for edge in range(edges) for batch in range(BATCHES)
    }
    for row in rows:
        by_file[row.edge, row.batch].append(row)
    streams = []
    for edge in range(edges):
        home = folder / str(edge)
        write_batches(home, (_frame(by_file[edge, batch]) for batch in range(BATCHES)))
        streams.append(read_batches(spark, home, SCHEMA))
    return streams


def start(output: DataFrame, checkpoint: Path) -> Started:
    """Start a query; several may run at once."""
    found: list[tuple[int, SparkRow]] = []

    def keep(frame: DataFrame, batch: int) -> None:
        found.extend((batch, row) for row in frame.collect())

    writer = output.writeStream.option("checkpointLocation", str(checkpoint)).foreachBatch(keep)
    return Started(writer.trigger(availableNow=True).start(), found)


def finish(started: Started) -> BoxRun:
    """Wait until the query has taken all its rows."""
    started.query.awaitTermination()
    reports = started.query.recentProgress
    return BoxRun(
        started.found,
        [report.numInputRows for report in reports],
        [_seconds(report.eventTime.get("watermark")) for report in reports],
        [sum(op.numRowsDroppedByWatermark for op in report.stateOperators) for report in reports],
    )


def _frame(rows: Sequence[BoxRow]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=pd.Index(BoxRow._fields)).astype(TYPES)


def _seconds(time: str | None) -> int | None:
    return None if time is None else round(datetime.fromisoformat(time).timestamp())
