"""The timed driver, compared with other ways to simulate the same chain of servers, in one run; and
`asif simulate`, compared with a plain SimPy program of the same pipeline.

Rule of this file: no absolute limit; only the ratio to SimPy's process-and-Store pattern counts.
Machines are shared and noisy, so every way takes several turns and the fastest counts.
Ciw is skipped if it is not installed.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Iterator

from rich.table import Table

from benchmarks import pipeline
from benchmarks.relay import WAYS, driver
from benchmarks.stages import each
from model.progress import Progress

OPERATORS = (1, 3, 5)
TUPLES = 30_000
TURNS = 5
SIZES = (10_000, 100_000, 1_000_000)
CIW_TUPLES = 5_000
STORE, HEAP, OURS, STEPS = "process and Store", "heapq", "our driver", "protocol steps alone"
LEAST = f"{HEAP} and {STEPS}"
"""The least that a driver in Python costs if it runs a protocol."""


def once(way: str, tuples: int, operators: int) -> float:
    """The processor time of one run, in microseconds a tuple."""
    gc.collect()
    started = time.process_time()
    WAYS[way](tuples, operators)
    return (time.process_time() - started) / tuples * 1e6


def side_by_side(progress: Progress) -> Table:
    table = Table("µs a tuple", *(f"{operators} operators" for operators in OPERATORS), "of Store")
    best = {way: [float("inf")] * len(OPERATORS) for way in WAYS}
    for _ in each(progress, "timed: turns", range(TURNS)):
        for way in list(best):
            for at, operators in enumerate(OPERATORS):
                try:
                    took = once(way, CIW_TUPLES if way == "Ciw" else TUPLES, operators)
                except ImportError:
                    del best[way]
                    break
                best[way][at] = min(best[way][at], took)
    best[LEAST] = [sum(both) for both in zip(best[HEAP], best[STEPS], strict=True)]
    for way, row in best.items():
        shares = (took / store for took, store in zip(row, best[STORE], strict=True))
        table.add_row(
            way, *(f"{took:.2f}" for took in row), " ".join(f"{share:.2f}" for share in shares)
        )
    return table


def growth(progress: Progress) -> Table:
    """The costs a tuple and the peak memory, as the number of tuples grows."""
    table = Table("our driver, 3 operators", "µs a tuple", "peak MB beyond the input")
    for tuples in each(progress, "timed: tuples", SIZES):
        took = once(OURS, tuples, 3)
        tracemalloc.start()
        driver(tuples, 3)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        table.add_row(f"{tuples:,} tuples", f"{took:.2f}", f"{peak / 1e6:.2f}")
    return table


def tables(progress: Progress) -> Iterator[Table]:
    yield side_by_side(progress)
    yield growth(progress)
    yield from pipeline.table(progress)
