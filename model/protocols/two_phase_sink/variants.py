"""Designs of a two-phase-commit sink that change one thing, each with its verdict.

Rule of this file: no design without its claim and the verdict expected of it.
"""

from __future__ import annotations

from model.core import Guarantee
from model.protocols.two_phase_sink import scopes
from model.protocols.two_phase_sink.design import (
    CommitMoment,
    ExpiryRule,
    Isolation,
    RestorePolicy,
    SavepointRule,
    SecondCommit,
    TransactionalIds,
    TwoPhaseDesign,
)
from model.protocols.two_phase_sink.family import TWO_PHASE_SINK

GAP, REPEATING = Guarantee.GAP, Guarantee.REPEATING
VARIANTS = (
    TWO_PHASE_SINK.design(
        "commit-first",
        TwoPhaseDesign(commits=CommitMoment.PREPARED),
        (scopes.ONE_EVENT.fails(53, 11, REPEATING), scopes.NO_CRASH.holds(77)),
        "A transaction that is committed before its checkpoint is complete comes again after "
        "a crash between the two.",
    ),
    TWO_PHASE_SINK.design(
        "kept-open",
        TwoPhaseDesign(restores=RestorePolicy.KEEP),
        (scopes.ONE_EVENT.fails(55, 10, GAP), scopes.TIME_OUT.fails(233, 14, GAP)),
        "A transaction that a restart leaves open hides all later results from readers; a "
        "time-out for open transactions alone does not free them, since this one is prepared.",
    ),
    TWO_PHASE_SINK.design(
        "abort-all",
        TwoPhaseDesign(restores=RestorePolicy.ABORT),
        (scopes.ONE_EVENT.fails(49, 8, GAP),),
        "A restart that aborts all transactions also aborts those of its checkpoint: their "
        "events are not read again.",
    ),
    TWO_PHASE_SINK.design(
        "commit-all",
        TwoPhaseDesign(restores=RestorePolicy.COMMIT),
        (scopes.ONE_EVENT.fails(47, 9, REPEATING),),
        "A restart that commits all transactions commits results whose events are read again.",
    ),
    TWO_PHASE_SINK.design(
        "short-time-out",
        TwoPhaseDesign(expires=ExpiryRule.ALL),
        (scopes.TWO_CRASHES.holds(939), scopes.TIME_OUT.fails(202, 6, GAP)),
        "A time-out that is shorter than the longest outage ends a transaction that a "
        "complete checkpoint counts on.",
    ),
    TWO_PHASE_SINK.design(
        "unflushed",
        TwoPhaseDesign(flushes=False),
        (scopes.TWO_CRASHES.holds(847), scopes.TIME_OUT.fails(124, 6, GAP)),
        "A checkpoint that does not wait for its transaction does not notice that a time-out "
        "has ended it; without time-outs it does no harm here, since requests come in order.",
    ),
    TWO_PHASE_SINK.design(
        "one-id",
        TwoPhaseDesign(ids=TransactionalIds.ONE),
        (scopes.ONE_EVENT.holds(45), scopes.TWO_EVENTS.fails(264, 8, GAP)),
        "If the next transaction takes the id of one that is prepared and not committed yet, "
        "the broker ends that one: a pool of ids needs one more than checkpoints under way.",
    ),
    TWO_PHASE_SINK.design(
        "shared-ids",
        TwoPhaseDesign(ids=TransactionalIds.SHARED),
        (scopes.TWO_CRASHES.holds(939), scopes.TWO_JOBS.fails(798, 10, GAP)),
        "A restarted job that lists the transactions of a prefix also aborts those that another job"
        " with this prefix has prepared.",
    ),
    TWO_PHASE_SINK.design(
        "commit-again",
        TwoPhaseDesign(again=SecondCommit.APPLIED),
        (scopes.ONE_EVENT.fails(49, 5, REPEATING),),
        "A restart commits a transaction that may be committed already: a system that applies "
        "the second commit has all results twice.",
    ),
    TWO_PHASE_SINK.design(
        "read-uncommitted",
        TwoPhaseDesign(reads=Isolation.UNCOMMITTED),
        (scopes.ONE_EVENT.fails(47, 7, REPEATING),),
        "Readers that see uncommitted results see those of aborted transactions, too.",
    ),
    TWO_PHASE_SINK.design(
        "savepoint-commits",
        TwoPhaseDesign(savepoints=SavepointRule.COMMITS),
        (scopes.ONE_EVENT.fails(214, 11, REPEATING),),
        "A savepoint that commits, and that no restart begins from, repeats its results "
        "(FLINK-10354).",
    ),
    TWO_PHASE_SINK.design(
        "savepoint-retained",
        TwoPhaseDesign(savepoints=SavepointRule.COUNTS),
        (scopes.TWO_EVENTS.holds(732), scopes.TWO_CRASHES.holds(2_659), scopes.NO_CRASH.holds(491)),
        "A savepoint that commits is right if a restart begins from it.",
    ),
    TWO_PHASE_SINK.design(
        "savepoint-copies",
        TwoPhaseDesign(savepoints=SavepointRule.COPIES),
        (scopes.TWO_EVENTS.holds(232), scopes.TWO_CRASHES.holds(963), scopes.NO_CRASH.holds(154)),
        "A savepoint that ends no transaction is right (FLINK-25191).",
    ),
    TWO_PHASE_SINK.design(
        "late",
        TwoPhaseDesign(late=True, numbered=True),
        (
            scopes.TWO_CRASHES.holds(2_959),
            scopes.LATE_REQUEST.holds(223),
            scopes.LATE_REQUEST_OF_TWO.holds(1_743),
            scopes.LATE_REQUEST_AND_TIME_OUT.holds(856),
            scopes.LATE_REQUEST_AND_THREE_CRASHES.holds(40_882),
            scopes.NO_CRASH.holds(298),
        ),
        "Requests may travel and overtake each other if the job names the number of its "
        "epoch, which it saves, and the external system refuses older ones.",
    ),
    TWO_PHASE_SINK.design(
        "late-restoration",
        TwoPhaseDesign(late=True),
        (
            scopes.LATE_REQUEST.holds(223),
            scopes.LATE_REQUEST_AND_THREE_CRASHES.fails(107_136, 21, GAP),
        ),
        "If the external system counts the epochs, as Kafka does, the restoration of a job "
        "that is dead may come late, and aborts the prepared transaction of the present job.",
    ),
    TWO_PHASE_SINK.design(
        "late-unfenced",
        TwoPhaseDesign(late=True, numbered=True, fences=False),
        (
            scopes.LATE_REQUEST.fails(236, 16, GAP),
            scopes.LATE_REQUEST_AND_TIME_OUT.holds(894),
        ),
        "A result from before the restart opens a transaction that nobody ends, and readers "
        "see nothing that comes later; with a time-out they wait for it.",
    ),
)
