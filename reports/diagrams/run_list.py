"""A run as a list: a line for each moment, where its lanes would be too narrow side by side.

Rule of this file: the words of the space-time diagram (reports.diagrams.timeline), without lanes.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from reports.diagrams.timeline import CRASH, DECIDED, RESTART, STEP, Timeline, TimelineMoment

LEAST = 12
"""The columns that a lane needs side by side with others; with fewer, a run is a list."""
_INDENT = 6
_MARKS = {CRASH: "✕", RESTART: "○", STEP: "●"}


def is_too_narrow(line: Timeline, width: int) -> bool:
    """Do the lanes have too little room in a number of columns?"""
    return width < LEAST * len(line.lanes)


def rows(line: Timeline, at: int, width: int) -> list[str]:
    """The lines of a moment: the node with its input and its notes; then results and losses."""
    moment = line.moments[at]
    number = line.number(at)
    number = f"{number:>3}" if line.is_first(at) else f"{number:<3}"
    notes = "; ".join(_notes(line, moment))
    who = f"{number} {_MARKS[moment.mark]} {line.lanes[moment.lane]}"
    lines = _wrapped(f"{who}: {notes}" if notes else who, width)
    for words in _below(line, moment):
        lines += _wrapped(" " * _INDENT + words, width)
    if at == line.decided:
        lines.append(f"╌╌╌ {DECIDED} ".ljust(width, "╌"))
    return lines


def _notes(line: Timeline, moment: TimelineMoment) -> Iterator[str]:
    if moment.handed:
        yield f"takes {moment.handed}"
    if arrow := moment.taken:
        sender = line.lanes[arrow.sender]
        yield f"takes {arrow.label} ‹{line.steps[arrow.sent_at]}› of {sender}"
    yield from moment.parts


def _below(line: Timeline, moment: TimelineMoment) -> Iterator[str]:
    yield from (emitted.words for emitted in moment.emits)
    for arrow in moment.stray:
        yield (
            f"{'✕ lost' if arrow.lost else '◦ still on its way'}: {arrow.label} to "
            + (line.lanes[arrow.receiver])
        )
    if moment.crash:
        yield f"✕ {moment.crash}"
    if moment.lost:
        yield f"{moment.lost.words}, at {line.lanes[moment.lost.lane]}"


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        subsequent_indent=" " * (_INDENT + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )
