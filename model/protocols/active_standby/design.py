"""The choices of active standby: what the paper's words allow, and the mends.

Rule of this file: a choice is a field of ActiveStandbyDesign, in every reading that the paper's
words allow; no step of a node.  The default of each field is the mended choice of rollback
recovery, but for `overdue`, which no output shows.  Hwang et al., Sections 5.3 and 6: cited at each
choice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from model.standbys.choices import (
    Again,
    Alone,
    Deposes,
    Determinants,
    LateTuples,
    NodeReturns,
    SourceLog,
)


class Trims(Enum):
    """Which outputs a secondary discards.  5.3: "a lower-valued high watermark than a tuple at the
    primary"; "older than I1[200] and ... older than I2[100]"."""

    ALL_LOWER = "those with a lower watermark for every input"
    NONE_GREATER = "those with a greater watermark for no input"
    ANY_LOWER = "those with a lower watermark for some input"


class Serves(Enum):
    """The watermarks of an output that downstream has, with which the secondary compares its own.
    5.3: "a lower-valued high watermark than a tuple at the primary"."""

    HIGH = "its high watermarks"
    LOW = "its low watermarks: those of the oldest tuples in the state"


class SecondaryStart(Enum):
    """What a new secondary begins from.  5.3: "it starts with an empty state and becomes up-to-date
    with respect to the new primary only after processing sufficiently many input tuples"."""

    NEW = "an empty state, and the tuples that come from now on"
    KEPT = "an empty state, and all tuples that upstream keeps"
    COPY = "a copy of the primary's state"


class Joins(Enum):
    """When a new secondary asks for a copy of the state.  No word: there is no copy."""

    AT_ONCE = "when it is back, beside its request for the tuples"
    CONNECTED = "when upstream has answered its request, and keeps the tuples for it"


class Overdue(Enum):
    """An output that is made when all readers have released it: by a secondary that is behind the
    primary, or by one that has taken over.  5.3: "trims all logged output tuples that have a high
    watermark lower than the high watermarks of the tuples already received"."""

    LOGGED = "it is logged, until the next release"
    DROPPED = "it is not logged"


@dataclass(frozen=True, slots=True)
class ActiveStandbyDesign:
    """A protocol: one choice of each kind."""

    trims: Trims = Trims.ALL_LOWER
    serves: Serves = Serves.LOW
    renewal: SecondaryStart = SecondaryStart.COPY
    joins: Joins = Joins.CONNECTED
    late: LateTuples = LateTuples.REFUSED
    again: Again = Again.ALL
    determinants: Determinants = Determinants.NONE
    alone: Alone = Alone.ALL
    deposes: Deposes = Deposes.YES
    returns: NodeReturns = NodeReturns.YES
    sources: SourceLog = SourceLog.KEPT
    overdue: Overdue = Overdue.LOGGED


PUBLISHED = ActiveStandbyDesign(
    serves=Serves.HIGH, renewal=SecondaryStart.NEW, late=LateTuples.TAKEN, deposes=Deposes.NO
)
"""The reading that is nearest to the paper's words."""

PRECISE = ActiveStandbyDesign(again=Again.AFTER)
"""Precise recovery of deterministic networks."""

ARBITRARY = replace(PRECISE, determinants=Determinants.STORED)
"""Precise recovery of arbitrary networks."""
