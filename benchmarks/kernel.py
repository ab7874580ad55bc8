"""The kernel with its whole failure-recovery cycle, compared with plain C that can do less.

Rule of this file: no comparison over several runs; all ways take turns in one run, the fastest turn
of each counts, and only ratios count.  Times are processor times, since other jobs may share the
machine, and nothing here waits or uses threads.

A turn is the second of two calls, as in a campaign: the memory is that of the call before, whatever
the way before it did.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rich.table import Table

from benchmarks.stages import each
from model.cep.numbering import PAIRS
from model.progress import Progress
from sim.experiments.lima import kernel
from sim.experiments.lima import match_oracle as batch
from sim.experiments.lima.cycle import CycleSetting, EventArrays, check

EVENTS = 1_000_000
ROUNDS = 15
PATTERN = (0, 1, 2, 3, 4)
TYPES = 10
SIZE = 1000
SLIDES = (50, 800)
INTERVAL = 8
NEVER = 2**40
"""A save interval that no run reaches."""
FORMER = {50: 1.8, 800: 1.6}
"""The time of the first kernel relative to C, by slide, for comparison with the row RECOVERY."""
PLAIN, RECOVERY = "plain C, no recovery", "kernel, recovery, skip ranges"
SOURCE = Path(__file__).with_name("gem.c")

Count = Callable[[], int]


class KernelRow(NamedTuple):
    """A row of the table.  ratio: to plain C at the same slide; None without gcc."""

    what: str
    slide: int
    matches: int
    seconds: float
    ratio: float | None


def stream(events: int, seed: int = 0) -> EventArrays:
    """A stream with uniform types and one event a time unit on average."""
    draw = np.random.default_rng(seed)
    return EventArrays(
        draw.integers(0, TYPES, events, np.uint8), np.cumsum(draw.integers(0, 3, events))
    )


def rows(progress: Progress, events: int = EVENTS) -> list[KernelRow]:
    """The rows for plain C, the kernel with a failure at 50 %, and the batch oracle, by slide."""
    given = stream(events)
    reference = _reference()
    found = []
    for slide in SLIDES:
        setting = CycleSetting(PATTERN, SIZE, slide, INTERVAL, events // 2)
        work: dict[str, Count] = {}
        if reference is not None:
            work[PLAIN] = _bind(reference, given, slide)
        work |= {
            RECOVERY: _kernel(given, setting),
            "kernel, the same, pairs": _kernel(given, replace(setting, numbering=PAIRS)),
            "kernel, no skip ranges": _kernel(given, replace(setting, skip=False)),
            "kernel, no failure": _kernel(given, replace(setting, fail_after=None)),
            "kernel, no savepoints either": _kernel(
                given, replace(setting, interval=NEVER, fail_after=None)
            ),
            "of each: checking the stream": _check(given, setting),
            "batch oracle": _batch(given, slide),
        }
        found += _measure(work, slide, progress)
    return found


def tables(progress: Progress) -> Iterator[Table]:
    table = Table("what", "slide", "matches", "ms", "M events/s", "to plain C", "formerly")
    for row in rows(progress):
        table.add_row(
            row.what,
            str(row.slide),
            f"{row.matches:,}" if row.matches else "",
            f"{row.seconds * 1e3:.1f}",
            f"{EVENTS / row.seconds / 1e6:.0f}",
            "" if row.ratio is None else f"{row.ratio:.2f}",
            f"{FORMER[row.slide]:.1f}" if row.what == RECOVERY else "",
        )
    yield table


def _measure(work: dict[str, Count], slide: int, progress: Progress) -> list[KernelRow]:
    best = dict.fromkeys(work, float("inf"))
    matches = {name: do() for name, do in work.items()}  # the first call also compiles
    for _ in each(progress, f"kernel: slide {slide}", range(ROUNDS)):
        for name, do in work.items():
            do()
            started = time.thread_time()
            do()
            best[name] = min(best[name], time.thread_time() - started)
    plain = best.get(PLAIN)
    return [
        KernelRow(name, slide, matches[name], seconds, None if plain is None else seconds / plain)
        for name, seconds in best.items()
    ]


def _kernel(given: EventArrays, setting: CycleSetting) -> Count:
    return lambda: kernel.run(given, setting).passed_on


def _check(given: EventArrays, setting: CycleSetting) -> Count:
    def count() -> int:
        check(given, setting)
        return 0

    return count


def _batch(given: EventArrays, slide: int) -> Count:
    return lambda: len(batch.matches(*given, PATTERN, SIZE, slide)[0])


def _reference() -> ctypes.CDLL | None:
    """The compiled gem.c; None if there is no gcc."""
    gcc = shutil.which("gcc")
    if gcc is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "gem.so"
        subprocess.run([gcc, "-O3", "-shared", "-fPIC", "-o", library, SOURCE], check=True)
        loaded = ctypes.CDLL(str(library))
    loaded.matches.restype = ctypes.c_int64
    return loaded


def _bind(reference: ctypes.CDLL, given: EventArrays, slide: int) -> Count:
    steps_of = np.full(TYPES, len(PATTERN))
    steps_of[list(PATTERN)] = np.arange(len(PATTERN))

    def pointer(array: np.ndarray) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    def count() -> int:
        sizes = (ctypes.c_int64(n) for n in (len(PATTERN), SIZE, slide))
        length = ctypes.c_int64(len(given.types))
        types, times = pointer(given.types), pointer(given.times)
        return int(reference.matches(types, times, length, pointer(steps_of), *sizes))

    return count
