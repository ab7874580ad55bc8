"""Explorer and walkers, each beside a plain way of doing the same work, in one run.

Rule of this file: what counts is the ratio; the machine is shared and noisy.  The plain explorer is
a breadth-first search over model.world itself.
"""

from __future__ import annotations

import gc
import multiprocessing
import resource
import time
from collections.abc import Callable
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from model.core import PinnedScope
from model.registry import protocols
from model.world import System, World, apply, enabled, initial
from proofs.explore import explore
from proofs.walk import walks

SMALL = "two output edges, one event"
PINNED = "every event matches, two crashes"
LARGE = "two output edges, two crashes"
WALKS = 20_000


class Measured(NamedTuple):
    what: str
    amount: int
    unit: str
    seconds: float
    bytes_each: float | None


def pinned(name: str) -> PinnedScope:
    return next(s for s in protocols()["upstream-backup"].scopes if s.name == name)


def explored(name: str) -> Measured:
    before = _resident()
    found = explore(protocols()["upstream-backup"], pinned(name).scope)
    grown = (_resident() - before) / found.states
    return Measured(f"explore: {name}", found.states, "states", found.seconds, grown)


def plain(name: str) -> Measured:
    """Breadth first over whole World values."""
    before = _resident()
    started = time.perf_counter()
    system = System(protocols()["upstream-backup"], pinned(name).scope)
    seen: set[World] = {initial(system)}
    frontier = list(seen)
    while frontier:
        after = {apply(system, world, a) for world in frontier for a in enabled(system, world)}
        frontier = [world for world in after if world not in seen]
        seen.update(frontier)
    seconds = time.perf_counter() - started
    grown = (_resident() - before) / len(seen)
    return Measured(f"plain search: {name}", len(seen), "states", seconds, grown)


def walked(name: str) -> Measured:
    protocol = protocols()["upstream-backup"]
    walks(protocol, pinned(name).scope, count=2_000, seed=0)
    started = time.perf_counter()
    walks(protocol, pinned(name).scope, count=WALKS, seed=1)
    return Measured(f"walk: {name}", WALKS, "walks", time.perf_counter() - started, None)


def _resident() -> int:
    """Peak resident memory of this process, bytes."""
    gc.collect()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _alone(task: Callable[[str], Measured], name: str) -> Measured:
    """In a process of its own, so that memory is its own too."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(task, (name,))


def main() -> None:
    table = Table("what", "amount", "seconds", "a second", "bytes each")
    for task, name in (
        (plain, SMALL),
        (explored, SMALL),
        (explored, PINNED),
        (explored, LARGE),
        (walked, SMALL),
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


if __name__ == "__main__":
    main()
