"""The choices of passive standby: what the paper's words allow, and the mends.

Rule of this file: a choice is a field of PassiveStandbyDesign, in every reading that the paper's
words allow; no step of a node.  The default of each field is the mended choice of rollback
recovery.  Hwang et al., Sections 5.1 and 6: cited at each choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from model.standbys.choices import Again, Alone, Deposes, LateTuples, NodeReturns, SourceLog


class Line(Enum):
    """What may pass the sweep line.  5.1: "The primary is free to execute operators away from the
    sweep line both upstream and downstream"."""

    FREE = "operators on both sides process what comes"
    BARRED = "what an operator behind the line makes waits until the next one is behind it"


class Releases(Enum):
    """When upstream may let go of a tuple.  5.1: "until they are safely stored at the downstream
    secondaries"."""

    COPIED = "when the secondary has a checkpoint with it"
    PROCESSED = "when the primary has it"


class Forwards(Enum):
    """Which tuples a primary sends downstream.  6: "can only forward checkpointed tuples"."""

    ALL = "every one at once"
    SENT = "those in a checkpoint that it has sent"
    STORED = "those in a checkpoint that the secondary has"


class FirstCheckpoint(Enum):
    """What a secondary that is new gets.  5.1: "the primary sends its complete state in the first
    checkpoint message"."""

    COMPLETE = "the complete state"
    DELTA = "what has changed since the last checkpoint, as any other one"
    NOTHING = "no checkpoint before the next input"


@dataclass(frozen=True, slots=True)
class PassiveStandbyDesign:
    """A protocol: one choice of each kind."""

    line: Line = Line.BARRED
    releases: Releases = Releases.COPIED
    forwards: Forwards = Forwards.ALL
    alone: Alone = Alone.ALL
    renewal: FirstCheckpoint = FirstCheckpoint.COMPLETE
    late: LateTuples = LateTuples.REFUSED
    again: Again = Again.ALL
    deposes: Deposes = Deposes.YES
    returns: NodeReturns = NodeReturns.YES
    sources: SourceLog = SourceLog.KEPT


PUBLISHED = PassiveStandbyDesign(line=Line.FREE, late=LateTuples.TAKEN, deposes=Deposes.NO)
"""The reading that is nearest to the paper's words."""

PRECISE = PassiveStandbyDesign(again=Again.AFTER)
"""Precise recovery of deterministic networks."""

ARBITRARY = PassiveStandbyDesign(again=Again.AFTER, forwards=Forwards.STORED)
"""Precise recovery of arbitrary networks."""
