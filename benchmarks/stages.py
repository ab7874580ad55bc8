"""Stages of a benchmark's part: its items, with progress.

Rule of this file: no measurement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from model.progress import Progress

T = TypeVar("T")


def each(
    progress: Progress, stage: str, items: Sequence[T], show: Callable[[T], object] = str
) -> Iterator[T]:
    """The items of a stage; the watcher learns which one is under way, and that all are done."""
    for number, item in enumerate(items):
        progress(stage, number, len(items), str(show(item)))
        yield item
    progress(stage, len(items), len(items))
