"""How the number of worlds grows with events, operators and crashes, and the cost of a world.

Rule of this file: it renews the table in docs/explanation/limits.md; the sizes there do not depend
on the machine, and the speed is printed.
"""

from __future__ import annotations

import resource
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from rich.table import Table

from benchmarks.stages import each
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows
from model.core import Scope
from model.graph import chain
from model.parts import over_words
from model.progress import Progress
from model.registry import protocols
from proofs.explore.explorer import explore
from reports.docs import between

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "limits.md"
LIMIT = 40_000_000
WARM = 60_000
"""More worlds than the plain search explores, so that the compiled one is loaded."""


class Size(NamedTuple):
    operators: int
    events: int
    crashes: int


SIZES = [
    *(Size(1, events, 1) for events in (1, 2, 3, 4, 5)),
    *(Size(1, 3, crashes) for crashes in (0, 2, 3)),
    *(Size(operators, 2, 1) for operators in (2, 3)),
    *(Size(operators, 1, 2) for operators in (2, 3, 4)),
    Size(2, 2, 2),
]


class Growth(NamedTuple):
    worlds: int
    complete: bool
    transitions: int
    depth: int
    seconds: float
    resident: int
    """More bytes of memory than before."""


def scope(size: Size) -> Scope:
    """A chain of operators that match every event, in windows of two that overlap."""
    windows = CountWindows(2, 1)
    first, later = Operator(sequence("a"), windows), Operator(sequence("match"), windows)
    graph = chain(("A", first), *((name, later) for name in "BCD"[: size.operators - 1]))
    return over_words(graph, size.events, "a", crashes=size.crashes)


def measure(size: Size) -> Growth:
    protocol = protocols()["upstream-backup"]
    explore(protocol, scope(Size(1, 3, 2)), limit=WARM)
    before = _peak()
    found = explore(protocol, scope(size), limit=LIMIT)
    return Growth(
        found.states,
        found.complete,
        found.transitions,
        found.depth,
        found.seconds,
        _peak() - before,
    )


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def tables(progress: Progress) -> Iterator[Table]:
    shown = Table("operators", "events", "crashes", "worlds", "seconds", "a second", "bytes each")
    rows = [
        "| operators | events | crashes | worlds | actions | depth |",
        "|---|---|---|---|---|---|",
    ]
    for size in each(progress, "growth", SIZES, lambda size: " ".join(map(str, size))):
        with get_context("spawn").Pool(1) as pool:  # its memory is its own
            found = pool.apply(measure, (size,))
        more = "" if found.complete else "more than "
        shown.add_row(
            *map(str, size),
            f"{more}{found.worlds:,}",
            f"{found.seconds:.1f}",
            f"{found.worlds / found.seconds:,.0f}",
            f"{found.resident / found.worlds:.0f}" if found.worlds > 1_000_000 else "",
        )
        cells = (*map(str, size), f"{more}{found.worlds:,}", f"{found.transitions:,}")
        rows.append(f"| {' | '.join((*cells, str(found.depth)))} |")
    PAGE.write_text(between(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
    yield shown
