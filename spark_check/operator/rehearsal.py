"""Two small queries of the operator, so that Java records what a stream of files needs.

Rule of this file: it is run for its time alone, and nobody looks at its output.
"""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from spark_check.operator.checks.equality import run_random
from spark_check.operator.stateful import ROCKSDB


def rehearse(spark: SparkSession, work: Path) -> None:
    """Run them in two batches, and in SQL; `work` is a new folder."""
    for key, value in ROCKSDB.items():
        spark.conf.set(key, value)
    run_random(spark, work, range(2), batches=2)
    for key in ROCKSDB:
        spark.conf.unset(key)
