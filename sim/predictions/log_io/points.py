"""Where a pipeline of LOG.io can be crashed: after or before which step of which algorithm.

Rule of this file: it imports nothing of ours, since each task of an engine imports it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

SOURCE, MIDDLE, WRITER, SINK = "source", "middle", "writer", "book"
OPERATORS = (SOURCE, MIDDLE, WRITER)


class StepPoint(StrEnum):
    """The points in the order in which an operator passes them, by algorithm and step."""

    RESTARTED = "7.1"
    """The operator is restarted, and has done nothing."""
    ASKED = "8.2"
    """The external system has answered whether a pending write has taken effect."""
    COMPLETED = "9.2"
    """A replayed input completes its Input Set; nothing is generated."""
    SENT = "2.1"
    """An input has come, and has no Input Set: step 5 of Algorithm 3 at its sender."""
    ASSIGNED = "2.2"
    """The input is assigned to its Input Set, and its condition has not looked at it."""
    GENERATED = "3.3"
    """An output is computed, and its transaction has not begun; of the source, 1.2.c."""
    LOGGED = "3.4"
    """The transaction has committed; nothing is sent, and no write is executed."""
    WRITTEN = "5.1"
    """The external system has a write; its event is not done."""
    DONE = "5.3"
    """The event of the write is done."""


class StepCrash(NamedTuple):
    """A crash to come: where, and how often the operator passes there before, counted over the
    tasks since the engine was started."""

    operator: str
    point: StepPoint
    passed: int = 0

    def __str__(self) -> str:
        again = f", pass {self.passed + 1}" if self.passed else ""
        return f"{self.operator} at {self.point}{again}"
