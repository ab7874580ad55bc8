"""The scan of the log as a Spark job: it leaves the newest records, and the model reads these.

Rule of this file: model.protocols.cec.scan.reconstruct decides the meaning of a record.

The paper's scan goes backward, record by record, until it has N footprints.  The job reads files
from the end of the log, twice as many each time, until they hold N footprints.  Of these files it
keeps the newest record of each open window and of each key: all that `reconstruct` looks at, apart
from counting what it passes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F

from model.boxes.aggregate import Aggregate
from model.log import Log
from model.protocols.cec.design import CecDesign
from model.protocols.cec.messages import Segment
from model.protocols.cec.scan import EventualCheckpoint, reconstruct
from spark_check.cec.log import COLUMNS, Placed, count_rows, decode

FILES = 8
"""The number of files that are read at first."""


def find(
    spark: SparkSession, design: CecDesign, box: Aggregate, files: Sequence[Path]
) -> tuple[EventualCheckpoint, int]:
    """The eventual checkpoint in the files of a log that is cut; how many records the files had
    that were read."""
    count = FILES
    while True:
        newest, read = newest_records(spark, files[-count:]) if files else ([], 0)
        found = summarize(design, box, newest)
        if found.complete or count >= len(files):
            return found, read
        count *= 2


def summarize(design: CecDesign, box: Aggregate, newest: Iterable[Placed]) -> EventualCheckpoint:
    """The eventual checkpoint of a log of which these are the newest records of each open window
    and of each key.  A record's place in the log stands for a segment's."""
    kept = sorted(newest)
    log: Log[Segment] = Log()
    found = reconstruct(design, box, log.extend(Segment(at, (one,)) for at, one in kept))
    oldest = found.windows[0].at if found.windows else None
    scanned = found.scanned if oldest is None else kept[-1].at - oldest + 1
    return found._replace(scanned=scanned)


def newest_records(spark: SparkSession, files: Sequence[Path]) -> tuple[list[Placed], int]:
    """The newest record of each open window and of each key; how many records were read."""
    rows = spark.read.schema(COLUMNS).parquet(*map(str, files))
    of_window = F.max("at").over(Window.partitionBy("key", "opened"))
    of_key = F.max("at").over(Window.partitionBy("key"))
    marked = rows.withColumns({"of_window": of_window, "of_key": of_key})
    newest = marked.where("at = of_key or (at = of_window and pane is not null)")
    kept = newest.drop("of_window", "of_key").collect()
    return [*decode(row.asDict() for row in kept)], count_rows(files)
