"""The CEP operator as a stateful operator of Spark: keyed, its state one value in RocksDB.

Rule of this file: Spark hands over rows and keeps bytes; model.cep.operator decides what an event
does to an operator, and nothing here looks into a state.

A *query* is an operator with its scheme.  Rows are keyed by (query, key), so that one job runs many
queries, each once a key.  A batch is acknowledged when the next one begins: by then Spark has
committed it, and the operator may forget what only its replay would need.
"""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from model.cep.operator import Operator, OperatorState, Scheme, origin, push, restored, save
from model.events import SN, Body, Event

ROCKSDB = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    )
}
"""The configuration that a session needs."""


class KeyedQuery(NamedTuple):
    """An operator with its scheme.  edges: of the operator's input."""

    operator: Operator
    scheme: Scheme = Scheme()
    edges: int = 1


class EventRow(NamedTuple):
    """An event on its way to an operator.

    n: its place in the merged input of (query, key), from 1.  sn: its number on its edge, as JSON,
    as `data` is; see `text`.
    """

    query: str
    key: str
    n: int
    edge: int
    sn: str
    time: int
    type: str
    data: str = "[]"


class MatchRow(NamedTuple):
    """A complex event.  n: the place of the event that triggered it.  i: its number among the
    complex events of the same trigger, from 0."""

    query: str
    key: str
    n: int
    i: int
    sn: str
    time: int
    type: str
    data: str


ROWS = "query string, key string, n long, edge long, sn string, time long, type string, data string"
FOUND = "query string, key string, n long, i long, sn string, time long, type string, data string"

Step: TypeAlias = Callable[
    [Operator, Scheme, OperatorState, int, Event], tuple[OperatorState, tuple[Event, ...]]
]


# --- rows and events -------------------------------------------------------------------------
def row(query: str, key: str, n: int, edge: int, event: Event) -> EventRow:
    """An event as a row; n: its place in the merged input of (query, key)."""
    sn, (time, type_, data) = event
    return EventRow(query, key, n, edge, _text(sn), time, type_, _text(data) if data else "[]")


def match_rows(query: str, key: str, n: int, events: Iterable[Event]) -> list[MatchRow]:
    """The complex events that one event has triggered."""
    return [
        MatchRow(query, key, n, i, _text(sn), time, type_, _text(data))
        for i, (sn, (time, type_, data)) in enumerate(events)
    ]


def event(row: EventRow | MatchRow) -> Event:
    """The event of a row."""
    data = () if row.data == "[]" else _data(json.loads(row.data))
    return Event(tuple(json.loads(row.sn)), Body(row.time, row.type, data))


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
def boot(query: KeyedQuery) -> OperatorState:
    """The operator's state before its first event."""
    return restored(query.scheme, origin(query.scheme, query.edges))


def acknowledge(query: KeyedQuery, state: OperatorState) -> OperatorState:
    """The state after everything produced so far has been committed."""
    if not state.pending:
        return state
    newest: SN = state.pending.last().sn
    saved = save(query.scheme, query.operator.splitter, state, newest)
    return state if saved is None else saved[0]


def advance(
    query: KeyedQuery, state: OperatorState, rows: Iterable[EventRow], step: Step = push
) -> tuple[OperatorState, list[MatchRow]]:
    """Run a batch of one key: the new state, and the matches.  Rows come in any order, since Spark
    keeps none."""
    done: list[MatchRow] = []
    for at in sorted(rows, key=lambda row: row.n):
        state, produced = step(query.operator, query.scheme, state, at.edge, event(at))
        done += match_rows(at.query, at.key, at.n, produced)
    return state, done


class KeyedOperators(StatefulProcessor):
    """One operator for each (query, key)."""

    step: Step = staticmethod(push)

    def __init__(self, queries: Mapping[str, KeyedQuery]) -> None:
        self.queries = queries

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.kept = handle.getValueState("operator", "state binary")

    def handleInputRows(
        self, key: Any, rows: Iterator[Any], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        query = self.queries[key[0]]
        state, done = advance(query, self.before(query), _rows(rows), self.step)
        self.kept.update((pickle.dumps(state, pickle.HIGHEST_PROTOCOL),))
        if done:
            yield pd.DataFrame(done, columns=pd.Index(MatchRow._fields))

    def before(self, query: KeyedQuery) -> OperatorState:
        """The state that the batches before this one have left."""
        kept = self.kept.get()
        return boot(query) if kept is None else acknowledge(query, pickle.loads(bytes(kept[0])))


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
    folder.mkdir(parents=True)
    handed = []
    for number, rows in enumerate(batches):
        path = folder / f"{number:05}.parquet"
        pd.DataFrame(rows, columns=pd.Index(EventRow._fields)).to_parquet(path, index=False)
        os.utime(path, (number, number))  # Spark takes files in the order of their times
        handed.append(len(rows))
    source = spark.readStream.schema(ROWS).option("maxFilesPerTrigger", 1).parquet(str(folder))
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
        tuple(handed),
        tuple(report.numInputRows for report in progress),
        progress[-1].stateOperators[0].numRowsTotal,
        sum(report.durationMs["triggerExecution"] for report in progress[1:]) / 1000,
    )


def events(spark: SparkSession, work: Path) -> DataFrame:
    """The rows that were streamed there."""
    return spark.read.schema(ROWS).parquet(str(work / "input"))
