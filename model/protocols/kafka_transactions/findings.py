"""The findings about Kafka's transactions: published claims, and the choices behind them.

Rule of this file: findings as data; docs/explanation/findings/kafka-transactions.md explains them.
"""

from __future__ import annotations

from model.finding import ByScope, Finding, FindingTable, Judgement

TRANSACTIONS = FindingTable(
    "Kafka's transactions",
    (
        Finding(
            "Consume, process and produce in a transaction: each record is processed exactly once, "
            "even with failures",
            Judgement.CONDITIONAL,
            section="Kafka",
            remark="precise for readers that read committed; repeating for readers by default",
            witnesses=(
                ByScope("kafka-transactions"),
                ByScope("kafka-transactions:read-uncommitted", "one event"),
            ),
        ),
        Finding(
            "The place in the input is part of the transaction",
            Judgement.NEEDED,
            section="KIP-98",
            remark="gap if it is committed before, repeating if after",
            witnesses=(
                ByScope("kafka-transactions:place-before", "one event"),
                ByScope("kafka-transactions:place-after", "one event"),
            ),
        ),
        Finding(
            "The coordinator logs the outcome before it writes the markers",
            Judgement.NEEDED,
            section="KIP-98",
            remark="half a commit stays; two crashes show it, and one crash does not",
            witnesses=(ByScope("kafka-transactions:unlogged", "two crashes"),),
        ),
        Finding(
            "Partitions refuse results with an old epoch",
            Judgement.NEEDED,
            section="KIP-98",
            remark="repeating: results of a zombie join the transaction of its successor",
            witnesses=(ByScope("kafka-transactions:unchecked", "one event"),),
        ),
        Finding(
            "A successor ends the transaction of its predecessor before it asks for the place",
            Judgement.NEEDED,
            section="KIP-98",
            remark="repeating if it asks first",
            witnesses=(ByScope("kafka-transactions:place-first", "one event"),),
        ),
        Finding(
            "A transactional id for each worker, and no other fence",
            Judgement.REFUTED,
            section="KIP-447",
            remark="gap and repeating: a zombie commits, or a dead worker's transaction stays open",
            witnesses=(
                ByScope("kafka-transactions:own-ids", "one event"),
                ByScope("kafka-transactions:own-ids", "a time-out"),
            ),
            mend="the group refuses old generations, and open transactions are aborted first",
            mended=("kafka-transactions:by-generation",),
        ),
        Finding(
            "The generation of the group alone fences a worker with an id of its own",
            Judgement.REFUTED,
            section="KIP-447",
            remark="its place may be in the transaction already when the successor joins",
            witnesses=(
                ByScope("kafka-transactions:by-generation-alone", "one event"),
                ByScope("kafka-transactions:by-generation-alone", "a time-out"),
            ),
            mend="open transactions are aborted first",
            mended=("kafka-transactions:by-generation",),
        ),
        Finding(
            "All transactions of a producer have one epoch",
            Judgement.CONDITIONAL,
            section="KIP-890",
            remark=(
                "right without time-outs if workers share an id; a result after an abort joins the "
                "next transaction, or opens one that nobody ends"
            ),
            witnesses=(
                ByScope("kafka-transactions:one-epoch", "a time-out and no crash"),
                ByScope("kafka-transactions:by-generation-one-epoch", "one event"),
            ),
            mend="the epoch rises with the end of each transaction",
            mended=("kafka-transactions",),
        ),
        Finding(
            "A time-out may abort a slow transaction at any time",
            Judgement.CONFIRMED,
            section="KIP-98",
            remark="precise: the worker begins again from the committed place",
            witnesses=(ByScope("kafka-transactions"),),
        ),
    ),
)

FINDINGS = (TRANSACTIONS,)
