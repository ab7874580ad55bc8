"""A Spark job in a process of its own, to be crashed: where, and which of its processes.

Rule of this file: nothing else kills.  A job runs in a child, which a breakpoint stops at a named
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
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from importlib import import_module
from pathlib import Path

import psutil

from spark_check.runtime.breakpoints import POLL_S, Breakpoints, JsonSettings

EXECUTOR = "CoarseGrainedExecutorBackend"
"""The main class of an executor's JVM."""


class CrashKind(StrEnum):
    """Which processes of a job a crash takes."""

    TREE = "tree"
    """All of them, at once: the machine fails."""
    DRIVER = "driver"
    """The Python process that runs the job; the others notice by themselves."""
    JVM = "jvm"
    """Spark's driver."""
    WORKER = "worker"
    """A Python worker that runs a task: the one at the breakpoint."""
    EXECUTOR = "executor"
    """The JVM of an executor (local-cluster only): the one whose task is at the breakpoint."""
    READER = "reader"
    """The process in which a streaming data source plans its batches."""


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
        return _tree(self.process.pid)

    def go(self, place: str) -> None:
        (Path(self.breakpoints.folder) / f"{place}.go").touch()

    def kill(self, kind: CrashKind, stopped: int | None = None) -> float:
        """Send SIGKILL: seconds since the epoch.  `stopped`: the process at the breakpoint."""
        if kind is CrashKind.TREE:
            return self._end()
        pid = self._pid(kind, stopped)
        at = time.time()
        os.kill(pid, signal.SIGKILL)
        return at

    def join(self, timeout_s: float = 900) -> int:
        """Wait for the end of the job and all its processes: its exit code."""
        tree = self.family()
        try:
            code: int = self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"the job does not end in {timeout_s:g} s: {self.said()}") from None
        wait_ended(tree)
        return code

    def finish(self) -> None:
        """Wait for the end of the job, which must succeed: RuntimeError if it does not."""
        if (code := self.join()) != 0:
            raise RuntimeError(f"the job ended with exit code {code}: {self.said()}")

    def said(self) -> str:
        """The end of the job's output."""
        return (self.work / "said.log").read_text(errors="replace")[-2000:]

    def _pid(self, kind: CrashKind, stopped: int | None) -> int:
        if kind is CrashKind.DRIVER:
            return self.process.pid
        if kind is CrashKind.JVM:
            below = psutil.Process(self.process.pid).children()
            return int(next(p.pid for p in below if p.name() == "java"))
        if stopped is None:
            raise ValueError(f"a {kind} is killed at a breakpoint")
        if kind in (CrashKind.WORKER, CrashKind.READER):
            return stopped
        above = psutil.Process(stopped).parents()
        return int(next(p.pid for p in above if EXECUTOR in " ".join(p.cmdline())))

    def _end(self) -> float:
        tree = self.family()
        for process in tree:  # so that none reacts to the end of another
            _signal(process, signal.SIGSTOP)
        at = time.time()
        for process in {*tree, *self.family()}:
            _signal(process, signal.SIGKILL)
        self.process.wait()
        wait_ended(tree)
        return at

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
    with (work / "said.log").open("ab") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "spark_check.runtime.victim"],
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=said,
        )
    victim = Victim(process, work, breakpoints)
    assert process.stdin is not None
    try:
        process.stdin.write(json.dumps(order).encode() + b"\n")
        process.stdin.flush()
        yield victim
    finally:
        victim._end()
        process.stdin.close()


def wait_ended(processes: Sequence[psutil.Process], timeout_s: float = 30) -> None:
    """Wait until the processes have ended; RuntimeError if some do not.

    A zombie has ended: its memory is free and its files are closed.  The process that adopts
    orphans reaps it, which may take seconds and does not concern the job.
    """
    until = time.monotonic() + timeout_s
    while left := [process for process in processes if alive(process)]:
        if time.monotonic() > until:
            raise RuntimeError(f"processes outlive their job: {left}")
        time.sleep(POLL_S)


def alive(process: psutil.Process) -> bool:
    """Whether the process runs; a zombie does not."""
    with suppress(psutil.NoSuchProcess):
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    return False


def _tree(pid: int) -> list[psutil.Process]:
    try:
        root = psutil.Process(pid)
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def _signal(process: psutil.Process, number: signal.Signals) -> None:
    with suppress(psutil.NoSuchProcess):
        process.send_signal(number)


def _main() -> None:
    """The child: run the job that the first line of standard input names; end with the input."""
    order = json.loads(sys.stdin.readline())

    def orphaned() -> None:
        sys.stdin.read()
        os._exit(1)  # the parent is gone; our JVM ends with us

    threading.Thread(target=orphaned, daemon=True).start()
    module, _, function = order["job"].partition(":")
    job = getattr(import_module(module), function)
    job(Path(order["work"]), order["settings"], Breakpoints(*order["breakpoints"]))


if __name__ == "__main__":
    _main()
