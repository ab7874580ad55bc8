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
    KNOBS,
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
from model.protocols.micro_batch.nodes import TIMERS, boot, deploy, gauges, needed, recover, step
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
        knobs=KNOBS,
        timers=TIMERS,
    )


VARIANTS = (
    build(
        "foreach-batch",
        Design(sink=SinkRule.APPEND),
        fail(Guarantee.REPEATING, (13_394, 11), (77_162, 15), (13_954, 11), (13_973, 11)),
        SEEN,
        "A sink that appends what it is given sees a batch again that was written but not "
        "committed: whole, under the same id and with the same events, since its offsets were "
        "logged.",
        Guarantee.REPEATING,
    ),
    build(
        "offsets-after",
        Design(offsets=Offsets.AFTER),
        fail(Guarantee.GAP, (12_776, 17), (78_256, 19), (13_072, 17), (15_025, 17)),
        (*REGROUPING, DISCARDED),
        "A batch whose offsets are not logged may come again with other events under the same id. "
        "A sink that knows ids drops the new events with the old: knowing ids is worse here than "
        "knowing nothing.",
    ),
    build(
        "offsets-after-foreach-batch",
        Design(offsets=Offsets.AFTER, sink=SinkRule.APPEND),
        fail(Guarantee.REPEATING, (13_277, 11), (78_372, 15), (14_098, 11), (17_933, 11)),
        REGROUPING,
        "A sink that appends loses nothing when batches regroup; what it repeats need not be a "
        "whole batch any more.",
        Guarantee.REPEATING,
    ),
    build(
        "offsets-after-keyed-rows",
        Design(offsets=Offsets.AFTER, sink=SinkRule.BY_ROW),
        (*hold(12_632, 78_000, 12_784, 14_056), calm(268)),
        (*REGROUPING, DISCARDED),
        "A sink that knows rows by the event that triggered them does not need the offset log to "
        "come first: it is there for sinks that know batches.",
    ),
    build(
        "eager-acks",
        Design(acks=Acks.EAGER),
        fail(Guarantee.GAP, (22_676, 13), (131_114, 17), (23_482, 13), (26_926, 13)),
        DISCARDING,
        "If the source may trim the events of the batch under way, that batch cannot run again.",
    ),
    build(
        "prompt-acks",
        Design(acks=Acks.PROMPT),
        (*hold(14_724, 88_884, 14_724, 13_152), calm(308)),
        DISCARDING,
        "The lag of one batch is not needed against crashes: acknowledging a batch as soon as it "
        "is in the commit log is as safe, and the source keeps one batch less.",
    ),
    build(
        "commit-first",
        Design(commits=Commits.BEFORE_SINK),
        fail(Guarantee.GAP, (10_508, 7), (64_892, 11), (10_572, 7), (8_658, 7)),
        SEEN,
        "A batch that is in the commit log is not run again, whether the sink has taken it or not.",
    ),
    build(
        "state-in-place",
        Design(versions=Versions.IN_PLACE),
        (*hold(14_830), *fail(Guarantee.GAP, (87_404, 11), (15_490, 9), (17_212, 9))),
        DISCARDING,
        "A batch that runs again on the state that it has left counts its events twice. Without "
        "state that outlives an event it does no harm.",
    ),
)
