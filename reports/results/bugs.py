"""The bugs of real engines as rows of tables, for the report.

Rule of this file: words only; the verdicts are those of results, the symptoms those of the page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from model.results.bugs import BugResult
from model.results.verdict import ScopeCounterexample, Verdict
from reports import engines

FOLDER = "docs/how-to/engines"
"""The place of the models in the project."""


class ShownBug(NamedTuple):
    """flawed, fixed: the verdicts in words.  run: of the flawed form."""

    result: BugResult
    flawed: str
    fixed: str
    run: ScopeCounterexample | None


class ShownSymptom(NamedTuple):
    """files: the bugs that show it, of those in the results.  variants: built-in protocols."""

    seen: str
    files: tuple[str, ...]
    variants: tuple[str, ...]


class ShownBugs(NamedTuple):
    """expected, forms: how many forms are as pinned, and how many there are."""

    rows: tuple[ShownBug, ...]
    symptoms: tuple[ShownSymptom, ...]
    expected: int
    forms: int
    states: int
    folder: str = FOLDER


def shown(results: Sequence[BugResult]) -> ShownBugs:
    forms = [form for one in results for form in one.forms]
    return ShownBugs(
        tuple(map(_row, results)),
        tuple(_symptoms({one.file for one in results})),
        sum(form.expected for form in forms),
        len(forms),
        sum(form.states for form in forms),
    )


def _row(one: BugResult) -> ShownBug:
    flawed = one.flawed
    run = flawed.shortest if flawed else None
    words = (
        f"refuted in {run.steps} steps, {_left(one, flawed)}" if flawed and run else "not refuted"
    )
    return ShownBug(one, words, f"{one.fixed.outcome.value}, {_left(one, one.fixed)}", run)


def _left(one: BugResult, form: Verdict) -> str:
    """The weakest guarantee that was found; without a stream there is none to give."""
    if not one.stream:
        return "no stream"
    return max(form.found.values()).word


def _symptoms(files: set[str]) -> Iterator[ShownSymptom]:
    for seen, some, variants in engines.SYMPTOMS:
        if here := tuple(file for file in some if file in files):
            yield ShownSymptom(seen, here, variants)


def summary(results: Sequence[BugResult]) -> str:
    """A line about all bugs."""
    found = shown(results)
    if not results:
        return f"bugs of real engines: none here; they are in {FOLDER} of the project"
    return (
        f"bugs of real engines: {found.expected} of {found.forms} forms of {len(results)} models "
        f"are as expected, in {found.states:,} worlds"
    )
