"""Upstream backup run by Spark: the operator between the buffer and the sink.

Rule of this file: the parts inside the job that is crashed.  Batches, their order, their
acknowledgement and their processes are Spark's; the operator is the model's own node.

The operator lives in the driver, in the function that Spark calls for each batch (foreachBatch).
Nothing of it is stored: a crash loses it.  Its next incarnation says hello to the buffer, which
answers with the savepoint; Spark, started anew with an empty checkpoint, reads the backup from
there.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from engine_check.breakpoints import Breakpoints, JsonSettings
from model.core import Arrival, Inputs, Received, Role, Scope, Send, Site
from model.graph import Graph
from model.oracle import assign_times
from model.protocol import Protocol
from model.protocols.upstream_backup.buffers import Ack, Restore
from model.registry import protocols
from model.system import System
from spark_check.runtime.session import BRIEF, session
from spark_check.upstream_backup.buffer import Buffer, event
from spark_check.upstream_backup.sink import DurableSink
from spark_check.upstream_backup.source import FORMAT, BackupStop, BackupStream, UpstreamBackup

SAVED = "pipeline.pickle"
ALL_STARTED = "all started"
"""The breakpoint behind the last pipeline."""


class ChainPipeline(NamedTuple):
    """A chain source -> operator -> sink and its files.  rows: events a batch."""

    folder: str
    protocol: str
    graph: Graph
    rows: int

    @property
    def name(self) -> str:
        return Path(self.folder).name

    @property
    def begin(self) -> str:
        """The breakpoint before the pipeline starts."""
        return f"begin {self.name}"

    @property
    def buffer(self) -> Buffer:
        return Buffer(f"{self.folder}/buffer.db")

    @property
    def sink(self) -> DurableSink:
        return DurableSink(f"{self.folder}/sink.db")

    def checkpoint(self, epoch: int) -> Path:
        """Spark's checkpoint of one incarnation."""
        return Path(self.folder) / f"checkpoint-{epoch}"

    def create(self, arrivals: Sequence[Arrival]) -> None:
        """Make the files, with the events that will arrive."""
        Path(self.folder).mkdir(parents=True)
        self.buffer.create(assign_times(arrivals))
        self.sink.create()
        (Path(self.folder) / SAVED).write_bytes(pickle.dumps(self))

    def sites(self) -> tuple[Protocol, Mapping[Role, Site]]:
        protocol = protocols()[self.protocol]
        (source,) = (name for name, _ in self.graph.nodes if not self.graph.preds(name))
        system = System(protocol, Scope(self.graph, ((source, Inputs((), 0)),)))
        return protocol, {site.role: site for site in system.deployment.sites}


class HostedOperator:
    """The operator's node, and the messages that it has sent and that nobody has taken yet."""

    def __init__(self, pipeline: ChainPipeline) -> None:
        self.pipeline = pipeline
        self.protocol, sites = pipeline.sites()
        self.site, self.sink = sites[Role.OPERATOR], sites[Role.SINK]
        (self.source,) = self.site.preds
        answer = pipeline.buffer.begin()
        self.epoch, self.start = answer.epoch, answer.trimmed
        self.outbox: dict[str, list[Any]] = {self.source: [], self.sink.name: []}
        if self.epoch == 1:
            self.state = self.protocol.behaviour.boot(self.site)
            return
        self.state, effects = self.protocol.behaviour.restart(self.site, None)
        self._send(effects)
        self.outbox[self.source].clear()  # the hello that begin() has answered
        held = ((self.site.name, answer.savepoint),) if answer.savepoint else ()
        self.take(self.source, Restore(held))

    def take(self, sender: str, message: Any) -> None:
        self.state, effects = self.protocol.behaviour.step(
            self.site, self.state, Received(sender, message)
        )
        self._send(effects)

    def batch(self, rows: Sequence[Any], stream: BackupStream) -> None:
        """Process a batch.  Before Spark knows that the batch is done, its outputs are in the sink
        and the savepoints in the buffer's outbox."""
        buffer = self.pipeline.buffer
        buffer.handed(self.epoch, len(rows))
        for row in rows:
            self.take(self.source, event(row))
        stream.here(BackupStop.PROCESSED)
        acks = self.pipeline.sink.take(self.protocol, self.sink, self._sent(self.sink.name))
        stream.here(BackupStop.TAKEN)
        for ack in acks:
            self.take(self.sink.name, ack)
        saved: list[Ack] = self._sent(self.source)
        buffer.post(self.epoch, rows[-1].sn, saved)
        stream.here(BackupStop.SAVED)

    def _send(self, effects: Sequence[Any]) -> None:
        for effect in effects:
            if isinstance(effect, Send):
                self.outbox[effect.to].append(effect.message)

    def _sent(self, to: str) -> list[Any]:
        sent, self.outbox[to] = self.outbox[to], []
        return sent


def start_query(
    spark: SparkSession, pipeline: ChainPipeline, breakpoints: Breakpoints
) -> StreamingQuery:
    """Start the next incarnation, which runs until the input ends."""
    operator = HostedOperator(pipeline)
    stream = BackupStream(
        pipeline.name,
        pipeline.buffer,
        operator.epoch,
        operator.start,
        pipeline.rows,
        breakpoints,
    )

    def batch(frame: DataFrame, _: int) -> None:
        operator.batch(sorted(frame.collect()), stream)

    frame = spark.readStream.format(FORMAT).options(**stream.options()).load()
    return (
        frame.writeStream.foreachBatch(batch)
        .option("checkpointLocation", str(pipeline.checkpoint(operator.epoch)))
        .start()
    )


def run(work: Path, settings: JsonSettings, breakpoints: Breakpoints) -> None:
    """The job of a victim process: run pipelines, and stop when all have started.

    settings: pipelines (folders), crashed (will they be?), master.
    """
    pipelines = [pickle.loads((Path(one) / SAVED).read_bytes()) for one in settings["pipelines"]]
    with session(work, master=settings["master"], conf=BRIEF) as spark:
        run_pipelines(spark, pipelines, breakpoints, crashed=settings["crashed"])
        breakpoints.here(ALL_STARTED)


def run_pipelines(
    spark: SparkSession,
    pipelines: Sequence[ChainPipeline],
    breakpoints: Breakpoints,
    *,
    crashed: bool,
) -> None:
    """Run pipelines one after the other, each to the end of its input; or only start them, if they
    will be crashed.

    Each pipeline begins at a breakpoint: Spark gives up on a source whose process does not start in
    time, so on a small machine the sources should not start all at once.
    """
    spark.dataSource.register(UpstreamBackup)
    for pipeline in pipelines:
        breakpoints.here(pipeline.begin)
        query = start_query(spark, pipeline, breakpoints)
        if not crashed:
            query.processAllAvailable()
            query.stop()
