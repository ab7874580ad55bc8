"""Progress of long work on standard error: bars on a terminal, elsewhere plain lines.

Rule of this file: no other output.  Work that ends within a second prints no line.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars
from rich.text import Text

from model.progress import Progress

SHORT_S, LINE_S = 1.0, 15.0
"""Seconds after which a stage gets its first line, and after which it gets another one."""


@contextmanager
def show_progress() -> Iterator[Progress]:
    """A context with the function that long work calls with its progress, from any thread."""
    errors = Console(stderr=True)
    with _bars(errors) if errors.is_terminal else _lines() as progress:
        yield progress


# --- on a terminal ---------------------------------------------------------------------------
class Rate(ProgressColumn):
    """The column with the recent rate, in parts a second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.3g}/s" if task.speed else "")


@contextmanager
def _bars(errors: Console) -> Iterator[Progress]:
    """A bar for each stage, with rate and time left."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate())
    times = (TimeElapsedColumn(), TimeRemainingColumn())
    printed = sys.stdout.isatty()  # then what is printed meanwhile stands above the bars
    with Bars(*columns, *times, console=errors, transient=True, redirect_stdout=printed) as bars:
        stages: dict[str, Any] = {}

        def progress(stage: str, done: int, total: int, what: str = "") -> None:
            shown = f"{stage}: {what}" if what else stage
            if stage not in stages:
                stages[stage] = bars.add_task(shown, total=total)
            bars.update(stages[stage], description=shown, completed=done, total=total)

        yield progress


# --- elsewhere -------------------------------------------------------------------------------
@contextmanager
def _lines() -> Iterator[Progress]:
    """Lines of each stage, which a thread prints: a stage may be silent for minutes."""
    lines, ended = Lines(lambda line: print(line, file=sys.stderr, flush=True)), Event()

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
