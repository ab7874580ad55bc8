"""The reduced search beside the whole one: worlds and processor time, over the pinned scopes.

Rule of this file: both searches take turns in one process, scope after scope, and only ratios
count.  What a search learns once for a process (the compiled loops) is learned before.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

from rich.table import Table

from benchmarks.stages import each
from model.evidence import PinnedScope
from model.progress import Progress
from model.protocol import Protocol
from model.registry import modules
from proofs.explore.explorer import FEW, Exploration, explore

LARGE = 100_000
"""Scopes with more worlds have a row of their own."""
ALL = "all"


class _Sums(NamedTuple):
    """Sums over some scopes.  whole, reduced: seconds."""

    scopes: int
    worlds: int
    visited: int
    whole: float
    reduced: float


def tables(progress: Progress, *, every: bool = False) -> Iterator[Table]:
    """every: all quick scopes that a reduced search may change; else each third."""
    scopes = sorted(_scopes(), key=lambda pair: (pair[0].name, pair[1].name))
    chosen = scopes if every else scopes[::3]
    sums: dict[str, _Sums] = {}
    protocol, pinned = max(chosen, key=lambda pair: pair[1].states or 0)
    explore(protocol, pinned.scope)
    for protocol, pinned in each(progress, "reduction", chosen, lambda pair: pair[1].name):
        whole, took = _timed(protocol, pinned, reduce=False)
        fewer, less = _timed(protocol, pinned, reduce=True)
        assert whole.outcome is fewer.outcome
        family = protocol.name.partition(":")[0]
        for name in (family, _size(whole.states), ALL):
            known = sums.get(name, _Sums(0, 0, 0, 0.0, 0.0))
            sums[name] = _Sums(
                known.scopes + 1,
                known.worlds + whole.states,
                known.visited + fewer.states,
                known.whole + took,
                known.reduced + less,
            )
    table = Table("scopes of", "scopes", "worlds", "visited", "times fewer", "times faster")
    for name in sorted(sums, key=lambda name: (name == ALL, " " in name, name)):
        row = sums[name]
        numbers = f"{row.scopes}", f"{row.worlds:,}", f"{row.visited:,}"
        ratios = f"{row.worlds / row.visited:.1f}", f"{row.whole / row.reduced:.2f}"
        table.add_row(name, *numbers, *ratios)
    yield table


def _scopes() -> Iterator[tuple[Protocol, PinnedScope]]:
    for family in modules().values():
        for protocol in (family, *family.variants):
            for pinned in protocol.evidence.scopes:
                if pinned.quick and (pinned.states or 0) > FEW:
                    yield protocol, pinned


def _timed(protocol: Protocol, pinned: PinnedScope, *, reduce: bool) -> tuple[Exploration, float]:
    started = time.process_time()
    found = explore(protocol, pinned.scope, reduce=reduce)
    return found, time.process_time() - started


def _size(worlds: int) -> str:
    return f"more than {LARGE:,} worlds" if worlds > LARGE else f"up to {LARGE:,} worlds"
