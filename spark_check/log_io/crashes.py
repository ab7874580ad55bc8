"""Crash pipelines and start them again: the observations, and the predictions of the model.

Rule of this file: no case; it runs and compares whatever cases it is given.

Several pipelines share a Spark, each stopped at its own breakpoint.  Then the workers of some are
killed, whose tasks Spark tries again; and one SIGKILL of all processes crashes the others, which
end in one more Spark.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from engine_check.breakpoints import Breakpoints
from engine_check.check import CheckSetting, engine_case
from engine_check.victim import Victim, start
from model.events import Body
from model.recovery import classify
from model.results.engine import EngineCase, EngineOutage, Facts
from sim.predictions.log_io.points import StepCrash
from sim.predictions.log_io.replay import (
    CHECKABLE,
    PLAIN,
    LogContents,
    PipelinePrediction,
    expected,
    predict,
)
from spark_check.log_io.external import text
from spark_check.log_io.job import ALL_STARTED, begin_of, end_of, start_query
from spark_check.log_io.observation import Seen, observe, observe_log
from spark_check.log_io.operators import PipelineStops
from spark_check.log_io.stream import write_stream
from spark_check.log_io.world import LogIoWorld
from spark_check.runtime.crash_kinds import CrashKind, kill_kind
from spark_check.runtime.session import BRIEF, session

JOB = "spark_check.log_io.job:run"


class PipelineCase(NamedTuple):
    """A pipeline and its crashes, one an incarnation.  kind: TREE, or WORKER for a single crash."""

    name: str
    world: LogIoWorld
    crashes: tuple[StepCrash, ...]
    kind: CrashKind = CrashKind.TREE


Planned = tuple[LogIoWorld, StepCrash, CrashKind]


def run_cases(setting: CheckSetting, cases: Sequence[PipelineCase]) -> tuple[EngineCase, ...]:
    """Crash all cases, incarnation by incarnation, let them end, and compare."""
    for case in cases:
        write_stream(case.world.stream, case.world.types, case.world.ends)
    rounds = [*zip_longest(*(case.crashes for case in cases))]
    logs: dict[str, list[LogContents]] = {case.world.name: [] for case in cases}
    for number, plans in enumerate(rounds):
        setting.report("crashes", number, len(rounds) + 1)
        planned = [
            (case.world, plan, case.kind)
            for case, plan in zip(cases, plans, strict=True)
            if plan is not None
        ]
        for name, log in crash(setting.work / f"crash-{number}", planned).items():
            logs[name].append(log)
    setting.report("restarts", len(rounds), len(rounds) + 1)
    finish(setting, [case.world for case in cases if case.kind is CrashKind.TREE])
    return tuple(compare(case, logs[case.world.name]) for case in cases)


def crash(work: Path, planned: Sequence[Planned]) -> dict[str, LogContents]:
    """Start each pipeline, crash each at its point: the log that each crash leaves, by name."""
    worlds = [world for world, _, _ in planned]
    awaited = [world for world, _, kind in planned if kind is CrashKind.WORKER]
    places = {
        world.name: PipelineStops(Breakpoints(""), world.name).place(plan.operator, plan.point)
        for world, plan, _ in planned
    }
    stop_at = {
        **dict.fromkeys([*map(begin_of, worlds), *map(end_of, awaited), ALL_STARTED], 0),
        **{places[world.name]: plan.passed for world, plan, _ in planned},
    }
    settings = {"worlds": worlds, "awaited": [world.name for world in awaited]}
    with start(JOB, work, settings, stop_at=stop_at) as victim:
        stopped = {}
        for world in worlds:
            victim.go(begin_of(world))
            stopped[world.name] = victim.stopped(places[world.name])
        left = {world.name: observe_log(world) for world in awaited}
        kill_workers(victim, awaited, stopped)
        victim.kill()
    left |= {world.name: observe_log(world) for world in worlds if world not in awaited}
    return left


def kill_workers(victim: Victim, worlds: Sequence[LogIoWorld], stopped: dict[str, int]) -> None:
    """Kill the workers that run these pipelines' tasks, and wait until the pipelines have ended."""
    for world in worlds:
        kill_kind(victim, CrashKind.WORKER, stopped[world.name])
    for world in worlds:
        victim.stopped(end_of(world))
        victim.go(end_of(world))


def finish(setting: CheckSetting, worlds: Sequence[LogIoWorld]) -> None:
    """Run each pipeline to the end of its stream."""
    if worlds:
        work = setting.work / "end"
        with session(work, conf=BRIEF, jvm=setting.shared) as spark:
            for world in worlds:
                start_query(spark, world, Breakpoints(str(work))).awaitTermination()


# --- predicted and seen ----------------------------------------------------------------------
def prediction_of(case: PipelineCase) -> PipelinePrediction:
    """The outputs of the model for the same stream and crashes."""
    world = case.world
    design = CHECKABLE if world.checkable else PLAIN
    return predict(world.types, world.ends, case.crashes, design)


def compare(case: PipelineCase, crashed: Sequence[LogContents]) -> EngineCase:
    types, ended = case.world.types, observe_log(case.world)
    return engine_case(
        case.name,
        predicted=predicted_facts(types, prediction_of(case)),
        seen=seen_facts(types, observe(case.world), crashed, ended),
        details={
            **{f"log at crash {at}": _text(one) for at, one in enumerate(crashed, 1)},
            "log in the end": _text(ended),
        },
        crashed=tuple(EngineOutage(case.kind.value, str(plan)) for plan in case.crashes),
    )


def predicted_facts(types: str, found: PipelinePrediction) -> Facts:
    named = [dict(body.data)["value"] for body in expected(types)]
    rest = _facts(types, found.rows, found.lineage, named, (*found.crashed, found.ended))
    return {**rest, "writes": found.writes, "questions": found.checks}


def seen_facts(types: str, seen: Seen, crashed: Sequence[LogContents], ended: LogContents) -> Facts:
    rest = _facts(types, seen.rows, seen.lineage, seen.computed, (*crashed, ended))
    return {**rest, "writes": seen.writes, "questions": seen.checks}


def _facts(
    types: str,
    rows: Sequence[Body],
    lineage: Sequence[tuple[int, ...]],
    computed: Sequence[tuple[int, ...]],
    logs: Sequence[LogContents],
) -> Facts:
    """computed: for each write, the events that it was made of."""
    return {
        "output": classify(expected(types), rows).name.lower(),
        "rows": text(rows),
        "lineage": "; ".join(" ".join(map(str, one)) for one in lineage),
        "lineage is true": [*lineage] == [*computed],
        "undone rows": [len(one.undone) for one in logs],
        "log": hashlib.sha256(repr([*map(_text, logs)]).encode()).hexdigest()[:16],
    }


def _text(logged: LogContents) -> str:
    return ", ".join((*logged.undone, *logged.contexts))
