"""The findings about two-phase-commit sinks: published claims, and the choices behind them.

Rule of this file: findings as data; docs/explanation/findings/two-phase-sink.md explains them.
"""

from __future__ import annotations

from model.finding import ByScope, Finding, FindingTable, Judgement

TWO_PHASE_SINKS = FindingTable(
    "Two-phase-commit sinks",
    (
        Finding(
            "With checkpoints, replayable sources and a two-phase-commit sink, a Flink job is "
            "exactly once from end to end",
            Judgement.CONDITIONAL,
            section="Flink",
            remark="precise if no time-out ends a prepared transaction and readers read committed",
            witnesses=(
                ByScope("two-phase-sink"),
                ByScope("two-phase-sink:short-time-out", "a time-out"),
                ByScope("two-phase-sink:read-uncommitted", "one event"),
            ),
        ),
        Finding(
            "An outage that is longer than the time-out of transactions loses results",
            Judgement.CONFIRMED,
            section="Flink, FLIP-319",
            remark="gap: the results of a complete checkpoint; without time-outs it holds",
            witnesses=(ByScope("two-phase-sink:short-time-out", "a time-out"),),
            mend="the time-out spares prepared transactions",
            mended=("two-phase-sink",),
        ),
        Finding(
            "A prepared transaction has no time-out",
            Judgement.CONFIRMED,
            section="KIP-939",
            remark="precise, whatever time-outs strike before the transaction is prepared",
            witnesses=(ByScope("two-phase-sink"),),
        ),
        Finding(
            "The commit waits until the checkpoint is complete",
            Judgement.NEEDED,
            section="Flink",
            remark="repeating without it",
            witnesses=(ByScope("two-phase-sink:commit-first", "one event"),),
        ),
        Finding(
            "A restart aborts the transactions that are not in its checkpoint",
            Judgement.NEEDED,
            section="Flink",
            remark="readers wait for ever; no time-out frees them if it spares the transaction",
            witnesses=(
                ByScope("two-phase-sink:kept-open", "one event"),
                ByScope("two-phase-sink:kept-open", "a time-out"),
            ),
        ),
        Finding(
            "A restart commits the transaction of its checkpoint",
            Judgement.NEEDED,
            section="Flink",
            remark="gap without it",
            witnesses=(ByScope("two-phase-sink:abort-all", "one event"),),
        ),
        Finding(
            "A restart may commit every transaction that it finds",
            Judgement.REFUTED,
            remark="repeating",
            witnesses=(ByScope("two-phase-sink:commit-all", "one event"),),
            mend="it commits up to the transaction of its checkpoint",
            mended=("two-phase-sink",),
        ),
        Finding(
            "The checkpoint waits until the transaction has all results",
            Judgement.NEEDED,
            section="Flink",
            remark="a job that does not wait does not notice a time-out",
            witnesses=(ByScope("two-phase-sink:unflushed", "a time-out"),),
        ),
        Finding(
            "A commit may come twice",
            Judgement.CONDITIONAL,
            section="Flink",
            remark="repeating if the external system applies the second one",
            witnesses=(ByScope("two-phase-sink:commit-again", "one event"),),
            mend="the external system knows its commits",
            mended=("two-phase-sink",),
        ),
        Finding(
            "Transactional ids from a pool may be used again",
            Judgement.REFUTED,
            remark="gap if the next transaction takes the id of one that is not committed yet",
            witnesses=(ByScope("two-phase-sink:one-id", "two events"),),
            mend="an id is free when its transaction is committed",
            mended=("two-phase-sink",),
        ),
        Finding(
            "Two jobs may have one prefix of transactional ids",
            Judgement.REFUTED,
            remark="gap: the restart of one aborts a prepared transaction of the other",
            witnesses=(ByScope("two-phase-sink:shared-ids", "two jobs"),),
            mend="a prefix for each job",
            mended=("two-phase-sink",),
        ),
        Finding(
            "A savepoint commits the transactions of the sinks",
            Judgement.CONDITIONAL,
            section="FLINK-10354",
            remark="repeating unless a restart begins from it",
            witnesses=(ByScope("two-phase-sink:savepoint-commits", "one event"),),
            mend="a restart begins from it, or it commits nothing (FLINK-25191)",
            mended=("two-phase-sink:savepoint-retained", "two-phase-sink:savepoint-copies"),
        ),
        Finding(
            "The external system refuses results from before a restart",
            Judgement.NEEDED,
            remark="a late result opens a transaction that nobody ends; a time-out mends it, too",
            witnesses=(ByScope("two-phase-sink:late-unfenced", "an overtaken request"),),
        ),
        Finding(
            "The external system counts the epochs of a writer",
            Judgement.CONDITIONAL,
            section="Kafka",
            remark=(
                "right if requests come in order; gap if the restoration of a dead job comes late"
            ),
            witnesses=(
                ByScope(
                    "two-phase-sink:late-restoration", "an overtaken request and three crashes"
                ),
            ),
            mend="the job saves the number of its epoch and names it",
            mended=("two-phase-sink:late",),
        ),
    ),
)

FINDINGS = (TWO_PHASE_SINKS,)
