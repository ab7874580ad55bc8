"""How the number of worlds grows with events, operators and crashes: all worlds, and those that a
reduced search visits.

Rule of this file: it renews the tables in docs/explanation/limits.md; the numbers there do not
depend on the machine, and the speed is printed.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator, Mapping
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple
from unittest import mock

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
from proofs.explore import explorer
from reports.docs import between

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "limits.md"
LIMIT = 8_000_000
WARM = 60_000
"""More worlds than the plain search explores, so that the compiled one is loaded."""


class Size(NamedTuple):
    operators: int
    events: int
    crashes: int


SIZES = [
    *(Size(1, events, 1) for events in (1, 2, 3, 4, 5, 6, 7)),
    *(Size(1, events, 2) for events in (3, 4, 5)),
    *(Size(1, 3, crashes) for crashes in (0, 3, 4)),
    *(Size(operators, 2, 1) for operators in (2, 3)),
    Size(2, 3, 1),
    *(Size(operators, 1, 2) for operators in (2, 3, 4)),
    *(Size(2, 2, crashes) for crashes in (2, 3)),
]
AXES = {"an event": Size(0, 1, 0), "a crash": Size(0, 0, 1), "an operator": Size(1, 0, 0)}
LEAST = 1_000
"""Fewer worlds say little about the growth."""


class Growth(NamedTuple):
    """A search.  processor: its seconds.  resident: more bytes of memory than before."""

    worlds: int
    complete: bool
    quiescent: int
    processor: float
    resident: int


Grown = Mapping[Size, tuple[Growth, Growth]]
"""The whole search of each size, and the reduced one."""


def scope(size: Size) -> Scope:
    """A chain of operators that match every event, in windows of two that overlap."""
    windows = CountWindows(2, 1)
    first, later = Operator(sequence("a"), windows), Operator(sequence("match"), windows)
    graph = chain(("A", first), *((name, later) for name in "BCD"[: size.operators - 1]))
    return over_words(graph, size.events, "a", crashes=size.crashes)


def measure(size: Size, reduce: bool) -> Growth:
    """A whole or a reduced search; the latter also where there are so few worlds that `explore`
    would see them all."""
    protocol = protocols()["upstream-backup"]
    explorer.explore(protocol, scope(Size(1, 3, 2)), limit=WARM, reduce=reduce)
    before, started = _peak(), time.process_time()
    with mock.patch.multiple(explorer, FEW=int(reduce), PAYS=0):
        found = explorer.explore(protocol, scope(size), limit=LIMIT, reduce=reduce)
    return Growth(
        found.states,
        found.complete,
        found.quiescent,
        time.process_time() - started,
        _peak() - before,
    )


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def tables(progress: Progress) -> Iterator[Table]:
    shown = Table("size", "worlds", "seconds", "M/s", "bytes", "visited", "seconds")
    grown: dict[Size, tuple[Growth, Growth]] = {}
    for size in each(progress, "growth", SIZES, lambda size: " ".join(map(str, size))):
        with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:  # its memory is its own
            whole, reduced = (pool.apply(measure, (size, reduce), {}) for reduce in (False, True))
        grown[size] = whole, reduced
        shown.add_row(
            " ".join(map(str, size)),
            *_speed(whole),
            f"{whole.worlds / whole.processor / 1e6:.2f}",
            f"{whole.resident / whole.worlds:.0f}" if whole.worlds > 1_000_000 else "",
            *_speed(reduced),
        )
    lines = [*worlds_table(grown), "", *factors_table(grown), ""]
    PAGE.write_text(between(PAGE.read_text(encoding="utf-8"), lines), encoding="utf-8")
    yield shown


def _speed(found: Growth) -> tuple[str, str]:
    return f"{'' if found.complete else '>'}{found.worlds:,}", f"{found.processor:.1f}"


def worlds_table(grown: Grown) -> Iterator[str]:
    """The lines of a table of all worlds and of those that the reduced search visits."""
    yield "| operators | events | crashes | worlds | visited | worlds / visited | at rest |"
    yield "|---|---|---|---|---|---|---|"
    for size, (whole, reduced) in grown.items():
        ratio = f"{whole.worlds / reduced.worlds:.1f}" if reduced.complete else ""
        if ratio and not whole.complete:
            ratio = f"more than {ratio}"
        rest = f"{reduced.quiescent:,}" if reduced.complete else ""
        cells = (*map(str, size), _worlds(whole), _worlds(reduced), ratio, rest)
        yield f"| {' | '.join(cells)} |"


def factors_table(grown: Grown) -> Iterator[str]:
    """The lines of a table of how many times more worlds there are with one event, crash or
    operator more."""
    yield "| one more | from | to | times as many worlds | times as many visited |"
    yield "|---|---|---|---|---|"
    for axis, more in AXES.items():
        for size, searches in grown.items():
            next_ = Size(*(a + b for a, b in zip(size, more, strict=True)))
            if next_ in grown and grown[next_][1].complete and searches[0].worlds >= LEAST:
                pairs = zip(searches, grown[next_], strict=True)
                factors = (_factor(*pair) for pair in pairs)
                yield f"| {axis} | {_size(size)} | {_size(next_)} | {' | '.join(factors)} |"


def _factor(before: Growth, after: Growth) -> str:
    both = before.complete and after.complete
    return f"{after.worlds / before.worlds:.1f}" if both else ""


def _size(size: Size) -> str:
    return f"({', '.join(map(str, size))})"


def _worlds(found: Growth) -> str:
    return f"{found.worlds:,}" if found.complete else f"more than {found.worlds:,}"
