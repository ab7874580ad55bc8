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
    ),
    TWO_PHASE_SINK.design(
        "kept-open",
        TwoPhaseDesign(restores=RestorePolicy.KEEP),
        (scopes.ONE_EVENT.fails(55, 10, GAP), scopes.TIME_OUT.fails(233, 14, GAP)),
    ),
    TWO_PHASE_SINK.design(
        "abort-all",
        TwoPhaseDesign(restores=RestorePolicy.ABORT),
        (scopes.ONE_EVENT.fails(49, 8, GAP),),
    ),
    TWO_PHASE_SINK.design(
        "commit-all",
        TwoPhaseDesign(restores=RestorePolicy.COMMIT),
        (scopes.ONE_EVENT.fails(47, 9, REPEATING),),
    ),
    TWO_PHASE_SINK.design(
        "short-time-out",
        TwoPhaseDesign(expires=ExpiryRule.ALL),
        (scopes.TWO_CRASHES.holds(939), scopes.TIME_OUT.fails(202, 6, GAP)),
    ),
    TWO_PHASE_SINK.design(
        "unflushed",
        TwoPhaseDesign(flushes=False),
        (scopes.TWO_CRASHES.holds(847), scopes.TIME_OUT.fails(124, 6, GAP)),
    ),
    TWO_PHASE_SINK.design(
        "one-id",
        TwoPhaseDesign(ids=TransactionalIds.ONE),
        (scopes.ONE_EVENT.holds(45), scopes.TWO_EVENTS.fails(264, 8, GAP)),
    ),
    TWO_PHASE_SINK.design(
        "shared-ids",
        TwoPhaseDesign(ids=TransactionalIds.SHARED),
        (scopes.TWO_CRASHES.holds(939), scopes.TWO_JOBS.fails(798, 10, GAP)),
    ),
    TWO_PHASE_SINK.design(
        "commit-again",
        TwoPhaseDesign(again=SecondCommit.APPLIED),
        (scopes.ONE_EVENT.fails(49, 5, REPEATING),),
    ),
    TWO_PHASE_SINK.design(
        "read-uncommitted",
        TwoPhaseDesign(reads=Isolation.UNCOMMITTED),
        (scopes.ONE_EVENT.fails(47, 7, REPEATING),),
    ),
    TWO_PHASE_SINK.design(
        "savepoint-commits",
        TwoPhaseDesign(savepoints=SavepointRule.COMMITS),
        (scopes.ONE_EVENT.fails(214, 11, REPEATING),),
    ),
    TWO_PHASE_SINK.design(
        "savepoint-retained",
        TwoPhaseDesign(savepoints=SavepointRule.RETAINED),
        (scopes.TWO_EVENTS.holds(732), scopes.TWO_CRASHES.holds(2_659)),
    ),
    TWO_PHASE_SINK.design(
        "savepoint-copies",
        TwoPhaseDesign(savepoints=SavepointRule.COPIES),
        (scopes.TWO_EVENTS.holds(232), scopes.TWO_CRASHES.holds(963)),
    ),
    TWO_PHASE_SINK.design(
        "late",
        TwoPhaseDesign(late=True, numbered=True),
        (
            scopes.TWO_CRASHES.holds(2_959),
            scopes.OVERTAKEN.holds(223),
            scopes.OVERTAKEN_TWO_EVENTS.holds(1_743),
            scopes.OVERTAKEN_AND_TIME_OUT.holds(856),
        ),
    ),
    TWO_PHASE_SINK.design(
        "late-restoration",
        TwoPhaseDesign(late=True),
        (scopes.OVERTAKEN.holds(223), scopes.OVERTAKEN_AND_TIME_OUT.fails(1_070, 30, GAP)),
    ),
    TWO_PHASE_SINK.design(
        "late-unfenced",
        TwoPhaseDesign(late=True, numbered=True, fences=False),
        (
            scopes.OVERTAKEN.fails(236, 16, GAP),
            scopes.OVERTAKEN_AND_TIME_OUT.holds(894),
        ),
    ),
)
