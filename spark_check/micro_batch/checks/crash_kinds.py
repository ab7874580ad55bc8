"""Each process of a query, killed: does the query go on, and is the output the same?

Rule of this file: what is killed where, and whether the query is expected to survive it.  What a
query that dies leaves, and what its restart makes of that, is found by running the model: it does
not matter which of its processes took it down.
"""

from __future__ import annotations

from typing import NamedTuple

from model.protocols.micro_batch.crashes import CrashPoint as Modelled
from spark_check.check import Case, Check, Setting
from spark_check.micro_batch.crashes import Load, begun, crashed, predicted, recovered, restarted
from spark_check.micro_batch.external_store import Outside
from spark_check.micro_batch.job import Settings, Writer
from spark_check.micro_batch.stream import Point
from spark_check.runtime.session import BRIEF, LOCAL, session
from spark_check.runtime.victim import Kind

RETRYING, CLUSTER = "local[2,4]", "local-cluster[2,1,1024]"

MODELLED = {
    Point.PLAN: Modelled.BEFORE_OFFSETS,
    Point.ACK: Modelled.AFTER_OFFSETS,
    Point.SPLIT: Modelled.MID_BATCH,
    Point.READ: Modelled.MID_BATCH,
    Point.COUNT: Modelled.MID_BATCH,
    Point.PROCESSED: Modelled.AFTER_STATE,
    Point.WRITTEN: Modelled.AFTER_SINK,
}


class Strike(NamedTuple):
    """survives: does the query go on?  Only tasks are tried again, and not in local[n]."""

    kind: Kind
    point: Point
    survives: bool = False
    master: str = LOCAL
    writer: Writer = Writer.FOREACH_BATCH

    @property
    def name(self) -> str:
        return f"{self.who} at {self.point}, {self.master}, {self.writer}"

    @property
    def who(self) -> str:
        """A data source plans its batches in one process, and commits as a sink in another."""
        committing = self.writer is Writer.DATA_SOURCE and self.kind is Kind.READER
        return "committer" if committing else str(self.kind)


QUICK = (
    Strike(Kind.WORKER, Point.READ, survives=True, master=RETRYING),
    Strike(Kind.READER, Point.PLAN),
)
FULL = (
    *QUICK,
    Strike(Kind.TREE, Point.READ),
    Strike(Kind.TREE, Point.COUNT),
    Strike(Kind.DRIVER, Point.READ),
    Strike(Kind.DRIVER, Point.WRITTEN),
    Strike(Kind.JVM, Point.READ),
    Strike(Kind.JVM, Point.WRITTEN),
    Strike(Kind.WORKER, Point.READ),
    Strike(Kind.WORKER, Point.COUNT),
    Strike(Kind.WORKER, Point.COUNT, survives=True, master=RETRYING),
    Strike(Kind.WORKER, Point.READ, survives=True, master=CLUSTER),
    Strike(Kind.EXECUTOR, Point.READ, survives=True, master=CLUSTER),
    Strike(Kind.EXECUTOR, Point.COUNT, survives=True, master=CLUSTER),
    Strike(Kind.READER, Point.ACK),
    Strike(Kind.READER, Point.SPLIT),
    Strike(Kind.READER, Point.PROCESSED, writer=Writer.DATA_SOURCE),
    Strike(Kind.READER, Point.WRITTEN, writer=Writer.DATA_SOURCE),
    Strike(Kind.TREE, Point.WRITTEN, writer=Writer.DATA_SOURCE),
)
LOAD = Load()


def run(setting: Setting) -> tuple[Case, ...]:
    strikes = QUICK if setting.profile == "quick" else FULL
    worlds = []
    for number, strike in enumerate(strikes):
        setting.tell(f"crash {strike.name}", number, len(strikes))
        outside = begun(setting.work / f"crash-{number}", LOAD)
        settings = Settings(outside.work, LOAD.ends[1:], writer=strike.writer, master=strike.master)
        code = crashed(settings, strike.kind, strike.point, LOAD.ends[-2])
        worlds.append((strike, outside, code))
    cases = []
    with session(setting.work / "restarts", conf=BRIEF) as spark:
        for number, (strike, outside, code) in enumerate(worlds):
            setting.tell(f"restart {strike.name}", number, len(strikes))
            retried = tried_again(outside, strike.point)
            died = restarted(spark, Settings(outside.work, writer=strike.writer), LOAD)
            cases.append(
                Case(
                    name=strike.name,
                    predicted=came(strike),
                    seen={
                        "the query": "goes on" if code == 0 else "dies",
                        "tasks tried again": retried,
                        "the restart": died or "ends",
                        **recovered(outside),
                    },
                    told={"exit code": "killed" if code is None else code},
                    crashed=(f"{strike.who}: {strike.point}",),
                )
            )
    return tuple(cases)


def tried_again(outside: Outside, point: Point) -> bool:
    """Did a task come to the point that had been tried before?"""
    return any(line.get("attempt") for line in outside.told(point))


def came(strike: Strike) -> dict[str, object]:
    """A query that survives has committed all its batches in the end, as if nothing had failed."""
    point = Modelled.AFTER_COMMIT if strike.survives else MODELLED[strike.point]
    _, later = predicted(point, LOAD)
    return {
        "the query": "goes on" if strike.survives else "dies",
        "tasks tried again": strike.survives,
        "the restart": "ends",
        **later,
    }


CHECK = Check(
    "crash-kinds",
    "Each process of a query, killed",
    run,
    notes=(
        "local[n] tries no task twice: a Python worker that dies takes the query with it.  "
        "local[n,4], a cluster and its executors try tasks again, and the query goes on.",
        "The process in which a source plans its batches, and the one in which a Python sink "
        "commits them, are tried again nowhere: the query dies with them.",
        "A query that went on is restarted too, after it has ended: it had committed everything.",
    ),
)
