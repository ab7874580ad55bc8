"""Active standby: two queries over one source; the outputs of the second one wait.

Rule of this file: which crashes come; sim.predictions.active_standby says what they leave.

Both queries are alive when the first one is killed.  Each has its checkpoint and its batches.  The
outputs of the second one are its queue: outputs that downstream has acknowledged leave it, and the
rest is released to the sinks of the first one.  Hwang et al., Section 5.3.
"""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import NamedTuple

from engine_check.check import Check, CheckSetting, engine_case
from engine_check.victim import start
from model.protocols.micro_batch.messages import Batch
from model.results.engine import EngineCase, EngineOutage, Facts
from sim.predictions.active_standby import batches, waiting
from sim.predictions.counts import appended, idempotent
from spark_check.micro_batch.crashes import JOB, JobLoad, insist, prepare
from spark_check.micro_batch.external_store import ExternalStore, StoreSink
from spark_check.micro_batch.job import JobSettings
from spark_check.micro_batch.stream import JobPoint, breakpoint_at
from spark_check.micro_batch.verdict import three_sinks
from spark_check.runtime.crash_kinds import CrashKind

LOAD = JobLoad((4, 4, 2), late=4)
DIES = LOAD.ends[1]
"""The first query is killed in the batch after this event."""
SAME, OWN = (0, *LOAD.ends[1:], LOAD.total), (0, 3, 9, LOAD.total)
"""Ends of batches of the second query.  Only with the same ones do batch ids name outputs: they are
the determinants of an operator that counts batches."""


class Failover(NamedTuple):
    """written: have the sinks the last batch of the first query when it is killed?  ends: of the
    batches of the second query, which waits after `holds` until then.  acknowledged: the event up
    to which downstream has acknowledged outputs."""

    name: str
    written: bool
    ends: tuple[int, ...]
    holds: int
    acknowledged: int


QUICK = (Failover("batches of its own, the second query is behind", True, OWN, 3, 4),)
FULL = (
    *QUICK,
    Failover("the same batches, the second query is ahead", False, SAME, 10, 4),
    Failover("batches of its own, the second query is ahead", False, OWN, 9, 4),
    Failover("the same batches, the second query is behind", True, SAME, 4, 4),
    Failover("nothing is acknowledged", True, SAME, 8, 0),
)


# --- what is done --------------------------------------------------------------------------------
def fail(failover: Failover, work: Path) -> tuple[ExternalStore, ExternalStore]:
    """Run both queries, and kill the first one: the sinks, and the queue of the second one."""
    store = prepare(work / "first", LOAD)
    queue = ExternalStore(str(work / "second"))
    Path(queue.work).mkdir()
    (Path(queue.work) / "events").symlink_to(Path(store.work) / "events")
    point = JobPoint.WRITTEN if failover.written else JobPoint.READ
    dies, holds = breakpoint_at(point, DIES), breakpoint_at(JobPoint.PLAN, failover.holds)
    with ExitStack() as running:
        first, second = (
            running.enter_context(
                start(JOB, Path(of.work), JobSettings(of.work, ends)._asdict(), stop_at={stop: 0})
            )
            for of, ends, stop in (
                (store, LOAD.ends[1:], dies),
                (queue, failover.ends[1:], holds),
            )
        )
        first.stopped(dies)
        second.stopped(holds)
        first.kill()
        store.arrive(LOAD.types()[LOAD.ends[-1] :])
        second.go(holds)
        second.finish()
    return store, queue


def release(store: ExternalStore, queue: ExternalStore, acknowledged: int) -> None:
    """Send the sinks the outputs that are left in the queue, batch by batch."""
    rows = queue.output(StoreSink.APPEND)
    for line in queue.notes(JobPoint.PROCESSED):
        begin = max(line["start"], acknowledged)
        if left := [row for row in rows if begin < row.sn <= line["end"]]:
            store.write(Batch(line["batch"], begin, line["end"]), left)


# --- what is predicted ---------------------------------------------------------------------------
def predict(failover: Failover) -> Facts:
    """The rows of the sinks, of the batches that run."""
    types = LOAD.types()
    before = [one for one in batches(LOAD.ends) if one.start < DIES + failover.written]
    ran = [*before, *waiting(batches(failover.ends), failover.acknowledged)]
    return three_sinks(types, appended(types, ran), idempotent(types, ran))


def run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    """Fail over once in each case."""
    failovers = QUICK if setting.profile == "quick" else FULL
    cases = []
    for number, one in enumerate(failovers):
        setting.report(f"failover: {one.name}", number, len(failovers))
        store, queue = insist(setting.work / f"case-{number}", partial(fail, one))
        release(store, queue, one.acknowledged)
        append, by_batch = store.output(StoreSink.APPEND), store.output(StoreSink.BY_BATCH)
        seen = three_sinks(LOAD.types(), append, by_batch)
        crash = EngineOutage(
            CrashKind.TREE.value, (JobPoint.WRITTEN if one.written else JobPoint.READ).value
        )
        cases.append(engine_case(one.name, predict(one), seen, crashed=(crash,)))
    return tuple(cases)


CHECK = Check(
    "active-standby",
    "Active standby: two queries over one source, the outputs of one are released on failover",
    run,
    notes=(
        "What downstream has and has not acknowledged comes twice to a sink that appends; a sink "
        "that discards by the number of the event, as high watermarks do, has it once.",
        "A sink that takes no batch id twice is precise only if both queries have the same "
        "batches: otherwise it discards outputs that it does not have.",
    ),
)
