"""A topology on a cluster whose workers are killed at once and come back one by one.

Rule of this file: it kills, starts and observes; a planner of model.plans names the operators to
start, and nothing here knows the expected result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from engine_check.breakpoints import POLL_S
from model.machine.children import kill_trees, wait_ended
from model.plans.plan import NOTHING, Planner
from spark_check.progressive.topology import RunningTopology, Topology, TopologyRow
from spark_check.runtime.standalone import Cluster

CORES = 2
"""Of a worker."""
LIMIT_S = 300.0
"""Seconds that anything awaited may take."""


class QueriesRecovery(NamedTuple):
    """The observations.  Seconds are since the kill.

    started_s, returned_s: when each worker was started, and when Spark had it again.
    available: after each return, and before the next, the queries that put out what came after the
    failure.  available_s: when each query first did.  output: the committed rows of each query in
    the end.  before: how many rows were committed before the kill.
    """

    started_s: list[float]
    returned_s: list[float]
    available: list[list[str]]
    available_s: dict[str, float]
    output: dict[str, list[TopologyRow]]
    before: int


def recover(
    spark: SparkSession,
    cluster: Cluster,
    topology: Topology,
    rows: Sequence[TopologyRow],
    batches: int,
    planner: Planner,
    folder: Path,
    *,
    not_before: Sequence[float] = (),
) -> QueriesRecovery:
    """Run the topology, kill all workers, let them come back, and restart the operators that the
    planner names.

    The last row is in no batch before the kill.  A worker comes back as soon as the plan with the
    workers before it is carried out, and not before the given seconds (one for each worker).
    """
    running = RunningTopology(topology, folder, {})
    count = len(cluster.workers)
    try:
        killed, before = _fail(spark, cluster, running, rows, batches)
        failed_at = time.monotonic()
        cluster.workers.clear()
        wait_ended(killed)
        _await_executors(spark, cluster, 0)
        running.stop()
        running.arrive(rows[-1:], 1)
        observed = _Observed(running, rows[-1].key, failed_at)
        started_s, returned_s = list[float](), list[float]()
        available = list[list[str]]()
        plan = NOTHING
        for number in range(count):
            if not_before:
                Event().wait(max(0.0, failed_at + not_before[number] - time.monotonic()))
            started_s.append(time.monotonic() - failed_at)
            cluster.start_worker()
            _await_executors(spark, cluster, number + 1)
            returned_s.append(time.monotonic() - failed_at)
            plan = planner(topology.instance, _executors(spark) * CORES, plan)
            _start(spark, running, topology.instance.operators_of(plan.queries))
            observed.wait(plan.queries)
            available.append(sorted(observed.available_s))
        output = {query: running.output(query) for query in topology.priorities}
    finally:
        running.stop()
    return QueriesRecovery(started_s, returned_s, available, observed.available_s, output, before)


def _fail(
    spark: SparkSession,
    cluster: Cluster,
    running: RunningTopology,
    rows: Sequence[TopologyRow],
    batches: int,
) -> tuple[list[Any], int]:
    """Kill all workers when each query has put out something: the processes, and how many rows
    were committed."""
    _await_executors(spark, cluster, len(cluster.workers))
    running.arrive(rows[:-1], batches)
    for part in running.topology.parts:
        # A reader of a folder without a commit would take files that are not committed.
        if part.reads is not None:
            _wait(partial(running.has_begun, part.reads), f"a batch of {part.reads}", running)
        running.start(spark, part)
    queries = [*running.topology.priorities]
    _wait(lambda: all(map(running.has_begun, queries)), "the first batches", running)
    killed = kill_trees(cluster.workers).processes
    return [*killed], sum(len(running.output(query)) for query in queries)


def _start(spark: SparkSession, running: RunningTopology, names: Collection[str]) -> None:
    for part in running.topology.parts:
        if part.name in names and part.name not in running.queries:
            running.start(spark, part)


class _Observed:
    """Which queries are available: they have put out a row with this key."""

    def __init__(self, running: RunningTopology, key: str, failed_at: float) -> None:
        self.available_s: dict[str, float] = {}
        self._running, self._key, self._failed_at = running, key, failed_at

    def wait(self, planned: Collection[str]) -> None:
        """Wait until the planned queries are available."""
        _wait(lambda: set(planned) <= self._look(), f"output of {planned}", self._running)

    def _look(self) -> set[str]:
        for query in self._running.topology.priorities:
            if query not in self.available_s and any(
                row.key == self._key for row in self._running.output(query)
            ):
                self.available_s[query] = time.monotonic() - self._failed_at
        return set(self.available_s)


def _executors(spark: SparkSession) -> int:
    """How many executors Spark's driver knows; a worker has one."""
    status: Any = spark.sparkContext._jsc.sc().statusTracker()
    return len(status.getExecutorInfos()) - 1  # the driver is one of them


def _await_executors(spark: SparkSession, cluster: Cluster, count: int) -> None:
    _wait(lambda: _executors(spark) == count, f"{count} executors", cluster)


def _wait(ready: Callable[[], bool], what: str, running: RunningTopology | Cluster) -> None:
    until = time.monotonic() + LIMIT_S
    while not ready():
        running.fail()
        if time.monotonic() > until:
            raise TimeoutError(f"waited {LIMIT_S:g} s for {what}")
        time.sleep(POLL_S)
