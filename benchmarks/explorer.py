"""The explorer and its walks: one function for each kind of work, in a process of its own.

Rule of this file: no tricks in the plain search, which is breadth first over model.world itself;
the explorer's gain is its ratio to the plain search.
"""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from typing import NamedTuple
from unittest import mock

from rich.table import Table

from benchmarks.stages import each
from model.choices import enabled
from model.evidence import PinnedScope
from model.progress import Progress
from model.registry import protocols
from model.system import System
from model.world import World, apply, initial
from proofs.explore import explorer
from proofs.explore.explorer import explore
from proofs.explore.random_walk import walks

SMALL = "two output edges, one event"
PINNED = "every event matches, two crashes"
LARGE = "two output edges, two crashes"
LOADS = "adjacent operators, time windows"
"""A scope with enough worlds for the compiled loops to be loaded."""
WALKS = 20_000


class Measurement(NamedTuple):
    what: str
    amount: int
    unit: str
    seconds: float
    bytes_each: float | None


def find_pinned(name: str) -> PinnedScope:
    return next(s for s in protocols()["upstream-backup"].evidence.scopes if s.name == name)


def measure_explorer(name: str) -> Measurement:
    """The explorer as it is; what loads the compiled loops is not measured."""
    explore(protocols()["upstream-backup"], find_pinned(LOADS).scope)
    return _explore(f"explore: {name}", name)


def measure_plain_explorer(name: str) -> Measurement:
    """The explorer without its compiled loops, as it was before it had any."""
    with mock.patch.object(explorer, "_can_compile", return_value=False):
        return _explore(f"explore, no compiled loops: {name}", name)


def _explore(what: str, name: str) -> Measurement:
    before = _resident()
    found = explore(protocols()["upstream-backup"], find_pinned(name).scope, reduce=False)
    grown = (_resident() - before) / found.states
    return Measurement(what, found.states, "states", found.seconds, grown)


def measure_plain_search(name: str) -> Measurement:
    """Search breadth first over whole World values."""
    before = _resident()
    started = time.perf_counter()
    system = System(protocols()["upstream-backup"], find_pinned(name).scope)
    seen: set[World] = {initial(system)}
    frontier = list(seen)
    while frontier:
        after = {apply(system, world, a) for world in frontier for a in enabled(system, world)}
        frontier = [world for world in after if world not in seen]
        seen.update(frontier)
    seconds = time.perf_counter() - started
    grown = (_resident() - before) / len(seen)
    return Measurement(f"plain search: {name}", len(seen), "states", seconds, grown)


def measure_walks(name: str) -> Measurement:
    protocol = protocols()["upstream-backup"]
    walks(protocol, find_pinned(name).scope, count=2_000, seed=0)
    started = time.perf_counter()
    walks(protocol, find_pinned(name).scope, count=WALKS, seed=1)
    return Measurement(f"walk: {name}", WALKS, "walks", time.perf_counter() - started, None)


def _resident() -> int:
    """The peak resident memory of this process, in bytes."""
    gc.collect()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


TASKS: tuple[tuple[Callable[[str], Measurement], str], ...] = (
    (measure_plain_search, SMALL),
    (measure_explorer, SMALL),
    (measure_explorer, PINNED),
    (measure_plain_explorer, LARGE),
    (measure_explorer, LARGE),
    (measure_walks, SMALL),
)


def tables(progress: Progress) -> Iterator[Table]:
    table = Table("what", "amount", "seconds", "a second", "bytes each")
    for task, name in each(progress, "explorer", TASKS, lambda task: task[1]):
        with get_context("spawn").Pool(1) as pool:  # its memory is its own
            row = pool.apply(task, (name,))
        table.add_row(
            row.what,
            f"{row.amount:,} {row.unit}",
            f"{row.seconds:.2f}",
            f"{row.amount / row.seconds:,.0f}",
            "" if row.bytes_each is None else f"{row.bytes_each:,.0f}",
        )
    yield table
