"""The findings about micro-batches: the variants change one thing each.

Rule of this file: findings as data; docs/explanation/findings/micro-batch.md explains them.
"""

from __future__ import annotations

from model.finding import (
    ByScope,
    Finding,
    FindingTable,
    Judgement,
)

MICRO_BATCHES = FindingTable(
    "Micro-batches",
    (
        Finding(
            "A sink that takes no batch id twice: precise",
            Judgement.CONFIRMED,
            remark="precise",
            witnesses=(ByScope("micro-batch"),),
        ),
        Finding(
            "The sink may append, as a plain `foreachBatch` does",
            Judgement.REFUTED,
            remark="repeating; seen when the query crashes between the sink and the commit log",
            witnesses=(ByScope("micro-batch:foreach-batch", "stateless"),),
        ),
        Finding(
            "Offsets may be logged when the sink has taken the batch",
            Judgement.REFUTED,
            remark="gap; seen when the query crashes between the sink and the offset log",
            witnesses=(ByScope("micro-batch:offsets-after", "stateless"),),
            mend="the sink knows rows by key",
            mended=("micro-batch:offsets-after-keyed-rows",),
        ),
        Finding(
            "Offsets may be logged when the sink has taken the batch, if the sink appends",
            Judgement.REFUTED,
            remark="repeating; seen when the query crashes between the sink and the commit log",
            witnesses=(ByScope("micro-batch:offsets-after-foreach-batch", "stateless"),),
        ),
        Finding(
            (
                "Offsets may be logged when the sink has taken the batch, if the sink knows rows "
                "by key"
            ),
            Judgement.CONFIRMED,
            remark="precise",
            witnesses=(ByScope("micro-batch:offsets-after-keyed-rows"),),
        ),
        Finding(
            "The query may acknowledge a batch when it has read it",
            Judgement.REFUTED,
            remark=(
                "gap; seen when the query crashes between the acknowledgement and the commit log"
            ),
            witnesses=(ByScope("micro-batch:eager-acks", "stateless"),),
        ),
        Finding(
            "The query may acknowledge a batch when it is in the commit log",
            Judgement.CONFIRMED,
            remark="precise",
            witnesses=(ByScope("micro-batch:prompt-acks"),),
        ),
        Finding(
            "The commit log may be written before the sink",
            Judgement.REFUTED,
            remark="gap; seen when the query crashes between the commit log and the sink",
            witnesses=(ByScope("micro-batch:commit-first", "stateless"),),
        ),
        Finding(
            "The state may be overwritten in place",
            Judgement.CONDITIONAL,
            remark=(
                "gap; precise without state; seen when the query crashes after the state, before "
                "the commit log"
            ),
            witnesses=(ByScope("micro-batch:state-in-place", "a running count"),),
        ),
    ),
)

FINDINGS = (MICRO_BATCHES,)
