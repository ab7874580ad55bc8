"""The processes below this one, for tests of what leaves none behind.

Rule of this file: a process that has ended, and for which its parent has not waited, counts only if
this process is the parent.  The script that starts Spark becomes Java, which has such a child.
"""

from __future__ import annotations

import os
from contextlib import suppress

import psutil


def children() -> set[int]:
    """The pids of all processes below this one, without guards (model.machine.children): each is
    below the process that it ends."""
    found = set()
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if child.status() == psutil.STATUS_ZOMBIE:
                counts = child.ppid() == os.getpid()
            else:
                counts = "guard" not in child.cmdline()
            if counts:
                found.add(child.pid)
    return found
