"""Which pipelines of upstream backup are run on Spark, and where each is crashed.

Rule of this file: values alone.  How they are run and judged is
spark_check.upstream_backup.checks.crashes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from random import Random
from typing import NamedTuple

from model.cep.engines import Engine
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows
from model.core import Arrival, Guarantee
from model.graph import Graph, chain
from model.protocols.upstream_backup.scopes import ANY_MATCH, EVERY, LATE, SKIPPY


# --- where crashes strike --------------------------------------------------------------------
class Place(NamedTuple):
    """A breakpoint.  struck: what a crash there is to the simulator.  first: the first batch of an
    incarnation that comes there.  driver: does the driver itself stop there?"""

    title: str
    struck: str
    first: int = 1
    driver: bool = False


PLACES = {
    "planned": Place("before Spark logs the batch", "planned"),
    "logged": Place("after Spark logs the batch, before it acknowledges the last", "planned", 2),
    "acked": Place("after Spark acknowledges the last batch", "acked", 2),
    "read": Place("in the task that reads the batch", "acked"),
    "processed": Place("after the operator, before the sink", "processed", driver=True),
    "taken": Place("after the sink, before the savepoints", "taken", driver=True),
    "saved": Place("after the savepoints, before Spark commits the batch", "saved", driver=True),
}
"""Spark acknowledges nothing in the first batch of an incarnation."""


class Stop(NamedTuple):
    """A crash: where, and in which batch of its incarnation (1, 2, ...)."""

    place: str
    batch: int


class Story(NamedTuple):
    """A pipeline and its crashes, one an incarnation.  rows: events a batch.  expected: what the
    evidence of the protocol says of it."""

    stream: str
    protocol: str
    graph: Graph
    arrivals: tuple[Arrival, ...]
    rows: int
    crashes: tuple[Stop, ...]
    expected: Guarantee = Guarantee.PRECISE

    @property
    def name(self) -> str:
        crashes = ", ".join(f"{place} {batch}" for place, batch in self.crashes)
        return f"{self.protocol}, {self.stream}: {crashes or 'no crash'}"


# --- pipelines -------------------------------------------------------------------------------
CORRECT, NO_SKIPS = "upstream-backup", "upstream-backup:no-skips"


def _windows(engine: Engine, size: int, slide: int) -> Graph:
    return chain(("A", Operator(engine, CountWindows(size, slide))))


def _word(types: str) -> tuple[Arrival, ...]:
    return tuple(Arrival(1, type_) for type_ in types)


def _random(events: int) -> tuple[Arrival, ...]:
    """Half of them are of types that the pattern does not name, so they are skipped."""
    random = Random(events)
    return _word("".join(random.choice("abcd") for _ in range(events)))


def _small(protocol: str, *crashes: Stop) -> Story:
    graph = _windows(sequence("a", "b"), 12, 5)
    return Story("60 events", protocol, graph, _random(60), 10, crashes)


def _large(protocol: str, *crashes: Stop) -> Story:
    graph = _windows(sequence("a", "b"), 200, 100)
    return Story("10000 events", protocol, graph, _random(10_000), 500, crashes)


def _wrong(
    variant: str, stream: str, graph: Graph, rows: int, stop: Stop | None, expected: Guarantee
) -> Story:
    protocol = f"{CORRECT}:{variant}"
    crashes = (stop,) if stop else ()
    return Story(stream, protocol, graph, _word(stream), rows, crashes, expected)


def corrected(story: Story) -> Story:
    """The same pipeline and crashes, with the protocol as corrected."""
    return story._replace(protocol=CORRECT, expected=Guarantee.PRECISE)


GAP, REPEATING, PRECISE = Guarantee.GAP, Guarantee.REPEATING, Guarantee.PRECISE
AA = _windows(sequence("a", "a"), 5, 2)
"""Skip till next match, the strategy of the paper's own evaluation."""

NUMBERED_TWICE = _wrong("pairs", "baa", LATE.graph, 1, Stop("processed", 3), REPEATING)
"""docs/findings.md, x:y pairs, 2: the wrong first window."""
PUBLISHED = (
    _wrong("pairs", "aab", ANY_MATCH.graph, 3, None, GAP),  # 1: one number for two events
    NUMBERED_TWICE,
    _wrong("pairs", "abaaaaaa", AA, 1, Stop("processed", 7), GAP),  # 3: iterations not seen again
    _wrong("pairs", "abaaaaaa", AA, 1, Stop("processed", 6), PRECISE),  # a batch earlier: not yet
    _wrong("scalar", "aaaa", EVERY.graph, 1, Stop("processed", 4), GAP),
    _wrong("pairs-of-inputs", "abaaa", SKIPPY.graph, 2, Stop("saved", 2), GAP),
    _wrong("opener-windows", "aba", SKIPPY.graph, 2, Stop("processed", 2), GAP),
    _wrong("counted-windows", "aba", SKIPPY.graph, 2, Stop("acked", 2), GAP),
)
"""Each as small as batches allow, and wrong in the way in which it is refuted."""

QUICK = (
    _small(CORRECT, Stop("acked", 4), Stop("processed", 1)),
    _small(NO_SKIPS, Stop("planned", 4), Stop("taken", 2)),
    _small(CORRECT, Stop("read", 3), Stop("saved", 3)),
    NUMBERED_TWICE,
    corrected(NUMBERED_TWICE),
)
OUTLIVED = _small(CORRECT, Stop("logged", 4))


def _crashed_thrice(protocol: str) -> Iterator[Story]:
    """Early or late in the stream, in the replay that follows, and again after that."""
    places = [*PLACES]
    inside = cycle(name for name, place in PLACES.items() if place.driver)
    for at, (place, second) in enumerate(zip(places, inside, strict=False)):
        third = places[(at + 3) % len(places)]
        yield _large(
            protocol,
            Stop(place, 2 + 2 * at),
            Stop(second, 1 + at % 3),
            Stop(third, 2 + (at + 1) % 3),
        )


def full() -> tuple[tuple[Story, ...], ...]:
    """In groups, each of which shares a Spark."""
    large = (*_crashed_thrice(CORRECT), *_crashed_thrice(NO_SKIPS))
    by_five = [large[at : at + 5] for at in range(0, len(large), 5)]
    small = [story for wrong in PUBLISHED for story in (wrong, corrected(wrong))]
    return (QUICK[:3], *by_five, tuple(small[:8]), tuple(small[8:]))
