"""Spark's own recovery, crashed at every point that differs from the others, beside its model.

Rule of this file: the crash points, and what is compared.  The outcome of a crash is found by
running the model (model.protocols.micro_batch.crashes) and is written down nowhere here.
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
from spark_check.micro_batch.stream import JobPoint
from spark_check.runtime.crash_kinds import CrashKind

WHERE = {
    ModelPoint.BEFORE_OFFSETS: (JobPoint.PLAN, 0),
    ModelPoint.AFTER_OFFSETS: (JobPoint.ACK, 0),
    ModelPoint.MID_BATCH: (JobPoint.READ, 0),
    ModelPoint.AFTER_STATE: (JobPoint.PROCESSED, 0),
    ModelPoint.AFTER_SINK: (JobPoint.WRITTEN, 0),
    ModelPoint.AFTER_COMMIT: (JobPoint.PLAN, 1),
}
"""Where Spark is at a point of the model: at a breakpoint of this batch (0) or the next (1)."""


class PointCrash(NamedTuple):
    """All processes killed at a point of the last planned batch."""

    point: ModelPoint
    load: JobLoad = JobLoad()

    @property
    def name(self) -> str:
        sizes = " + ".join(map(str, self.load.sizes))
        return f"{self.point.value}: {sizes} events, then {self.load.late}"

    @property
    def plan(self) -> JobCrash:
        point, later = WHERE[self.point]
        return JobCrash(CrashKind.TREE, point, len(self.load.sizes) - 1 + later)


QUICK = (PointCrash(ModelPoint.BEFORE_OFFSETS), PointCrash(ModelPoint.AFTER_SINK))
FULL = (
    *(PointCrash(point) for point in WHERE),
    PointCrash(ModelPoint.BEFORE_OFFSETS, JobLoad((3,))),
    PointCrash(ModelPoint.MID_BATCH, JobLoad((3,), late=0)),
    PointCrash(ModelPoint.AFTER_SINK, JobLoad((5, 1), late=1)),
    PointCrash(ModelPoint.AFTER_COMMIT, JobLoad((5,))),
)


def run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    """Crash the job at each point of the profile, and compare with the model."""
    crashes = QUICK if setting.profile == "quick" else FULL
    found = recover_all(setting, [CrashedJob(one.name, one.plan, one.load) for one in crashes])
    cases = []
    for one, recovery in zip(crashes, found, strict=True):
        was, then = predict(one.point, one.load)
        cases.append(
            engine_case(
                name=one.name,
                predicted={**was, "the restart": "ends", **then},
                seen={
                    **recovery.left,
                    "the restart": recovery.error or "ends",
                    **observe_recovery(recovery.store),
                },
                crashed=(EngineOutage(one.plan.kind.value, one.point.value),),
            )
        )
    return tuple(cases)


CHECK = Check(
    "micro-batch",
    "Micro-batch recovery, crashed at every point that differs from the others",
    run,
    notes=(
        "Predicted by crashing the model at the same point of the same batch.  Compared: what the "
        "crash left in the offset log, the state store, the commit log, the sink and the source; "
        "which batches ran after the restart, with which events; and the output of each sink.",
        "Two sinks take every batch in one transaction: the idempotent one knows batch ids, the "
        "appending one does not.",
        "Between the sink's commit and the commit log Spark calls no code of a user: the model's "
        "two points there are one on Spark.",
    ),
    campaign="report",
)
