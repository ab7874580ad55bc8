"""Amnesia: a query is killed and started again without its checkpoint, from the newest event on.

Rule of this file: which crashes come; sim.predictions.amnesia says what they lose.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from engine_check.check import Check, CheckSetting, engine_case
from model.results.engine import EngineCase, EngineOutage
from sim.predictions.amnesia import batches
from sim.predictions.counts import appended, idempotent, lost, text
from spark_check.micro_batch.crashes import CrashedJob, JobCrash, JobLoad, crash_job
from spark_check.micro_batch.external_store import ExternalStore, StoreSink
from spark_check.micro_batch.job import JobSettings, run_to_end
from spark_check.micro_batch.stream import JobPoint
from spark_check.micro_batch.verdict import judge
from spark_check.runtime.crash_kinds import CrashKind
from spark_check.runtime.session import BRIEF, session

LATE, LATER = 3, 4
"""Events that come while the query is down, and after it has begun again."""


class AmnesiaRestart(NamedTuple):
    """A crash at a point of the last batch.  written: have the sinks its results?"""

    point: JobPoint
    written: bool
    sizes: tuple[int, ...] = (4, 4, 2)

    @property
    def load(self) -> JobLoad:
        return JobLoad(self.sizes, LATE + LATER)

    @property
    def job(self) -> CrashedJob:
        plan = JobCrash(CrashKind.TREE, self.point, len(self.sizes) - 1)
        return CrashedJob(f"killed at {self.point.value}", plan, self.load)


QUICK = (AmnesiaRestart(JobPoint.READ, written=False),)
FULL = (
    *QUICK,
    AmnesiaRestart(JobPoint.WRITTEN, written=True),
    AmnesiaRestart(JobPoint.PROCESSED, written=False, sizes=(6, 5)),
)


def predict(restart: AmnesiaRestart) -> dict[str, object]:
    """The rows of the sinks in the end."""
    load = restart.load
    types, begins = load.types(), load.ends[-1] + LATE
    written = len(load.sizes) if restart.written else len(load.sizes) - 1
    ran = batches(load.ends, written, begins, load.total)
    return {
        "events in no batch": lost(types, ran),
        "append sink": text(appended(types, ran)),
        "idempotent sink": text(idempotent(types, ran)),
        "append sink, guarantee": "gap",
        "idempotent sink, guarantee": "gap",
    }


def observe(store: ExternalStore) -> dict[str, object]:
    """The same of the run."""
    rows = {sink: [tuple(row) for row in store.output(sink)] for sink in StoreSink}
    seen = {row[0] for row in rows[StoreSink.APPEND]}
    return {
        "events in no batch": len(store.events()) - len(seen),
        **{f"{sink} sink": text(found) for sink, found in rows.items()},
        **{
            f"{sink} sink, guarantee": judge(store.events(), store.output(sink)).name.lower()
            for sink in StoreSink
        },
    }


def run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    """Crash the job, forget its checkpoint, and go on with the events that come."""
    restarts = QUICK if setting.profile == "quick" else FULL
    crashed = []
    for number, one in enumerate(restarts):
        setting.report(one.job.name, number, len(restarts))
        crashed.append((one, crash_job(setting.work / f"crash-{number}", one.job)[0]))
    cases = []
    with session(setting.work / "restarts", conf=BRIEF, jvm=setting.shared) as spark:
        for number, (one, store) in enumerate(crashed):
            setting.report(f"restart, {one.job.name}", number, len(crashed))
            types, load = one.load.types(), one.load
            store.arrive(types[load.ends[-1] : load.ends[-1] + LATE])
            begins = len(store.events())
            store.arrive(types[begins:])
            fresh = Path(store.work) / "fresh"
            run_to_end(spark, JobSettings(store.work, begins=begins, checkpoint=str(fresh)))
            cases.append(
                engine_case(
                    name=one.job.name,
                    predicted=predict(one),
                    seen=observe(store),
                    crashed=(EngineOutage(CrashKind.TREE.value, one.point.value),),
                )
            )
    return tuple(cases)


CHECK = Check(
    "amnesia",
    "Amnesia: a query that restarts without its checkpoint",
    run,
    notes=(
        "The query begins again at the newest event, with batch 0 and with empty counts: what came "
        "while it was down is lost, and so is the batch that was killed, unless the sinks had it.",
        "A sink that takes no batch id twice discards the new batch 0 as well: without the "
        "checkpoint its batch ids mean nothing.",
    ),
)
