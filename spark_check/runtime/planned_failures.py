"""Failures of a query that are planned, where a process need not die for them.

Rule of this file: a query that fails otherwise, or not at all, is an error.
"""

from __future__ import annotations

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from engine_check.breakpoints import Breakpoints


class PlannedFailure(Exception):
    """The failure of a query that was planned."""


class FailingBreakpoints(Breakpoints):
    """Raises PlannedFailure where another breakpoint would stop.

    Each process counts for itself; so does a copy in a task of Spark, if the job gives it one.
    """

    def here(self, place: str) -> None:
        left = self.armed.get(place)
        if left == 0:
            raise PlannedFailure(place)
        if left is not None:
            self.armed[place] = left - 1  # type: ignore[index]


def await_failure(query: StreamingQuery) -> StreamingQuery:
    """The query, after it has failed as planned.  Raises RuntimeError if it ends without that."""
    try:
        query.awaitTermination()
    except StreamingQueryException as error:
        if PlannedFailure.__name__ not in str(error):
            raise
        return query
    raise RuntimeError("the query ended, and did not fail as planned")
