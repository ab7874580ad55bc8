"""Campaigns: an experiment over many seeds, on several processes, resumed after an interruption.

Rule of this file: it keeps finished runs, and knows nothing of what an experiment measures.  Every
finished seed is a line of a file; a seed whose line was cut short is run again.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from model.calls import EndedCall
from model.errors import Invalid
from model.results.experiment import Reproduction
from model.results.table import Row
from sim.experiments.experiment import Experiment, experiments
from sim.experiments.published import judge, left_out, score

Watch = Callable[[int, int], None]
"""Called repeatedly with (seeds done, of how many)."""
Rows: TypeAlias = Sequence[Row]
Ended: TypeAlias = Generator[Sequence[EndedCall[Rows]], None, None]
"""Some seeds at a time: (place in the list, rows or None, the reason for None)."""
Execute: TypeAlias = Callable[[Callable[[int], Rows], Sequence[int]], Ended]
WORKERS = 2


def reproduce(
    experiment: Experiment,
    folder: Path,
    *,
    seeds: int | None = None,
    events: int | None = None,
    execute: Execute | None = None,
    watch: Watch | None = None,
) -> Reproduction:
    """Run the seeds that are not finished, and compare with the paper.

    seeds, events: fewer than published, for a first look.  execute: runs the seeds, on Spark say;
    default: in processes of this machine.  Raises Invalid if the folder cannot be written to, or a
    seed has no result.
    """
    started = time.perf_counter()
    count, size = seeds or experiment.seeds, events or experiment.events
    file = kept_in(experiment, folder, size)
    done = dict(_read(file))
    left = [seed for seed in range(count) if seed not in done]
    for seed, rows in _run(experiment.name, left, size, execute or _in_processes):
        _append(file, seed, rows)
        done[seed] = rows
        if watch:
            watch(sum(seed in done for seed in range(count)), count)
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
    numbers = judge(summary.values)
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


def _run(name: str, seeds: list[int], events: int, execute: Execute) -> Iterator[tuple[int, Rows]]:
    with closing(execute(partial(_rows, name, events), seeds)) as found:
        for number, rows, why in chain.from_iterable(found):
            if rows is None:
                raise Invalid(f"{name}: seed {seeds[number]} has no result: {why}")
            yield seeds[number], rows


def one_by_one(call: Callable[[int], Rows], seeds: Sequence[int]) -> Ended:
    """An Execute in this process: for several experiments at once, or few seeds."""
    for number, seed in enumerate(seeds):
        yield [(number, call(seed), "")]


def _in_processes(call: Callable[[int], Rows], seeds: Sequence[int]) -> Ended:
    if not seeds:
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(WORKERS, len(seeds)), mp_context=context) as pool:
        running = {pool.submit(call, seed): number for number, seed in enumerate(seeds)}
        try:
            for future in as_completed(running):
                yield [(running[future], future.result(), "")]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _rows(name: str, events: int, seed: int) -> Rows:
    return experiments()[name].rows(seed, events)
