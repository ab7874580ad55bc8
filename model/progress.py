"""Progress: the call with which long work reports its state.

Rule of this file: no display; the work calls, and the watcher decides what to show.
"""

from __future__ import annotations

import typing


class Progress(typing.Protocol):
    """A function that long work calls now and then with its stage, the number of parts done, the
    number of all parts, and the part that is under way."""

    def __call__(self, stage: str, done: int, total: int, what: str = "", /) -> None: ...


def silent(stage: str, done: int, total: int, what: str = "") -> None:
    """Show nothing: nobody watches."""


def part_of(progress: Progress, number: int, parts: int) -> Progress:
    """The Progress of one of several parts of a stage, which are equally long."""

    def report(stage: str, done: int, total: int, what: str = "") -> None:
        progress(stage, number * total + done, parts * total, what)

    return report
