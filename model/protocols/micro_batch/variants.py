"""Designs of micro-batch recovery that change one thing, each with the verdict expected of it.

Rule of this file: no design without its claim and the verdict expected of it.
"""

from __future__ import annotations

from functools import partial

from model.core import (
    CRASHED,
    DISCARDED,
    REPLAYED,
    SPANNED,
    Assumptions,
    Failures,
    Guarantee,
    PinnedScope,
    Protocol,
    Quantity,
)
from model.properties import AS_IF, COMPLETE
from model.protocols.micro_batch.messages import (
    AGAIN,
    BETWEEN,
    QUANTITIES,
    REGROUPED,
    SEVERAL,
    TRIMMED,
    Acks,
    Commits,
    Design,
    Offsets,
    SinkRule,
    Versions,
    show,
    size,
)
from model.protocols.micro_batch.nodes import (
    TIMERS,
    boot,
    deploy,
    gauges,
    memory,
    needed,
    recover,
    step,
)
from model.protocols.micro_batch.scopes import (
    calm,
    fail,
    hold,
)

# --- protocols -------------------------------------------------------------------------------
SEEN = (CRASHED, SPANNED, BETWEEN, AGAIN, REPLAYED, SEVERAL, TRIMMED)
DISCARDING = (*SEEN, DISCARDED)
REGROUPING = (*SEEN, REGROUPED)


def build(
    name: str,
    design: Design,
    scopes: tuple[PinnedScope, ...],
    must_occur: tuple[Quantity, ...],
    finding: str,
    claim: Guarantee = Guarantee.PRECISE,
) -> Protocol:
    return Protocol(
        name=f"micro-batch:{name}" if name else "micro-batch",
        title="Micro-batches with an offset log and a commit log",
        source="Spark Structured Streaming, MicroBatchExecution",
        deploy=partial(deploy, design),
        boot=boot,
        recover=recover,
        step=step,
        gauges=gauges,
        memory=memory,
        show=show,
        assumes=Assumptions(Failures.ANY),
        claims=dict.fromkeys(sorted({p.operators for p in scopes}), claim),
        properties=(AS_IF, COMPLETE),
        needed=needed,
        scopes=scopes,
        must_occur=must_occur,
        finding=finding,
        size=size,
        quantities=QUANTITIES,
        timers=TIMERS,
    )


VARIANTS = (
    build(
        "foreach-batch",
        Design(sink=SinkRule.APPEND),
        fail(Guarantee.REPEATING, (6_391, 11), (28_494, 13), (6_648, 11), (5_716, 11)),
        SEEN,
        "A sink that appends what it is given sees a batch again that was written but not "
        "committed: whole, under the same id and with the same events, since its offsets were "
        "logged.",
        Guarantee.REPEATING,
    ),
    build(
        "offsets-after",
        Design(offsets=Offsets.AFTER),
        fail(Guarantee.GAP, (7_086, 16), (33_608, 17), (7_176, 16), (7_262, 16)),
        (*REGROUPING, DISCARDED),
        "A batch whose offsets are not logged may come again with other events under the same id. "
        "A sink that knows ids drops the new events with the old: knowing ids is worse here than "
        "knowing nothing.",
    ),
    build(
        "offsets-after-foreach-batch",
        Design(offsets=Offsets.AFTER, sink=SinkRule.APPEND),
        fail(Guarantee.REPEATING, (7_385, 11), (33_732, 13), (7_774, 11), (8_609, 11)),
        REGROUPING,
        "A sink that appends loses nothing when batches regroup; what it repeats need not be a "
        "whole batch any more.",
        Guarantee.REPEATING,
    ),
    build(
        "offsets-after-keyed-rows",
        Design(offsets=Offsets.AFTER, sink=SinkRule.BY_ROW),
        (*hold(6_996, 33_476, 6_996, 6_959), calm(212)),
        (*REGROUPING, DISCARDED),
        "A sink that knows rows by the event that triggered them does not need the offset log to "
        "come first: it is there for sinks that know batches.",
    ),
    build(
        "eager-acks",
        Design(acks=Acks.EAGER),
        fail(Guarantee.GAP, (10_079, 13), (44_620, 15), (10_430, 13), (10_513, 13)),
        DISCARDING,
        "If the source may trim the events of the batch under way, that batch cannot run again.",
    ),
    build(
        "prompt-acks",
        Design(acks=Acks.PROMPT),
        (*hold(6_568, 29_592, 6_568, 5_089), calm(220)),
        DISCARDING,
        "The lag of one batch is not needed against crashes: acknowledging a batch as soon as it "
        "is in the commit log is as safe, and the source keeps one batch less.",
    ),
    build(
        "commit-first",
        Design(commits=Commits.BEFORE_SINK),
        fail(Guarantee.GAP, (5_710, 7), (26_738, 9), (5_794, 7), (4_195, 7)),
        SEEN,
        "A batch that is in the commit log is not run again, whether the sink has taken it or not.",
    ),
    build(
        "state-in-place",
        Design(versions=Versions.IN_PLACE),
        (*hold(6_853), *fail(Guarantee.GAP, (31_325, 10), (7_232, 9), (6_832, 9))),
        DISCARDING,
        "A batch that runs again on the state that it has left counts its events twice. Without "
        "state that outlives an event it does no harm.",
    ),
)
