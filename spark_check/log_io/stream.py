"""The stream of a pipeline: a file for each micro-batch, which Spark reads in this order.

Rule of this file: events go in and out; no operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pandas as pd
from pyspark.sql import DataFrame, SparkSession

from spark_check.runtime.micro_batches import read_batches, write_batches

ROW = "number long, type string"


def write_stream(folder: Path, types: str, ends: Sequence[int]) -> None:
    """Write events of these types, one a letter, in batches with these ends, into a new folder."""
    numbered = [*enumerate(types, 1)]
    parts = (numbered[begin:end] for begin, end in pairwise((0, *ends)))
    columns = pd.Index(("number", "type"))
    write_batches(folder, (pd.DataFrame(part, columns=columns) for part in parts))


def read_stream(spark: SparkSession, folder: Path) -> DataFrame:
    return read_batches(spark, folder, ROW)
