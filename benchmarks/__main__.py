"""The costs of the drivers, each compared with a plain way to do the same work, in one run.

Rule of this file: no absolute limit; only ratios count, since machines are shared and noisy.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable

from rich.console import Console
from rich.table import Table

from benchmarks import attack, kernel, log_io, start, sweep, timed, trace
from benchmarks.measures import (
    LARGE,
    PINNED,
    SMALL,
    Measurement,
    measure_explorer,
    measure_plain_explorer,
    measure_plain_search,
    measure_walks,
)
from benchmarks.mutation import score


def _alone(task: Callable[[str], Measurement], name: str) -> Measurement:
    """Run the task in a process of its own, so that its memory is its own too."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(task, (name,))


def main() -> None:
    table = Table("what", "amount", "seconds", "a second", "bytes each")
    for task, name in (
        (measure_plain_search, SMALL),
        (measure_explorer, SMALL),
        (measure_explorer, PINNED),
        (measure_plain_explorer, LARGE),
        (measure_explorer, LARGE),
        (measure_walks, SMALL),
    ):
        row = _alone(task, name)
        table.add_row(
            row.what,
            f"{row.amount:,} {row.unit}",
            f"{row.seconds:.2f}",
            f"{row.amount / row.seconds:,.0f}",
            "" if row.bytes_each is None else f"{row.bytes_each:,.0f}",
        )
    Console().print(table)
    attack.main()
    start.main()
    timed.main()
    kernel.main()
    sweep.main()
    trace.main()
    log_io.main([])
    score.main(["shared"])  # the boxes and the classifier take as long again


if __name__ == "__main__":
    main()
