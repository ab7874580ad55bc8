"""The CEP operator as a stateful operator of Spark: keyed, its state one value in RocksDB.

Rule of this file: Spark hands over rows and keeps bytes; model.cep.operator decides the effect of
an event on an operator, and nothing here looks into a state.

A *query* is an operator with a name.  Rows are keyed by (query, key), so that one job runs many
queries, each once a key.  Spark replays a batch on the state before it, so that a state holds open
windows and nothing for a replay.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from model.cep.operator import CepState, Iteration, Operator, process
from model.events import Body
from spark_check.runtime.micro_batches import read_batches, write_batches

ROCKSDB = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    )
}
"""The configuration that a session needs."""


class EventRow(NamedTuple):
    """An event on its way to an operator.

    n: its place in the merged input of (query, key), from 1.  data: as JSON.
    """

    query: str
    key: str
    n: int
    time: int
    type: str
    data: str = "[]"


class MatchRow(NamedTuple):
    """A complex event.  n: the place of the event that triggered it.  i: which of those, from 0.
    window: the number of its window, from 1."""

    query: str
    key: str
    n: int
    i: int
    window: int
    time: int
    type: str
    data: str


ROWS = "query string, key string, n long, time long, type string, data string"
FOUND = "query string, key string, n long, i long, window long, time long, type string, data string"

Process: TypeAlias = Callable[[Operator, CepState, Body], tuple[CepState, Iteration]]


# --- rows and events -------------------------------------------------------------------------
def row(query: str, key: str, n: int, body: Body) -> EventRow:
    time, type_, data = body
    return EventRow(query, key, n, time, type_, _text(data) if data else "[]")


def match_rows(
    query: str, key: str, n: int, produced: Iterable[tuple[int, Body]]
) -> list[MatchRow]:
    """The complex events that one event has triggered, given as (window, body)."""
    return [
        MatchRow(query, key, n, i, window, time, type_, _text(data))
        for i, (window, (time, type_, data)) in enumerate(produced)
    ]


def body(row: EventRow | MatchRow) -> Body:
    data = () if row.data == "[]" else _data(json.loads(row.data))
    return Body(row.time, row.type, data)


def _text(value: Any) -> str:
    """Compact JSON: tuples are lists."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _data(values: Sequence[Any]) -> tuple[Any, ...]:
    """(attribute, value) pairs of a primitive event, or the bodies that a complex one holds."""
    return tuple(
        tuple(value) if len(value) == 2 else Body(value[0], value[1], _data(value[2]))
        for value in values
    )


# --- a batch ---------------------------------------------------------------------------------
def advance(
    operator: Operator, state: CepState, rows: Iterable[EventRow], process: Process = process
) -> tuple[CepState, list[MatchRow]]:
    """The state after a batch of one key, and the results of the batch.  The rows are in any order,
    since Spark keeps none."""
    done: list[MatchRow] = []
    for at in sorted(rows, key=lambda row: row.n):
        state, happened = process(operator, state, body(at))
        done += match_rows(at.query, at.key, at.n, happened.produced)
    return state, done


class KeyedOperators(StatefulProcessor):
    """One operator for each (query, key)."""

    process: Process = staticmethod(process)

    def __init__(self, queries: Mapping[str, Operator]) -> None:
        self.queries = queries

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.kept = handle.getValueState("operator", "state binary")

    def handleInputRows(
        self, key: Any, rows: Iterator[Any], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        operator = self.queries[key[0]]
        state, done = advance(operator, self.before(), _rows(rows), self.process)
        self.kept.update((pickle.dumps(state, pickle.HIGHEST_PROTOCOL),))
        if done:
            yield pd.DataFrame(done, columns=pd.Index(MatchRow._fields))

    def before(self) -> CepState:
        """The state that the batches before this one have left."""
        kept = self.kept.get()
        return CepState() if kept is None else pickle.loads(bytes(kept[0]))


def _rows(frames: Iterator[pd.DataFrame]) -> Iterator[EventRow]:
    for frame in frames:
        columns = (frame[name].tolist() for name in EventRow._fields)
        yield from map(EventRow._make, zip(*columns, strict=True))


# --- the job ---------------------------------------------------------------------------------
class StreamedRun(NamedTuple):
    """found: the matches, sorted.  handed: the rows of each batch as cut; batches: as Spark made
    them.  states: the number of states that Spark keeps.  seconds: of all batches but the first,
    which waits for Python workers to start; rate: their rows a second."""

    found: list[MatchRow]
    handed: tuple[int, ...]
    batches: tuple[int, ...]
    states: int
    seconds: float

    @property
    def rate(self) -> float:
        return sum(self.batches[1:]) / self.seconds


def stream_batches(
    spark: SparkSession,
    work: Path,
    batches: Iterable[Sequence[EventRow]],
    operators: KeyedOperators,
) -> StreamedRun:
    """Run the operators over the rows, a micro-batch for each of `batches` (two or more); the rows
    are kept, and `events` reads them.  `work` is a new folder."""
    folder = work / "input"
    columns = pd.Index(EventRow._fields)
    handed = write_batches(folder, (pd.DataFrame(rows, columns=columns) for rows in batches))
    source = read_batches(spark, folder, ROWS)
    output = source.groupBy("query", "key").transformWithStateInPandas(
        operators, outputStructType=FOUND, outputMode="append", timeMode="none"
    )
    writer = output.writeStream.option("checkpointLocation", str(work / "checkpoint"))
    query = writer.trigger(availableNow=True).start(str(work / "output"), format="parquet")
    query.awaitTermination()
    progress = [report for report in query.recentProgress if report.numInputRows]
    frame = spark.read.schema(FOUND).parquet(str(work / "output")).toPandas()
    return StreamedRun(
        sorted(map(MatchRow._make, frame.itertuples(index=False, name=None))),
        handed,
        tuple(report.numInputRows for report in progress),
        progress[-1].stateOperators[0].numRowsTotal,
        sum(report.durationMs["triggerExecution"] for report in progress[1:]) / 1000,
    )


def events(spark: SparkSession, work: Path) -> DataFrame:
    """The rows that were streamed there."""
    return spark.read.schema(ROWS).parquet(str(work / "input"))
