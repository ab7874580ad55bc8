"""The time that a command takes to start: `asif --help` and `asif list`, compared with Python.

Rule of this file: fresh processes, and the median of some runs.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from rich.table import Table

from benchmarks.stages import each
from model.progress import Progress

RUNS = 7


def _seconds(*words: str) -> float:
    """The median of some runs of a fresh process."""
    found = []
    for _ in range(RUNS):
        started = time.perf_counter()
        subprocess.run([sys.executable, *words], check=True, capture_output=True)
        found.append(time.perf_counter() - started)
    return statistics.median(found)


def tables(progress: Progress) -> Iterator[Table]:
    alone = _seconds("-c", "pass")
    table = Table("start", "seconds", "Pythons")
    table.add_row("python -c pass", f"{alone:.2f}", "1.0")
    for words in each(progress, "start", ("--help", "list", "list abs", "check --help")):
        took = _seconds("-m", "asif", *words.split())
        table.add_row(f"asif {words}", f"{took:.2f}", f"{took / alone:.1f}")
    yield table
