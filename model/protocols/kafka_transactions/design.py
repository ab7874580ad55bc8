"""The choices of transactions that consume, process and produce: the right ones, and others.

Rule of this file: a choice is a field of KafkaDesign; no step of a node.  The default of each field
is right.  KIP-98, KIP-447 and KIP-890 are proposals of Apache Kafka.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class OffsetCommit(Enum):
    """When the place in the input is committed."""

    WITHIN = "with the results, in their transaction"
    BEFORE = "before the transaction of the results ends"
    AFTER = "after the transaction of the results has ended"


class ZombieFence(Enum):
    """Who keeps a worker that was taken for dead from committing."""

    EPOCH = "both workers have one transactional id, whose epoch rises (KIP-98)"
    GENERATION = "each has its own id; a new generation aborts open transactions (KIP-447)"
    GENERATION_ALONE = "each has its own id; the group refuses places of older generations"
    NOBODY = "each has its own id"


class EpochBump(Enum):
    """When the epoch of a producer rises."""

    EACH = "at the end of each transaction (KIP-890)"
    INIT = "when a producer begins"


class FirstRequest(Enum):
    """The first request of a worker that takes over."""

    INIT = "the end of its predecessor's transaction"
    PLACE = "the place in the input"


class ReaderView(Enum):
    """Which results readers see."""

    COMMITTED = "those before the first result of an open transaction"
    UNCOMMITTED = "all, as soon as they are written: the default of Kafka's consumers"


@dataclass(frozen=True, slots=True)
class KafkaDesign:
    """A protocol: one choice of each kind.

    logs: the coordinator logs the outcome of a transaction before it writes the markers; else it
    writes them only.  checks: the partition of the results refuses results with an old epoch.
    """

    offsets: OffsetCommit = OffsetCommit.WITHIN
    fence: ZombieFence = ZombieFence.EPOCH
    bump: EpochBump = EpochBump.EACH
    first: FirstRequest = FirstRequest.INIT
    reads: ReaderView = ReaderView.COMMITTED
    logs: bool = True
    checks: bool = True
