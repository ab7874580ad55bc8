"""Java learns, once an installation, the start of Spark; then Spark starts twice as fast.

Rule of this file: it makes what `spark_check.runtime.java.aot_cache` names, and nothing depends
on that but time.  The packaged Java, unlike an installed one, comes without any archive of classes.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path

from engine_check.families import family_modules
from model.progress import Progress, silent
from spark_check.engine import ENGINE
from spark_check.runtime.java import aot_cache
from spark_check.runtime.jvm import OPTIONS
from spark_check.runtime.session import session

STAGE = "Java learns to start Spark (once)"


def train(progress: Progress = silent) -> None:
    """Run small jobs in a Spark that records its classes.

    Nothing is done if the cache exists, if another process makes it, if JAVA_HOME names another
    Java, or if the installation cannot be written to.
    """
    known = aot_cache()
    if known is None or known.exists():
        return
    try:
        known.parent.mkdir(parents=True, exist_ok=True)
        lock = known.with_suffix(".lock").open("w")
    except OSError:
        return
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        if not known.exists():
            progress(STAGE, 0, 1)
            _train(known)
            progress(STAGE, 1, 1)


def _train(known: Path) -> None:
    part, work = known.with_suffix(".part"), known.with_suffix(".work")
    shutil.rmtree(work, ignore_errors=True)
    with session(work, conf={OPTIONS: f'"-XX:AOTCacheOutput={part}"'}) as spark:
        for number, module in enumerate(family_modules(ENGINE, "rehearsal")):
            module.rehearse(spark, work / f"rehearsal-{number}")
        spark.range(9).groupBy("id").count().orderBy("id").toPandas()
        spark.sparkContext.parallelize(range(4), 2).map(str).collect()
    shutil.rmtree(work, ignore_errors=True)
    if part.exists():
        os.replace(part, known)


if __name__ == "__main__":
    train()
