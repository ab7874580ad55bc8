"""Java learns, once an installation, what starting Spark takes; then Spark starts twice as fast.

Rule of this file: it makes what `spark_check.runtime.java.learned` names, and nothing depends on
that but time.  The packaged Java, unlike an installed one, comes without any archive of classes.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from spark_check.micro_batch.crashes import Load, begun
from spark_check.micro_batch.job import Settings, drained
from spark_check.runtime.java import learned
from spark_check.runtime.session import JAVA_OPTIONS, session

LOAD = Load((4,), late=0)


def train(tell: Callable[[], object] = lambda: None) -> None:
    """Run a small stream and a query in a Spark that takes notes; `tell` is called before.

    Nothing is done if it was done before, if another process is at it, if JAVA_HOME names another
    Java, or if the installation cannot be written to.
    """
    known = learned()
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
            tell()
            _trained(known)


def _trained(known: Path) -> None:
    part, work = known.with_suffix(".part"), known.with_suffix(".work")
    shutil.rmtree(work, ignore_errors=True)
    outside = begun(work / "world", LOAD)
    with session(work, conf={JAVA_OPTIONS: f'"-XX:AOTCacheOutput={part}"'}) as spark:
        drained(spark, Settings(outside.work))
        spark.range(9).groupBy("id").count().orderBy("id").toPandas()
        spark.sparkContext.parallelize(range(4), 2).map(str).collect()
    shutil.rmtree(work, ignore_errors=True)
    if part.exists():
        os.replace(part, known)
