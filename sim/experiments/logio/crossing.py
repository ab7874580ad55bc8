"""When LOG.io is better than ABS: the time between failures at which both take as long.

Rule of this file: one pipeline, that of use case 1; the operator that fails and the moment are
random.

Failures are rare, so each costs as much as a single one (sim.sweeps.study assumes this, too).
With a time M between failures, a protocol takes base * (1 + normal + cost / M), where `cost` is by
how many seconds a failure makes the run longer.  So LOG.io is better where M is smaller than

    (cost of ABS - cost of LOG.io) / (normal of LOG.io - normal of ABS)
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import inf
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from model.results.experiment import ExperimentPanel, Parameter, Series, Summary
from model.results.table import Row
from sim.experiments.experiment import Experiment
from sim.experiments.logio.paper import BASELINE_S, CHOSEN, SETTING, SOURCE, costs, linear
from sim.experiments.logio.pipeline import run
from sim.experiments.logio.study import (
    Failure,
    PipelineCosts,
    PipelineRecovery,
    PipelineStudy,
    StudiedPipeline,
)

RUN_S = 300.0
"""A run without a protocol takes as long, and has at most EVENTS events."""
EVENTS, SEEDS = 6000, 20
PERIODS_S = (0.03, 0.1, 0.5)
WORKS_S = (0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 1.0, 2.0, 5.0, 10.0)
SIZES_MB = (0.0, 1.0, 10.0)
"""Beyond the 10 KB of the paper."""
INTERVALS_S = (15.0, 45.0)
FAILING = ("OP2", "OP3", "OP4")
SOONEST_S, LATEST_S = 10.0, 1e6
"""The ends of the axis: beyond them one protocol is better, however often the pipeline fails."""
PAPER = (
    (0.5, 5.0, "series 1", "use case 1"),
    (0.1, 0.5, "series 2", "use cases 1, 2, 3"),
    (0.03, 0.1, "series 3", "use cases 1, 3"),
)
"""Period of the source and work of OP3 in the series of use case 1, and who has the same."""


class Point(NamedTuple):
    """A run of the grid.  size_mb: LOG.io alone depends on it; interval_s: ABS alone."""

    period_s: float
    work_s: float
    size_mb: float
    interval_s: float


# --- the runs --------------------------------------------------------------------------------
def rows(seed: int, events: int) -> Sequence[Row]:
    """Each setting without failures and with one, at a moment that depends on the seed."""
    found = []
    for period_s, work_s in product(PERIODS_S, WORKS_S):
        pipeline = _pipeline(events, period_s, work_s)
        base_s = run(PipelineStudy(pipeline, PipelineRecovery.NONE, PipelineCosts())).seconds
        for case in _cases(pipeline):
            chance = random.Random(f"{seed} {period_s} {work_s}")
            normal_s = run(case).seconds
            failure = Failure(chance.choice(FAILING), at_s=chance.uniform(0, normal_s))
            failed_s = run(replace(case, failures=(failure,))).seconds
            found.append(
                {
                    "period_s": period_s,
                    "work_s": work_s,
                    "protocol": case.recovery.value,
                    "size_mb": case.event_bytes / 1e6,
                    "interval_s": case.interval_s if case.interval_s < inf else None,
                    "normal": normal_s / base_s - 1,
                    "cost_s": failed_s - normal_s,
                }
            )
    return found


def _pipeline(events: int, period_s: float, work_s: float) -> StudiedPipeline:
    """Use case 1, but a writer under ABS does not hold back its outputs: a wait at the end of a run
    would count like one all along."""
    most = int(RUN_S / max(period_s, 0.05, work_s / 2))
    events = max(20, min(events, most) // 20 * 20)
    published = linear(events, period_s, work_s, 10, events // 20)
    tasks = tuple(replace(task, writes=False) for task in published.tasks)
    return replace(published, tasks=tasks)


def _cases(pipeline: StudiedPipeline) -> Iterator[PipelineStudy]:
    log, snapshots = (
        costs(PipelineRecovery.LOG, CHOSEN),
        costs(PipelineRecovery.SNAPSHOTS, CHOSEN),
    )
    for size in SIZES_MB:
        yield PipelineStudy(pipeline, PipelineRecovery.LOG, log, event_bytes=size * 1e6)
    for interval_s in INTERVALS_S:
        yield PipelineStudy(pipeline, PipelineRecovery.SNAPSHOTS, snapshots, interval_s=interval_s)


# --- the summary -----------------------------------------------------------------------------
def crossing(log: Mapping[str, float], snapshots: Mapping[str, float]) -> float:
    """The time between failures below which LOG.io is better: 0 if it never is, inf if always."""
    saved_s = snapshots["cost_s"] - log["cost_s"]
    more = log["normal"] - snapshots["normal"]
    if more <= 0:
        return inf if saved_s >= 0 else 0.0
    return max(0.0, saved_s / more)


def summary(found: Sequence[Row]) -> Summary:
    """A panel for each rate and interval: the crossing over the work of OP3, by size of events."""
    frame = pd.DataFrame(found)
    keys = ["period_s", "work_s", "protocol", "size_mb", "interval_s"]
    means = frame.groupby(keys, dropna=False, as_index=False)[["normal", "cost_s"]].mean()
    by = {
        (row["period_s"], row["work_s"], row["size_mb"], row["interval_s"] or inf): _measured(row)
        for row in means.replace({np.nan: None}).to_dict("records")
    }
    cells = [
        {
            **Point(*point)._asdict(),
            "crossing_s": crossing(
                by[point[0], point[1], point[2], inf], by[point[0], point[1], 0.0, point[3]]
            ),
        }
        for point in product(PERIODS_S, WORKS_S, SIZES_MB, INTERVALS_S)
    ]
    return Summary(
        cells=[_plain(cell) for cell in cells],
        values=_values(by, cells),
        notes=[*_notes(cells)],
        panels=[*_panels(cells)],
    )


def _measured(row: Mapping[Any, Any]) -> dict[str, float]:
    return {name: float(row[name]) for name in ("normal", "cost_s")}


def _plain(cell: Row) -> Row:
    """The cell with no infinity, which JSON does not have."""
    return {**cell, "crossing_s": cell["crossing_s"] if cell["crossing_s"] < inf else None}


def _values(by: Mapping[Any, Any], cells: Sequence[Row]) -> dict[str, float]:
    """Is LOG.io better in the settings of the paper's series, with one failure in a run?"""
    values: dict[str, float] = {}
    cheaper = []
    for period_s, work_s, name, _ in PAPER:
        log, snapshots = (by[period_s, work_s, 0.0, at] for at in (inf, 15.0))
        at = _at(cells, period_s, work_s, 0.0, 15.0)
        values[f"crossing.{name}.log better"] = float(at > BASELINE_S)
        values[f"crossing.{name}.abs better"] = float(at < BASELINE_S)
        values[f"crossing.{name}.normal better"] = float(log["normal"] < snapshots["normal"])
        cheaper.append(log["cost_s"] < snapshots["cost_s"])
    return {**values, "crossing.recovers cheaper": float(all(cheaper))}


def _at(cells: Sequence[Row], *point: float) -> float:
    wanted = Point(*point)._asdict()
    return float(next(cell["crossing_s"] for cell in cells if wanted.items() <= cell.items()))


def _notes(cells: Sequence[Row]) -> Iterator[str]:
    for period_s, work_s, name, _ in PAPER:
        at = _at(cells, period_s, work_s, 0.0, 15.0)
        yield (
            f"use case 1, {name}, ABS every 15 s: LOG.io is better if the time between failures is "
            f"below {_shown(at)}"
        )
    always = sum(cell["crossing_s"] == inf for cell in cells)
    never = sum(cell["crossing_s"] == 0 for cell in cells)
    yield (
        f"of {len(cells)} points, LOG.io is better at {always} however rarely the pipeline fails, "
        f"and at {never} it is not, however often"
    )


def _shown(seconds: float) -> str:
    if seconds == inf:
        return "any"
    return f"{seconds:,.0f} s" if seconds < 600 else f"{seconds / 60:,.0f} min"


def _panels(cells: Sequence[Row]) -> Iterator[ExperimentPanel]:
    for period_s, interval_s in product(PERIODS_S, INTERVALS_S):
        series = []
        for size_mb in SIZES_MB:
            ys = [_at(cells, period_s, work_s, size_mb, interval_s) for work_s in WORKS_S]
            name = f"events of {size_mb:.0f} MB" if size_mb else "events of 10 KB"
            clipped = [min(LATEST_S, max(SOONEST_S, y)) for y in ys]
            series.append(Series(name, WORKS_S, clipped, "line"))
        marked = [(work_s, cases) for period, work_s, _, cases in PAPER if period == period_s]
        series.append(
            Series(
                "the paper, one failure in a run",
                [work_s for work_s, _ in marked],
                [BASELINE_S for _ in marked],
                "published",
                [cases for _, cases in marked],
            )
        )
        yield ExperimentPanel(
            f"an event every {1000 * period_s:.0f} ms, ABS every {interval_s:.0f} s",
            "work of OP3, s",
            "LOG.io is better below, s between failures",
            series,
            log="xy",
        )


CROSSING = Experiment(
    name="logio-crossing",
    title="When LOG.io is better than ABS",
    source=SOURCE,
    parameters=(
        Parameter("pipeline", "use case 1", "9.3.2"),
        Parameter("run", f"{RUN_S:.0f} s without a protocol, at most {EVENTS:,} events", "as 9.1"),
        Parameter("failures", f"one, of {', '.join(FAILING)}, at random moments", "our choice"),
        Parameter("an event every", [f"{1000 * one:.0f} ms" for one in PERIODS_S], "9.3.2"),
        Parameter("work of OP3", f"{WORKS_S[0]} s to {WORKS_S[-1]} s", "around 9.3.2"),
        *SETTING,
    ),
    seeds=SEEDS,
    events=EVENTS,
    rows=rows,
    summary=summary,
)
EXPERIMENTS = (CROSSING,)
