"""The streaming job that is crashed: a replayable source, a running count a type, a sink.

Rule of this file: what Spark runs is here and in stream.py, with its breakpoints; what crashes it
is in the checks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from hashlib import pbkdf2_hmac
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from engine_check.breakpoints import Breakpoints, JsonSettings
from spark_check.micro_batch.external_store import STARTED, ExternalStore
from spark_check.micro_batch.stream import (
    JobPoint,
    StreamSource,
    TaskRows,
    Tracer,
    task_attempt,
    write_batch,
)
from spark_check.runtime.session import BRIEF, LOCAL, session


class Writer(StrEnum):
    """The way in which Spark hands batches to the sinks."""

    FOREACH_BATCH = "foreachBatch"
    DATA_SOURCE = "data source"
    """By the commit of a Python data source, once all tasks have written."""


class JobSettings(NamedTuple):
    """work: the folder of all that is outside of Spark.  cuts: a batch ends at each of these
    events, even if there are more; after the last cut, a batch takes all.  trims: does the upstream
    drop acknowledged events?  effort: rounds of a hash for each event, so that large batches take
    long.  trigger_s: a batch is planned so often, and nothing ends the query; 0: one after the
    other, until the events that are there have been processed.  begins: the event after which a
    query without a checkpoint begins.  checkpoint: the folder of Spark's checkpoint; "": that of
    the store.  window: counts begin anew after so many events; 0: they never do.  group: the
    upstream drops acknowledged events in groups of so many, so it has the rest of a group."""

    work: str
    cuts: Sequence[int] = ()
    trims: bool = True
    writer: str = Writer.FOREACH_BATCH
    master: str = LOCAL
    conf: Mapping[str, str] = BRIEF
    effort: int = 0
    trigger_s: float = 0.0
    begins: int = 0
    checkpoint: str = ""
    window: int = 0
    group: int = 1


# --- the operator --------------------------------------------------------------------------------
ROW = "sn long, type string, running long"


def count_types(
    tracer: Tracer,
    effort: int,
    window: int,
    key: tuple[str],
    parts: Iterable[pd.DataFrame],
    state: GroupState,
) -> Iterator[pd.DataFrame]:
    """Each event, with the number of events of its type so far, in its window if there are any."""
    newest, before = state.get if state.exists else (0, 0)
    events = pd.concat(parts).sort_values("sn")
    windows = (events["sn"] - 1) // window if window else events["sn"] * 0
    running = events.groupby(windows).cumcount() + 1 + before * (windows == newest)
    state.update((int(windows.iloc[-1]), int(running.iloc[-1])))
    tracer.at(JobPoint.COUNT, int(events["batch"].iloc[0]), attempt=task_attempt())
    if effort:
        pbkdf2_hmac("sha256", b"event", b"", effort * len(events))
    events["running"] = running
    yield events[["sn", "type", "running"]]


# --- the job -------------------------------------------------------------------------------------
def run(work: Path, settings: JsonSettings, breakpoints: Breakpoints) -> None:
    """The job of a victim process; `settings` are JobSettings."""
    wanted = JobSettings(**settings)
    with session(work, master=wanted.master, conf=wanted.conf) as spark:
        run_to_end(spark, wanted, breakpoints)


def run_to_end(
    spark: SparkSession, settings: JobSettings, breakpoints: Breakpoints | None = None
) -> None:
    """Run the query on its checkpoint until all events are processed; raises what Spark raises."""
    passed = breakpoints or Breakpoints(settings.work)
    tracer = Tracer(ExternalStore(settings.work), passed)
    tracer.store.note(STARTED)
    options = {
        "work": settings.work,
        "cuts": json.dumps(settings.cuts),
        "trims": json.dumps(settings.trims),
        "begins": json.dumps(settings.begins),
        "group": json.dumps(settings.group),
        "breakpoints": json.dumps(passed),
    }
    spark.dataSource.register(StreamSource)
    events = spark.readStream.format(StreamSource.name()).options(**options).load()
    counts = events.groupBy("type").applyInPandasWithState(
        partial(count_types, tracer, settings.effort, settings.window),
        ROW,
        "window long, count long",
        "append",
        GroupStateTimeout.NoTimeout,
    )
    writer = counts.writeStream.outputMode("append")
    if settings.trigger_s:
        writer = writer.trigger(processingTime=f"{round(settings.trigger_s * 1000)} milliseconds")
    else:
        writer = writer.trigger(availableNow=True)
    checkpoint = settings.checkpoint or str(tracer.store.checkpoint)
    writer = writer.option("checkpointLocation", checkpoint)
    if settings.writer == Writer.DATA_SOURCE:
        writer = writer.format(StreamSource.name()).options(**options)
    else:

        def write(rows: DataFrame, batch: int) -> None:
            write_batch(tracer, batch, TaskRows(rows.collect()).rows)

        writer = writer.foreachBatch(write)
    writer.start().awaitTermination()
