"""Bars for what takes long: a stage each, with rate and time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


class Rate(ProgressColumn):
    """How many a second, of late."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.3g}/s" if task.speed else "")


@contextmanager
def progress() -> Iterator[Callable[[str, int, int], None]]:
    """Gives tell(what, done, of how many); a bar a stage (the text before the colon).

    On the standard error; hidden where nobody looks.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Rate())
    times = (TimeElapsedColumn(), TimeRemainingColumn())
    errors = Console(stderr=True)
    unseen = not errors.is_terminal
    with Progress(*columns, *times, console=errors, transient=True, disable=unseen) as bars:
        stages: dict[str, Any] = {}

        def tell(what: str, done: int, total: int) -> None:
            stage = what.split(": ")[0]
            if stage not in stages:
                stages[stage] = bars.add_task(what, total=total)
            bars.update(stages[stage], description=what, completed=done, total=total)

        yield tell
