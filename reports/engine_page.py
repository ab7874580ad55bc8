"""The results in the pages of engines, from the files that `asif spark --json` and `asif flink
--json` have written.

Rule of this file: rows of tables alone; no figure is written here, and none is read elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from model.results.engine import CountSteps, EngineCheck
from model.results.plain import read
from reports.findings import escaped
from reports.results import spark
from reports.results.facts import facts_table

RESULTS = Path(__file__).parent.parent / "docs" / "results"
"""The files of an engine are in the folder with its name."""
CHECKS = "check", "profile", "cases", "as predicted", "crashes", "took", "day"
MACHINE = "Java", "load"
COUNTS = "check", "profile", "case", "count", "predicted", "seen"


def kept(folder: Path) -> list[EngineCheck]:
    """The results in the files of an engine's folder: those of the quick profile first, by name.
    Raises Invalid for a file that holds something else."""
    files = sorted(folder.glob("*.json"))
    found = [
        one
        for file in files
        for one in read(list[EngineCheck], json.loads(file.read_text("utf-8")), file.name)
    ]
    return sorted(found, key=lambda one: (one.profile != "quick", one.check))


def lines(results: Sequence[EngineCheck], engine: str) -> Iterator[str]:
    """The lines of the tables that have rows: the checks, the cases of some, their predicted times,
    the shares of their outages' parts, their counts over time.  engine: its name in a sentence."""
    yield from _table((*CHECKS, engine, *MACHINE), map(_check, results))
    for one in results:
        yield from _cases(one)
    times = [
        (f"`{one.check}`", one.profile, *row) for one in results for row in spark.error_rows(one)
    ]
    if times:
        yield "**Predicted times**:"
        yield ""
        yield from _table(("check", "profile", *spark.ERRORS), times)
    shares = [
        (f"`{one.check}`", one.profile, *row) for one in results for row in spark.share_rows(one)
    ]
    if shares:
        yield "**What varies in an outage**, among kills with the same settings:"
        yield ""
        yield from _table(("check", "profile", *spark.SHARES), shares)
    counts = [row for one in results for row in _counts(one)]
    if counts:
        yield "**Counts over time**, in seconds since the kill:"
        yield ""
        yield from _table(COUNTS, counts)


def _cases(one: EngineCheck) -> Iterator[str]:
    """The cases of a check that have the same facts."""
    table = facts_table(one)
    if table is not None:
        yield f"**The cases of `{one.check}`**, {one.profile} profile:"
        yield ""
        head = ("case", "killed or damaged", *table.columns, "")
        rows = ((case, places, *cells, sign) for case, places, sign, cells in table.rows)
        yield from _table(head, (tuple(map(escaped, row)) for row in rows))


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
