"""Amnesia on Spark: a query that restarts without its checkpoint, from the newest event on.

Rule of this file: no Spark.  Hwang et al., Section 4: the secondary restarts "from an empty state
and continue[s] processing input tuples as they arrive".
"""

from __future__ import annotations

from itertools import pairwise

from sim.predictions.counts import SinkBatch


def batches(ends: tuple[int, ...], written: int, begins: int, total: int) -> list[SinkBatch]:
    """The batches that the sinks get.

    ends: batch n has the events from ends[n] + 1 to ends[n + 1].  written: the number of batches
    that were handed over before the crash.  begins: the newest event at the restart; total: the
    last event.
    """
    before = [SinkBatch(id_, *ends_) for id_, ends_ in enumerate(pairwise(ends)) if id_ < written]
    return [*before, SinkBatch(0, begins, total, since=begins)]
