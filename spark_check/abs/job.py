"""The pairs of a stream with Spark's own checkpoint of the state: ABS, in the form that Spark has.

Rule of this file: the functions that Spark runs, and the points where it can be stopped; the check
crashes it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.state import GroupStateTimeout

from engine_check.breakpoints import Breakpoints, JsonSettings
from engine_check.notes import add_note, read_notes
from model.results.table import Row
from sim.predictions.abs.batches import EpochPoint, EpochSink
from spark_check.abs.pairs import pair
from spark_check.log_io.external import WrittenPair, open_book
from spark_check.log_io.stream import read_stream
from spark_check.runtime.session import BRIEF, session

ALL_STARTED = "all started"


class CheckpointedQuery(NamedTuple):
    """A query, as settings of a job.

    folder: of its stream, checkpoint and notes.  types, ends: as in spark_check.log_io.stream.
    book: the database of the sink.  sink: an EpochSink.
    """

    folder: str
    types: str
    ends: tuple[int, ...]
    book: str
    sink: str

    @property
    def name(self) -> str:
        return Path(self.folder).name

    @property
    def stream(self) -> Path:
        return Path(self.folder) / "stream"

    @property
    def checkpoint(self) -> Path:
        return Path(self.folder) / "checkpoint"

    def place(self, point: EpochPoint, batch: int) -> str:
        """The breakpoint at this point of a batch."""
        return f"{self.name} {point} {batch}"

    @property
    def begin(self) -> str:
        """The breakpoint before the query starts."""
        return f"begin {self.name}"

    # --- notes: of each batch, when the sink has been handed it and when it has written it --------
    def note(self, **facts: Any) -> None:
        add_note(self.folder, **facts)

    def notes(self) -> list[Row]:
        return read_notes(self.folder)


def start_query(
    spark: SparkSession, pipeline: CheckpointedQuery, breakpoints: Breakpoints
) -> StreamingQuery:
    """Start the query, or start it again on its checkpoint; it runs until its stream ends."""
    pairs = (
        read_stream(spark, pipeline.stream)
        .groupBy("type")
        .applyInPandasWithState(
            pair,
            "type string, first long, second long",
            "waiting long",
            "append",
            GroupStateTimeout.NoTimeout,
        )
    )

    def batch(frame: DataFrame, id_: int) -> None:
        rows = [WrittenPair(*row) for row in frame.collect()]
        pipeline.note(batch=id_, made=time.time())
        breakpoints.here(pipeline.place(EpochPoint.MADE, id_))
        write(pipeline, id_, sorted(rows, key=lambda row: row.second))
        pipeline.note(written=time.time())
        breakpoints.here(pipeline.place(EpochPoint.WRITTEN, id_))

    return (
        pairs.writeStream.outputMode("append")
        .foreachBatch(batch)
        .option("checkpointLocation", str(pipeline.checkpoint))
        .trigger(availableNow=True)
        .start()
    )


def write(pipeline: CheckpointedQuery, id_: int, pairs: Iterable[WrittenPair]) -> None:
    """The sink: one transaction for a batch."""
    with open_book(pipeline.book) as book, book.database.transaction():
        if pipeline.sink == EpochSink.PLAIN or book.takes(id_):
            for one in pairs:
                book.insert(one.second, one.to_json())


def run(work: Path, settings: JsonSettings, breakpoints: Breakpoints) -> None:
    """The job of a victim process: start each pipeline, and never end."""
    pipelines = [CheckpointedQuery(*one) for one in settings["pipelines"]]
    with session(work, conf=BRIEF) as spark:
        for pipeline in pipelines:
            breakpoints.here(pipeline.begin)
            start_query(spark, pipeline, breakpoints)
        breakpoints.here(ALL_STARTED)
