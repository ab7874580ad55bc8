"""Active standby on Spark: a second query over one source, whose outputs wait for a failure.

Rule of this file: no Spark.  Hwang et al., Section 5.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from sim.predictions.counts import SinkBatch


def batches(ends: Iterable[int]) -> list[SinkBatch]:
    """The batches of a query: batch n has the events from ends[n] + 1 to ends[n + 1]."""
    return [SinkBatch(id_, *ends_) for id_, ends_ in enumerate(pairwise(ends))]


def waiting(ran: Iterable[SinkBatch], acknowledged: int) -> list[SinkBatch]:
    """The outputs that stay in the queue of the second query once downstream has acknowledged the
    outputs of the first one, up to an event: the rest of each batch."""
    return [
        one._replace(start=max(one.start, acknowledged)) for one in ran if one.end > acknowledged
    ]
