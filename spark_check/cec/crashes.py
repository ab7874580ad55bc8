"""Crash worlds and start them again: the observations, and the predictions of the model.

Rule of this file: no case; it runs and compares whatever cases it is given.

Several worlds share a Spark, each stopped at its own breakpoint; then one SIGKILL crashes all of
them.  The last incarnations run to the end of the stream in one more Spark.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from itertools import pairwise, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from engine_check.breakpoints import Breakpoints
from engine_check.check import CheckSetting, engine_case
from engine_check.victim import start
from model.core import Arrival
from model.graph import chain
from model.oracle import oracle
from model.protocols.cec.messages import Record
from model.recovery import classify
from model.results.engine import EngineCase, EngineOutage, Facts
from sim.predictions import cec as predictions
from sim.predictions.cec import ExtentPrediction, ExtentRestart, plain
from sim.predictions.crashes import BatchCrash
from spark_check.cec.job import ALL_STARTED, begin_of, start_query
from spark_check.cec.operator import CONF
from spark_check.cec.stops import CecPoint, CecStops
from spark_check.cec.world import CecWorld
from spark_check.runtime.crash_kinds import CrashKind
from spark_check.runtime.session import BRIEF, session

JOB = "spark_check.cec.job:run"
SOURCE, SINK = "source", "sink"

LEFT = {
    CecPoint.SCANNED: predictions.DurablePart.RECOVERY,
    CecPoint.LOAD: predictions.DurablePart.BEFORE,
    CecPoint.PROCESS: predictions.DurablePart.BEFORE,
    CecPoint.MADE: predictions.DurablePart.BEFORE,
    CecPoint.HALF: predictions.DurablePart.BEFORE,
    CecPoint.STORED: predictions.DurablePart.STORED,
    CecPoint.SENT: predictions.DurablePart.SENT,
}
"""The durable part of the batch, if a file that is not renamed does not count."""


class CecCase(NamedTuple):
    """A world, by all but its folder, and its crashes, one an incarnation."""

    title: str
    world: CecWorld
    crashes: tuple[BatchCrash[CecPoint], ...]

    @property
    def name(self) -> str:
        return f"{self.title}: {', then '.join(str(plan) for plan in self.crashes)}"


def run_cases(setting: CheckSetting, cases: Sequence[CecCase]) -> tuple[EngineCase, ...]:
    """Crash all cases, incarnation by incarnation, let them end, and compare."""
    worlds = [
        case.world._replace(folder=str(setting.work / f"world-{number}"))
        for number, case in enumerate(cases)
    ]
    for world in worlds:
        world.create()
    rounds = [*zip_longest(*(case.crashes for case in cases))]
    for incarnation, plans in enumerate(rounds):
        setting.report("crashes", incarnation, len(rounds) + 1)
        planned = [(world, plan) for world, plan in zip(worlds, plans, strict=True) if plan]
        crash(setting.work / f"crash-{incarnation}", incarnation, planned)
    setting.report("restarts", len(rounds), len(rounds) + 1)
    finish(setting, [*zip(worlds, (len(c.crashes) for c in cases), strict=True)])
    return tuple(compare(*pair) for pair in zip(cases, worlds, strict=True))


def crash(
    work: Path, incarnation: int, planned: Sequence[tuple[CecWorld, BatchCrash[CecPoint]]]
) -> None:
    """Start an incarnation of each world; kill all at once when each has come to its point."""
    folders = [world.folder for world, _ in planned]
    begins = dict.fromkeys(map(begin_of, folders), 0)
    stops = {
        CecStops(Breakpoints(""), world.name).place(plan.point): plan.batch
        for world, plan in planned
    }
    settings = {"worlds": folders, "incarnation": incarnation}
    with start(JOB, work, settings, stop_at={**begins, **stops, ALL_STARTED: 0}) as victim:
        for begin, place in zip(begins, stops, strict=True):
            victim.go(begin)
            victim.stopped(place)
        victim.kill()


def finish(setting: CheckSetting, worlds: Sequence[tuple[CecWorld, int]]) -> None:
    """Run the last incarnation of each world, of this number, to the end of the stream."""
    work = setting.work / "end"
    with session(work, conf={**BRIEF, **CONF}, jvm=setting.shared) as spark:
        none = Breakpoints(str(work))
        for world, last in worlds:
            start_query(spark, world, none, last).awaitTermination()


# --- predicted and seen ----------------------------------------------------------------------
def prediction_of(case: CecCase) -> ExtentPrediction:
    """The prediction of the model for the same stream and crashes."""
    world = case.world
    query = world.query
    torn = {CecPoint.HALF: predictions.DurablePart.WITHIN} if world.in_place else {}
    left = {**LEFT, **torn}
    plans = [BatchCrash(left[point], batch) for point, batch in case.crashes]
    bodies = [row.event().body for row in world.rows]
    return predictions.predict(query.box, bodies, world.ends, query.patience, plans, query.design)


def compare(case: CecCase, world: CecWorld) -> EngineCase:
    found = prediction_of(case)
    notes = world.notes()
    begins = [number for number, note in enumerate(notes) if "start" in note]
    parts = [notes[a:b] for a, b in zip(begins, [*begins[1:], len(notes)], strict=True)]
    ignored = [sum(note.get("ignored", 0) for note in part) for part in parts]
    restarts = [ExtentRestart(*(part[0][name] for name in ExtentRestart._fields)) for part in parts]
    return engine_case(
        case.name,
        predicted=_facts(
            world, found.restarts, found.ignored, found.received, found.taken, found.log
        ),
        seen=_facts(
            world,
            restarts,
            ignored,
            len(world.received()),
            world.taken(),
            [plain(one.record) for one in world.log.read()],
        ),
        details={"scan_s": [round(part[0]["seconds"], 2) for part in parts]},
        crashed=tuple(EngineOutage(CrashKind.TREE.value, str(plan)) for plan in case.crashes),
    )


def _facts(
    world: CecWorld,
    restarts: Iterable[ExtentRestart],
    ignored: Iterable[int],
    received: int,
    taken: Sequence[Any],
    log: Sequence[Record],
) -> Facts:
    """Each restart has the fields of `ExtentRestart`, then the number of tuples ignored."""
    return {
        "restarts": [[*one, n] for one, n in zip(restarts, ignored, strict=True)],
        "results received": received,
        "duplicates": received - len(taken),
        "output": classify(expected(world), taken).name.lower(),
        "records": len(log),
        "log": hashlib.sha256(repr(list(log)).encode()).hexdigest()[:16],
    }


def expected(world: CecWorld) -> Sequence[Any]:
    """The results of a run without failures."""
    box = world.query.box
    times = [0, *(row.time for row in world.rows)]
    gaps = (after - before for before, after in pairwise(times))
    arrivals = [Arrival(gap, row.key) for gap, row in zip(gaps, world.rows, strict=True)]
    graph = chain(("aggregate", box), source=SOURCE, sink=SINK)
    ((outs,),) = oracle(graph, {SOURCE: arrivals}).values()
    return outs
