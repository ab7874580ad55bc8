"""The bugs of real engines, checked: each form of each model explored.

Rule of this file: the models are those of reports.engines, with their pins; none is chosen here.
"""

from __future__ import annotations

from collections.abc import Iterator

from model.graph import NO_GRAPH
from model.results.bugs import BugResult
from proofs.explore.verdict import verdict
from reports import engines


def check(bug: engines.Bug) -> BugResult:
    """The verdicts on all forms of a bug, without random runs.  Raises Invalid for no file."""
    fixed = engines.protocol(bug.file)
    return BugResult(
        file=bug.file,
        report=bug.report,
        engine=bug.engine,
        symptom=bug.symptom,
        about=engines.about(bug.file),
        stream=any(one.scope.graph != NO_GRAPH for one in fixed.evidence.scopes),
        forms=tuple(verdict(one, walks=0, examples=0) for one in (fixed, *fixed.variants)),
    )


def check_all() -> Iterator[BugResult]:
    """All bugs; none where the models are not installed."""
    if engines.FOLDER.is_dir():
        yield from map(check, engines.BUGS)
