"""The choices of uncoordinated and communication-induced checkpoints.

Rule of this file: a choice is a field of LineDesign; no step of a node.  The default of each field
is uncoordinated checkpointing with logs of messages, which is right for every operator; INDUCED is
communication-induced checkpointing.
Survey: Elnozahy, Alvisi, Wang and Johnson, "A Survey of Rollback-Recovery Protocols in
Message-Passing Systems", 2002, Sections 3.1, 3.3 and 4.  CheckMate: Siachamis et al., "CheckMate:
Evaluating Checkpointing Protocols for Streaming Dataflows", 2024, has both in streams.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from model.protocol import Knob


class LineRule(Enum):
    """The checkpoints from which a restart goes on.  An orphan is a message that a checkpoint has
    received and its sender's checkpoint has not sent; a lost message is the opposite."""

    NO_ORPHANS = "the newest checkpoints without orphans"
    MATCHED = "the newest checkpoints without orphans and without lost messages"
    NEWEST = "the newest checkpoint of each operator"
    BY_INDEX = "the first checkpoints whose index all operators have reached"


class MessageLog(Enum):
    """The outputs that a checkpoint has, so that a restart sends them again."""

    KEPT = "those that a receiver may still ask for"
    NONE = "none"


class Exchange(Enum):
    """The messages between two operators."""

    ONE_WAY = "outputs go down"
    CREDITS = "outputs go down; credits go up, and each lets one more output come"


class Induced(Enum):
    """When an operator takes a checkpoint because a message has a higher index than its own."""

    NEVER = "never; messages have no index"
    BEFORE = "before it processes the message"
    AFTER = "after it has processed the message"


class IndexOn(Enum):
    """The messages that carry the index of their sender."""

    ALL = "all messages"
    NOT_REPLAYED = "all but those that a restart sends again"
    OUTPUTS = "outputs; credits have none"


class Collects(Enum):
    """The checkpoints that the manager deletes."""

    BEHIND_LINE = "those older than the recovery line"
    ALL_BUT_NEWEST = "all but the newest one of each operator"


class PassesOn(Enum):
    """When a sink passes an output on."""

    BEHIND_LINE = "when the recovery line has it, so that no restart undoes it"
    AT_ONCE = "when it comes, unless its number has been there"


class Duplicates(Enum):
    """What an operator does with a message whose number it has had."""

    DISCARDED = "it discards the message"
    TAKEN = "it processes the message"


@dataclass(frozen=True, slots=True)
class LineDesign:
    """A protocol: one choice of each kind."""

    line: LineRule = LineRule.NO_ORPHANS
    logs: MessageLog = MessageLog.KEPT
    exchange: Exchange = Exchange.ONE_WAY
    induced: Induced = Induced.NEVER
    index_on: IndexOn = IndexOn.ALL
    collects: Collects = Collects.BEHIND_LINE
    outputs: PassesOn = PassesOn.BEHIND_LINE
    duplicates: Duplicates = Duplicates.DISCARDED


INDUCED = LineDesign(exchange=Exchange.CREDITS, induced=Induced.BEFORE)
"""Checkpoints with an index that every message carries: the protocol of Briatico, Ciuffoletti and
Simoncini (Survey, 3.3), with messages both ways, where uncoordinated checkpoints are useless."""

KNOBS = (
    Knob(
        "outputs",
        "",
        "A sink passes outputs on when no restart can undo them, or at once (of deterministic "
        "operators alone).",
        (("behind-line", PassesOn.BEHIND_LINE), ("at-once", PassesOn.AT_ONCE)),
    ),
)
"""What users may set."""
