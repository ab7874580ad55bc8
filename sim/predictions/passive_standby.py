"""Passive standby on Spark: a second driver takes over from a checkpoint that was shipped to it.

Rule of this file: no Spark.  Hwang et al., Section 5.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from sim.predictions.counts import SinkBatch


class Shipped(NamedTuple):
    """A checkpoint that a secondary has: the next batch, and the events up to there."""

    batch: int
    end: int


def before(ends: tuple[int, ...], written: int) -> list[SinkBatch]:
    """The batches that the first driver hands over; as sim.predictions.amnesia.batches."""
    return [SinkBatch(id_, *ends_) for id_, ends_ in enumerate(pairwise(ends)) if id_ < written]


def after(ran: Sequence[SinkBatch], shipped: Shipped, total: int) -> list[SinkBatch]:
    """The batches with those of a driver that takes over: all that its checkpoint does not have is
    one batch."""
    return [*ran, SinkBatch(shipped.batch, shipped.end, total)]


def is_refused(shipped: Shipped, acknowledged: int) -> bool:
    """Has upstream let go of an event that the checkpoint does not have?"""
    return shipped.end < acknowledged
