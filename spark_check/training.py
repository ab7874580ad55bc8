"""Java learns, once an installation, the start of Spark; then Spark starts twice as fast.

Rule of this file: it makes what `spark_check.runtime.java.aot_cache` names, and nothing depends
on that but time.  The packaged Java, unlike an installed one, comes without any archive of classes.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

from engine_check.families import family_modules
from model.errors import Invalid
from model.machine.folders import emptied, remove
from model.machine.locks import held
from model.progress import Progress, silent
from spark_check.engine import ENGINE
from spark_check.runtime.java import aot_cache
from spark_check.runtime.jvm import OPTIONS, Jvm
from spark_check.runtime.session import session

STAGE = "Java learns to start Spark (once)"
WRITES_S = 600.0
"""The longest time in which a Java may write what it has learned, as it ends: it starts another
Java for that, which takes half a minute on a busy machine."""


def train(progress: Progress = silent) -> None:
    """Run small jobs in a Spark that records its classes.

    Nothing is done if the cache exists, if another process makes it, if JAVA_HOME names another
    Java, or if the installation cannot be written to.
    """
    known = aot_cache()
    if known is None or known.exists():
        return
    with ExitStack() as locked:
        try:
            locked.enter_context(held(known.with_suffix(".lock"), str(known)))
            work = emptied(known.with_suffix(".training"))
        except Invalid:
            return
        if not known.exists():
            progress(STAGE, 0, 1)
            _train(known, work)
            progress(STAGE, 1, 1)
        remove(work)


def _train(known: Path, work: Path) -> None:
    part = known.with_suffix(".part")
    conf = {OPTIONS: f'"-XX:AOTCacheOutput={part}"'}
    with Jvm(WRITES_S) as jvm, session(work, conf=conf, jvm=jvm) as spark:
        for number, module in enumerate(family_modules(ENGINE, "rehearsal")):
            module.rehearse(spark, work / f"rehearsal-{number}")
        spark.range(9).groupBy("id").count().orderBy("id").toPandas()
        spark.sparkContext.parallelize(range(4), 2).map(str).collect()
    if part.exists():
        os.replace(part, known)


if __name__ == "__main__":
    train()
