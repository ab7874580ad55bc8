"""The same aggregate with Spark's own checkpoint: the state of every batch, rolled back to (CRB).

Rule of this file: no log.  A restart asks for nothing; Spark runs the batch that was not committed
again, on the state before it.
"""

from __future__ import annotations

import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from spark_check.cec.operator import INPUT, MadeRow, stream_records
from spark_check.cec.stops import CrashPoint, Stops
from spark_check.cec.world import World
from spark_check.runtime.breakpoints import Breakpoints
from spark_check.runtime.micro_batches import read_batches


def start_restored(
    spark: SparkSession, world: World, connection: Path, breakpoints: Breakpoints
) -> StreamingQuery:
    """Start the query on its checkpoint; it runs until its input ends.

    connection: the tuples, a file for each batch; the same at each start.
    """
    stops = Stops(breakpoints, world.name)
    world.note(began=time.time())
    tuples = read_batches(spark, connection, INPUT)
    made = stream_records(spark, tuples, world.query, stops)

    def batch(frame: DataFrame, id_: int) -> None:
        rows = [MadeRow(*row).unpacked().record for row in frame.collect()]
        stops.here(CrashPoint.MADE)
        results = sorted(rows, key=lambda record: (record.stamp, record.opened))
        world.send_batch(id_, (record.out.body for record in results if record.out))
        world.note(sent=time.time(), records=len(results))

    return (
        made.writeStream.foreachBatch(batch)
        .option("checkpointLocation", str(world.checkpoint(0)))
        .trigger(availableNow=True)
        .start()
    )
