"""The choices of LOG.io about replicas that come and go.

Rule of this file: as in log_io/design.py: a choice is a field, in every reading.
LOG.io, Section 7.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Moves(Enum):
    """What the dispatcher's transaction moves.  Algorithm 13, steps 1.c and 1.d."""

    UNDONE = "what is still undone"
    CHOSEN = "what was undone when it was chosen"


class Moved(Enum):
    """A generation of a replica whose inputs have moved.  7.2: its "transaction will fail"."""

    FAILS = "it fails"
    GOES_ON = "it goes on"


class Deletes(Enum):
    """When the replica and its connections are deleted.  Algorithm 13, step 3."""

    MOVED = "when its undone inputs have moved"
    TAKEN = "when its outputs have been taken, too"


@dataclass(frozen=True, slots=True)
class Scaling:
    """A replica that goes away while events come (Algorithm 13)."""

    moves: Moves = Moves.UNDONE
    moved: Moved = Moved.FAILS
    deletes: Deletes = Deletes.TAKEN
