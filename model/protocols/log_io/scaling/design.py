"""The choices of LOG.io about replicas that come and go.

Rule of this file: as in log_io/design.py: a choice is a field, in every reading.
LOG.io, Section 7.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Task(Enum):
    """What the controller does, one after the other."""

    DEPLOY = "Algorithm 12, step 1: the replica and its two connections"
    ADD_TO_MERGER = "Algorithm 12, step 2"
    ADD_TO_DISPATCHER = "Algorithm 12, step 3"
    PREPARE = "Algorithm 13, step 1: the dispatcher"
    REMOVE_FROM_MERGER = "Algorithm 13, step 2"
    DELETE = "Algorithm 13, step 3: the two connections, and the replica"


UP = (Task.DEPLOY, Task.ADD_TO_MERGER, Task.ADD_TO_DISPATCHER)
DOWN = (Task.PREPARE, Task.REMOVE_FROM_MERGER, Task.DELETE)


class Moves(Enum):
    """What the dispatcher's transaction moves.  Algorithm 13, steps 1.c and 1.d."""

    UNDONE = "what is still undone"
    CHOSEN = "what was undone when it was chosen"


class Moved(Enum):
    """A generation of a replica whose inputs have moved.  7.2: its "transaction will fail"."""

    FAILS = "it fails"
    GOES_ON = "it goes on"


class Hands(Enum):
    """What becomes of the undone events of a key that a new replica gets.  Algorithm 12 says
    nothing."""

    STAY = "they stay where they are"
    MOVE = "they move, as in Algorithm 13, steps 1.b to 1.d"


class Waits(Enum):
    """What the dispatcher waits for, and takes no input, before events of a key go to another
    replica.  Algorithms 12 and 13 say nothing."""

    NOTHING = "nothing"
    DONE = "the events of the key that the other replica has are done"
    TAKEN = "the outputs of the other replica have been taken by the merger"


class Stores(Enum):
    """When a dispatcher that gets a replica stores its new state.  7.2: it "acknowledges [...] only
    after successfully storing its new state"."""

    FIRST = "before it acknowledges"
    LATER = "after it has acknowledged"
    NEVER = "with its next output"


class Deletes(Enum):
    """When the replica and its connections are deleted.  Algorithm 13, step 3."""

    MOVED = "when its undone inputs have moved"
    TAKEN = "when its outputs have been taken, too"


@dataclass(frozen=True, slots=True)
class Scaling:
    """A replica that comes (Algorithm 12) or goes away (Algorithm 13) while events come."""

    plan: tuple[Task, ...] = DOWN
    moves: Moves = Moves.UNDONE
    moved: Moved = Moved.FAILS
    hands: Hands = Hands.MOVE
    waits: Waits = Waits.NOTHING
    stores: Stores = Stores.FIRST
    deletes: Deletes = Deletes.TAKEN

    @property
    def adds(self) -> bool:
        """Is the replica absent at first?"""
        return Task.DEPLOY in self.plan
