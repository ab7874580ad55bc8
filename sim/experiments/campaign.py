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
from typing import Any, TypeAlias

from model.errors import Invalid
from sim.experiments.experiment import Experiment, experiments
from sim.experiments.published import judge, left_out, score

Watch = Callable[[int, int], None]
"""Called repeatedly with (seeds done, of how many)."""
Rows: TypeAlias = list[dict[str, Any]]
Ended: TypeAlias = Generator[Sequence[tuple[int, Rows | None, str]], None, None]
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
) -> dict[str, Any]:
    """Run the seeds that are not finished, and compare with the paper: a JSON-able value.

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
    found = [row for seed in range(count) for row in done[seed]]
    summary = experiment.summary(found)
    numbers = judge(summary["values"])
    return {
        "experiment": experiment.name,
        "title": experiment.title,
        "source": experiment.source,
        "parameters": [p._asdict() for p in experiment.parameters],
        "seeds": count,
        "events": size,
        "as_published": (count, size) == (experiment.seeds, experiment.events),
        "runs": len(found),
        "resumed": count - len(left),
        **summary,
        "notes": [*summary["notes"], *left_out(experiment.name)],
        "numbers": numbers,
        "score": score(numbers),
        "seconds": time.perf_counter() - started,
    }


def kept_in(experiment: Experiment, folder: Path, events: int) -> Path:
    """The file of the runs; another one for other parameters, so that nothing is mixed or lost."""
    parameters = json.dumps([events, *experiment.parameters], default=str)
    return folder / f"{experiment.name}-{hashlib.sha256(parameters.encode()).hexdigest()[:8]}.jsonl"


def _read(file: Path) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    if file.exists():
        for line in file.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
            except json.JSONDecodeError:  # cut short
                continue
            yield entry["seed"], entry["rows"]


def _append(file: Path, seed: int, rows: list[dict[str, Any]]) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        whole = not file.exists() or file.read_bytes()[-1:] in (b"", b"\n")
        with file.open("a", encoding="utf-8") as out:
            line = json.dumps({"seed": seed, "rows": rows})
            out.write(f"{line}\n" if whole else f"\n{line}\n")
    except OSError as error:
        raise Invalid(f"{file}: cannot be written: {error.strerror}") from error


def _run(
    name: str, seeds: list[int], events: int, execute: Execute
) -> Iterator[tuple[int, list[dict[str, Any]]]]:
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


def _rows(name: str, events: int, seed: int) -> list[dict[str, Any]]:
    return experiments()[name].rows(seed, events)
