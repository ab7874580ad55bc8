"""Campaigns: an experiment over many seeds, resumed after an interruption.

Rule of this file: it keeps finished runs; it does not know the measurements of an experiment.
Every finished seed is a line of a file; a seed whose line was cut short is run again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from model.calls import Execute, one_by_one
from model.errors import Invalid
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
) -> Reproduction:
    """Run the seeds that are not finished, and compare with the paper.

    seeds, events: fewer than published, for a first look.  execute: runs the seeds.  Raises Invalid
    if the folder cannot be written to, and LostSeeds at the end, if the process of a seed died.
    """
    started = time.perf_counter()
    count, size = seeds or experiment.seeds, events or experiment.events
    file = kept_in(experiment, folder, size)
    done = dict(_read(file))
    left = [seed for seed in range(count) if seed not in done]
    lost = []
    with closing(execute(partial(_rows, experiment.name, size), left)) as ended:
        for number, rows, why in chain.from_iterable(ended):
            seed = left[number]
            if rows is None:
                lost.append(f"{experiment.name}: seed {seed} has no result: {why}")
                continue
            _append(file, seed, rows)
            done[seed] = rows
            progress(experiment.name, sum(seed in done for seed in range(count)), count)
    if lost:
        raise LostSeeds(lost)
    return compared(
        experiment,
        [row for seed in range(count) for row in done[seed]],
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


def _read(file: Path) -> Iterator[tuple[int, Rows]]:
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:  # cut short
                continue
            yield entry["seed"], entry["rows"]


def _append(file: Path, seed: int, rows: Rows) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        whole = not file.exists() or file.read_bytes()[-1:] in (b"", b"\n")
        with file.open("a", encoding="utf-8") as out:
            line = json.dumps({"seed": seed, "rows": rows})
            out.write(f"{line}\n" if whole else f"\n{line}\n")
    except OSError as error:
        raise Invalid(f"{file}: cannot be written: {error.strerror}") from error


def _rows(name: str, events: int, seed: int) -> Rows:
    return experiments()[name].rows(seed, events)
