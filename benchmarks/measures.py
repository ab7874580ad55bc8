"""What is measured: one function a kind of work, each run in a process of its own.

Rule of this file: the plain search is a breadth-first search over model.world itself; what the
explorer gains is its ratio to that.
"""

from __future__ import annotations

import gc
import resource
import time
from typing import NamedTuple

from model.core import PinnedScope
from model.registry import protocols
from model.system import System
from model.world import World, apply, enabled, initial
from proofs.explore.explorer import explore
from proofs.explore.random_walk import walks

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
