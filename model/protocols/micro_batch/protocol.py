"""Micro-batch recovery, as Spark Structured Streaming does it, and its evidence.

Rule of this file: no design but Spark's, joined with its variants and mutants.
"""

from __future__ import annotations

from model.protocols.micro_batch import scopes
from model.protocols.micro_batch.family import DISCARDING, MICRO_BATCH
from model.protocols.micro_batch.messages import (
    MicroBatchDesign,
)
from model.protocols.micro_batch.mutants import MUTANTS
from model.protocols.micro_batch.variants import VARIANTS

PROTOCOL = MICRO_BATCH.design(
    "",
    MicroBatchDesign(),
    (
        scopes.STATELESS.holds(28_242),
        scopes.TIME_WINDOWS_ON_A_GRID.holds(28_242),
        scopes.FIRST_EVENT_OF_EACH_WINDOW.holds(2_318),
        scopes.COUNT_WINDOWS.holds(28_242),
        scopes.A_RUNNING_COUNT.holds(28_242),
        scopes.A_RUNNING_COUNT_TWO_CRASHES.holds(30_521),
        scopes.A_RUNNING_COUNT_THREE_CRASHES.holds(43_437),
        scopes.A_PATTERN_AND_A_COUNT_OF_ITS_MATCHES.holds(28_242),
        scopes.A_JOIN_OF_TWO_SOURCES.holds(18_280),
        scopes.A_UNION_AND_PAIRS.holds(170_153),
        scopes.NO_CRASH_AND_TWO_SOURCES.holds(4_730),
        scopes.NO_CRASH.holds(211),
    ),
    "Offsets before the batch, the state before it kept, the commit log last, and a sink that "
    "takes no batch id twice: precise for every operator and set of crashes explored, although "
    "batches that were not logged regroup.",
    must_occur=DISCARDING,
    mutants=MUTANTS,
    variants=VARIANTS,
)
