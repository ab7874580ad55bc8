"""Passive standby: Spark's checkpoint is shipped to a second driver, which takes over.

Rule of this file: which crashes come; sim.predictions.passive_standby says what they leave.

The checkpoint is copied while the first driver stands between two batches.  The second driver is
killed, too; a third one takes over from a copy of its checkpoint, or from the old copy.  The first
crash is the same in all cases, so it comes once, and its folder is copied.
Hwang et al., Section 5.1.
"""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import NamedTuple

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from engine_check.check import Check, CheckSetting, engine_case
from engine_check.victim import start
from model.results.engine import EngineCase, EngineOutage, Facts
from sim.predictions.counts import SinkBatch, appended, idempotent, text
from sim.predictions.passive_standby import Shipped, after, before, is_refused
from spark_check.micro_batch.crashes import JOB, JobLoad, insist, prepare
from spark_check.micro_batch.external_store import ExternalStore, StoreSink
from spark_check.micro_batch.job import JobSettings, run_to_end
from spark_check.micro_batch.stream import JobPoint, breakpoint_at
from spark_check.micro_batch.verdict import judge
from spark_check.runtime.crash_kinds import CrashKind
from spark_check.runtime.session import BRIEF, session

LOAD = JobLoad((4, 4, 2), late=6)
SHIPPED = Shipped(1, LOAD.ends[1])
"""The copy is made when batch 0 is done and batch 1 is not planned."""
SECOND = SinkBatch(1, LOAD.ends[1], LOAD.ends[-1] + 3)
"""The batch that the second driver finishes if it is killed: in the next one."""
GONE = "are gone"
"""In the source's message that upstream has let go of events."""


class Takeover(NamedTuple):
    """keeps: does upstream keep the events that no shipped checkpoint has?  again: is the second
    driver's checkpoint shipped to the third one?  None: the second driver is not killed."""

    name: str
    keeps: bool
    again: bool | None = None


QUICK = (
    Takeover("upstream keeps what the secondary does not have", keeps=True),
    Takeover("upstream lets go of what the primary has", keeps=False),
)
FULL = (
    *QUICK,
    Takeover("killed again, with a new shipment", keeps=True, again=True),
    Takeover("killed again, without one", keeps=True, again=False),
)


# --- what is done --------------------------------------------------------------------------------
def fail_over(settings: JobSettings, ship: int, dies: int, copy: Path | None) -> None:
    """Run a driver, and kill it before the sinks have the results of the batch after event `dies`.

    copy: where its checkpoint is shipped before the batch after event `ship`; None: it is not.
    """
    stop = breakpoint_at(JobPoint.PLAN, ship)
    end = breakpoint_at(JobPoint.PROCESSED, dies)
    own = Path(settings.checkpoint or ExternalStore(settings.work).checkpoint)
    with start(JOB, Path(settings.work), settings._asdict(), stop_at={stop: 0, end: 0}) as victim:
        victim.stopped(stop)
        if copy:
            shutil.copytree(own, copy)
        victim.go(stop)
        victim.stopped(end)
        victim.kill()


def fail(work: Path) -> ExternalStore:
    """Crash the first driver; then the late events arrive."""
    store, ends = prepare(work, LOAD), LOAD.ends
    fail_over(JobSettings(store.work, ends[1:]), ends[1], ends[2], standby(store, 2))
    store.arrive(LOAD.types()[ends[-1] :])
    return store


def fail_again(takeover: Takeover, failed: ExternalStore, work: Path) -> ExternalStore:
    """Crash the second driver, too, if it is to fail."""
    shutil.copytree(failed.work, work)
    store = ExternalStore(str(work))
    if takeover.again is not None:
        second = JobSettings(
            store.work, (SECOND.end,), not takeover.keeps, checkpoint=str(standby(store, 2))
        )
        shutil.copytree(standby(store, 2), standby(store, 4))
        copy = standby(store, 3) if takeover.again else None
        fail_over(second, SECOND.end, SECOND.end, copy)
    return store


def standby(store: ExternalStore, number: int) -> Path:
    """The checkpoint of the second or third driver; 4: what was shipped before the second began."""
    return Path(store.work) / f"checkpoint-{number}"


def take_over(spark: SparkSession, store: ExternalStore, takeover: Takeover) -> str:
    """Run the last driver on the checkpoint that was shipped to it: the error that ended it."""
    number = {None: 2, True: 3, False: 4}[takeover.again]
    checkpoint = str(standby(store, number))
    try:
        run_to_end(spark, JobSettings(store.work, trims=not takeover.keeps, checkpoint=checkpoint))
    except (PySparkException, Py4JJavaError) as error:
        return str(error)
    return ""


def observe(store: ExternalStore, error: str) -> Facts:
    """The rows of the sinks, and whether the last driver was refused its events."""
    return {
        "refused": GONE in error,
        "ends": error == "",
        **{f"{sink} sink": text(store.output(sink)) for sink in StoreSink},
        **{
            f"{sink} sink, guarantee": judge(store.events(), store.output(sink)).name.lower()
            for sink in StoreSink
        },
    }


# --- what is predicted ---------------------------------------------------------------------------
def predict(takeover: Takeover) -> Facts:
    """The same, of the batches that run."""
    ends, types = LOAD.ends, LOAD.types()
    ran, shipped = before(ends, written=2), SHIPPED
    if takeover.again is not None:
        ran = [*ran, SECOND]
        shipped = Shipped(SECOND.id + 1, SECOND.end) if takeover.again else SHIPPED
    refused = not takeover.keeps and is_refused(SHIPPED, acknowledged=ends[2])
    ran = ran if refused else after(ran, shipped, LOAD.total)
    append, by_batch = appended(types, ran), idempotent(types, ran)
    return {
        "refused": refused,
        "ends": not refused,
        "idempotent sink": text(by_batch),
        "append sink": text(append),
        "idempotent sink, guarantee": judge(types, by_batch).name.lower(),
        "append sink, guarantee": judge(types, append).name.lower(),
    }


def run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    """Fail over once or twice in each case."""
    takeovers = QUICK if setting.profile == "quick" else FULL
    setting.report("the first driver is killed", 0, len(takeovers))
    first = insist(setting.work / "first", fail)
    failed = []
    for number, one in enumerate(takeovers):
        setting.report(f"after the first crash: {one.name}", number, len(takeovers))
        failed.append(
            (one, insist(setting.work / f"case-{number}", partial(fail_again, one, first)))
        )
    cases = []
    with session(setting.work / "takeovers", conf=BRIEF, jvm=setting.shared) as spark:
        for number, (one, store) in enumerate(failed):
            setting.report(f"takeover: {one.name}", number, len(failed))
            crash = EngineOutage(CrashKind.TREE.value, JobPoint.PROCESSED.value)
            cases.append(
                engine_case(
                    name=one.name,
                    predicted=predict(one),
                    seen=observe(store, take_over(spark, store, one)),
                    crashed=(crash,) * (1 if one.again is None else 2),
                )
            )
    return tuple(cases)


CHECK = Check(
    "passive-standby",
    "Passive standby: a second driver takes over from a shipped checkpoint",
    run,
    notes=(
        "What the shipped checkpoint does not have is processed again, in one batch: a sink that "
        "appends has it twice.",
        "A sink that takes no batch id twice discards that batch: it has one with this id, and "
        "fewer events in it.  Batch ids mean something to one driver.",
        "Upstream that trims what the primary has acknowledged refuses the second driver: input "
        "preservation needs acknowledgements of what was shipped (5.1).",
    ),
)
