"""The streaming query whose batches are tasks of a LOG.io pipeline, and the job that is killed.

Rule of this file: the functions that Spark runs; the operators are in operators.py, their crashes
in crashes.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from engine_check.breakpoints import Breakpoints, JsonSettings
from spark_check.log_io.operators import PipelineStops
from spark_check.log_io.stream import read_stream
from spark_check.log_io.world import LogIoWorld, process
from spark_check.runtime.session import BRIEF, session

ATTEMPTS = 2
"""How often Spark tries a task: a task whose worker is killed is tried again."""
ALL_STARTED = "all started"
"""The breakpoint behind the last pipeline."""


def begin_of(world: LogIoWorld) -> str:
    """The breakpoint before the pipeline starts."""
    return f"begin {world.name}"


def end_of(world: LogIoWorld) -> str:
    """The breakpoint behind the end of a pipeline that is waited for."""
    return f"end {world.name}"


Task = Callable[[LogIoWorld, PipelineStops, Iterable[tuple[int, str]]], None]


def start_query(
    spark: SparkSession, world: LogIoWorld, breakpoints: Breakpoints, task: Task = process
) -> StreamingQuery:
    """Start the pipeline, or start it again; it runs until its stream ends."""
    stops = PipelineStops(breakpoints, world.name)

    def batch(frame: DataFrame, _: int) -> None:
        frame.coalesce(1).foreachPartition(partial(task, world, stops))

    return (
        read_stream(spark, world.stream)
        .writeStream.foreachBatch(batch)
        .option("checkpointLocation", str(world.checkpoint))
        .trigger(availableNow=True)
        .start()
    )


def run(work: Path, settings: JsonSettings, breakpoints: Breakpoints) -> None:
    """The job of a victim process: start each pipeline, and never end.

    settings: worlds; awaited, the names of those whose end is waited for.
    """
    worlds = [LogIoWorld(*one) for one in settings["worlds"]]
    slots = 2 * len(worlds)  # a task that is stopped keeps its slot
    with session(work, master=f"local[{slots},{ATTEMPTS}]", conf=BRIEF) as spark:
        queries = []
        for world in worlds:
            breakpoints.here(begin_of(world))
            queries.append(start_query(spark, world, breakpoints))
        for world, query in zip(worlds, queries, strict=True):
            if world.name in settings["awaited"]:
                query.awaitTermination()
                breakpoints.here(end_of(world))
        breakpoints.here(ALL_STARTED)
