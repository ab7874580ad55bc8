"""Each process of a query, killed: does the query go on, and is the output the same?

Rule of this file: which process is killed where, and whether the query is expected to survive.
What a query that dies leaves, and what its restart does then, is found by running the model, for
which all processes of a query are alike.
"""

from __future__ import annotations

from typing import NamedTuple

from engine_check.check import Check, CheckSetting, engine_case
from model.protocols.micro_batch.crashes import CrashPoint as ModelPoint
from model.results.engine import EngineCase, EngineOutage
from spark_check.micro_batch.crashes import (
    CrashedJob,
    JobCrash,
    JobLoad,
    observe_recovery,
    predict,
    recover_all,
)
from spark_check.micro_batch.job import Writer
from spark_check.micro_batch.stream import JobPoint
from spark_check.runtime.crash_kinds import CrashKind
from spark_check.runtime.session import LOCAL

RETRYING, CLUSTER = "local[2,4]", "local-cluster[2,1,1024]"

MODELLED = {
    JobPoint.PLAN: ModelPoint.BEFORE_OFFSETS,
    JobPoint.ACK: ModelPoint.AFTER_OFFSETS,
    JobPoint.SPLIT: ModelPoint.MID_BATCH,
    JobPoint.READ: ModelPoint.MID_BATCH,
    JobPoint.COUNT: ModelPoint.MID_BATCH,
    JobPoint.PROCESSED: ModelPoint.AFTER_STATE,
    JobPoint.WRITTEN: ModelPoint.AFTER_SINK,
}


class ProcessCrash(NamedTuple):
    """A process killed at a point of the last planned batch.  survives: does the query go on?  Only
    tasks are tried again, and not in local[n]."""

    kind: CrashKind
    point: JobPoint
    survives: bool = False
    master: str = LOCAL
    writer: Writer = Writer.FOREACH_BATCH

    @property
    def name(self) -> str:
        return f"{self.who} at {self.point}, {self.master}, {self.writer}"

    @property
    def who(self) -> str:
        """The process that is killed.  A data source plans its batches in one process, and commits
        as a sink in another."""
        committing = self.writer is Writer.DATA_SOURCE and self.kind is CrashKind.READER
        return "committer" if committing else str(self.kind)

    @property
    def job(self) -> CrashedJob:
        plan = JobCrash(self.kind, self.point, len(LOAD.sizes) - 1)
        return CrashedJob(self.name, plan, LOAD, self.master, self.writer)


QUICK = (ProcessCrash(CrashKind.WORKER, JobPoint.READ, survives=True, master=RETRYING),)
FULL = (
    *QUICK,
    ProcessCrash(CrashKind.READER, JobPoint.PLAN),
    ProcessCrash(CrashKind.TREE, JobPoint.READ),
    ProcessCrash(CrashKind.TREE, JobPoint.COUNT),
    ProcessCrash(CrashKind.DRIVER, JobPoint.READ),
    ProcessCrash(CrashKind.DRIVER, JobPoint.WRITTEN),
    ProcessCrash(CrashKind.JVM, JobPoint.READ),
    ProcessCrash(CrashKind.JVM, JobPoint.WRITTEN),
    ProcessCrash(CrashKind.WORKER, JobPoint.READ),
    ProcessCrash(CrashKind.WORKER, JobPoint.COUNT),
    ProcessCrash(CrashKind.WORKER, JobPoint.COUNT, survives=True, master=RETRYING),
    ProcessCrash(CrashKind.WORKER, JobPoint.READ, survives=True, master=CLUSTER),
    ProcessCrash(CrashKind.EXECUTOR, JobPoint.READ, survives=True, master=CLUSTER),
    ProcessCrash(CrashKind.EXECUTOR, JobPoint.COUNT, survives=True, master=CLUSTER),
    ProcessCrash(CrashKind.READER, JobPoint.ACK),
    ProcessCrash(CrashKind.READER, JobPoint.SPLIT),
    ProcessCrash(CrashKind.READER, JobPoint.PROCESSED, writer=Writer.DATA_SOURCE),
    ProcessCrash(CrashKind.READER, JobPoint.WRITTEN, writer=Writer.DATA_SOURCE),
    ProcessCrash(CrashKind.TREE, JobPoint.WRITTEN, writer=Writer.DATA_SOURCE),
)
LOAD = JobLoad()


def run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    """Crash each process of the profile; all jobs are restarted in one session."""
    crashes = QUICK if setting.profile == "quick" else FULL
    found = recover_all(setting, [one.job for one in crashes])
    return tuple(
        engine_case(
            name=one.name,
            predicted=predict_case(one),
            seen={
                "the query": "goes on" if recovery.code == 0 else "dies",
                "tasks tried again": recovery.retried,
                "the restart": recovery.error or "ends",
                **observe_recovery(recovery.store),
            },
            details={"exit code": "killed" if recovery.code is None else recovery.code},
            crashed=(EngineOutage(one.who, one.point.value),),
        )
        for one, recovery in zip(crashes, found, strict=True)
    )


def predict_case(one: ProcessCrash) -> dict[str, object]:
    """A query that survives has committed all its batches in the end, as if nothing had failed."""
    point = ModelPoint.AFTER_COMMIT if one.survives else MODELLED[one.point]
    _, later = predict(point, LOAD)
    return {
        "the query": "goes on" if one.survives else "dies",
        "tasks tried again": one.survives,
        "the restart": "ends",
        **later,
    }


CHECK = Check(
    "crash-kinds",
    "Each process of a query, killed",
    run,
    notes=(
        "local[n] tries no task twice: if a Python worker dies, the query dies.  local[n,4], a "
        "cluster and its executors try tasks again, and the query goes on.",
        "The process in which a source plans its batches, and the one in which a Python sink "
        "commits them, are tried again nowhere: if one of them dies, the query dies.",
        "A query that went on is restarted too, after it has ended: it had committed everything.",
    ),
)
