"""The time that a command takes to start: `asif --help` and `asif list`, compared with Python.

`python -m benchmarks.start`
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from rich.console import Console
from rich.table import Table

RUNS = 7


def _seconds(*words: str) -> float:
    """The median of some runs of a fresh process."""
    found = []
    for _ in range(RUNS):
        started = time.perf_counter()
        subprocess.run([sys.executable, *words], check=True, capture_output=True)
        found.append(time.perf_counter() - started)
    return statistics.median(found)


def main() -> None:
    alone = _seconds("-c", "pass")
    table = Table("start", "seconds", "Pythons")
    table.add_row("python -c pass", f"{alone:.2f}", "1.0")
    for words in ("--help", "list", "check --help"):
        took = _seconds("-m", "asif", *words.split())
        table.add_row(f"asif {words}", f"{took:.2f}", f"{took / alone:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
