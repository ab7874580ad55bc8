"""The findings about Su and Zhou, "Progressive Recovery of Correlated Failures".

Rule of this file: findings as data; docs/explanation/findings/progressive.md explains them.
"""

from __future__ import annotations

from model.finding import (
    ByExperiment,
    ByLemma,
    ByReading,
    ByScope,
    ByTest,
    Finding,
    FindingTable,
    Judgement,
)

RECOVERY = FindingTable(
    "Progressive recovery",
    (
        Finding(
            "Exactly-once processing",
            Judgement.CONDITIONAL,
            section="4",
            quotes=("Exactly-once processing",),
            remark=(
                "right inside, for the states of partitions; outside refuted: after a rollback "
                "the application gets results again, of healthy queries, too"
            ),
            witnesses=(
                ByScope("progressive:inside"),
                ByScope("progressive:at-once", "a triangle, the union", "`a`, a result, !"),
            ),
            mend=(
                "results have numbers that are the same in every run, or wait for their global "
                "checkpoint"
            ),
            mended=(
                "progressive",
                "progressive:committed",
            ),
        ),
        Finding(
            (
                "Nothing is said on tuples and acknowledgements that were on their way at the "
                "rollback"
            ),
            Judgement.SILENT,
            section="4",
            remark=(
                "refuted: they are taken for those of the replay, and complete a checkpoint that "
                "nobody has"
            ),
            witnesses=(
                ByScope(
                    "progressive:no-epochs",
                    "one partition",
                    '`a P`, the rollback, then the old "stored P"; a failure of the coordinator',
                ),
                ByScope(
                    "progressive:no-epochs", "a chain, three tuples", "a failure of a partition"
                ),
                ByLemma("cut-old-acknowledgements", "6 steps"),
            ),
            mend="an epoch in each message",
            mended=("progressive",),
        ),
        Finding(
            "Downstream can skip duplicates by their numbers",
            Judgement.REFUTED,
            section="4",
            remark=(
                "a restarted partition gets what is sent live before what is sent again; if it "
                "skips only what it has seen, it takes the first and skips the second"
            ),
            witnesses=(ByScope("progressive:skip-seen", "one partition", "!, `P a`"),),
            mend="it takes the next number, and no other",
            mended=("progressive",),
        ),
        Finding(
            "Each partition attaches a local sequence number to each of its output tuples",
            Judgement.CONDITIONAL,
            section="4",
            remark=(
                "one counter is enough for who skips numbers seen before; who takes the next "
                "number alone needs a counter a connection, since a tuple goes to the partition "
                "of its key"
            ),
            witnesses=(
                ByScope("progressive:number-a-sender", "no crash, two shares", "no failure"),
                ByScope("progressive:number-a-sender-unseen", "two shares, one, two tuples"),
            ),
            mend="a number a connection",
            mended=("progressive",),
        ),
        Finding(
            "Order-preserved processing is turned on when the recovery begins",
            Judgement.CONDITIONAL,
            section="4",
            remark=(
                "right for duplicates between partitions, and needed there; too late for an "
                "application that skips by number: its numbers are from before"
            ),
            witnesses=(
                ByScope(
                    "progressive:ordered-in-recovery",
                    "a triangle, the union",
                    "two inputs, `a`, a result, !",
                ),
                ByLemma("numbers-order-in-recovery", "3 steps"),
                ByTest("tests/families/progressive/test_numbers.py"),
            ),
            mend="one order always",
            mended=("progressive",),
        ),
        Finding(
            "A new global checkpoint indicates the correlated failure is completely recovered",
            Judgement.REFUTED,
            section="4",
            quotes=("indicates the correlated failure is completely recovered",),
            remark=(
                "a partition stores its part, fails, and the others complete the checkpoint; "
                "buffers are turned off, and what is sent before the partition is back is lost"
            ),
            witnesses=(
                ByScope(
                    "progressive:ends-at-checkpoint",
                    "a chain, the second twice",
                    "!, `P`, ! when its part is stored, `a`",
                ),
                ByLemma("buffers-end-at-checkpoint", "5 steps"),
            ),
            mend="a failure cancels what its partition has acknowledged",
            mended=("progressive",),
        ),
        Finding(
            "The checkpoint is global once all partitions have acknowledged",
            Judgement.REFUTED,
            section="4",
            remark=(
                "results on their way to the application are in no partition, and in no replay"
            ),
            witnesses=(
                ByScope(
                    "progressive:silent-sinks",
                    "one partition",
                    "`a b P`, its part is stored, ! with its connections",
                ),
            ),
            mend="the application acknowledges, too",
            mended=("progressive",),
        ),
        Finding(
            "The control bolt is stateless",
            Judgement.REFUTED,
            section="4",
            quotes=("The control bolt is stateless",),
            remark=(
                "it does not know the last global checkpoint, and sources have let go of the rest"
            ),
            witnesses=(
                ByScope(
                    "progressive:stateless-coordinator",
                    "one partition",
                    "`a P`, checkpoint, the coordinator fails",
                ),
            ),
            mend="the epoch and the last checkpoint are in stable storage",
            mended=("progressive",),
        ),
        Finding(
            "Punctuations are generated periodically",
            Judgement.NEEDED,
            section="4",
            quotes=("generated periodically",),
            remark=(
                "a checkpoint ends the recovery, also if no data comes: a source that punctuated "
                "after data alone would never turn the buffers off; other periods without data "
                "change nothing"
            ),
            witnesses=(
                ByScope("progressive:punctuated-by-data", "one partition", "!"),
                ByScope("progressive:idle-periods"),
            ),
        ),
        Finding(
            "The coordinator detects failures by heartbeats",
            Judgement.SILENT,
            section="4",
            remark=(
                "a heartbeat may be late; who waits for the return of a node that is up never ends "
                "the recovery"
            ),
            witnesses=(
                ByScope("progressive:suspicion-awaited", "one partition", "a false suspicion"),
            ),
            mend="orders go to who is taken for dead, too, and it answers if it is up",
            mended=(
                "progressive:suspicion",
                "progressive:suspicion-progressive",
            ),
        ),
        Finding(
            "The source-buffered data is divided into mini-batches",
            Judgement.CONDITIONAL,
            section="4",
            remark=(
                "the text does not say where new data ends a batch; at punctuations alone, a "
                "partition with several inputs processes one batch, and waits for the last host"
            ),
            witnesses=(ByTest("tests/families/progressive/test_queries.py"),),
            mend="batches that end apart from punctuations, or checkpoints that overlap",
            mended=(
                "progressive:batches-marked",
                "progressive:overlapping-checkpoints",
            ),
        ),
        Finding(
            "Tuples after a punctuation are buffered, and in no checkpoint",
            Judgement.CONFIRMED,
            section="4",
            remark="they are replayed",
            witnesses=(
                ByScope("progressive"),
                ByLemma("cut-consistent"),
            ),
        ),
        Finding(
            "The whole topology is rolled back",
            Judgement.CONFIRMED,
            section="4",
            remark="healthy queries repeat their work",
            witnesses=(ByScope("progressive"),),
        ),
        Finding(
            "Upstream buffering has high overhead, adaptive buffering only in recovery",
            Judgement.CONFIRMED,
            section="4",
            quotes=("high overhead",),
            remark="as to what is kept; both are precise",
            witnesses=(
                ByScope("progressive:upstream-buffering"),
                ByLemma("buffers-adaptive"),
            ),
        ),
        Finding(
            "Threshold and time window",
            Judgement.NOT_NEEDED,
            section="4",
            remark=(
                "they make no difference for the guarantee: late failures may switch the "
                "recovery to progressive or not, and every recovery may be progressive"
            ),
            witnesses=(
                ByScope("progressive:late-failures-wait"),
                ByScope("progressive:always-progressive"),
            ),
        ),
        Finding(
            "The protocol as published",
            Judgement.REFUTED,
            section="4",
            remark=(
                "states lose tuples, and results come twice or never, with one partition and one "
                "failure; each of the seven mends alone leaves it refuted"
            ),
            witnesses=(
                ByScope("progressive:published", "one partition"),
                ByTest("tests/families/progressive/test_readings.py"),
            ),
            mend="seven choices are mended",
            mended=("progressive",),
        ),
    ),
)

PLAN = FindingTable(
    "The recovery plan",
    (
        Finding(
            "PD_i sums over O_k ∈ Q_j",
            Judgement.REFUTED,
            section="5",
            remark="j is bound to nothing",
            witnesses=(ByReading("the definition of PD_i"),),
            mend="Q_i",
        ),
        Finding(
            "f_k counts the other failed queries",
            Judgement.REFUTED,
            section="5",
            remark=(
                "divides by zero for an operator that is not shared, so on Figure 1; read as a "
                "density of 0, a query that shares nothing comes last, whatever its priority"
            ),
            witnesses=(
                ByTest("tests/plans/test_evidence.py", "1 query; density 0: 3 queries (2 of 3)"),
            ),
            mend="count the query itself",
        ),
        Finding(
            "A query is chosen if its cost is smaller than what is there",
            Judgement.REFUTED,
            section="5",
            remark="a query that fits exactly is never recovered",
            witnesses=(ByTest("tests/plans/test_evidence.py", "1 query, R = 1"),),
            mend="at most",
        ),
        Finding(
            "The greedy algorithm is effective",
            Judgement.REFUTED,
            section="5",
            remark="without any bound: 1 of R / 2 queries, of equal priorities",
            witnesses=(
                ByTest(
                    "tests/plans/test_evidence.py",
                    "2 queries (2 of 3); equal priorities: 3 queries (1 of 2)",
                ),
            ),
            mend="start from each pair of queries, too: at least min(1/2, 1 - e^(-1/d))",
        ),
        Finding(
            "Time O(M² log M)",
            Judgement.CONDITIONAL,
            section="5",
            remark="holds for a bounded number of operators a query",
            witnesses=(ByReading("the greedy algorithm, step by step"),),
            mend="O(M² (K + log M))",
        ),
        Finding(
            "Plan whenever nodes come, with what is there",
            Judgement.REFUTED,
            section="5",
            remark="not the best over time, even if every plan is the best one",
            witnesses=(ByTest("tests/plans/test_schedules.py", "2 queries, R = 1, then 2"),),
            mend="the best schedule knows what comes",
        ),
        Finding(
            "R is one number",
            Judgement.REFUTED,
            section="5",
            remark="partitions may not fit on single hosts",
            witnesses=(
                ByTest("tests/plans/test_planners.py", "1 partition of cost 2, 2 hosts of 1"),
            ),
            mend="a placement",
        ),
        Finding(
            "Query-centric planning beats operator-centric recovery",
            Judgement.REFUTED,
            section="6",
            remark=(
                "the rival of the evaluation is also blocking; progressive topological order has "
                "96 % of the optimum on its topology"
            ),
            witnesses=(ByExperiment("su-plan"),),
            mend="both apart",
        ),
        Finding(
            "15 queries Q_i with sinks O_i; O_1 to O_4 count, O_4 to O_14 subscribe to counts",
            Judgement.CONTRADICTORY,
            section="VI",
            remark="only 14 sinks are named, and O_4 is of both kinds",
            witnesses=(ByReading("the list of sinks and the list of queries"),),
            mend="read here as Q_0 with Parser as its sink, and O_5 to O_14",
        ),
        Finding(
            "The problem is NP-hard",
            Judgement.CONFIRMED,
            section="5",
            remark="set-union knapsack is the case of one partition an operator",
            witnesses=(ByReading("the definition of the problem"),),
        ),
    ),
)

EVALUATION = FindingTable(
    "The evaluation",
    (
        Finding(
            "A node is ready after 2 to 6 minutes (180 samples)",
            Judgement.OPEN,
            section="6",
            remark=(
                "a setting; of all distributions with this range and a mean of 3 minutes, we "
                "take the one of largest entropy"
            ),
            witnesses=(ByExperiment("su-fig3", "180 draws last from 2.0 to 5.8 minutes"),),
        ),
        Finding(
            "OPC begins with a relative latency nearly 50 % above BestCase",
            Judgement.CONFIRMED,
            section="6",
            remark=(
                "and no property of a protocol: it is the time of the last of 8 hosts over 3 "
                "minutes"
            ),
            witnesses=(
                ByExperiment(
                    "su-fig3",
                    "51 %; by the formula 50 % (35 % for a beta distribution of the same mean)",
                ),
            ),
        ),
        Finding(
            "BestCase: all nodes after 3 minutes",
            Judgement.REFUTED,
            section="6",
            remark="another supply of hosts, and a rare one: no plan could reach it",
            witnesses=(ByExperiment("su-fig3", "8 of 8 hosts in 1.9 % of the failures"),),
        ),
        Finding(
            "BestCase has more available queries than progressive recovery",
            Judgement.REFUTED,
            section="6",
            remark="not over time: progressive recovery begins with the first host",
            witnesses=(ByExperiment("su-fig3", "10.8 and 11.0 of 15, OPC 8.8"),),
        ),
        Finding(
            "Relative latency: BestCase, then progressive, then OPC",
            Judgement.CONDITIONAL,
            section="6",
            remark=(
                "confirmed when OPC begins; the end depends on the load, since progressive "
                "recovery fills each host before the next one comes: its busiest host needs 1.26 "
                "of 2 cores where OPC needs 0.91"
            ),
            witnesses=(
                ByExperiment(
                    "su-fig3",
                    (
                        "operators have caught up, with 19 % load: 244, 327, 362 s; with 38 %: "
                        "353, 565, 523 s (formula: 346, 564, 514 s)"
                    ),
                ),
            ),
        ),
        Finding(
            "Query-centric planning shortens the recovery",
            Judgement.REFUTED,
            section="6",
            remark=(
                "not on this topology: topological order without blocking has the same course in "
                "22 of 25 runs"
            ),
            witnesses=(ByExperiment("su-plan", "11.0 of 15 queries, both"),),
        ),
        Finding(
            "Order preservation only costs in recovery",
            Judgement.REFUTED,
            section="6",
            remark=(
                "it costs the available queries: with batches of 1 s none is below RL 1.2 before "
                "the recovery ends"
            ),
            witnesses=(ByExperiment("su-fig5", "0 queries instead of 6.2"),),
        ),
        Finding(
            "Minimum overhead of adaptive buffering",
            Judgement.CONFIRMED,
            section="1, 4",
            quotes=("Minimum overhead",),
            remark=(
                "without failures, runs are those of source buffering in writes, messages and "
                "tuples kept"
            ),
            witnesses=(
                ByExperiment(
                    "su-overhead",
                    (
                        "upstream buffering keeps 4 times as many tuples; on the paper's "
                        "topology that is 1.3 MB more"
                    ),
                ),
            ),
        ),
        Finding(
            "Buffers in recovery",
            Judgement.REFUTED,
            section="6",
            remark="not bounded: nothing is trimmed before the last host is back",
            witnesses=(ByExperiment("su-overhead", "1.1 million tuples, OPC 0.3 million"),),
        ),
        Finding(
            "The ratio l_r / l_s measures a recovery",
            Judgement.REFUTED,
            section="6",
            remark="it flatters what is slow without failures",
            witnesses=(
                ByExperiment(
                    "su-fig5", "results at checkpoints begin with RL 23, at once with 816"
                ),
            ),
        ),
    ),
)

FINDINGS = (
    RECOVERY,
    PLAN,
    EVALUATION,
)
