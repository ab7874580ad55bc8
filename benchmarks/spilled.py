"""The search on disk beside the search in memory: processor time, and memory beyond the program's.

`python -m benchmarks.spilled [MIB]` explores a scope of six million worlds both ways, one after the
other; MIB: the memory that the process with the disk may use (300).
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from model.registry import protocols
from proofs.explore.explorer import explore
from proofs.explore.search.spill_folder import SpillFolder, about

PROTOCOL, SCOPE = "active-standby:arbitrary", "pairs of a union"
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


def main() -> None:
    memory = int(sys.argv[1]) if sys.argv[1:] else 300
    shown = Table("search", "worlds", "s (CPU)", "a second", "MiB of memory", "MiB on disk")
    rows = []
    for name, given in (("in memory", None), (f"on disk, {memory} MiB", memory << 20)):
        with get_context("spawn").Pool(1) as pool:
            found = pool.apply(measure, (given,))
        rows.append(found)
        shown.add_row(
            name,
            f"{found.worlds:,}",
            f"{found.seconds:.1f}",
            f"{found.worlds / found.seconds:,.0f}",
            f"{found.resident >> 20}",
            f"{found.disk >> 20}",
        )
    here, there = rows
    Console().print(shown)
    print(f"on disk: {there.seconds / here.seconds:.1f} times the time")
    print(f"on disk: {there.resident / here.resident:.2f} of the memory")


if __name__ == "__main__":
    main()
