"""Spark's errors about unreadable logs, as one line each.

Rule of this file: only errors that come from the logs become Invalid; all others are our defects.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger

from model.errors import Invalid
from spark_check.traces.lines import broken_line
from spark_check.traces.logs import OutputLog

CONDITIONS = {
    "MALFORMED_RECORD_IN_PARSING": "a line is not whole (cut off by a crash, perhaps)",
    "INVALID_JSON_RECORD_TYPE": "a line is no JSON object",
    "FAILED_READ_FILE": r"a damaged file, \1",
    "CANNOT_MERGE_SCHEMAS": "its files hold columns of one name and different types",
    "CAST_INVALID_INPUT": r"\1 is no \2, which the other log's column holds",
}
"""Spark's error conditions that mean bad input, and what is reported."""
OF_LINES = ("MALFORMED_RECORD_IN_PARSING", "INVALID_JSON_RECORD_TYPE", "FAILED_READ_FILE")
"""Conditions that come from a line."""
DETAILS = {
    "FAILED_READ_FILE": r"reading file (?:file:/+)?(\S+?)\.? ",
    "CAST_INVALID_INPUT": r"The value ('.*?') of the type \S+ cannot be cast to \"(\w+)\"",
}

LOGGERS = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
"""Loggers of pyspark, which print each error as a page of JSON."""


@contextmanager
def explain_errors(where: str, *logs: OutputLog) -> Iterator[None]:
    """Turn Spark's errors about logs into Invalid: with the line, if one cannot be read, or else
    with `where` in front."""

    def nothing(_: logging.LogRecord) -> bool:
        return False

    for name in LOGGERS:
        PySparkLogger.getLogger(name).addFilter(nothing)
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        said = str(error)
        named = re.findall(r"\[([A-Z_]+)(?:\.[A-Z_]+)?\]", said)
        cause = next((name for name in reversed(named) if name in CONDITIONS), None)
        detail = re.search(DETAILS.get(cause, ""), said) if cause else None
        if cause is None or detail is None:
            raise
        for log in logs if cause in OF_LINES else ():
            if found := broken_line(log, by_line=True, surely=False):
                raise log.complain(found) from None
        raise Invalid(f"{where}: {detail.expand(CONDITIONS[cause])}") from None
    finally:
        for name in LOGGERS:
            PySparkLogger.getLogger(name).removeFilter(nothing)
