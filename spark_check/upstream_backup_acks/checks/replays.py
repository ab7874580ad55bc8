"""Upstream backup: a query that is killed begins again without a checkpoint: upstream sends again.

Rule of this file: which crashes come; sim.predictions.upstream_backup_acks says what they leave.

Spark's commit is a level-0 acknowledgement: the events are processed.  A restart needs more: the
events of the windows that are open.  Hwang et al., Section 5.2.

The first crash is the same in all cases, so it comes once, and its folder is copied.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from engine_check.check import Check, CheckSetting, engine_case
from engine_check.victim import start
from model.results.engine import EngineCase, EngineOutage, Facts
from sim.predictions.counts import Row, SinkBatch, appended, idempotent
from sim.predictions.upstream_backup_acks import after, cause, is_refused
from spark_check.micro_batch.crashes import JOB, JobLoad, insist, prepare, restart
from spark_check.micro_batch.external_store import ExternalStore, StoreSink
from spark_check.micro_batch.job import JobSettings
from spark_check.micro_batch.stream import JobPoint, breakpoint_at
from spark_check.micro_batch.verdict import three_sinks
from spark_check.runtime.crash_kinds import CrashKind
from spark_check.runtime.session import BRIEF, session

LOAD = JobLoad((4, 4, 2), late=6)
WINDOW = 3
"""Events of a window, in which a batch may end."""
AGAIN = LOAD.ends[-1] + 1
"""The end of the batch that a second query finishes if it is killed, too: in the next one."""


class AcknowledgedReplay(NamedTuple):
    """acknowledges: does the query acknowledge at level 1 the events that it needs no more, or all
    that it has processed?  whole: does it begin with the windows that were open, or with the events
    that upstream has?  again: is the second query killed, too?"""

    name: str
    acknowledges: bool
    whole: bool = True
    again: bool = False

    @property
    def group(self) -> int:
        """The number of events in a group of which upstream lets go."""
        return WINDOW if self.acknowledges else 1

    def begins(self, acknowledged: int) -> int:
        """The event after which the next query begins."""
        return cause(acknowledged, WINDOW) if self.whole else acknowledged


QUICK = (
    AcknowledgedReplay("from the cause, which upstream has", acknowledges=True),
    AcknowledgedReplay("from the cause, which is gone", acknowledges=False),
    AcknowledgedReplay("from what upstream has", acknowledges=False, whole=False),
)
FULL = (
    *QUICK,
    AcknowledgedReplay("killed again, from the cause", acknowledges=True, again=True),
    AcknowledgedReplay(
        "killed again, from what upstream has", acknowledges=False, whole=False, again=True
    ),
)
GONE = "are gone"
"""In the source's message that upstream has let go of events."""


# --- what is done --------------------------------------------------------------------------------
def settings(
    replay: AcknowledgedReplay, store: ExternalStore, number: int, begins: int
) -> JobSettings:
    """Of query 0, 1 or 2, each with an empty state."""
    checkpoint = str(Path(store.work) / f"checkpoint-{number}")
    return JobSettings(
        store.work, begins=begins, checkpoint=checkpoint, window=WINDOW, group=replay.group
    )


def fail(work: Path) -> ExternalStore:
    """Kill the first query in its last batch."""
    store = prepare(work, LOAD)
    _kill(settings(QUICK[0], store, 0, 0)._replace(cuts=LOAD.ends[1:]), LOAD.ends[2])
    return store


def fail_again(replay: AcknowledgedReplay, failed: ExternalStore, work: Path) -> ExternalStore:
    """Kill the second query if the case asks for it."""
    shutil.copytree(failed.work, work)
    store = ExternalStore(str(work))
    if replay.again:
        store.arrive(LOAD.types()[LOAD.ends[-1] :])
        second = settings(replay, store, 1, replay.begins(store.acked()))
        _kill(second._replace(cuts=(AGAIN,)), AGAIN)
    return store


def _kill(job: JobSettings, start_: int) -> None:
    """Run the query, and kill it before the sinks have the batch of the events after `start_`."""
    place = breakpoint_at(JobPoint.PROCESSED, start_)
    with start(JOB, Path(job.work), job._asdict(), stop_at={place: 0}) as victim:
        victim.stopped(place)
        victim.kill()


def observe(error: str, append: Sequence[Row], by_batch: Sequence[Row]) -> Facts:
    """The rows of the sinks, and whether the last query was refused its events."""
    sinks = three_sinks(LOAD.types(), append, by_batch, WINDOW)
    return {"refused": GONE in error, "ends": error == "", **sinks}


# --- what is predicted ---------------------------------------------------------------------------
def predict(replay: AcknowledgedReplay) -> Facts:
    """The same, of the batches that run; acknowledged is what precedes the one that is killed."""
    types, acknowledged = LOAD.types(), LOAD.ends[2]
    ran = [SinkBatch(id_, *ends) for id_, ends in enumerate(pairwise(LOAD.ends[:-1]))]
    if replay.again:
        ran = after(ran, replay.begins(acknowledged), AGAIN)
        acknowledged = AGAIN
    begins = replay.begins(acknowledged)
    refused = is_refused(begins, acknowledged, replay.group)
    ran = ran if refused else after(ran, begins, LOAD.total)
    error = GONE if refused else ""
    return observe(error, appended(types, ran, WINDOW), idempotent(types, ran, WINDOW))


def run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    """Kill the query in each case, and begin again."""
    replays = QUICK if setting.profile == "quick" else FULL
    setting.report("the first query is killed", 0, len(replays))
    first = insist(setting.work / "first", fail)
    failed = []
    for number, one in enumerate(replays):
        setting.report(f"after the first crash: {one.name}", number, len(replays))
        failed.append(
            (one, insist(setting.work / f"case-{number}", partial(fail_again, one, first)))
        )
    cases = []
    with session(setting.work / "replays", conf=BRIEF, jvm=setting.shared) as spark:
        for number, (one, store) in enumerate(failed):
            setting.report(f"replay: {one.name}", number, len(failed))
            last = settings(one, store, 2, one.begins(store.acked()))
            late = LOAD._replace(late=0) if one.again else LOAD
            error = restart(spark, last, late)
            append, by_batch = store.output(StoreSink.APPEND), store.output(StoreSink.BY_BATCH)
            crash = EngineOutage(CrashKind.TREE.value, JobPoint.PROCESSED.value)
            cases.append(
                engine_case(
                    name=one.name,
                    predicted=predict(one),
                    seen=observe(error, append, by_batch),
                    crashed=(crash,) * (2 if one.again else 1),
                )
            )
    return tuple(cases)


CHECK = Check(
    "upstream-backup-acks",
    "Upstream backup: a query without a checkpoint, whose events upstream sends again",
    run,
    notes=(
        "Begun with the windows that were open, the query makes the same rows again: repeating, "
        "and precise for a sink that discards by the number of the event.",
        "Spark acknowledges what it has processed (level 0).  Upstream that lets go of this "
        "refuses the query the windows that are open; begun with what is left, it counts wrongly.",
        "A sink that takes no batch id twice discards the first batches of the new query.",
    ),
)
