"""The kinds of crashes of a job on Spark: which of its processes are killed.

Rule of this file: nothing else here kills a part of a job.
"""

from __future__ import annotations

from enum import StrEnum

import psutil

from engine_check.victim import Victim
from model.machine.children import is_named

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


def kill_kind(victim: Victim, kind: CrashKind, stopped: int | None = None) -> float:
    """Send SIGKILL: seconds since the epoch.  stopped: the process at the breakpoint."""
    if kind is CrashKind.TREE:
        return victim.kill()
    return victim.kill_process(_pid(victim, kind, stopped))


def _pid(victim: Victim, kind: CrashKind, stopped: int | None) -> int:
    if kind is CrashKind.DRIVER:
        return victim.process.pid
    if kind is CrashKind.JVM:
        below = psutil.Process(victim.process.pid).children()
        return int(next(p.pid for p in below if is_named(p, "java")))
    if stopped is None:
        raise ValueError(f"a {kind} is killed at a breakpoint")
    if kind in (CrashKind.WORKER, CrashKind.READER):
        return stopped
    above = psutil.Process(stopped).parents()
    return int(next(p.pid for p in above if EXECUTOR in " ".join(p.cmdline())))
