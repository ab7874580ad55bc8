"""Designs of micro-batch recovery that change one thing, each with the verdict expected of it.

Rule of this file: no design without its claim and the verdict expected of it.
"""

from __future__ import annotations

from model.core import DISCARDED, Guarantee
from model.protocols.micro_batch import scopes
from model.protocols.micro_batch.family import DISCARDING, MICRO_BATCH, REGROUPING, SEEN
from model.protocols.micro_batch.messages import (
    Acks,
    Commits,
    MicroBatchDesign,
    Offsets,
    SinkRule,
    Versions,
)

GAP, REPEATING, PRECISE = Guarantee.GAP, Guarantee.REPEATING, Guarantee.PRECISE
DIVERGENT, CONVERGENT = Guarantee.DIVERGENT, Guarantee.CONVERGENT

VARIANTS = (
    MICRO_BATCH.design(
        "foreach-batch",
        MicroBatchDesign(sink=SinkRule.APPEND),
        (
            scopes.A_SHORT_STATELESS.fails(6_391, 11, REPEATING),
            scopes.TIME_WINDOWS_ON_A_GRID.fails(28_494, 13, REPEATING),
            scopes.A_SHORT_RUNNING_COUNT.fails(6_648, 11, REPEATING),
            scopes.A_SHORT_RUNNING_COUNT_TWO_CRASHES.fails(5_716, 11, REPEATING),
        ),
        "A sink that appends what it is given sees a batch again that was written but not "
        "committed: whole, under the same id and with the same events, since its offsets were "
        "logged.",
        claims=Guarantee.REPEATING,
        must_occur=SEEN,
    ),
    MICRO_BATCH.design(
        "offsets-after",
        MicroBatchDesign(offsets=Offsets.AFTER),
        (
            scopes.A_SHORT_STATELESS.fails(7_086, 16, GAP),
            scopes.TIME_WINDOWS_ON_A_GRID.fails(33_608, 17, GAP),
            scopes.A_SHORT_RUNNING_COUNT.fails(7_176, 16, GAP),
            scopes.A_SHORT_RUNNING_COUNT_TWO_CRASHES.fails(7_262, 16, GAP),
        ),
        "A batch whose offsets are not logged may come again with other events under the same id. "
        "A sink that knows ids drops the new events with the old: knowing ids is worse here than "
        "knowing nothing.",
        must_occur=(*REGROUPING, DISCARDED),
    ),
    MICRO_BATCH.design(
        "offsets-after-foreach-batch",
        MicroBatchDesign(offsets=Offsets.AFTER, sink=SinkRule.APPEND),
        (
            scopes.A_SHORT_STATELESS.fails(7_385, 11, REPEATING),
            scopes.TIME_WINDOWS_ON_A_GRID.fails(33_732, 13, REPEATING),
            scopes.A_SHORT_RUNNING_COUNT.fails(7_774, 11, REPEATING),
            scopes.A_SHORT_RUNNING_COUNT_TWO_CRASHES.fails(8_609, 11, REPEATING),
        ),
        "A sink that appends loses nothing when batches regroup; what it repeats need not be a "
        "whole batch any more.",
        claims=Guarantee.REPEATING,
        must_occur=REGROUPING,
    ),
    MICRO_BATCH.design(
        "offsets-after-keyed-rows",
        MicroBatchDesign(offsets=Offsets.AFTER, sink=SinkRule.BY_ROW),
        (
            scopes.A_SHORT_STATELESS.holds(6_996),
            scopes.TIME_WINDOWS_ON_A_GRID.holds(33_476),
            scopes.A_SHORT_RUNNING_COUNT.holds(6_996),
            scopes.A_SHORT_RUNNING_COUNT_TWO_CRASHES.holds(6_959),
            scopes.NO_CRASH.holds(212),
        ),
        "A sink that knows rows by the event that triggered them does not need the offset log to "
        "come first: it is there for sinks that know batches.",
        must_occur=(*REGROUPING, DISCARDED),
    ),
    MICRO_BATCH.design(
        "eager-acks",
        MicroBatchDesign(acks=Acks.EAGER),
        (
            scopes.A_SHORT_STATELESS.fails(10_079, 13, GAP),
            scopes.TIME_WINDOWS_ON_A_GRID.fails(44_620, 15, GAP),
            scopes.A_SHORT_RUNNING_COUNT.fails(10_430, 13, GAP),
            scopes.A_SHORT_RUNNING_COUNT_TWO_CRASHES.fails(10_513, 13, GAP),
        ),
        "If the source may trim the events of the batch under way, that batch cannot run again.",
        must_occur=DISCARDING,
    ),
    MICRO_BATCH.design(
        "prompt-acks",
        MicroBatchDesign(acks=Acks.PROMPT),
        (
            scopes.A_SHORT_STATELESS.holds(6_568),
            scopes.TIME_WINDOWS_ON_A_GRID.holds(29_592),
            scopes.A_SHORT_RUNNING_COUNT.holds(6_568),
            scopes.A_SHORT_RUNNING_COUNT_TWO_CRASHES.holds(5_089),
            scopes.NO_CRASH.holds(220),
        ),
        "The lag of one batch is not needed against crashes: acknowledging a batch as soon as it "
        "is in the commit log is as safe, and the source keeps one batch less.",
        must_occur=DISCARDING,
    ),
    MICRO_BATCH.design(
        "commit-first",
        MicroBatchDesign(commits=Commits.BEFORE_SINK),
        (
            scopes.A_SHORT_STATELESS.fails(5_710, 7, GAP),
            scopes.TIME_WINDOWS_ON_A_GRID.fails(26_738, 9, GAP),
            scopes.A_SHORT_RUNNING_COUNT.fails(5_794, 7, GAP),
            scopes.A_SHORT_RUNNING_COUNT_TWO_CRASHES.fails(4_195, 7, GAP),
        ),
        "A batch that is in the commit log is not run again, whether the sink has taken it or not.",
        must_occur=SEEN,
    ),
    MICRO_BATCH.design(
        "state-in-place",
        MicroBatchDesign(versions=Versions.IN_PLACE),
        (
            scopes.A_SHORT_STATELESS.holds(6_853),
            scopes.TIME_WINDOWS_ON_A_GRID.fails(31_325, 10, GAP),
            scopes.A_SHORT_RUNNING_COUNT.fails(7_232, 9, GAP),
            scopes.A_SHORT_RUNNING_COUNT_TWO_CRASHES.fails(6_832, 9, GAP),
        ),
        "A batch that runs again on the state that it has left counts its events twice. Without "
        "state that outlives an event it does no harm.",
        must_occur=DISCARDING,
    ),
)
