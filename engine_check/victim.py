"""A job in a process of its own, to be crashed at a named place.

Rule of this file: it knows no engine.  A job runs in a child, which a breakpoint stops at a named
place until the processes in question are killed: so a crash comes exactly where it is planned, on a
machine of any speed, and without sleeping.

A job is a function of (work folder, settings, breakpoints) in a module; settings are JSON.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import psutil

from engine_check.breakpoints import POLL_S, Breakpoints, JsonSettings
from model.machine import children
from model.machine.children import kill_trees, tree, wait_ended


class JobEnded(Exception):
    """The job ended before it came to the breakpoint; the text is the end of its output."""


class Victim:
    """A running job.  Use `start`."""

    def __init__(self, process: subprocess.Popen[bytes], work: Path, breakpoints: Breakpoints):
        self.process, self.work, self.breakpoints = process, work, breakpoints

    def stopped(self, place: str, timeout_s: float = 600) -> int:
        """Wait until the job stops there: the process that stopped.  Raises JobEnded if it ends."""
        mark = Path(self.breakpoints.folder) / f"{place}.stopped"
        self._wait(mark.exists, timeout_s, f"does not come to {place!r}")
        return int(json.loads(mark.read_text())["pid"])

    def family(self) -> list[psutil.Process]:
        """The job's process, and all below it."""
        return [process for root in self._root() for process in tree(root)]

    def go(self, place: str) -> None:
        (Path(self.breakpoints.folder) / f"{place}.go").touch()

    def kill(self) -> float:
        """Send SIGKILL to all processes of the job, at once: seconds since the epoch."""
        killed = kill_trees(self._root())
        self.process.wait()
        wait_ended(killed.processes)
        return killed.at

    def kill_process(self, pid: int) -> float:
        """Send SIGKILL to one process of the job: seconds since the epoch."""
        at = time.time()
        os.kill(pid, signal.SIGKILL)
        return at

    def join(self, timeout_s: float = 900) -> int:
        """Wait for the end of the job and all its processes: its exit code."""
        family = self.family()
        try:
            code: int = self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"the job does not end in {timeout_s:g} s: {self.said()}") from None
        children.end(self.process)
        wait_ended(family)
        return code

    def finish(self) -> None:
        """Wait for the end of the job, which must succeed: RuntimeError if it does not."""
        if (code := self.join()) != 0:
            raise RuntimeError(f"the job ended with exit code {code}: {self.said()}")

    def said(self) -> str:
        """The end of the job's output."""
        return (self.work / "said.log").read_text(errors="replace")[-2000:]

    def _root(self) -> list[psutil.Process]:
        running = self.process.poll() is None  # not yet waited for, so the number is still its own
        return [psutil.Process(self.process.pid)] if running else []

    def _wait(self, ready: Callable[[], bool], timeout_s: float, what: str) -> None:
        until = time.monotonic() + timeout_s
        while not ready():
            if self.process.poll() is not None:
                raise JobEnded(self.said())
            if time.monotonic() > until:
                raise TimeoutError(f"the job {what} in {timeout_s:g} s: {self.said()}")
            time.sleep(POLL_S)


@contextmanager
def start(
    job: str, work: Path, settings: JsonSettings, *, stop_at: Mapping[str, int] | None = None
) -> Iterator[Victim]:
    """Run the job "module:function" in a child; leaving the block kills the rest of it.

    stop_at: places of the job's breakpoints -> how many times each is passed before it stops.
    """
    work.mkdir(parents=True, exist_ok=True)
    number = len(list(work.glob("run-*")))
    folder = work / f"run-{number}"
    folder.mkdir()
    breakpoints = Breakpoints(str(folder), dict(stop_at or {}))
    order = {"job": job, "work": str(work), "settings": settings, "breakpoints": breakpoints}
    command = [sys.executable, "-m", "engine_check.victim", json.dumps(order)]
    process = children.start(command, output=work / "said.log")
    victim = Victim(process, work, breakpoints)
    try:
        yield victim
    finally:
        victim.kill()
        children.end(process)


def _main() -> None:
    """The child: run the job that its argument names."""
    order = json.loads(sys.argv[1])
    module, _, function = order["job"].partition(":")
    job = getattr(import_module(module), function)
    job(Path(order["work"]), order["settings"], Breakpoints(*order["breakpoints"]))


if __name__ == "__main__":
    _main()
