"""The streaming job that is crashed: a replayable source, a running count a type, a sink.

Rule of this file: what Spark runs is here and in stream.py, with its breakpoints; what is done to
it is in the checks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from hashlib import pbkdf2_hmac
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout

from spark_check.micro_batch.external_store import BEGUN, Outside
from spark_check.micro_batch.stream import Part, Point, Stream, Tracer, attempt, written
from spark_check.runtime.breakpoints import Breakpoints
from spark_check.runtime.session import BRIEF, LOCAL, session


class Writer(StrEnum):
    """How Spark hands batches to the sinks."""

    FOREACH_BATCH = "foreachBatch"
    DATA_SOURCE = "data source"
    """By the commit of a Python data source, once all tasks have written."""


class Settings(NamedTuple):
    """work: the folder of all that is outside.  cuts: a batch ends there, even if there are more
    events; after the last, it takes all.  trims: does the upstream drop what was acknowledged?
    effort: rounds of a hash that an event takes, so that large batches take long."""

    work: str
    cuts: Sequence[int] = ()
    trims: bool = True
    writer: str = Writer.FOREACH_BATCH
    master: str = LOCAL
    conf: Mapping[str, str] = BRIEF
    effort: int = 0


# --- the operator --------------------------------------------------------------------------------
ROW = "sn long, type string, running long"


def counted(
    tracer: Tracer, effort: int, key: tuple[str], parts: Iterable[pd.DataFrame], state: GroupState
) -> Iterator[pd.DataFrame]:
    """With every event, how many of its type there have been."""
    before = state.get[0] if state.exists else 0
    events = pd.concat(parts).sort_values("sn")
    state.update((before + len(events),))
    tracer.at(Point.COUNT, int(events["batch"].iloc[0]), attempt=attempt())
    if effort:
        pbkdf2_hmac("sha256", b"event", b"", effort * len(events))
    events["running"] = range(before + 1, before + 1 + len(events))
    yield events[["sn", "type", "running"]]


# --- the job -------------------------------------------------------------------------------------
def run(work: Path, settings: Mapping[str, Any], breakpoints: Breakpoints) -> None:
    """A victim's job; its settings are those above."""
    wanted = Settings(**settings)
    with session(work, master=wanted.master, conf=wanted.conf) as spark:
        drained(spark, wanted, breakpoints)


def drained(
    spark: SparkSession, settings: Settings, breakpoints: Breakpoints | None = None
) -> None:
    """Run the query on its checkpoint until all events are processed; raises what it raises."""
    passed = breakpoints or Breakpoints(settings.work)
    tracer = Tracer(Outside(settings.work), passed)
    tracer.outside.tell(BEGUN)
    options = {
        "work": settings.work,
        "cuts": json.dumps(settings.cuts),
        "trims": json.dumps(settings.trims),
        "breakpoints": json.dumps(passed),
    }
    spark.dataSource.register(Stream)
    events = spark.readStream.format(Stream.name()).options(**options).load()
    counts = events.groupBy("type").applyInPandasWithState(
        partial(counted, tracer, settings.effort),
        ROW,
        "count long",
        "append",
        GroupStateTimeout.NoTimeout,
    )
    writer = counts.writeStream.outputMode("append").trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(tracer.outside.checkpoint))
    if settings.writer == Writer.DATA_SOURCE:
        writer = writer.format(Stream.name()).options(**options)
    else:

        def write(rows: DataFrame, batch: int) -> None:
            written(tracer, batch, Part(rows.collect()).rows)

        writer = writer.foreachBatch(write)
    writer.start().awaitTermination()
