"""Campaigns: an experiment over many seeds, resumed after an interruption.

Rule of this file: it keeps finished runs; it does not know the measurements of an experiment.
Every finished seed is an entry of a journal; a seed whose line is damaged is run again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from model.calls import Execute, one_by_one
from model.machine.journals import journal
from model.progress import Progress, silent
from model.results.experiment import Reproduction
from model.results.table import Row
from sim.experiments.experiment import Experiment, experiments
from sim.experiments.published import judge, left_out, score

Rows: TypeAlias = Sequence[Row]


class LostSeeds(Exception):
    """Seeds without rows, since their processes died: a line for each.  The others are kept."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))


def reproduce(
    experiment: Experiment,
    folder: Path,
    *,
    seeds: int | None = None,
    events: int | None = None,
    execute: Execute[int, Rows] = one_by_one,
    progress: Progress = silent,
    fresh: bool = False,
    force: bool = False,
) -> Reproduction:
    """Run the seeds that are not finished, and compare with the paper.

    folder: this process alone writes there (model.machine.locks).  seeds, events: fewer than
    published, for a first look.  execute: runs the seeds.  fresh: forget finished seeds.  force:
    write over a file that asif did not write.  Raises Invalid if the folder cannot be written to,
    and LostSeeds at the end, if the process of a seed died.
    """
    started = time.perf_counter()
    count, size = seeds or experiment.seeds, events or experiment.events
    file = kept_in(experiment, folder, size)
    lost = []
    with journal(file, "seed", fresh=fresh, force=force) as kept:
        left = [seed for seed in range(count) if seed not in kept.entries]
        with closing(execute(partial(_rows, experiment.name, size), left)) as ended:
            for number, rows, why in chain.from_iterable(ended):
                seed = left[number]
                if rows is None:
                    lost.append(f"{experiment.name}: seed {seed} has no result: {why}")
                    continue
                kept.add([{"seed": seed, "rows": rows}])
                progress(experiment.name, sum(one in kept.entries for one in range(count)), count)
    if lost:
        raise LostSeeds(lost)
    return compared(
        experiment,
        [row for seed in range(count) for row in kept.entries[seed]["rows"]],
        seeds=count,
        events=size,
        resumed=count - len(left),
        seconds=time.perf_counter() - started,
    )


def compared(
    experiment: Experiment,
    rows: Rows,
    *,
    seeds: int,
    events: int,
    resumed: int = 0,
    seconds: float = 0.0,
) -> Reproduction:
    """The rows of all seeds, beside the published numbers."""
    summary = experiment.summary(rows)
    numbers = judge(summary.values, summary.intervals)
    return Reproduction(
        experiment=experiment.name,
        title=experiment.title,
        source=experiment.source,
        parameters=experiment.parameters,
        seeds=seeds,
        events=events,
        as_published=(seeds, events) == (experiment.seeds, experiment.events),
        runs=len(rows),
        resumed=resumed,
        cells=tuple(summary.cells),
        values=summary.values,
        notes=(*summary.notes, *left_out(experiment.name)),
        panels=summary.panels if summary.panels is None else tuple(summary.panels),
        numbers=numbers,
        score=score(numbers),
        seconds=seconds,
    )


def kept_in(experiment: Experiment, folder: Path, events: int) -> Path:
    """The file of the runs; another one for other parameters, so that nothing is mixed or lost."""
    parameters = json.dumps([events, *experiment.parameters], default=str)
    return folder / f"{experiment.name}-{hashlib.sha256(parameters.encode()).hexdigest()[:8]}.jsonl"


def _rows(name: str, events: int, seed: int) -> Rows:
    return experiments()[name].rows(seed, events)
