"""The choices of upstream backup by acknowledgements: the readings of the paper's words, the mends.

Rule of this file: a choice is a field of UpstreamBackupAcksDesign, in every reading that the
paper's words allow; no step of a node.  The default of each field is the mended choice of rollback
recovery.  Hwang et al., Sections 5.2 and 6: cited at each choice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from model.standbys.choices import Deposes, Determinants, LateTuples, Newest, NodeReturns, SourceLog


class Oldest(Enum):
    """The low watermark of an output.  5.2.2: "the oldest tuples on input streams necessary to
    generate O[v]", and "the indicator of the oldest tuple currently in the state"."""

    MADE_OF = "the oldest tuple that the output was made of"
    STATE = "the oldest tuple in the state when the output was made"


class AbsentInput(Enum):
    """The low watermark of an output for an input of which nothing is in the state.  5.2.1: it
    "depends on the indicators of the tuples preceding O"."""

    PRECEDING = "the last tuple that was processed"
    NEXT = "the tuple after that one"


class Maps(Enum):
    """The output whose cause bounds what a node still needs.  5.2.1: "the latest output tuple O[v]
    acknowledged at level-0 by all downstream neighbors"."""

    RECEIVED = "the latest that all readers have received"
    RELEASED = "the latest that no reader needs any more"


class StreamsMapped(Enum):
    """The output streams whose acknowledgements bound what a node still needs.  5.2.1: "performs
    these mappings for each output stream and identifies the earliest tuple on each input stream
    that can now be trimmed"."""

    ALL = "all of them"
    ACKNOWLEDGED = "those of which a tuple has been acknowledged: the others have no mapping"


class Labels(Enum):
    """What identifies an input.  5.2: "ACK(1, S, u), where S identifies a stream and u identifies a
    tuple on that stream"."""

    PLACE = "its number in the stream"
    CONNECTION = "its number, and the producer that gave it"


class InputNames(Enum):
    """By what a high watermark names an input.  5.2: "u identifies a tuple on that stream"."""

    PLACE = "its number in the stream"
    MARKS = "the watermarks with which it came; a tuple of a source by its number"


class Idle(Enum):
    """What a node acknowledges at level 1 whose readers have all that it put out.  No word."""

    CAUSE = "what precedes the cause of its latest output"
    STATE = "what precedes the oldest tuple in its state"


class Repeats(Enum):
    """Which outputs a consumer discards as duplicates.  5: none.  6: for repeatable networks
    "input-tuple indicators therefore uniquely identify tuples"; otherwise by "high watermarks"."""

    NEVER = "none"
    LOW = "those with no greater low watermark than the last one"
    HIGH_LOWER = "those with a lower high watermark than the last one"
    HIGH = "those with no greater high watermark than the last one"
    COUNTED = "the same, where outputs of one input are counted from the last one back"


class Cuts(Enum):
    """Where a restart by determinants begins, and what upstream may let go of.  No word."""

    SENT = "with all that upstream sends; upstream lets go of what the node needs no more"
    STORED = "where the log begins; upstream lets go of what precedes that"


class Renews(Enum):
    """What a new secondary gets of the determinants.  No word."""

    NOTHING = "those that are logged from then on"
    LOG = "all that a restart needs"


@dataclass(frozen=True, slots=True)
class UpstreamBackupAcksDesign:
    """A protocol: one choice of each kind."""

    oldest: Oldest = Oldest.STATE
    absent: AbsentInput = AbsentInput.PRECEDING
    maps: Maps = Maps.RELEASED
    streams: StreamsMapped = StreamsMapped.ALL
    labels: Labels = Labels.CONNECTION
    idle: Idle = Idle.CAUSE
    late: LateTuples = LateTuples.REFUSED
    names: InputNames = InputNames.MARKS
    repeats: Repeats = Repeats.NEVER
    newest: Newest = Newest.PROCESSED
    determinants: Determinants = Determinants.NONE
    cuts: Cuts = Cuts.STORED
    renews: Renews = Renews.LOG
    deposes: Deposes = Deposes.YES
    returns: NodeReturns = NodeReturns.YES
    sources: SourceLog = SourceLog.KEPT


PUBLISHED = UpstreamBackupAcksDesign(
    maps=Maps.RECEIVED,
    labels=Labels.PLACE,
    names=InputNames.PLACE,
    late=LateTuples.TAKEN,
    newest=Newest.MADE_OF,
    deposes=Deposes.NO,
)
"""The reading that is nearest to the paper's words."""

PRECISE = replace(UpstreamBackupAcksDesign(), repeats=Repeats.COUNTED)
"""Precise recovery of convergent-capable networks."""

ARBITRARY_TOO = replace(PRECISE, determinants=Determinants.STORED, absent=AbsentInput.NEXT)
"""Precise recovery of arbitrary networks."""
