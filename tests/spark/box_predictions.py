"""The streams of the quick profile, and what is predicted for them.

Rule of this file: Spark does not run here.
"""

from __future__ import annotations

from functools import cache

from spark_check.boxes.checks import boxes
from spark_check.boxes.checks.boxes import Prediction, predict
from spark_check.boxes.queries import QUERIES
from spark_check.boxes.streams import Stream, draw_stream

BY_NAME = {query.name: query for query in QUERIES}
FILTER, MAP, UNION, TUMBLING, SLIDING, JOIN = QUERIES
STATEFUL = [TUMBLING.name, SLIDING.name, JOIN.name]


@cache
def streams(edges: int) -> list[Stream]:
    """The streams of the quick profile."""
    return [draw_stream(number, edges) for number in range(boxes.STREAMS["quick"])]


@cache
def right(name: str) -> Prediction:
    return predict(BY_NAME[name], streams(BY_NAME[name].edges))


def differing(name: str, other: Prediction) -> int:
    """The streams for which Spark cannot do as both predictions allow."""
    both = zip(right(name).allowed, other.allowed, strict=True)
    return sum(one.isdisjoint(two) for one, two in both)
