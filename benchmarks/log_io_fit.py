"""How many numbers of the LOG.io paper are within 10 % if all costs are fitted to them.

Rule of this file: an upper bound for the pipelines of sim.experiments.logio, on a grid of costs; no
experiment uses it, since a cost that is fitted to a number cannot be compared with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from multiprocessing import Pool
from typing import NamedTuple

from benchmarks.stages import each
from model.progress import Progress
from sim.experiments.logio.figures import FIGURES, Figure
from sim.experiments.logio.pipeline import run
from sim.experiments.logio.study import (
    PipelineCosts,
    PipelineRecovery,
    PipelineStudy,
    StudiedPipeline,
)
from sim.experiments.published import PublishedNumber, numbers, verdict

TRANSACTIONS_S = (0.008, 0.010, 0.012, 0.014, 0.016)
POD_S = (35.0, 45.0, 55.0, 60.0, 65.0, 75.0)
SHARES = (0.02, 0.03, 0.04)
PIPELINE_S = (30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0, 65.0, 70.0)
ROOMS = (10, 25, 40, 55, 80, None)
STARTS_S = range(48, 112, 4)
"""Of the pipeline, which is in the baseline: 300 to 360 s."""
LOST = {
    "fig5-lost-1": ("fig5", 1),
    "fig5-lost-2": ("fig5", 2),
    "fig5-lost-3": ("fig5", 3),
    "fig7-lost": ("fig7", 3),
    "fig8-lost": ("fig8", 2),
    "fig9-lost": ("fig9", 2),
}
NAMES = ("normal", "1", "2", "3")


class Fit(NamedTuple):
    """The costs of a run of all figures, the seconds of each id, and the work done again."""

    costs: PipelineCosts
    seconds: Mapping[str, float]
    lost_s: Mapping[str, float]


def _pipeline(figure: Figure) -> StudiedPipeline:
    return [*figure.pipelines.values()][-1]


def fit(one: tuple[PipelineRecovery, PipelineCosts]) -> Fit:
    """Run all figures with these costs."""
    recovery, costs = one
    seconds, lost_s = {}, {}
    for figure in FIGURES:
        if not figure.failures:
            continue
        interval_s, failures = next(iter(figure.failures.items()))
        key = f"{figure.key}-{'log' if recovery is PipelineRecovery.LOG else 'abs'}"
        for count, name in enumerate(NAMES):
            ran = run(
                PipelineStudy(_pipeline(figure), recovery, costs, failures[:count], interval_s)
            )
            seconds[f"{key}-{name}"] = ran.seconds
            if recovery is PipelineRecovery.SNAPSHOTS:
                for id_, place in LOST.items():
                    if place == (figure.key, count):
                        lost_s[id_] = ran.lost_s[-1]
    return Fit(costs, seconds, lost_s)


def count(one: Fit, free_s: Mapping[str, float], start_s: float) -> tuple[int, int]:
    """How many numbers are within 10 %, and of how many."""
    known: dict[str, PublishedNumber] = {number.id: number for number in numbers()}
    ours = {
        id_: 100 * ((took + start_s) / (free_s[id_.split("-")[0]] + start_s) - 1)
        for id_, took in one.seconds.items()
    }
    ours |= one.lost_s
    near = [verdict(known[id_], value) == "within 10 %" for id_, value in ours.items()]
    return sum(near), len(near)


def _grid(recovery: PipelineRecovery) -> Iterator[tuple[PipelineRecovery, PipelineCosts]]:
    if recovery is PipelineRecovery.LOG:
        for each_s, restart_s, room in product(TRANSACTIONS_S, POD_S, ROOMS):
            yield recovery, PipelineCosts(each_s, each_s, restart_s=restart_s, room=room)
    else:
        for share, restart_s, room in product(SHARES, PIPELINE_S, ROOMS):
            yield recovery, PipelineCosts(share=share, restart_s=restart_s, room=room)


def _best(found: Iterable[Fit], free_s: Mapping[str, float], start_s: float) -> tuple[int, int]:
    return max(count(one, free_s, start_s) for one in found)


def tables(progress: Progress) -> Iterator[str]:
    """The best count for each start of the pipeline."""
    free_s = {
        figure.key: run(
            PipelineStudy(_pipeline(figure), PipelineRecovery.NONE, PipelineCosts())
        ).seconds
        for figure in FIGURES
    }
    with Pool(2) as pool:
        log, snapshots = (
            [next(fits) for _ in each(progress, f"log-io-fit: {recovery.value}", grid)]
            for recovery in (PipelineRecovery.LOG, PipelineRecovery.SNAPSHOTS)
            for grid in [[*_grid(recovery)]]
            for fits in [pool.imap(fit, grid)]
        )
    for start_s in STARTS_S:
        parts = [_best(found, free_s, start_s) for found in (log, snapshots)]
        near, of = (sum(part) for part in zip(*parts, strict=True))
        yield f"a baseline of {250 + start_s} s: {near} of {of} within 10 %"
