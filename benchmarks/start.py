"""The time that a command takes to start: `asif --help` and `asif list`, compared with Python.

Rule of this file: fresh processes that take turns, and their processor time; the median counts.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator
from resource import RUSAGE_CHILDREN, getrusage

from rich.table import Table

from benchmarks.stages import each
from model.progress import Progress

RUNS = 7
COMMANDS = {
    "python -c pass": ("-c", "pass"),
    **{
        f"asif {words}": ("-m", "asif", *words.split())
        for words in ("--help", "list", "list abs", "check --help")
    },
}


def _seconds(words: tuple[str, ...]) -> float:
    """The processor time of a fresh process."""
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], check=True, capture_output=True)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def tables(progress: Progress) -> Iterator[Table]:
    found = [
        [_seconds(words) for words in COMMANDS.values()]
        for _ in each(progress, "start", range(RUNS))
    ]
    medians = [statistics.median(column) for column in zip(*found, strict=True)]
    table = Table("start", "seconds", "Pythons")
    for name, took in zip(COMMANDS, medians, strict=True):
        table.add_row(name, f"{took:.2f}", f"{took / medians[0]:.1f}")
    yield table
