"""Progress bars for long work: one for each stage, with rate and time left.

Rule of this file: no output but on the standard error of a terminal.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from model.progress import Progress as Watch


class Rate(ProgressColumn):
    """The column with the recent rate, in parts a second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.3g}/s" if task.speed else "")


@contextmanager
def progress() -> Iterator[Watch]:
    """A context with the function that long work calls with its progress.

    Each stage has a bar on the standard error; bars are hidden if that is no terminal.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate())
    times = (TimeElapsedColumn(), TimeRemainingColumn())
    errors = Console(stderr=True)
    unseen = not errors.is_terminal
    with Progress(*columns, *times, console=errors, transient=True, disable=unseen) as bars:
        stages: dict[str, Any] = {}

        def watch(stage: str, done: int, total: int, what: str = "") -> None:
            shown = f"{stage}: {what}" if what else stage
            if stage not in stages:
                stages[stage] = bars.add_task(shown, total=total)
            bars.update(stages[stage], description=shown, completed=done, total=total)

        yield watch
