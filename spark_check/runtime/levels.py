"""The levels of one search on Spark: datasets of blocks, each made from the one before.

Rule of this file: it knows no worlds.  model.levels has the work on a part, which runs in Spark's
Python workers.

A level takes two jobs.  The first expands each part of the last level; its reports come back
through an accumulator, under the number of the part, so that a repetition counts once.  The second
moves all worlds found to the parts to which they belong (a shuffle), where they meet the same part
of all levels before: these are partitioned alike, and do not move.  Each level is written to the
folder of checkpoints.  So a loss of a worker repeats only tasks of one level, and no job depends on
the jobs of earlier levels.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Generic, TypeAlias, TypeVar

from py4j.protocol import Py4JError
from pyspark import RDD, Accumulator, AccumulatorParam, Broadcast, SparkContext, StorageLevel
from pyspark.sql import SparkSession

from model.errors import Invalid
from model.levels import LevelWork, Look
from spark_check.runtime.cluster.failures import explain, first_line

R = TypeVar("R")
T = TypeVar("T")

Block: TypeAlias = tuple[int, tuple[bool, bytes]]
"""(part, (was it just found?, the block))."""
CONF = {"spark.checkpoint.compress": "true"}
"""The configuration of a session with levels."""
FOLDER = "spark.checkpoint.dir"
"""The setting for the folder of the levels, which all machines must see."""


class ByPart(AccumulatorParam[dict[int, Any]]):
    """The last result of each part; all results of a part are alike."""

    def zero(self, value: dict[int, Any]) -> dict[int, Any]:
        return {}

    def addInPlace(self, value1: dict[int, Any], value2: dict[int, Any]) -> dict[int, Any]:
        value1.update(value2)
        return value1


def part_of(part: int) -> int:
    """The partition of a part: of one function, so that Spark sees that levels are split alike."""
    return part


class SparkLevels(Generic[R]):
    """All levels of a search, as model.levels.Levels."""

    def __init__(self, spark: SparkSession, folder: Path, work: LevelWork[R], first: bytes) -> None:
        self._context: SparkContext = spark.sparkContext
        self._work = work
        self._parts = self._context.defaultParallelism
        self._context.setCheckpointDir(self._context.getConf().get(FOLDER) or str(folder))
        blocks = [(part, (False, block)) for part, block in work.split(first, b"", self._parts)]
        self._levels = [self._kept(self._split(self._context.parallelize(blocks, 1)))]
        self._news: list[Broadcast[bytes]] = []
        self._found: RDD[bytes] | None = None

    def expand(self, news: bytes) -> Mapping[int, R]:
        """As model.levels.Levels.expand.  Raises Invalid if Spark ends."""
        self._news.append(self._context.broadcast(news))
        reports = self._context.accumulator({}, ByPart())
        call: Any = partial(_expand, self._work, self._news, reports)
        self._found = self._levels[-1].mapPartitionsWithIndex(call)
        self._found.persist(StorageLevel.DISK_ONLY)
        _make(self._found)
        return reports.value

    def admit(self, names: Mapping[int, bytes]) -> int:
        """As model.levels.Levels.admit.  Raises Invalid if Spark ends."""
        assert self._found is not None, "nothing was expanded"
        named = self._context.broadcast(dict(names))
        counts = self._context.accumulator({}, ByPart())
        split: Any = partial(_split, self._work, named, self._parts)
        found = self._split(self._found.mapPartitionsWithIndex(split))
        together = self._context.union([found, *self._levels])
        call: Any = partial(_admit, self._work, counts)
        level = together.mapPartitionsWithIndex(call, preservesPartitioning=True)
        self._levels.append(self._kept(level))
        self._found.unpersist()
        self._found = None
        named.destroy()
        return sum(counts.value.values())

    def pick(self, level: int, part: int, choose: Callable[[Iterable[bytes]], T]) -> T:
        """As model.levels.Levels.pick."""

        def chosen(records: Iterable[Block]) -> list[T]:
            rest = iter(records)
            choice = choose(block for _, (_, block) in rest)
            _drain(rest)
            return [choice]

        (found,) = _run(partial(self._context.runJob, self._levels[level], chosen, [part]))
        return found

    def survey(self, news: bytes, look: Look[T]) -> Iterator[tuple[int, T]]:
        """As model.levels.Levels.survey."""
        self._news.append(self._context.broadcast(news))
        call: Any = partial(_look, look, self._news)
        for number, level in enumerate(self._levels):
            for seen in _run(level.mapPartitionsWithIndex(call).collect):
                yield number, seen

    def _split(self, blocks: RDD[Block]) -> RDD[Block]:
        """The blocks where they belong, in the format of all levels: else Spark would copy them
        once more to put them together."""
        moved: Any = blocks.partitionBy(self._parts, part_of)
        return RDD(moved._jrdd, self._context, self._context.serializer)

    def _kept(self, level: RDD[Block]) -> RDD[Block]:
        """The level, in the folder of checkpoints."""
        level.persist(StorageLevel.DISK_ONLY)  # else Spark would make it twice
        level.checkpoint()
        _make(level)
        level.unpersist()
        return level


@contextmanager
def levels(
    spark: SparkSession, folder: Path, work: LevelWork[R], first: bytes
) -> Iterator[SparkLevels[R]]:
    """The levels of a search that begins with a block.  folder: of checkpoints, if Spark has no
    setting for it."""
    yield SparkLevels(spark, folder, work, first)


def _make(dataset: RDD[Any]) -> None:
    """Make all parts of a dataset; Python receives nothing."""
    made: Any = dataset._jrdd
    _run(made.count)


def _run(job: Callable[[], T]) -> T:
    """The result of a job.  Raises Invalid if Spark ends."""
    try:
        return job()
    except Py4JError as error:
        text = str(error)
        why = explain(text) or first_line(text)
        raise Invalid(f"Spark ended before its work did ({why})") from error


# --- in a worker -----------------------------------------------------------------------------
def _expand(
    work: LevelWork[R],
    news: list[Broadcast[bytes]],
    reports: Accumulator[dict[int, R]],
    part: int,
    records: Iterable[Block],
) -> Generator[bytes, None, None]:
    blocks = (block for _, (_, block) in records)
    report = yield from work.expand([one.value for one in news], part, blocks)
    reports.add({part: report})
    # Spark looks for cyclic garbage after each task, among all that the process keeps; not here.
    gc.freeze()


def _split(
    work: LevelWork[Any],
    names: Broadcast[dict[int, bytes]],
    parts: int,
    part: int,
    found: Iterable[bytes],
) -> Iterator[Block]:
    for block in found:
        for to, piece in work.split(block, names.value[part], parts):
            yield to, (True, piece)


def _admit(
    work: LevelWork[Any], counts: Accumulator[dict[int, int]], part: int, records: Iterable[Block]
) -> Iterator[Block]:
    """The blocks that were just found come first."""
    rest = iter(records)
    found: list[bytes] = []
    seen: list[bytes] = []
    for _, (is_new, block) in rest:
        if not is_new:
            seen.append(block)
            break
        found.append(block)
    count = 0
    for block in work.admit(found, chain(seen, (block for _, (_, block) in rest))):
        count += work.count(block)
        yield part, (False, block)
    counts.add({part: count})
    _drain(rest)


def _look(
    look: Look[T], news: list[Broadcast[bytes]], part: int, records: Iterable[Block]
) -> Iterator[T]:
    rest = iter(records)
    yield look([one.value for one in news], part, (block for _, (_, block) in rest))
    _drain(rest)


def _drain(records: Iterator[Any]) -> None:
    """Read to the end: Spark ends a Python process that leaves records, and its tables with it."""
    deque(records, maxlen=0)
