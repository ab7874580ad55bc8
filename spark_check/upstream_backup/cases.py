"""The pipelines of upstream backup that are run on Spark, and where each is crashed.

Rule of this file: values alone.  spark_check.upstream_backup.checks.crashes runs and judges them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle
from random import Random
from typing import NamedTuple

from model.cep.engines import Engine
from model.cep.one_run import one_run
from model.cep.operator import Operator
from model.cep.windows import CountWindows
from model.core import Arrival, Guarantee
from model.graph import Graph, chain
from model.protocols.upstream_backup.scopes import ANY_MATCH, EVERY, LATE, SKIPPY
from sim.predictions import upstream_backup as predictions
from spark_check.upstream_backup.source import BackupStop


# --- crash points ----------------------------------------------------------------------------
class PointFacts(NamedTuple):
    """The facts about a crash point of the job that the check needs.

    predicted: the crash point of the simulator.  first: the first batch of an incarnation (1, 2,
    ...) that comes there.  driver: does the driver itself stop there?
    """

    title: str
    predicted: predictions.BackupPoint
    first: int = 1
    driver: bool = False


FACTS = {
    BackupStop.PLANNED: PointFacts("before Spark logs the batch", predictions.BackupPoint.PLANNED),
    BackupStop.LOGGED: PointFacts(
        "after Spark logs the batch, before it acknowledges the last",
        predictions.BackupPoint.PLANNED,
        first=2,
    ),
    BackupStop.ACKED: PointFacts(
        "after Spark acknowledges the last batch", predictions.BackupPoint.ACKED, first=2
    ),
    BackupStop.READ: PointFacts("in the task that reads the batch", predictions.BackupPoint.ACKED),
    BackupStop.PROCESSED: PointFacts(
        "after the operator, before the sink", predictions.BackupPoint.PROCESSED, driver=True
    ),
    BackupStop.TAKEN: PointFacts(
        "after the sink, before the savepoints", predictions.BackupPoint.TAKEN, driver=True
    ),
    BackupStop.SAVED: PointFacts(
        "after the savepoints, before Spark commits the batch",
        predictions.BackupPoint.SAVED,
        driver=True,
    ),
}
"""Spark acknowledges nothing in the first batch of an incarnation."""


class BackupCrash(NamedTuple):
    """A crash to come: its point, in which batch of its incarnation (1, 2, ...)."""

    point: BackupStop
    batch: int

    @property
    def passed(self) -> int:
        """How often the incarnation comes to the point before it crashes there."""
        return self.batch - FACTS[self.point].first

    @property
    def logged(self) -> int:
        """Batches that Spark has logged when the crash comes."""
        return self.batch - (self.point is BackupStop.PLANNED)

    @property
    def place(self) -> str:
        """The point in words, with the batch."""
        return f"{FACTS[self.point].title} (batch {self.batch})"


class BackupCase(NamedTuple):
    """A pipeline and its crashes, one an incarnation.  rows: events a batch.  expected: the
    guarantee that the protocol's evidence names."""

    stream: str
    protocol: str
    graph: Graph
    arrivals: tuple[Arrival, ...]
    rows: int
    crashes: tuple[BackupCrash, ...]
    expected: Guarantee = Guarantee.PRECISE

    @property
    def name(self) -> str:
        crashes = ", ".join(f"{point} {batch}" for point, batch in self.crashes)
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


def _small(protocol: str, *crashes: BackupCrash) -> BackupCase:
    graph = _windows(one_run("a", "b"), 12, 5)
    return BackupCase("60 events", protocol, graph, _random(60), 10, crashes)


def _large(protocol: str, *crashes: BackupCrash) -> BackupCase:
    graph = _windows(one_run("a", "b"), 200, 100)
    return BackupCase("10000 events", protocol, graph, _random(10_000), 500, crashes)


def _wrong(
    variant: str,
    stream: str,
    graph: Graph,
    rows: int,
    crash: BackupCrash | None,
    expected: Guarantee,
) -> BackupCase:
    protocol = f"{CORRECT}:{variant}"
    crashes = (crash,) if crash else ()
    return BackupCase(stream, protocol, graph, _word(stream), rows, crashes, expected)


def correct(case: BackupCase) -> BackupCase:
    """The same pipeline and crashes, with the protocol as corrected."""
    return case._replace(protocol=CORRECT, expected=Guarantee.PRECISE)


GAP, REPEATING, PRECISE = Guarantee.GAP, Guarantee.REPEATING, Guarantee.PRECISE
AA = _windows(one_run("a", "a"), 5, 2)
"""Skip till next match, the strategy of the paper's own evaluation."""

NUMBERED_TWICE = _wrong(
    "pairs", "baa", LATE.graph, 1, BackupCrash(BackupStop.PROCESSED, 3), REPEATING
)
"""docs/explanation/findings.md, x:y pairs, 2: the wrong first window."""
PUBLISHED = (
    _wrong("pairs", "aab", ANY_MATCH.graph, 3, None, GAP),  # 1: one number for two events
    NUMBERED_TWICE,
    # 3: iterations that are not seen again; a crash a batch earlier does no harm
    _wrong("pairs", "abaaaaaa", AA, 1, BackupCrash(BackupStop.PROCESSED, 7), GAP),
    _wrong("pairs", "abaaaaaa", AA, 1, BackupCrash(BackupStop.PROCESSED, 6), PRECISE),
    _wrong("scalar", "aaaa", EVERY.graph, 1, BackupCrash(BackupStop.PROCESSED, 4), GAP),
    _wrong("pairs-of-inputs", "abaaa", SKIPPY.graph, 2, BackupCrash(BackupStop.SAVED, 2), GAP),
    _wrong("opener-windows", "aba", SKIPPY.graph, 2, BackupCrash(BackupStop.PROCESSED, 2), GAP),
    _wrong("counted-windows", "aba", SKIPPY.graph, 2, BackupCrash(BackupStop.ACKED, 2), GAP),
)
"""Each as small as batches allow, and wrong in the way in which it is refuted."""

TWICE = (
    _small(CORRECT, BackupCrash(BackupStop.ACKED, 4), BackupCrash(BackupStop.PROCESSED, 1)),
    _small(CORRECT, BackupCrash(BackupStop.READ, 3), BackupCrash(BackupStop.SAVED, 3)),
    _small(NO_SKIPS, BackupCrash(BackupStop.PLANNED, 4), BackupCrash(BackupStop.TAKEN, 2)),
)
QUICK = (*TWICE[:2], NUMBERED_TWICE, correct(NUMBERED_TWICE))
OUTLIVED = _small(CORRECT, BackupCrash(BackupStop.LOGGED, 4))


def _three_crashes(protocol: str) -> Iterator[BackupCase]:
    """Early or late in the stream, in the replay that follows, and again after that."""
    points = [*BackupStop]
    in_driver = cycle(point for point in points if FACTS[point].driver)
    for at, (first, second) in enumerate(zip(points, in_driver, strict=False)):
        yield _large(
            protocol,
            BackupCrash(first, 2 + 2 * at),
            BackupCrash(second, 1 + at % 3),
            BackupCrash(points[(at + 3) % len(points)], 2 + (at + 1) % 3),
        )


def full() -> tuple[tuple[BackupCase, ...], ...]:
    """In groups, each of which shares a Spark."""
    large = (*_three_crashes(CORRECT), *_three_crashes(NO_SKIPS))
    by_five = [large[at : at + 5] for at in range(0, len(large), 5)]
    small = [case for wrong in PUBLISHED for case in (wrong, correct(wrong))]
    return (TWICE, *by_five, tuple(small[:8]), tuple(small[8:]))
