"""The search on disk beside the search in memory: processor time, and memory beyond the program's.

Rule of this file: both explore all of a scope of six million worlds, each in a process of its own.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from rich.table import Table

from benchmarks.stages import each
from model.progress import Progress
from model.registry import protocols
from proofs.explore.explorer import explore
from proofs.explore.search.spill_folder import SpillFolder, about

PROTOCOL, SCOPE = "active-standby:arbitrary", "pairs of a union"
MEMORY = 300 << 20
"""The bytes that the process with the disk may use."""
WARM = 60_000
"""More worlds than the plain search explores, so that all loops are compiled."""


class Spilled(NamedTuple):
    """seconds: of processor time.  resident: more bytes of memory than before.  disk: bytes."""

    worlds: int
    seconds: float
    resident: int
    disk: int


def measure(memory: int | None) -> Spilled:
    """Explore the scope, on disk if a memory is given, in bytes."""
    protocol = protocols()[PROTOCOL]
    (pinned,) = (one for one in protocol.evidence.scopes if one.name == SCOPE)
    with tempfile.TemporaryDirectory() as root:
        folders = [
            SpillFolder(Path(root) / name, about(PROTOCOL, SCOPE)) if memory else None
            for name in ("warm", "measured")
        ]
        explore(protocol, pinned.scope, limit=WARM, memory=memory, spill=folders[0])
        before, started = _resident(), time.process_time()
        found = explore(protocol, pinned.scope, memory=memory, spill=folders[1], reduce=False)
        seconds = time.process_time() - started
        assert found.complete, found.spent
        disk = folders[1].bytes() if folders[1] else 0
    return Spilled(found.states, seconds, _resident() - before, disk)


def _resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def tables(progress: Progress) -> Iterator[Table]:
    shown = Table("search", "worlds", "CPU s", "times", "MiB memory", "times", "MiB disk")
    ways = ("memory", None), ("disk", MEMORY)
    found = []
    for _, given in each(progress, "spilled", ways, lambda way: way[0]):
        with get_context("spawn").Pool(1) as pool:
            found.append(pool.apply(measure, (given,)))
    for (name, _), row in zip(ways, found, strict=True):
        shown.add_row(
            name,
            f"{row.worlds:,}",
            f"{row.seconds:.1f}",
            f"{row.seconds / found[0].seconds:.1f}",
            f"{row.resident >> 20}",
            f"{row.resident / found[0].resident:.2f}",
            f"{row.disk >> 20}",
        )
    yield shown
