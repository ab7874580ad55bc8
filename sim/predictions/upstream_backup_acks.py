"""Upstream backup on Spark: a query without a checkpoint, whose events upstream sends again.

Rule of this file: no Spark.  Hwang et al., Section 5.2.
"""

from __future__ import annotations

from collections.abc import Sequence

from sim.predictions.counts import SinkBatch


def cause(processed: int, window: int) -> int:
    """The event after which a query must begin whose windows have so many events each: the first
    window that is open after event `processed` begins there."""
    return processed // window * window


def after(ran: Sequence[SinkBatch], begins: int, *ends: int) -> list[SinkBatch]:
    """The batches with those of a query that begins empty after an event: a batch to each end."""
    starts = (begins, *ends)
    new = [SinkBatch(at, starts[at], end, since=begins) for at, end in enumerate(ends)]
    return [*ran, *new]


def is_refused(begins: int, acknowledged: int, group: int) -> bool:
    """Has upstream, which lets go of events group by group, let go of one that is needed?"""
    return begins < acknowledged // group * group
