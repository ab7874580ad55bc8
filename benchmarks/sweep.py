"""A sweep's calls on Spark, compared with a process pool in one run: the overhead of Spark.

Rule of this file: no cold start in the ratio; when both are warm, they take turns, and the fastest
turn of each counts.  A call is busy for 50 ms by the clock, so that other jobs on the machine slow
neither down.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from rich.table import Table

from benchmarks.stages import each
from model.progress import Progress
from spark_check.runtime.parallel_calls import call_all
from spark_check.runtime.session import session

WORKERS = 2
CALLS = 200
CALL_S = 0.05
TURNS = 4


def busy(number: int) -> int:
    """Be busy for the time of one call."""
    until = time.perf_counter() + CALL_S
    while time.perf_counter() < until:
        pass
    return number


def took(work: Callable[[], int]) -> float:
    started = time.perf_counter()
    assert work() == CALLS
    return time.perf_counter() - started


def tables(progress: Progress) -> Iterator[Table]:
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(WORKERS, context) as pool, tempfile.TemporaryDirectory() as work:

        def run_in_pool() -> int:
            return sum(1 for _ in pool.map(busy, range(CALLS)))

        run_in_pool()
        started = time.perf_counter()
        with session(Path(work), master=f"local[{WORKERS}]") as spark:

            def run_on_spark() -> int:
                return sum(len(part) for part in call_all(spark, busy, range(CALLS)))

            ready_s = time.perf_counter() - started
            first_s = took(run_on_spark)
            turns = [
                (took(run_in_pool), took(run_on_spark))
                for _ in each(progress, "sweep", range(TURNS))
            ]
    pool_s, spark_s = (min(column) for column in zip(*turns, strict=True))
    table = Table(f"{CALLS} calls of {CALL_S * 1000:.0f} ms, {WORKERS} workers", "seconds", "ratio")
    table.add_row("no overhead", f"{CALLS * CALL_S / WORKERS:.2f}", "")
    table.add_row("process pool", f"{pool_s:.2f}", "1.00")
    table.add_row("Spark", f"{spark_s:.2f}", f"{spark_s / pool_s:.2f}")
    table.add_row("Spark, each turn", " ".join(f"{s:.2f}" for _, s in turns), "")
    table.add_row("pool, each turn", " ".join(f"{p:.2f}" for p, _ in turns), "")
    table.add_row("once: a session's start", f"{ready_s:.2f}", "")
    table.add_row("once: its first turn takes longer by", f"{first_s - spark_s:.2f}", "")
    yield table
