"""Operators as streaming queries of Spark that read each other's output, and the events they read.

Rule of this file: the operators and their outputs if nothing fails; no worker and no plan.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

import pandas as pd
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from model.errors import Invalid
from model.events import Body
from model.plans.instance import Instance, PlanOperator, PlanQuery
from model.predicates import Where
from spark_check.runtime.micro_batches import read_batches, write_batches
from spark_check.traces.logs import find_log

SCHEMA = "n long, key string, v long"
KEYS, VALUES, LATE = "abcdefgh", 4, "late"
"""Of random events; the last event has a key and a value that every operator puts out."""
TRIGGER = "100 milliseconds"


class TopologyRow(NamedTuple):
    n: int
    key: str
    v: int


@dataclass(frozen=True, slots=True)
class TopologyPart:
    """An operator; it takes a core.

    reads: the operator before it; None: the source.  keeps: the rows that it puts out.
    distinct: it puts out each key once, so it has state.
    """

    name: str
    reads: str | None
    keeps: Where
    distinct: bool = False

    def query(self, rows: DataFrame) -> DataFrame:
        kept = rows.where(str(self.keeps))
        if not self.distinct:
            return kept
        zero = F.lit(0).cast("long")
        return kept.select(zero.alias("n"), "key", zero.alias("v")).dropDuplicates(["key"])

    def run(self, rows: Sequence[TopologyRow]) -> list[TopologyRow]:
        """The outputs of the operator if nothing fails."""
        kept = [row for row in rows if self.keeps.holds(body(row))]
        return (
            [TopologyRow(0, key, 0) for key in {row.key for row in kept}] if self.distinct else kept
        )


@dataclass(frozen=True, slots=True)
class Topology:
    """parts: upstream ones first.  priorities: of the queries; each has the name of its last
    operator."""

    parts: tuple[TopologyPart, ...]
    priorities: Mapping[str, int]

    def chain(self, query: str) -> Iterator[TopologyPart]:
        """The operators of a query, the last one first."""
        by_name = {part.name: part for part in self.parts}
        name: str | None = query
        while name is not None:
            yield by_name[name]
            name = by_name[name].reads

    @property
    def instance(self) -> Instance:
        """After the failure of all workers: the whole topology is to be recovered."""
        return Instance(
            tuple(PlanOperator(part.name, (1,), frozenset({0})) for part in self.parts),
            tuple(
                PlanQuery(name, frozenset(part.name for part in self.chain(name)), priority)
                for name, priority in self.priorities.items()
            ),
        )

    def expected(self, query: str, rows: Sequence[TopologyRow]) -> list[TopologyRow]:
        """The output of a query if nothing fails."""
        for part in reversed([*self.chain(query)]):
            rows = part.run(rows)
        return [*rows]


def body(row: TopologyRow) -> Body:
    return Body(row.n, row.key, (("v", row.v),))


def bodies(rows: Sequence[TopologyRow]) -> list[Body]:
    """Spark keeps no order of the rows of a batch: in the order of their numbers."""
    return [body(row) for row in sorted(rows)]


def draw_rows(seed: int, count: int) -> list[TopologyRow]:
    """Random events; the last one is LATE."""
    random = Random(seed)
    drawn = [TopologyRow(n, random.choice(KEYS), random.randrange(VALUES)) for n in range(1, count)]
    return [*drawn, TopologyRow(count, LATE, VALUES)]


# --- on Spark --------------------------------------------------------------------------------
class RunningTopology(NamedTuple):
    """A topology in a folder, which holds its source, outputs and checkpoints, and what runs."""

    topology: Topology
    folder: Path
    queries: dict[str, StreamingQuery]

    def arrive(self, rows: Sequence[TopologyRow], batches: int) -> None:
        """Hand rows to the source, in so many more files."""
        source = self.folder / "source"
        source.mkdir(parents=True, exist_ok=True)
        known, size = len([*source.iterdir()]), -(-len(rows) // batches)
        frames = (pd.DataFrame(rows[at : at + size]) for at in range(0, len(rows), size))
        made = self.folder / f"made-{known}"
        write_batches(made, frames)
        for number, file in enumerate(sorted(made.iterdir()), known):
            os.utime(file, (number, number))
            file.rename(source / f"{number:05}.parquet")

    def start(self, spark: SparkSession, part: TopologyPart) -> None:
        """Start an operator from its checkpoint, if it has one."""
        if part.reads is None:
            rows = read_batches(spark, self.folder / "source", SCHEMA)
        else:
            rows = spark.readStream.schema(SCHEMA).parquet(str(self._sink(part.reads)))
        writer = part.query(rows).writeStream.trigger(processingTime=TRIGGER)
        checkpoint = str(self.folder / "checkpoints" / part.name)
        self.queries[part.name] = writer.option("checkpointLocation", checkpoint).start(
            str(self._sink(part.name))
        )

    def stop(self) -> None:
        """End all operators; the rows of an uncommitted batch are lost."""
        for query in self.queries.values():
            query.stop()
        self.queries.clear()

    def fail(self) -> None:
        """Raise the exception of an operator that has failed."""
        for name, query in self.queries.items():
            if (error := query.exception()) is not None:
                raise RuntimeError(f"operator {name}: {error}")

    def output(self, name: str) -> list[TopologyRow]:
        """The rows that an operator has committed."""
        try:
            files = find_log("output", self._sink(name)).files
        except Invalid:
            return []  # nothing yet
        return [TopologyRow(**row) for file in files for row in pq.read_table(file).to_pylist()]

    def has_begun(self, name: str) -> bool:
        return (self._sink(name) / "_spark_metadata" / "0").exists()

    def _sink(self, name: str) -> Path:
        return self.folder / "outputs" / name
