"""Child processes: each ends with its parent, however that ends, with all that is below it.

Rule of this file: no other file starts a program; it knows no engine and no job.

A child has a process group of its own, in which a guard waits: a shell that reads a pipe whose
other end this process holds.  When this process ends, by SIGKILL too, the system closes the pipe,
and the guard kills the group.  A terminal's Ctrl-C does not reach the group.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO, NamedTuple

import psutil

GUARD = """
exec 3<&0
{
  read -r nothing <&3
  if [ "$1" != KILL ]; then
    trap '' "$1"
    kill -s "$1" 0
    n=0
    while kill -s 0 $$ && [ $n -lt 20 ]; do sleep 0.05; n=$((n + 1)); done
  fi
  kill -s KILL 0
} >/dev/null 2>&1 &
[ -z "$2" ] || exec <"$2"
shift 2
exec "$@" 3<&-
"""
"""Runs a command, and ends its process group when the standard input ends.

Its words: the signal of which the group ends, the file that the command reads ("": the pipe), and
the command.  After any other signal than KILL, all that still runs in a second is killed.
"""
POLL_S = 0.01


class Killed(NamedTuple):
    """Processes that were killed at once.

    at: seconds since the epoch, when all of them had been stopped.  processes: they end, and need
    not have ended yet.
    """

    at: float
    processes: tuple[psutil.Process, ...]


# --- start and end ------------------------------------------------------------------------------
def start(
    command: Sequence[str],
    *,
    output: int | Path = subprocess.DEVNULL,
    errors: int | None = None,
    text: Path | None = Path(os.devnull),
    folder: Path | None = None,
    environment: Mapping[str, str] = MappingProxyType({}),
    user: str | None = None,
    ends_by: str = "KILL",
) -> subprocess.Popen[bytes]:
    """Start a command that ends with this process, however that ends.  `end` ends it.

    output, errors: as of subprocess; errors None: as of this process.  output may be a file, behind
    whose content both go.  text: the file that it reads; None: an input that ends with this
    process.  folder: in which it runs.  environment: variables besides those of this process.
    user: whose process it is.  ends_by: the signal that ends it with this process.  Raises OSError.
    """
    program = shutil.which(command[0])
    if program is None:
        number = errno.EACCES if os.path.exists(command[0]) else errno.ENOENT
        raise OSError(number, os.strerror(number), command[0])
    with ExitStack() as opened:
        if isinstance(output, Path):
            errors = output = opened.enter_context(output.open("ab")).fileno()
        return subprocess.Popen(
            ["/bin/sh", "-c", GUARD, "guard", ends_by, str(text or ""), *command],
            env={**os.environ, **environment},
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=errors,
            start_new_session=True,
            user=user,
        )


def run(
    command: Sequence[str],
    *,
    text: str = "",
    limit_s: float | None = None,
    folder: Path | None = None,
) -> subprocess.CompletedProcess[str]:
    """The output and the exit code of a command, which ends with this process, however that ends.

    text: its input.  Raises OSError, and subprocess.TimeoutExpired after limit_s.
    """
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as given:
        given.write(text)
        given.flush()
        pipe = subprocess.PIPE
        child = start(command, output=pipe, errors=pipe, text=Path(given.name), folder=folder)
        with child, _guard(child):
            try:
                said = child.communicate(timeout=limit_s)
            finally:
                end(child)
    out, errors = (part.decode(errors="replace") for part in said)
    return subprocess.CompletedProcess(command, child.returncode, out, errors)


def _guard(child: subprocess.Popen[bytes]) -> IO[bytes]:
    """The pipe that the guard of a command reads; `communicate` would close it at once."""
    assert child.stdin is not None
    guard, child.stdin = child.stdin, None
    return guard


def end(child: subprocess.Popen[bytes]) -> None:
    """Kill a command with all below it, if it still runs, and wait for its own end.

    Also those of its group whose parents have ended, which are below no one.
    """
    if child.poll() is None:
        kill_trees([psutil.Process(child.pid)])
        with suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    if child.stdin is not None:
        child.stdin.close()


# --- trees --------------------------------------------------------------------------------------
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


def is_named(process: psutil.Process, name: str) -> bool:
    """Whether the process has this name; one that has ended has none."""
    with suppress(psutil.NoSuchProcess):
        return bool(process.name() == name)
    return False


def _signal(process: psutil.Process, number: signal.Signals) -> None:
    with suppress(psutil.NoSuchProcess):
        process.send_signal(number)
