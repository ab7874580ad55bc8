"""Processes that end with the process that started them, however that ends.

Rule of this file: it knows nothing of Flink.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

GUARD = 'exec 3<&0; { cat <&3; kill -s KILL 0; } & exec "$@" </dev/null 3<&-'
"""Runs a command, and kills its process group when the standard input ends."""


class Child:
    """A running command, with its output in a file.  `process` is the command itself."""

    def __init__(self, words: Sequence[str], log: Path, environment: Mapping[str, str]) -> None:
        self.log, self.started = log, time.time()
        with log.open("ab") as output:
            self._popen = subprocess.Popen(
                ["/bin/sh", "-c", GUARD, "guard", *words],
                env={**os.environ, **environment},
                cwd=log.parent,
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.process = psutil.Process(self._popen.pid)

    @property
    def ended(self) -> bool:
        return self._popen.poll() is not None

    def kill(self) -> float:
        """Send SIGKILL and wait for the end: seconds since the epoch, just before it."""
        at = time.time()
        self._popen.kill()
        self._popen.wait()
        self._close()
        return at

    def _close(self) -> None:
        """Let the guard end, with what is left of the group."""
        assert self._popen.stdin is not None
        with suppress(OSError):
            self._popen.stdin.close()
