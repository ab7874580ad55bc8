"""A pipeline under LOG.io in Spark's micro-batches, killed at named points of the algorithms.

Rule of this file: the cases.  The model is run to find the expected results.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from engine_check.check import Check, CheckSetting
from model.results.engine import EngineCase
from sim.predictions.log_io.points import MIDDLE, SOURCE, WRITER, StepCrash, StepPoint
from spark_check.log_io.crashes import PipelineCase, run_cases
from spark_check.log_io.databases import new_database, postgresql
from spark_check.log_io.world import LogIoWorld
from spark_check.runtime.crash_kinds import CrashKind

TYPES, ENDS = "aababbabba", (4, 7, 10)
"""Of the events, and the last one of each batch: pairs are complete in each of the batches, and one
event of each type waits between them."""
TOGETHER = 6
"""The number of pipelines that share a Spark."""


class Planned(NamedTuple):
    """A case without its databases."""

    title: str
    crashes: tuple[StepCrash, ...]
    kind: CrashKind = CrashKind.TREE
    checkable: bool = True

    @property
    def name(self) -> str:
        return f"{self.title}: {', then '.join(map(str, self.crashes))}"

    def case(self, folder: Path, log: str, book: str) -> PipelineCase:
        world = LogIoWorld(str(folder), TYPES, ENDS, log, book, self.checkable)
        return PipelineCase(self.name, world, self.crashes, self.kind)


def at(operator: str, point: StepPoint, passed: int = 0) -> StepCrash:
    return StepCrash(operator, point, passed)


WRITTEN = at(WRITER, StepPoint.WRITTEN, 1)
"""In the second batch, as the following ones."""
GENERATED = at(MIDDLE, StepPoint.GENERATED, 1)
QUICK = (
    Planned("a write that was executed", (WRITTEN, at(WRITER, StepPoint.ASKED))),
    Planned("an output that was not logged", (GENERATED, at(MIDDLE, StepPoint.COMPLETED))),
    Planned("an output that was logged", (at(MIDDLE, StepPoint.LOGGED, 1),)),
)
MORE = (
    *(
        Planned("the source", (at(SOURCE, point, passed),))
        for point, passed in (
            (StepPoint.RESTARTED, 1),
            (StepPoint.GENERATED, 5),
            (StepPoint.LOGGED, 5),
        )
    ),
    *(
        Planned("pairs", (at(MIDDLE, point, passed),))
        for point, passed in (
            (StepPoint.RESTARTED, 1),
            (StepPoint.SENT, 4),
            (StepPoint.ASSIGNED, 4),
            (StepPoint.GENERATED, 2),
        )
    ),
    *(
        Planned("writes", (at(WRITER, point, 1),))
        for point in (
            StepPoint.RESTARTED,
            StepPoint.SENT,
            StepPoint.ASSIGNED,
            StepPoint.GENERATED,
            StepPoint.LOGGED,
            StepPoint.DONE,
        )
    ),
)
TWICE = (
    Planned(
        "a write that was logged", (at(WRITER, StepPoint.LOGGED, 1), at(WRITER, StepPoint.ASKED))
    ),
    Planned(
        "a write that was logged",
        (at(WRITER, StepPoint.LOGGED, 1), at(WRITER, StepPoint.WRITTEN)),
    ),
    Planned(
        "a write that was not",
        (at(WRITER, StepPoint.GENERATED, 1), at(WRITER, StepPoint.COMPLETED)),
    ),
    Planned(
        "three crashes", (WRITTEN, at(WRITER, StepPoint.RESTARTED), at(WRITER, StepPoint.ASKED))
    ),
)
WORKERS = (
    Planned("a worker", (WRITTEN,), CrashKind.WORKER),
    Planned("a worker", (GENERATED,), CrashKind.WORKER),
)
REFUTED = (Planned("a write that is not checkable", (WRITTEN,), checkable=False),)
"""Section 4.4 asks for checkable writes; without them a write is executed twice, here too."""
FULL = (*QUICK, *MORE, *TWICE, *WORKERS, *REFUTED)


def run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    if setting.profile == "quick":
        return run_cases(setting, _on_sqlite(setting.work, QUICK))
    found = [*_run_groups(setting, "SQLite", _on_sqlite(setting.work / "sqlite", FULL))]
    with postgresql() as url:
        found += _run_groups(setting, "PostgreSQL", _on_postgresql(setting.work, url, FULL))
    return tuple(found)


def _run_groups(
    setting: CheckSetting, title: str, cases: Sequence[PipelineCase]
) -> list[EngineCase]:
    """All cases, some at a time."""
    found: list[EngineCase] = []
    for first in range(0, len(cases), TOGETHER):
        work = setting.work / f"{title}-{first}"
        found += run_cases(setting._replace(work=work), cases[first : first + TOGETHER])
    return [replace(case, name=f"{title}, {case.name}") for case in found]


def _on_sqlite(work: Path, planned: Sequence[Planned]) -> list[PipelineCase]:
    folders = [work / f"pipeline-{number}" for number in range(len(planned))]
    return [
        one.case(folder, str(folder / "log.db"), str(folder / "book.db"))
        for one, folder in zip(planned, folders, strict=True)
    ]


def _on_postgresql(work: Path, url: str, planned: Sequence[Planned]) -> list[PipelineCase]:
    return [
        one.case(
            work / "postgresql" / f"pipeline-{number}",
            new_database(url, f"asif_log_{number}"),
            new_database(url, f"asif_book_{number}"),
        )
        for number, one in enumerate(planned)
    ]


CHECK = Check(
    "log-io",
    "A pipeline under LOG.io, killed at named points of the paper's algorithms",
    run,
    notes=(
        "A point is named by algorithm and step: 3.3 is before the transaction of step 4 of "
        "Algorithm 3, 3.4 after it, 5.1 after a write and before its event is done; 7, 8 and 9 are "
        "of the recovery.",
        "Predicted by the model's nodes, run and crashed in the same batches: the rows of the "
        "external system, in order, the lineage of each, the undone rows and the contexts in the "
        "log at each crash and in the end (their number, and a digest), how often a write was "
        "executed, and how often the system was asked for one.",
        "Lineage is true if it names, for each write, the events that its own text names.",
    ),
)
