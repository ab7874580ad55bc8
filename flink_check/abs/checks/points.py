"""Flink killed at named points between its coordinator, its operators and its sinks.

Rule of this file: the points, run and compared.  A further point is one line of POINTS.
"""

from __future__ import annotations

from engine_check.check import Check, CheckSetting, engine_case
from flink_check.abs.point import FlinkPoint, PointRun, run_point
from flink_check.abs.traces import write_traces
from flink_check.runtime.cluster import cluster
from model.recovery import classify
from model.results.engine import EngineCase, EngineOutage, Facts
from sim.predictions.abs.gates import (
    ACKNOWLEDGED,
    ANNOUNCED,
    COMMITTED,
    COORDINATOR_DIES,
    DECIDED,
    MARKED,
    OPERATOR_DIES,
    SINKS_DIE,
    STORING,
    UNCOMMITTED,
    UNDECIDED,
)
from sim.predictions.abs.points import (
    JobEvents,
    JobRow,
    PointPrediction,
    expected,
    predict,
    repeated,
    spans,
)

CHECKPOINTS = "org.apache.flink.runtime.checkpoint"
POINTS = (
    FlinkPoint("marker", "snapshot", MARKED, OPERATOR_DIES),
    FlinkPoint("state-file", "state", STORING, OPERATOR_DIES),
    FlinkPoint("no-metadata", "before-complete", UNDECIDED, OPERATOR_DIES),
    FlinkPoint("metadata", "after-complete", DECIDED, OPERATOR_DIES),
    FlinkPoint("informed", "informed", ANNOUNCED, OPERATOR_DIES),
    FlinkPoint("no-commit", "before-commit", UNCOMMITTED, SINKS_DIE),
    FlinkPoint("commit", "after-commit", COMMITTED, SINKS_DIE),
    FlinkPoint(
        "acknowledgement",
        f"{CHECKPOINTS}.CheckpointCoordinator#receiveAcknowledgeMessage",
        ACKNOWLEDGED,
        COORDINATOR_DIES,
    ),
    FlinkPoint(
        "unknown-metadata",
        f"{CHECKPOINTS}.DefaultCompletedCheckpointStore#addCheckpointAndSubsumeOldestOne",
        UNDECIDED,
        COORDINATOR_DIES,
    ),
    FlinkPoint(
        "known-metadata",
        f"{CHECKPOINTS}.CheckpointCoordinator#sendAcknowledgeMessages",
        DECIDED,
        COORDINATOR_DIES,
    ),
)
EVENTS = JobEvents(ends=(20, 40, 60), held=75, total=100, keys=7)


def run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    """All points, one after the other, in one cluster."""
    methods = {point.held: point.gate for point in POINTS if "#" in point.gate}
    cases = []
    with cluster(setting.work / "cluster", points=methods, zookeeper=True) as flink:
        for number, point in enumerate(POINTS):
            setting.report("points", number, len(POINTS))
            wanted = predict(point.place, point.dies, EVENTS)
            folder = setting.work / point.name
            seen = run_point(flink, point, EVENTS, wanted, folder)
            write_traces(folder / "traces", expected(EVENTS), seen.committed, seen.appended)
            cases.append(compare(point, wanted, seen))
    return tuple(cases)


def compare(point: FlinkPoint, wanted: PointPrediction, seen: PointRun) -> EngineCase:
    """The case of a point."""
    return engine_case(
        f"{point.name}: {point.place.title}; {point.killed} killed",
        predicted=_facts(wanted),
        seen=_facts(seen),
        details={"newest checkpoint on disk at the kill": seen.on_disk},
        crashed=(EngineOutage(point.killed, point.place.title),),
    )


def _facts(one: PointPrediction | PointRun) -> Facts:
    return {
        "restored checkpoint": one.restored,
        "rows at the kill": f"{one.committed_then} committed, {one.appended_then} appended",
        "rows that the restart commits": one.settled - one.committed_then,
        "two-phase sink": _kept(one.committed),
        "appending sink": _kept(one.appended),
        "rows that come twice there": spans(repeated(row.number for row in one.appended)),
    }


def _kept(rows: tuple[JobRow, ...]) -> str:
    """The recovery that a sink has seen, and its rows in their order."""
    bodies = [row.body() for row in rows]
    reference = [row.body() for row in expected(EVENTS)]
    return f"{classify(reference, bodies).name.lower()}: {spans(row.number for row in rows)}"


CHECK = Check(
    "points",
    "Flink killed at ten points of a checkpoint, between coordinator, operators and sinks: ABS",
    run,
    notes=(
        "One thread waits at a gate, the rest of the job goes on until nothing is left to do; then "
        "a process is killed with SIGKILL and started again.  A gate is a file that the job or its "
        "file system looks for, or the beginning of a method of Flink.",
        "Predicted by the model's nodes (abs:engine-coordinator for the sink that commits in two "
        "phases, abs:engine-at-once for the sink that appends), held at the same step of the same "
        "epoch: equality, no tolerance.",
        "Each point leaves traces/ in its folder: asif verify-trace reference.csv committed.csv.",
    ),
    campaign="report",
)
