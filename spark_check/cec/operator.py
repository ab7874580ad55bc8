"""The aggregate as a stateful operator of Spark, keyed; its outputs are records for the log.

Rule of this file: Spark hands over rows, keeps bytes and calls timers;
spark_check.cec.keyed_node decides what they do.

The background path is a timer of event time, one for each key, and the place of a tuple is its
event time: Spark's watermark is then the place up to which the batches before this one have
processed everything, and the timer runs out in the first batch in which a footprint is old.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from model.protocols.cec.messages import Kind, NodeState
from spark_check.cec.keyed_node import (
    NEW,
    InputRow,
    KeyedQuery,
    Made,
    advance,
    due,
    make_checkpoints,
)
from spark_check.cec.log import pack, unpack
from spark_check.cec.stops import CecPoint, CecStops

CONF = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}
"""The configuration that a session needs.  A batch without tuples would process nothing."""

INPUT = "place long, time long, key string"
LOADED = "key string, state binary"
MADE = "record binary, change long, foot long, i long, ignored long"
MS = 1000


class MadeRow(NamedTuple):
    """The record of a key for the log, or (without a record) how many tuples it has ignored."""

    record: bytes | None
    change: int = 0
    foot: int = 0
    i: int = 0
    ignored: int = 0

    def unpacked(self) -> Made:
        return Made(unpack(self.record), self.change, self.foot, self.i)


class KeptKey(NamedTuple):
    """The state of a key.  timer: when its timer runs out, in ms; None: it has none."""

    node: NodeState = NEW
    timer: int | None = None


class LoggedAggregate(StatefulProcessor):
    """The node of each key.  results_only: no record but results leaves it, and no timer is set:
    Spark's own checkpoint is all that a restart has."""

    def __init__(self, query: KeyedQuery, stops: CecStops, *, results_only: bool) -> None:
        self.query, self.stops, self.results_only = query, stops, results_only

    def init(self, handle: StatefulProcessorHandle) -> None:
        self.handle = handle
        self.kept = handle.getValueState("node", "state binary")

    def handleInitialState(self, key: Any, initialState: Any, timerValues: Any) -> None:
        self.stops.here(CecPoint.LOAD)
        self._keep(KeptKey(unpack(initialState["state"].iloc[0])))

    def handleInputRows(
        self, key: Any, rows: Iterator[Any], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        self.stops.here(CecPoint.PROCESS)
        kept = self._get()
        state, made, ignored = advance(self.query, kept.node, _rows(rows), _now(timerValues))
        self._keep(kept._replace(node=state))
        yield from self._out(made, ignored)

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[pd.DataFrame]:
        state, made = make_checkpoints(self.query, self._get().node, _now(timerValues))
        self._keep(KeptKey(state))
        yield from self._out(made, 0)

    def _get(self) -> KeptKey:
        kept = self.kept.get()
        return KeptKey() if kept is None else unpack(kept[0])

    def _keep(self, kept: KeptKey) -> None:
        """Keep the state, with a timer if a window is open.  A timer that comes too early, since
        its window has closed, only sets the next one."""
        place = None if self.results_only else due(self.query, kept.node)
        if place is not None and kept.timer is None:
            timer = place * MS - MS // 2  # before the watermark of this place, after the one before
            self.handle.registerTimer(timer)
            kept = kept._replace(timer=timer)
        if kept == KeptKey():
            self.kept.clear()
        else:
            self.kept.update((pack(kept),))

    def _out(self, made: list[Made], ignored: int) -> Iterator[pd.DataFrame]:
        if self.results_only:
            made = [one for one in made if one.record.kind is Kind.RESULT]
        rows = [MadeRow(pack(record), *order) for record, *order in made]
        if ignored:
            rows.append(MadeRow(None, ignored=ignored))
        if rows:
            yield pd.DataFrame(rows, columns=pd.Index(MadeRow._fields))


def _now(timer_values: Any) -> int:
    return int(timer_values.getCurrentWatermarkInMs()) // MS


def _rows(frames: Iterator[pd.DataFrame]) -> Iterator[InputRow]:
    for frame in frames:
        columns = (frame[name].tolist() for name in InputRow._fields)
        yield from map(InputRow._make, zip(*columns, strict=True))


def stream_records(
    spark: SparkSession,
    tuples: DataFrame,
    query: KeyedQuery,
    stops: CecStops,
    *,
    loaded: Mapping[str, NodeState] | None = None,
) -> DataFrame:
    """The records of the stream's operator (MadeRow).  loaded: the state that it begins with; None:
    it is restored by Spark, and makes results alone."""
    states = None
    if loaded:
        rows = [(key, pack(state)) for key, state in loaded.items()]
        states = spark.createDataFrame(rows, LOADED).groupBy("key")
    moments = tuples.withColumn("at", F.timestamp_seconds("place")).withWatermark("at", "0 seconds")
    operator = partial(LoggedAggregate, query, stops)
    return moments.groupBy("key").transformWithStateInPandas(
        operator(results_only=loaded is None),
        outputStructType=MADE,
        outputMode="append",
        timeMode="EventTime",
        initialState=states,
    )
