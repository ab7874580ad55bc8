"""A small stream that Spark runs once, so that Java records what a streaming query needs.

Rule of this file: it is run for its time alone, and nobody looks at its output.
"""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from spark_check.micro_batch.crashes import JobLoad, prepare
from spark_check.micro_batch.job import JobSettings, run_to_end

LOAD = JobLoad((4,), late=0)


def rehearse(spark: SparkSession, work: Path) -> None:
    """Run one batch of the job that the checks crash; `work` is a new folder."""
    run_to_end(spark, JobSettings(prepare(work, LOAD).work))
