"""Bars for what takes long: a stage each, with rate and time left."""

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
    """How many a second, of late."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.3g}/s" if task.speed else "")


@contextmanager
def progress() -> Iterator[Watch]:
    """Gives what long work calls with its progress; a bar for each stage.

    On the standard error; hidden where nobody looks.
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
