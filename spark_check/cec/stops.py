"""Where an incarnation can be stopped.

Rule of this file: it imports little, since workers import it, too.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from engine_check.breakpoints import Breakpoints


class CecPoint(StrEnum):
    """The points in the order in which an incarnation passes them."""

    SCANNED = "scanned"
    """The eventual checkpoint is found and not loaded."""
    LOAD = "load"
    """In a task that loads a key's part of it."""
    PROCESS = "process"
    """In a task of the operator."""
    MADE = "made"
    """The driver has the records of the batch; nothing of it is in the log."""
    HALF = "half"
    """Half of the file is written."""
    STORED = "stored"
    """The file is in the log, the sink has nothing of it."""
    SENT = "sent"
    """The sink has the results of the batch; Spark does not know that it is done."""


class CecStops(NamedTuple):
    """The breakpoints of one of the worlds that share a session."""

    breakpoints: Breakpoints
    world: str

    def place(self, point: CecPoint) -> str:
        return f"{self.world} {point}"

    def here(self, point: CecPoint) -> None:
        self.breakpoints.here(self.place(point))
