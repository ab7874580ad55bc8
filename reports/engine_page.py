"""The results in docs/reference/spark.md, from the files that `asif spark --json` has written.

Rule of this file: rows of tables alone; no figure is written here, and none is read elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from model.results.engine import CountSteps, EngineCheck
from model.results.plain import read
from reports.results import spark

RESULTS = Path(__file__).parent.parent / "docs" / "results" / "spark"
CHECKS = (
    *("check", "profile", "cases", "as predicted", "crashes", "took"),
    *("day", "Spark", "Java", "load"),
)
COUNTS = "check", "profile", "case", "count", "predicted", "seen"


def kept(folder: Path = RESULTS) -> list[EngineCheck]:
    """The results in the files of the folder: those of the quick profile first, by name.  Raises
    Invalid for a file that holds something else."""
    files = sorted(folder.glob("*.json"))
    found = [
        one
        for file in files
        for one in read(list[EngineCheck], json.loads(file.read_text("utf-8")), file.name)
    ]
    return sorted(found, key=lambda one: (one.profile != "quick", one.check))


def lines(results: Sequence[EngineCheck]) -> Iterator[str]:
    """The lines of three tables: the checks, their predicted times, their counts over time."""
    yield from _table(CHECKS, map(_check, results))
    yield "**Predicted times**:"
    yield ""
    times = (
        (f"`{one.check}`", one.profile, *row) for one in results for row in spark.error_rows(one)
    )
    yield from _table(("check", "profile", *spark.ERRORS), times)
    yield "**Counts over time**, in seconds since the kill:"
    yield ""
    yield from _table(COUNTS, (row for one in results for row in _counts(one)))


def _check(one: EngineCheck) -> tuple[str, ...]:
    where = one.machine
    return (
        f"`{one.check}`",
        one.profile,
        str(len(one.cases)),
        str(sum(case.agrees for case in one.cases)),
        str(sum(len(case.crashed) for case in one.cases) or ""),
        f"{one.seconds:,.0f} s",
        where.day,
        where.version,
        where.java,
        f"{where.load} on {where.cores} cores",
    )


def _counts(one: EngineCheck) -> Iterator[tuple[str, ...]]:
    for case in one.cases:
        for what, (predicted, seen) in case.over_time.items():
            yield f"`{one.check}`", one.profile, case.name, what, _steps(predicted), _steps(seen)


def _steps(steps: CountSteps) -> str:
    """The moments at which a count changes, as `1 at 6.0 s`."""
    return ", ".join(f"{count} at {at:.1f} s" for at, count in steps)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""
