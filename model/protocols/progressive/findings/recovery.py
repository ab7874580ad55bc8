"""The findings about progressive recovery, Section 4 of Su and Zhou.

Rule of this file: findings as data; docs/explanation/findings/progressive.md explains them.
"""

from __future__ import annotations

from model.finding import ByLemma, ByScope, ByTest, Finding, FindingTable, Judgement

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
            witnesses=(
                ByScope("progressive:others-wait-at-a-union", "a query beside a union down"),
                ByTest("tests/families/progressive/test_queries.py"),
            ),
            mend="batches that end apart from punctuations, or checkpoints that overlap",
            mended=(
                "progressive:batches-marked",
                "progressive:overlapping-checkpoints",
                "progressive:others-marked",
                "progressive:others-overlap",
            ),
        ),
        Finding(
            "Progressively recover the outputs of queries as early as possible",
            Judgement.CONDITIONAL,
            section="1",
            quotes=("Progressively recover the outputs of queries as early as possible",),
            remark=(
                "while a partition is down for good, the queries without it have all results; not "
                "up to the threshold, with results that wait for their checkpoint, or if the "
                "coordinator restarts meanwhile"
            ),
            witnesses=(
                ByScope("progressive:others-go-on"),
                ByScope("progressive:others-blocked", "one query down", "one failure, `a P !`"),
                ByScope("progressive:others-committed", "one query down"),
                ByScope(
                    "progressive:others-wait-for-the-coordinator",
                    "one query and the coordinator down",
                    "a notice does not come again",
                ),
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
