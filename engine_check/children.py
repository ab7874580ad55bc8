"""Child processes: they end with their parent, and a whole tree of them is killed at once.

Rule of this file: it knows no engine and no job.  A child ends also if this process is killed by
SIGKILL: the kernel closes the pipe that the child's guard reads.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from engine_check.breakpoints import POLL_S

GUARD = 'exec 3<&0; { cat <&3; kill -s KILL 0; } & exec "$@" </dev/null 3<&-'
"""Runs a command, and kills its process group when the standard input ends."""


class Killed(NamedTuple):
    """Processes that were killed at once.

    at: seconds since the epoch, when all of them had been stopped.  processes: they end, and need
    not have ended yet.
    """

    at: float
    processes: tuple[psutil.Process, ...]


def start_guarded(
    command: Sequence[str], log: Path, *, folder: Path, environment: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    """Start a command that ends with this process, however that ends.

    log: receives its output, behind what is there.  folder: in which it runs.  environment:
    variables besides those of this process.  `end` ends it.
    """
    with log.open("ab") as said:
        return subprocess.Popen(
            ["/bin/sh", "-c", GUARD, "guard", *command],
            env={**os.environ, **environment},
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a guarded command with all below it, if it still runs, and wait for its own end."""
    if process.poll() is None:
        kill_trees([psutil.Process(process.pid)])
    process.wait()
    assert process.stdin is not None
    process.stdin.close()


def kill_trees(roots: Iterable[psutil.Process]) -> Killed:
    """Send SIGKILL to processes and all below them, at once."""
    roots = [*roots]
    before = [process for root in roots for process in tree(root)]
    for process in before:  # so that none reacts to the end of another
        _signal(process, signal.SIGSTOP)
    at = time.time()
    after = dict.fromkeys([*before, *(process for root in roots for process in tree(root))])
    for process in after:
        _signal(process, signal.SIGKILL)
    return Killed(at, tuple(after))


def tree(root: psutil.Process) -> list[psutil.Process]:
    """A process and all below it; empty if it has ended."""
    with suppress(psutil.NoSuchProcess):
        return [root, *root.children(recursive=True)]
    return []


def wait_ended(processes: Iterable[psutil.Process], timeout_s: float = 30) -> None:
    """Wait until the processes have ended; RuntimeError if some do not.

    A zombie has ended: its memory is free and its files are closed.  The process that adopts
    orphans reaps it, which may take seconds and does not concern the job.
    """
    waited, until = [*processes], time.monotonic() + timeout_s
    while left := [process for process in waited if alive(process)]:
        if time.monotonic() > until:
            raise RuntimeError(f"processes outlive their job: {left}")
        time.sleep(POLL_S)


def alive(process: psutil.Process) -> bool:
    """Whether the process runs; a zombie does not."""
    with suppress(psutil.NoSuchProcess):
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    return False


def free_port() -> int:
    """A port of 127.0.0.1 that nobody uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _signal(process: psutil.Process, number: signal.Signals) -> None:
    with suppress(psutil.NoSuchProcess):
        process.send_signal(number)
