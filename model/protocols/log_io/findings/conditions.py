"""The findings about LOG.io: the proof of Section 4.4, condition by condition.

Rule of this file: findings as data; docs/explanation/findings/log-io.md explains them.
"""

from __future__ import annotations

from model.finding import (
    ByLemma,
    ByMutant,
    ByScope,
    ByTest,
    Finding,
    FindingTable,
    Judgement,
)

CONDITIONS = FindingTable(
    "Section 4.4, condition by condition",
    (
        Finding(
            (
                "The sender's state reflects a message that was received or is in a channel (the "
                "definition)"
            ),
            Judgement.CONFIRMED,
            section="4.4",
            remark="with crashes, too; false if nobody waits for the log",
            witnesses=(
                ByTest("tests/families/log_io/test_consistency.py"),
                ByLemma("port-once"),
                ByScope("log-io:late-log", "a relay"),
            ),
        ),
        Finding(
            "An acknowledged event has an Input Set",
            Judgement.CONFIRMED,
            section="4.4",
            remark="with crashes, too",
            witnesses=(ByTest("tests/families/log_io/test_consistency.py"),),
        ),
        Finding(
            "An acknowledged event is logged undone",
            Judgement.REFUTED,
            section="4.4",
            remark="not literally at any point: done with its Output Set, then removed (3.6)",
            witnesses=(
                ByTest("tests/families/log_io/test_consistency.py"),
                ByLemma("port-once"),
                ByLemma("lineage-true"),
            ),
        ),
        Finding(
            "An event in the channel is unassigned and undone",
            Judgement.CONDITIONAL,
            section="4.4",
            remark=(
                "holds without failures; with them refuted (crash between assignment and "
                "removal), and filtered later"
            ),
            witnesses=(ByTest("tests/families/log_io/test_consistency.py", "3 steps"),),
        ),
        Finding(
            "P1: there is one element for each read action",
            Judgement.CONFIRMED,
            section="4.4",
            remark="with the store",
            witnesses=(
                ByScope("log-io:stored-reads"),
                ByScope("log-io:reads-again", "a read and a crash"),
            ),
        ),
        Finding(
            "P2: a replayed action has the same outputs, none twice",
            Judgement.CONDITIONAL,
            section="4.4",
            remark=(
                "crashes of readers; right if an earlier effect is a prefix of a later one, and "
                "refuted for the subsequence of 2.2"
            ),
            witnesses=(
                ByScope("log-io:subsequence-by-offset", "a relay and a crash"),
                ByScope("log-io", "a relay"),
                ByScope("log-io", "two relays"),
                ByMutant("a reader forgets where it was"),
                ByMutant("a reader skips an event"),
                ByMutant("a reader sends before it has logged"),
                ByMutant("a reader forgets its numbers"),
            ),
        ),
        Finding(
            "Case 1: the global state is rebuilt",
            Judgement.NEEDED,
            section="4.4",
            remark="holds with an array of the stored state",
            witnesses=(
                ByScope("log-io:no-array", "counted by type"),
                ByScope("log-io:array-of-the-filter", "counted by type"),
                ByScope("log-io:array-of-its-own"),
            ),
        ),
        Finding(
            "Case 1: Input Sets are rebuilt",
            Judgement.CONFIRMED,
            section="4.4",
            witnesses=(
                ByScope("log-io", "two functions"),
                ByScope("log-io:again-into-all-sets", "two inputs of two functions"),
                ByLemma("lineage-true"),
            ),
        ),
        Finding(
            "Case 1: outputs could occur without a failure",
            Judgement.REFUTED,
            section="4.4",
            remark="as published",
            witnesses=(
                ByScope("log-io:triggers-again", "batches in turn by type that crash once"),
                ByScope("log-io:array-and-triggers", "counted by type"),
                ByScope("log-io:sets-by-number", "two functions"),
            ),
            mend="the mends of the table above",
            mended=("log-io",),
        ),
        Finding(
            "Case 1: the round-robin order could occur",
            Judgement.REFUTED,
            section="4.4",
            witnesses=(
                ByScope("log-io:ports-in-turn", "two ports and two functions"),
                ByScope("log-io:ports-in-turn", "two ports by type"),
            ),
            mend="the order of assignment",
            mended=("log-io:in-order-of-assignment",),
        ),
        Finding(
            "Case 1: a deterministic order between ports is enforced again",
            Judgement.CONFIRMED,
            section="4.4",
            remark="in any order of replay",
            witnesses=(ByScope("log-io", "two ports in order of time"),),
        ),
        Finding(
            "Case 2: a crash before the commit; other outputs are allowed",
            Judgement.CONFIRMED,
            section="4.4",
            witnesses=(ByScope("log-io", "a side effect read"),),
        ),
        Finding(
            "Case 2: a crash after it; outputs are sent again, duplicates filtered",
            Judgement.REFUTED,
            section="4.4",
            remark="as published",
            witnesses=(
                ByScope("log-io:smaller-numbers", "a relay"),
                ByScope("log-io:sent-from-the-log", "two relays"),
                ByLemma("port-once"),
            ),
            mend="equal numbers are discarded, and numbers are in the stored context",
            mended=("log-io",),
        ),
        Finding(
            "Case 2: a crash in step 6",
            Judgement.REFUTED,
            section="4.4",
            remark="for several pending writes, and for groups",
            witnesses=(
                ByScope("log-io:checkable-writes-together", "a relay"),
                ByScope("log-io:idempotent-writes-together", "a relay"),
            ),
            mend="one write at a time",
            mended=(
                "log-io",
                "log-io:idempotent-writes",
            ),
        ),
        Finding(
            "Case 3: neighbours fail together",
            Judgement.CONFIRMED,
            section="4.4",
            witnesses=(
                ByScope("log-io", "two relays"),
                ByScope("log-io", "three operators"),
                ByScope("log-io", "two ways to one operator"),
                ByScope("log-io", "three crashes"),
            ),
        ),
        Finding(
            "The proof is an induction over operators",
            Judgement.OPEN,
            section="4.4",
            remark="explored, not proved",
            witnesses=(
                ByScope("log-io", "three operators"),
                ByScope("log-io", "a relay and batches"),
            ),
        ),
        Finding(
            "Read actions need not be replayable",
            Judgement.CONDITIONAL,
            section="4.4",
            remark="a read that removes the events that it shows loses one",
            witnesses=(
                ByScope("log-io:stored-reads"),
                ByScope("log-io:destructive-reads", "a queue of one event"),
            ),
            mend="a queue keeps an event until the reader acknowledges it",
            mended=("log-io:acknowledged-reads",),
        ),
        Finding(
            "Operators may be non-deterministic",
            Judgement.CONFIRMED,
            section="4.4",
            witnesses=(
                ByScope("log-io", "a side effect read"),
                ByScope("log-io", "a side effect read and two sinks"),
                ByScope("log-io", "two ports that race"),
            ),
        ),
        Finding(
            "Writes are checkable or idempotent",
            Judgement.NEEDED,
            section="4.4",
            remark=(
                "and not enough for several pending ones, nor for idempotent ones of two writers "
                "to one place"
            ),
            witnesses=(
                ByScope("log-io:overwriting-writes", "two writers of one system"),
                ByScope("log-io:plain-writes", "a relay"),
                ByScope("log-io:plain-groups", "two writes an input"),
            ),
        ),
    ),
)
