"""An incarnation of the operator: recover from the log, run batch after batch, log, then send.

Rule of this file: the functions that Spark runs, with their breakpoints; the checks crash it.

A batch is processed by Spark's tasks, collected by the driver, numbered, written to the log, and
only then sent to the sink.  Whatever Spark keeps of the state is not used: each incarnation begins
with a new checkpoint folder, and with the eventual checkpoint as initial state.
"""

from __future__ import annotations

import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from engine_check.breakpoints import Breakpoints, JsonSettings
from sim.predictions.cec import ExtentRestart
from spark_check.cec.keyed_node import load
from spark_check.cec.log import End, Placed, end_of, number
from spark_check.cec.operator import CONF, INPUT, MadeRow, stream_records
from spark_check.cec.scan import find
from spark_check.cec.stops import CecPoint, CecStops
from spark_check.cec.world import SAVED, CecWorld
from spark_check.runtime.micro_batches import read_batches
from spark_check.runtime.session import BRIEF, session

ALL_STARTED = "all started"
"""The breakpoint behind the last world."""


def begin_of(folder: str) -> str:
    """The breakpoint before the world in this folder starts."""
    return f"begin {Path(folder).name}"


def start_query(
    spark: SparkSession, world: CecWorld, breakpoints: Breakpoints, incarnation: int
) -> StreamingQuery:
    """Recover, and start the query, which runs until its input ends."""
    began = time.time()
    query, stops = world.query, CecStops(breakpoints, world.name)
    files, cut = world.log.cut(query.design)
    found, read = find(spark, query.design, query.box, files)
    assert found.start is not None  # a design that replays nothing is not run here
    scanned_s = time.time() - began
    stops.here(CecPoint.SCANNED)
    replayed = len(world.rows) - max(found.start, 0)
    restart = ExtentRestart(
        len(found.windows), found.start, found.newest, found.scanned, cut, replayed
    )
    world.note(began=began, seconds=scanned_s, read=read, **restart._asdict())
    world.send_again(files)
    folder = world.serve(incarnation, found.start, found.newest)
    last = [*world.log.read(files[-1:])]
    end = End(len(files), last[-1].at if last else 0, len(found.windows), found.results)
    tuples = read_batches(spark, folder, INPUT)
    made = stream_records(spark, tuples, query, stops, loaded=load(found))

    def batch(frame: DataFrame, _: int) -> None:
        nonlocal end
        rows = [MadeRow(*row) for row in frame.collect()]
        stops.here(CecPoint.MADE)
        placed = number(end, (row.unpacked() for row in rows if row.record is not None))
        ignored = sum(row.ignored for row in rows)
        took = _log(world, end, placed, stops)
        end = end_of(end, placed)
        stops.here(CecPoint.STORED)
        world.send(record for _, record in placed)
        world.note(sent=time.time(), ignored=ignored, log_s=took, records=len(placed))
        stops.here(CecPoint.SENT)

    return (
        made.writeStream.foreachBatch(batch)
        .option("checkpointLocation", str(world.checkpoint(incarnation)))
        .trigger(availableNow=True)
        .start()
    )


def start_restored(
    spark: SparkSession, world: CecWorld, connection: Path, breakpoints: Breakpoints
) -> StreamingQuery:
    """Start the same aggregate with Spark's own checkpoint of its state (CRB), and no log.

    A restart asks for nothing: Spark runs the batch that was not committed again, on the state
    before it.  connection: the tuples, a file for each batch; the same at each start.
    """
    stops = CecStops(breakpoints, world.name)
    world.note(began=time.time())
    tuples = read_batches(spark, connection, INPUT)
    made = stream_records(spark, tuples, world.query, stops)

    def batch(frame: DataFrame, id_: int) -> None:
        rows = [MadeRow(*row).unpacked().record for row in frame.collect()]
        stops.here(CecPoint.MADE)
        results = sorted(rows, key=lambda record: (record.stamp, record.opened))
        world.send_batch(id_, (record.out.body for record in results if record.out))
        world.note(sent=time.time(), records=len(results))

    return (
        made.writeStream.foreachBatch(batch)
        .option("checkpointLocation", str(world.checkpoint(0)))
        .trigger(availableNow=True)
        .start()
    )


def _log(world: CecWorld, end: End, placed: list[Placed], stops: CecStops) -> float:
    """Write a file, unless the batch made nothing: the seconds."""
    began = time.perf_counter()
    if placed:
        world.log.write(end.file + 1, placed, lambda: stops.here(CecPoint.HALF))
    else:
        stops.here(CecPoint.HALF)
    return time.perf_counter() - began


def run(work: Path, settings: JsonSettings, breakpoints: Breakpoints) -> None:
    """The job of a victim process: start an incarnation of each world, and never end.

    settings: worlds (folders), incarnation.  Each begins at a breakpoint: Spark gives up on an
    operator whose process does not start in time, so on a small machine not all should start at
    once.
    """

    def begin(folder: str) -> None:
        world: CecWorld = pickle.loads((Path(folder) / SAVED).read_bytes())
        start_query(spark, world, breakpoints, settings["incarnation"])

    worlds = settings["worlds"]
    slots = 2 * len(worlds)  # a task that is stopped keeps its slot
    with (
        session(work, master=f"local[{slots}]", conf={**BRIEF, **CONF}) as spark,
        ThreadPoolExecutor(len(worlds)) as pool,
    ):
        for folder in worlds:
            breakpoints.here(begin_of(folder))
            pool.submit(begin, folder)  # one may stop before its query starts
        breakpoints.here(ALL_STARTED)
