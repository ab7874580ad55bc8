"""Streams of Spark whose micro-batches are given: a folder with a file for each batch.

Rule of this file: no query; it writes rows and hands them to Spark in the order of the batches.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
from pyspark.sql import DataFrame, SparkSession


def write_batches(folder: Path, batches: Iterable[pd.DataFrame]) -> tuple[int, ...]:
    """Write a file for each batch into a new folder: the number of rows of each."""
    folder.mkdir(parents=True)
    rows = []
    for number, frame in enumerate(batches):
        path = folder / f"{number:05}.parquet"
        frame.to_parquet(path, index=False)
        os.utime(path, (number, number))  # Spark takes files in the order of their times
        rows.append(len(frame))
    return tuple(rows)


def read_batches(spark: SparkSession, folder: Path, schema: str) -> DataFrame:
    """The stream of the rows written there: a micro-batch for each file."""
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
