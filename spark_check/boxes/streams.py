"""Random streams of items, cut into micro-batches, with ties and late rows.

Rule of this file: a stream follows from its number and nothing else; nothing here knows an
operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple, TypeAlias

from model.events import Body

BATCHES = 3
START, PACE = 10, 2
"""The first times, and how much later those of the next batch are."""
LAGS = (0, 0, 3, 6)
"""How far a whole stream may be behind the others."""
SPREAD = 3
"""Times of a batch of a stream are so far apart."""
LONGEST = {1: 12, 2: 5}
"""Items of an edge, by the number of edges: a box with two edges has very many runs."""
FAR = 1_000
"""A time after all others."""


class BoxRow(NamedTuple):
    """An item on its way to Spark.

    edge, place: as model.boxes.box.Of.  batch: the micro-batch, which does not decrease along an
    edge.  k: None if the item has no such attribute.
    """

    stream: int
    edge: int
    place: int
    batch: int
    time: int
    type: str
    k: int | None
    v: int

    @property
    def body(self) -> Body:
        return body(self.time, self.type, self.k, self.v)


Stream: TypeAlias = tuple[BoxRow, ...]
"""All rows of one number, of all edges."""


def body(time: int, type_: str, k: int | None, v: int | None) -> Body:
    """The body of an item; None is an attribute that it does not have."""
    values = (("k", k), ("v", v))
    return Body(time, type_, tuple(pair for pair in values if pair[1] is not None))


def draw_stream(number: int, edges: int) -> Stream:
    """The random stream of a number: some are in the order of time, some are behind the others."""
    random = Random(f"{number} of {edges}")
    lag, in_order = random.choice(LAGS), random.random() < 0.5
    rows = []
    for edge in range(edges):
        batches = sorted(
            random.randrange(BATCHES) for _ in range(random.randint(1, LONGEST[edges]))
        )
        times = [START - edge + PACE * batch - lag + random.randint(0, SPREAD) for batch in batches]
        for place, (batch, time) in enumerate(
            zip(batches, sorted(times) if in_order else times, strict=True)
        ):
            k, v = random.choice((None, 0, 1, 1)), random.randint(0, 4)
            rows.append(BoxRow(number, edge, place, batch, time, random.choice("ab"), k, v))
    return tuple(rows)


def flush(edges: int) -> Stream:
    """A row for each edge, in the last batch and far ahead, so that the watermark passes all
    others; each has a number of its own, so that it meets nothing."""
    return tuple(
        BoxRow(-1 - edge, edge, 0, BATCHES - 1, FAR, "a", None, 0) for edge in range(edges)
    )


def ties(stream: Iterable[BoxRow]) -> int:
    """The rows of a stream that have the time of another one."""
    times = sorted(row.time for row in stream)
    return sum(one == other for one, other in pairwise(times))


def show(stream: Sequence[BoxRow]) -> str:
    """The stream for a message: edge and body of each row, by batch."""
    batches = ([row for row in stream if row.batch == batch] for batch in range(BATCHES))
    return " | ".join(
        ", ".join(f"{row.edge}:{show_output(row.body)}" for row in rows) or "-" for rows in batches
    )


def show_output(output: Any) -> str:
    """An output of an operator for a message, whatever is in it."""
    match output:
        case Body(time, type_, data) if all(isinstance(one, Body) for one in data) and data:
            return f"{type_}@{time}{show_output(data)}"
        case Body(time, type_, data):
            return " ".join([f"{type_}@{time}", *(f"{name}={value}" for name, value in data)])
        case tuple():
            return f"({', '.join(map(show_output, output))})"
        case _:
            return str(output)
