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
        (scopes.ONE_EVENT.fails(None, None, REPEATING), scopes.NO_CRASH.holds()),
    ),
    TWO_PHASE_SINK.design(
        "kept-open",
        TwoPhaseDesign(restores=RestorePolicy.KEEP),
        (scopes.ONE_EVENT.fails(None, None, GAP), scopes.TIME_OUT.fails(None, None, GAP)),
    ),
    TWO_PHASE_SINK.design(
        "abort-all",
        TwoPhaseDesign(restores=RestorePolicy.ABORT),
        (scopes.ONE_EVENT.fails(None, None, GAP),),
    ),
    TWO_PHASE_SINK.design(
        "commit-all",
        TwoPhaseDesign(restores=RestorePolicy.COMMIT),
        (scopes.ONE_EVENT.fails(None, None, REPEATING),),
    ),
    TWO_PHASE_SINK.design(
        "short-time-out",
        TwoPhaseDesign(expires=ExpiryRule.ALL),
        (scopes.TWO_CRASHES.holds(), scopes.TIME_OUT.fails(None, None, GAP)),
    ),
    TWO_PHASE_SINK.design(
        "unflushed",
        TwoPhaseDesign(flushes=False),
        (scopes.TWO_CRASHES.holds(), scopes.TIME_OUT.fails(None, None, GAP)),
    ),
    TWO_PHASE_SINK.design(
        "one-id",
        TwoPhaseDesign(ids=TransactionalIds.ONE),
        (scopes.ONE_EVENT.holds(), scopes.TWO_EVENTS.fails(None, None, GAP)),
    ),
    TWO_PHASE_SINK.design(
        "shared-ids",
        TwoPhaseDesign(ids=TransactionalIds.SHARED),
        (scopes.TWO_CRASHES.holds(), scopes.TWO_JOBS.fails(None, None, GAP)),
    ),
    TWO_PHASE_SINK.design(
        "commit-again",
        TwoPhaseDesign(again=SecondCommit.APPLIED),
        (scopes.ONE_EVENT.fails(None, None, REPEATING),),
    ),
    TWO_PHASE_SINK.design(
        "read-uncommitted",
        TwoPhaseDesign(reads=Isolation.UNCOMMITTED),
        (scopes.ONE_EVENT.fails(None, None, REPEATING),),
    ),
    TWO_PHASE_SINK.design(
        "savepoint-commits",
        TwoPhaseDesign(savepoints=SavepointRule.COMMITS),
        (scopes.ONE_EVENT.fails(None, None, REPEATING),),
    ),
    TWO_PHASE_SINK.design(
        "savepoint-retained",
        TwoPhaseDesign(savepoints=SavepointRule.RETAINED),
        (scopes.TWO_EVENTS.holds(), scopes.TWO_CRASHES.holds()),
    ),
    TWO_PHASE_SINK.design(
        "savepoint-copies",
        TwoPhaseDesign(savepoints=SavepointRule.COPIES),
        (scopes.TWO_EVENTS.holds(), scopes.TWO_CRASHES.holds()),
    ),
    TWO_PHASE_SINK.design(
        "late",
        TwoPhaseDesign(late=True, numbered=True),
        (
            scopes.TWO_CRASHES.holds(),
            scopes.OVERTAKEN.holds(),
            scopes.OVERTAKEN_TWO_EVENTS.holds(),
            scopes.OVERTAKEN_AND_TIME_OUT.holds(),
        ),
    ),
    TWO_PHASE_SINK.design(
        "late-restoration",
        TwoPhaseDesign(late=True),
        (scopes.OVERTAKEN.holds(), scopes.OVERTAKEN_AND_TIME_OUT.fails(None, None, GAP)),
    ),
    TWO_PHASE_SINK.design(
        "late-unfenced",
        TwoPhaseDesign(late=True, numbered=True, fences=False),
        (
            scopes.OVERTAKEN.fails(None, None, GAP),
            scopes.OVERTAKEN_AND_TIME_OUT.holds(),
        ),
    ),
)
