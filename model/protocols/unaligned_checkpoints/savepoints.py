"""The choices of savepoints: a checkpoint that a user asks for, and from which the next job begins.

Rule of this file: a choice is a field of SavepointDesign; no step of a node.  The default of each
field is the right choice.
FLIP-34 (stop with a savepoint); FLIP-76 (savepoints are aligned); FLIP-203 (the commits of
savepoints).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class AfterSavepoint(Enum):
    """The course of a job after its savepoint."""

    STOPS = "it stops, and the next job begins from the savepoint"
    GOES_ON = "it goes on, and the next job begins from the savepoint later"


class SavepointBarriers(Enum):
    """Where the barriers of a savepoint go.  A savepoint has no records on their way."""

    IN_ORDER = "behind all records before them, also where other barriers overtake"
    OVERTAKING = "past the records in buffers"


class StopCommits(Enum):
    """The action of the sinks at the end of a job."""

    FIRST = "they commit the savepoint, then the job ends"
    NEVER = "nothing: the job ends when the savepoint is complete"


class GoesBack(Enum):
    """Where a restart after a crash begins."""

    LAST = "from the last checkpoint or savepoint"
    CHECKPOINT = "from the last checkpoint: savepoints are for users alone"


@dataclass(frozen=True, slots=True)
class SavepointDesign:
    """A savepoint: one choice of each kind."""

    after: AfterSavepoint = AfterSavepoint.STOPS
    barriers: SavepointBarriers = SavepointBarriers.IN_ORDER
    commits: StopCommits = StopCommits.FIRST
    goes_back: GoesBack = GoesBack.LAST
