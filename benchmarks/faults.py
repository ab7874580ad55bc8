"""The one-line faults in the modules that oracle and protocols share, and how many the tests find.

Rule of this file: the shared modules alone; the boxes and the classifier take as long again, and
`python -m benchmarks.mutation` hunts in them, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType

from benchmarks.mutation.score import judge_all, report
from model.progress import Progress


def tables(progress: Progress) -> Iterator[RenderableType]:
    yield from report(judge_all(["shared"], progress))
