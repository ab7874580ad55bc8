"""Progress of long work on standard error: plain lines, also on a terminal.

Rule of this file: no other output, and no escape.  Work that ends within a second prints no line.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from shutil import get_terminal_size
from threading import Event, Lock, Thread
from time import monotonic

from model.progress import Progress
from reports.lines import wrap

SHORT_S, LINE_S = 1.0, 15.0
"""Seconds after which a stage gets its first line, and after which it gets another one."""


@contextmanager
def show_progress() -> Iterator[Progress]:
    """A context with the function that long work calls with its progress, from any thread.

    A thread prints the lines: a stage may be silent for minutes.
    """
    lines, ended = Lines(_print), Event()

    def tick() -> None:
        while not ended.wait(SHORT_S):
            lines.tick()

    thread = Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield lines.progress
    finally:
        ended.set()
        thread.join()


def _print(line: str) -> None:
    """Print a line on standard error, no wider than a terminal."""
    errors = sys.stderr
    if errors.isatty():
        line = wrap(line, get_terminal_size().columns)
    print(line, file=errors, flush=True)


@dataclass(slots=True)
class _Stage:
    """A stage under way.  started, printed: moments in seconds; printed: of its last line."""

    done: int
    total: int
    what: str
    started: float
    printed: float | None = None


class Lines:
    """The lines of all stages: one after SHORT_S, one in LINE_S after that, one at the end.

    put: prints a line.  clock: seconds.
    """

    def __init__(self, put: Callable[[str], object], clock: Callable[[], float] = monotonic):
        self.put, self.clock = put, clock
        self.under_way: dict[str, _Stage] = {}
        self.lock = Lock()

    def progress(self, stage: str, done: int, total: int, what: str = "") -> None:
        """Receive the state of a stage, as model.progress.Progress."""
        with self.lock:
            one = self.under_way.setdefault(stage, _Stage(done, total, what, self.clock()))
            one.done, one.total, one.what = done, total, what
            if done < total:
                return
            if one.printed is not None:
                self.put(f"{stage}: done in {_duration(self.clock() - one.started)}")
            del self.under_way[stage]

    def tick(self) -> None:
        """Print the line of each stage that is due one."""
        with self.lock:
            now = self.clock()
            for stage, one in self.under_way.items():
                due = one.started + SHORT_S if one.printed is None else one.printed + LINE_S
                if now >= due:
                    self.put(f"{stage}: {_state(one, now - one.started)}")
                    one.printed = now


def _state(stage: _Stage, elapsed: float) -> str:
    parts = [f"{stage.done} of {stage.total}", f"after {_duration(elapsed)}"]
    if stage.what:
        parts.insert(1, stage.what)
    if stage.done:
        rest = elapsed * (stage.total - stage.done) / stage.done
        parts.append(f"about {_duration(rest)} left")
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
