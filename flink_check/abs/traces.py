"""The output of a run as files that `asif verify-trace` compares.

Rule of this file: rows to CSV with a line of names; nothing is compared.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

from sim.predictions.abs.points import JobRow

REFERENCE, COMMITTED, APPENDED = "reference.csv", "committed.csv", "appended.csv"


def write_traces(
    folder: Path,
    reference: Iterable[JobRow],
    committed: Iterable[JobRow],
    appended: Iterable[JobRow],
) -> None:
    """Write the rows of a run without failures and of both sinks, in their order."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in ((REFERENCE, reference), (COMMITTED, committed), (APPENDED, appended)):
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            lines = csv.writer(file)
            lines.writerow(JobRow._fields)
            lines.writerows(rows)
