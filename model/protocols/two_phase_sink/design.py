"""The choices of a two-phase-commit sink: the right ones, and those of bug reports.

Rule of this file: a choice is a field of TwoPhaseDesign; no step of a node.  The default of each
field is right.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class CommitMoment(Enum):
    """When the job commits a transaction that is prepared."""

    COMPLETE = "when the checkpoint is complete"
    PREPARED = "when the transaction is prepared, before the checkpoint is complete"


class RestorePolicy(Enum):
    """The treatment of transactions that a restored job finds."""

    SETTLE = "it commits those of the checkpoint and aborts all others"
    KEEP = "it commits those of the checkpoint and leaves the others open"
    ABORT = "it aborts all"
    COMMIT = "it commits all"


class ExpiryRule(Enum):
    """Which transactions the external system aborts by its time-out."""

    OPEN = "those that are not prepared (KIP-939)"
    ALL = "all that are neither committed nor aborted (FLIP-319)"


class TransactionalIds(Enum):
    """Which ids transactions have; the same id again ends the transaction before."""

    OWN = "each transaction has its own"
    ONE = "the next transaction of a job takes the id of the last one"
    SHARED = "the jobs have one prefix: a restored job also aborts transactions of the others"


class SecondCommit(Enum):
    """The effect of a second commit of a transaction."""

    KNOWN = "none: the external system knows its commits"
    APPLIED = "all results are written again"


class Isolation(Enum):
    """Which results readers see."""

    COMMITTED = "those before the first transaction that is neither committed nor aborted"
    UNCOMMITTED = "all, as soon as they are written"


class SavepointRule(Enum):
    """The effect of a savepoint, which a user asks for once (FLINK-10354, FLINK-25191)."""

    NEVER = "nobody asks for one"
    COPIES = "it only copies the state"
    COUNTS = "it is a checkpoint"
    COMMITS = "it commits, and a restart does not begin from it"


@dataclass(frozen=True, slots=True)
class TwoPhaseDesign:
    """A protocol: one choice of each kind.

    flushes: the checkpoint waits until the external system has all results of the transaction.
    late: requests travel, and one may be overtaken; else each is a transaction of the external
    system at once.  fences: the external system refuses results from before a restart.  numbered: a
    restarted job saves the number of its epoch and names it; else the external system counts.
    """

    commits: CommitMoment = CommitMoment.COMPLETE
    restores: RestorePolicy = RestorePolicy.SETTLE
    expires: ExpiryRule = ExpiryRule.OPEN
    ids: TransactionalIds = TransactionalIds.OWN
    again: SecondCommit = SecondCommit.KNOWN
    reads: Isolation = Isolation.COMMITTED
    savepoints: SavepointRule = SavepointRule.NEVER
    flushes: bool = True
    late: bool = False
    fences: bool = True
    numbered: bool = False
