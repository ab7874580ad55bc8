"""Commands that a signal ends at some moment, and the things that they leave behind.

Rule of this file: it starts processes, finds theirs, and judges nothing.  A process belongs to a
command if it has the command's TAG in its environment, whoever its parent is by now.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import psutil

TAG = "ASIF_TEST_TAG"
ROOT = Path(__file__).parents[2]
LIMIT_S = 120.0
POLL_S = 0.01


class EndedCommand(NamedTuple):
    """code: its exit code.  took_s: from the signal to its end.  said: its standard error, after
    the signal.  left: the command lines of processes that still run.
    temporary: the entries in its place of temporary files."""

    code: int
    took_s: float
    said: str
    left: tuple[str, ...]
    temporary: tuple[str, ...]


class RunningCommand:
    """A command in folders of its own."""

    def __init__(self, words: Sequence[str], home: Path, temporary: Path, tag: str) -> None:
        self.home, self.temporary, self.tag = home, temporary, tag
        home.mkdir(exist_ok=True, parents=True)
        temporary.mkdir(exist_ok=True)
        self.errors = home.with_suffix(".errors")
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "asif", *words],
                cwd=home,
                env={**os.environ, TAG: tag, "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )

    def wait(self, seconds: float) -> bool:
        """Whether it still runs after these seconds."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        return self.process.poll() is None

    def wait_for(self, seen: Callable[[], object], limit_s: float = LIMIT_S) -> None:
        """Wait for a condition while it runs."""
        until = time.monotonic() + limit_s
        while not seen():
            assert self.process.poll() is None, self.errors.read_text()
            assert time.monotonic() < until
            time.sleep(POLL_S)

    def end(
        self, how: signal.Signals, *, group: bool = False, again_s: float | None = None
    ) -> EndedCommand:
        """Send a signal, to the group as a terminal does or to the process alone, and wait.

        again_s: the seconds to a second one.
        """
        before = self.errors.stat().st_size
        send = os.killpg if group else os.kill
        started = time.monotonic()
        send(self.process.pid, how)
        if again_s is not None and self.wait(again_s):
            send(self.process.pid, how)
        code = self.process.wait(LIMIT_S)
        took = time.monotonic() - started
        until = time.monotonic() + (0 if code >= 0 else 10)
        while (left := [*processes(self.tag)]) and time.monotonic() < until:
            time.sleep(POLL_S)
        said = self.errors.read_bytes()[before:].decode(errors="replace")
        return EndedCommand(code, took, said, tuple(left), found(self.temporary))


def start(words: Sequence[str], folder: Path) -> RunningCommand:
    """Start a command."""
    return RunningCommand(words, folder / "home", folder / "temporary", uuid4().hex)


def found(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.name for path in folder.iterdir()))


def processes(tag: str) -> Iterator[str]:
    """The command lines of the processes with the tag; a zombie is none."""
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get(TAG) == tag:
                yield " ".join(process.cmdline())[:300]


def kill_left(tag: str) -> None:
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(TAG) == tag:
                process.kill()
