"""A fit: how many numbers of the LOG.io paper are within 10 % if all costs are fitted to them.

Rule of this file: the best found by a search, on a grid of costs and then freely; it is no bound.
No experiment uses it, since a cost that is fitted to a number cannot be compared with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from multiprocessing import Pool
from random import Random
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
STARTS_S = range(48, 112, 2)
"""Of the pipeline, which is in the baseline: 300 to 360 s."""
STEPS, WIDTH = 25, 8
"""Of the free search: its steps, and the tries of a step, each near one of the best."""
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


class Best(NamedTuple):
    """The best fit of a protocol for a start of the pipeline, and how many numbers it finds."""

    near: int
    of: int
    fit: Fit


def best(found: Iterable[Fit], free_s: Mapping[str, float]) -> dict[int, Best]:
    """By the start of the pipeline, the first of the best fits."""
    kept: dict[int, Best] = {}
    for one in found:
        for start_s in STARTS_S:
            near, of = count(one, free_s, start_s)
            if start_s not in kept or near > kept[start_s].near:
                kept[start_s] = Best(near, of, one)
    return kept


def near(costs: PipelineCosts, chance: Random) -> PipelineCosts:
    """Other costs: each up to a fifth more or less, and a few events more or less room."""

    def about(one: float) -> float:
        return one * chance.uniform(0.8, 1.25) if chance.random() < 0.5 else one

    room = costs.room
    if room is not None and chance.random() < 0.5:
        room = max(1, room + chance.randint(-6, 6))
    return replace(
        costs,
        assign_s=about(costs.assign_s),
        generate_s=about(costs.generate_s),
        share=about(costs.share),
        restart_s=about(costs.restart_s),
        room=room,
    )


def searched(
    recovery: PipelineRecovery,
    found: Sequence[Fit],
    free_s: Mapping[str, float],
    run_all: Callable[[Sequence[tuple[PipelineRecovery, PipelineCosts]]], Sequence[Fit]],
    steps: int = STEPS,
) -> Iterator[list[Fit]]:
    """The fits of each step of a free search from those of the grid on.  It has a fixed seed."""
    chance, kept = Random(recovery.value), [*found]
    for _ in range(steps):
        top = sorted(best(kept, free_s).values(), key=lambda one: -one.near)
        starts = [chance.choice(top).fit.costs for _ in range(WIDTH)]
        kept = [one.fit for one in top]
        fits = run_all([(recovery, near(costs, chance)) for costs in starts])
        kept += fits
        yield [*fits]


def tables(progress: Progress) -> Iterator[str]:
    """The best count for each start of the pipeline: on the grid, and found by search."""
    free_s = {
        figure.key: run(
            PipelineStudy(_pipeline(figure), PipelineRecovery.NONE, PipelineCosts())
        ).seconds
        for figure in FIGURES
    }
    protocols = (PipelineRecovery.LOG, PipelineRecovery.SNAPSHOTS)
    with Pool(2) as pool:
        log, snapshots = (
            [next(fits) for _ in each(progress, f"log-io-fit: {recovery.value}", grid)]
            for recovery in protocols
            for grid in [[*_grid(recovery)]]
            for fits in [pool.imap(fit, grid)]
        )
        yield from _lines("on the grid", [best(found, free_s) for found in (log, snapshots)])
        for recovery, found in zip(protocols, (log, snapshots), strict=True):
            steps = searched(recovery, [*found], free_s, partial(pool.map, fit))
            for _ in each(progress, f"log-io-fit: {recovery.value}, free", range(STEPS)):
                found += next(steps)
        yield from _lines("found by search", [best(found, free_s) for found in (log, snapshots)])


def _lines(how: str, parts: Sequence[Mapping[int, Best]]) -> Iterator[str]:
    """A line for each start of the pipeline, both protocols together."""
    for start_s in STARTS_S:
        within = sum(part[start_s].near for part in parts)
        of = sum(part[start_s].of for part in parts)
        yield f"fit, {how}, a baseline of {250 + start_s} s: {within} of {of} within 10 %"
