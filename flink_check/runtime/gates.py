"""Gates: named points at which a process of Flink waits while a file says so.

Rule of this file: files of one folder; java/gates/Gate.java is the other side.

While the file `hold-POINT` exists, a thread that comes to the point adds a line to `at-POINT` and
waits until the first file is gone, or until its process is killed.  The points of the job and of
the file system `gate://` always exist (POINTS); further ones are given to `cluster(points=...)`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from flink_check.runtime.waiting import wait_for

POINTS = {
    "snapshot": "the counting operator has the marker, and has taken no snapshot",
    "restore": "the counting operator gets its state, or an empty one",
    "informed": "the counting operator learns that the checkpoint is complete",
    "state": "a file of state is written, and not closed",
    "before-complete": "all tasks have acknowledged, and _metadata is not there",
    "after-complete": "_metadata is there, and nobody knows of it",
    "before-commit": "the checkpoint is complete, and the sink has not committed a file",
    "after-commit": "the sink has committed a file",
}
"""Gates that need no agent -> where a thread waits."""


class GateStop(NamedTuple):
    """A thread that came to a held point.

    at: seconds since the epoch.  pid: its process.  place: the checkpoint, the file, or the name of
    the thread.
    """

    at: float
    pid: int
    place: str


class Gates:
    """The gates of a cluster.  folder: of their files.  watch: see `wait_for`."""

    def __init__(self, folder: Path, watch: Callable[[], None] = lambda: None) -> None:
        self._folder, self._watch = folder, watch

    def hold(self, point: str) -> None:
        """Hold whoever comes to the point from now on; earlier stops are forgotten."""
        (self._folder / f"at-{point}").unlink(missing_ok=True)
        (self._folder / f"hold-{point}").touch()

    def stops(self, point: str) -> tuple[GateStop, ...]:
        """The threads that have come to the point since `hold`, in order."""
        path = self._folder / f"at-{point}"
        if not path.exists():
            return ()
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        return tuple(read_stop(line) for line in lines if line.endswith("\n"))

    def stopped(self, point: str, timeout_s: float = 60) -> GateStop:
        """The first thread at the held point, once there is one.  Raises TimeoutError."""
        found = wait_for(
            lambda: self.stops(point), f"nobody comes to {point!r}", timeout_s, self._watch
        )
        return found[0]

    def release(self, point: str) -> None:
        """Let all go on that wait at the point, and all that come later."""
        (self._folder / f"hold-{point}").unlink(missing_ok=True)

    def release_all(self) -> None:
        for path in self._folder.glob("hold-*"):
            path.unlink(missing_ok=True)


def read_stop(line: str) -> GateStop:
    """A line of a file at-POINT: milliseconds, process, place."""
    at, pid, place = line.rstrip("\n").split(" ", 2)
    return GateStop(int(at) / 1000, int(pid), place)
