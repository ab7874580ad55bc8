"""The findings about asynchronous barrier snapshotting as the LOG.io paper describes it.

Rule of this file: findings as data; docs/explanation/findings/abs.md explains them.
"""

from __future__ import annotations

from model.finding import (
    ByLemma,
    ByScope,
    Finding,
    FindingTable,
    Judgement,
)

SNAPSHOTTING = FindingTable(
    "Asynchronous barrier snapshotting",
    (
        Finding(
            "An epoch is complete when all the sink operators have their snapshots",
            Judgement.REFUTED,
            section="8.1.1",
            quotes=("all the sink operators",),
            remark=(
                "a marker is handed on before the snapshot is written, so sinks may be faster "
                "than an operator before them"
            ),
            witnesses=(
                ByScope(
                    "abs:complete-at-writers",
                    "a relay behind pairs",
                    "with a store that answers late",
                ),
                ByLemma("complete-early"),
            ),
            mend="when all operators have them, as Section 1 says",
            mended=("abs:late-store",),
        ),
        Finding(
            "Nothing is said on when an operator reports a snapshot that is stored beside its work",
            Judgement.SILENT,
            section="8.1.1",
            remark=(
                "a report before the snapshot is stored makes an epoch complete that a crash "
                "leaves without it"
            ),
            witnesses=(ByScope("abs:reported-early", "pairs"),),
            mend="when the storage has it",
            mended=("abs:asynchronous", "abs:engine", "abs:engine-unaligned"),
        ),
        Finding(
            "An operator waits for the marker on all inputs",
            Judgement.REFUTED,
            section="1",
            remark="to the letter: events from behind a marker are taken, and come twice",
            witnesses=(
                ByScope("abs:open", "a union"),
                ByLemma("open-inputs"),
            ),
            mend="inputs with a marker are blocked (8.1.1), or their events belong to the snapshot",
            mended=("abs:unaligned",),
        ),
        Finding(
            "(not claimed) a snapshot is taken at the first marker",
            Judgement.REFUTED,
            section="(not claimed)",
            remark="loses events",
            witnesses=(
                ByScope("abs:first-marker", "a union"),
                ByLemma("first-marker"),
            ),
            mend="inputs with a marker are blocked, or their events belong to the snapshot",
            mended=(
                "abs",
                "abs:unaligned",
            ),
        ),
        Finding(
            (
                "A restart goes back to the last complete epoch; nothing is said on writes that "
                "were pre-committed"
            ),
            Judgement.SILENT,
            section="1, 8.1.1",
            remark="to drop all loses a complete epoch, to commit all repeats",
            witnesses=(
                ByScope("abs:settle-by-dropping", "a relay"),
                ByScope("abs:settle-by-committing", "a relay"),
            ),
            mend="commit those up to the epoch, drop the others",
            mended=("abs",),
        ),
        Finding(
            "Nothing is said on messages from before a restart",
            Judgement.SILENT,
            section="8.1.1",
            remark="they mix with the new run",
            witnesses=(ByScope("abs:one-run", "a relay"),),
            mend="messages carry the number of the run",
            mended=("abs",),
        ),
        Finding(
            "Idempotency may be relaxed if writes are transactional and the writer has a log",
            Judgement.REFUTED,
            section="9.1",
            quotes=("if writes are transactional and the writer has a log",),
            remark=(
                "if that is one transaction with the writer's snapshot: a complete epoch needs "
                "all of them"
            ),
            witnesses=(ByScope("abs:transactional-published", "a relay"),),
            mend="two phases",
            mended=("abs:transactional",),
        ),
        Finding(
            "A writer that skips an epoch which is there already",
            Judgement.REFUTED,
            section="9.1, another reading",
            remark=(
                "after a restart an epoch ends elsewhere; not on Spark, whose offset log fixes a "
                "batch before it runs (`asif spark abs`)"
            ),
            witnesses=(ByScope("abs:checked", "a relay"),),
            mend="two phases",
            mended=("abs",),
        ),
        Finding(
            "Deterministic pipelines with idempotent writes need no second phase",
            Judgement.CONDITIONAL,
            section="9.1",
            remark="right for outputs that are numbered; refuted for two inputs that race",
            witnesses=(
                ByScope("abs:idempotent-any", "a union"),
                ByScope("abs:idempotent"),
            ),
            mend="two phases",
            mended=("abs",),
        ),
        Finding(
            "A snapshot is the effect of exactly what precedes the markers",
            Judgement.CONFIRMED,
            section="1, 8.1.1",
            remark="proved for any inputs",
            witnesses=(
                ByLemma("aligned-snapshot"),
                ByLemma("unaligned-snapshot"),
            ),
        ),
        Finding(
            "What is committed is in a complete epoch",
            Judgement.CONFIRMED,
            section="8.1.1",
            remark=(
                "proved for any pipeline and restarts; needed: the restart goes back to the last "
                "complete epoch, and drops snapshots of epochs that are not complete (4 steps "
                "each)"
            ),
            witnesses=(
                ByLemma("committed-complete"),
                ByLemma("any-epoch"),
                ByLemma("old-snapshots"),
            ),
        ),
        Finding(
            "Nothing is said on a writer that does not wait for the answer to its pre-commit",
            Judgement.SILENT,
            section="(not considered)",
            remark="outputs are lost",
            witnesses=(ByScope("abs:late-system", "a relay"),),
            mend="wait before the snapshot",
            mended=("abs",),
        ),
        Finding(
            "Nothing is said on a crash of the coordinator, which keeps nothing",
            Judgement.SILENT,
            section="1, 8.1.1",
            remark="it restarts from the first epoch, and sources have let go of its records",
            witnesses=(ByScope("abs:coordinator-keeps-nothing", "coordinator of a relay"),),
            mend="the last complete epoch with its snapshots is durable",
            mended=("abs:coordinator",),
        ),
        Finding(
            "An epoch is committed once a global epoch is reached",
            Judgement.REFUTED,
            section="8.1.1",
            quotes=("once a global epoch is reached",),
            remark="if nodes know of it before it is durable",
            witnesses=(
                ByScope("abs:coordinator-announces-first", "coordinator of a relay"),
                ByLemma("announced-first"),
            ),
            mend="it is durable before any node knows of it, as the decision in two-phase commit",
            mended=("abs:coordinator",),
        ),
        Finding(
            "A restart needs the last complete epoch stored in the snapshot storage",
            Judgement.REFUTED,
            section="8.1.1",
            quotes=("the last complete epoch stored in the snapshot storage",),
            remark=(
                "not enough: after a second crash two runs have one number, and records of both "
                "are taken"
            ),
            witnesses=(
                ByScope(
                    "abs:coordinator-keeps-no-run", "coordinator of a relay twice", "two crashes"
                ),
                ByLemma("run-sent-first"),
                ByLemma("run-forgotten"),
            ),
            mend="the number of the run is durable before any node knows of it",
            mended=("abs:coordinator",),
        ),
        Finding(
            "Only a failure of one operator restarts the pipeline",
            Judgement.REFUTED,
            section="1",
            quotes=("a failure of one operator",),
            remark=(
                "snapshots of two epochs with one number are taken for one epoch, and nodes that "
                "came up meanwhile wait for ever"
            ),
            witnesses=(
                ByScope(
                    "abs:coordinator-goes-on", "coordinator of a relay", "the coordinator alone"
                ),
                ByScope("abs:coordinator-goes-on", "coordinator and a relay", "with a task"),
            ),
            mend="a restarted coordinator restarts all nodes",
            mended=("abs:coordinator",),
        ),
        Finding(
            "(not considered) a restarted coordinator asks the nodes for their run",
            Judgement.CONDITIONAL,
            remark=(
                "holds with two crashes, refuted with three: a late answer is taken for one to "
                "the last question"
            ),
            witnesses=(ByScope("abs:coordinator-asks", "coordinator of a relay thrice"),),
            mend="a durable number",
            mended=("abs:coordinator",),
        ),
        Finding(
            "With these mends a coordinator may crash",
            Judgement.CONFIRMED,
            remark=(
                "alone, with tasks, and during recoveries; proved for any crashes of it; it may "
                "forget which nodes are down, and snapshots of an epoch under way"
            ),
            witnesses=(
                ByLemma("coordinator-restarts"),
                ByScope("abs:coordinator"),
            ),
        ),
        Finding(
            "Nothing is said on a task that is suspected though it is up",
            Judgement.SILENT,
            section="(not considered)",
            remark="a coordinator that waits for it restarts nothing",
            witnesses=(ByScope("abs:suspected", "a relay"),),
            mend="a restart elsewhere, and an external system that refuses runs that are over",
            mended=("abs:elsewhere",),
        ),
        Finding(
            "Nothing is said on tasks of the run before that write on",
            Judgement.SILENT,
            section="(not considered)",
            remark=(
                "transactions of both are committed, and a row of a table by key stays old; "
                "appended outputs come again (`asif flink refuted`)"
            ),
            witnesses=(
                ByScope("abs:elsewhere-unfenced", "a relay", "a woken task"),
                ByScope("abs:elsewhere-table", "a table of running counts", "a woken task"),
                ByScope("abs:orphans-unfenced", "coordinator of a relay", "after its coordinator"),
                ByScope(
                    "abs:orphans-table",
                    "coordinator of a table of running counts",
                    "after its coordinator",
                ),
                ByScope("abs:orphans-at-once"),
            ),
            mend="the external system refuses changes of runs that are over",
            mended=("abs:elsewhere", "abs:orphans", "abs:orphans-table-fenced"),
        ),
        Finding(
            "(not considered) outputs at once come again, and repeat or converge",
            Judgement.CONDITIONAL,
            remark=(
                "not behind a union that restarts in another order: one event has two counts "
                "(`asif flink refuted`)"
            ),
            witnesses=(
                ByScope("abs:at-once"),
                ByScope("abs:at-once-any", "a running count of a union"),
                ByScope("abs:transactional-any", "a running count of a union"),
            ),
            mend="two phases",
            mended=("abs", "abs:unaligned"),
        ),
        Finding(
            "Sources must be replayable",
            Judgement.NEEDED,
            section="8.1.1, 9.1",
            witnesses=(ByScope("abs:unreplayable-source", "a relay"),),
        ),
        Finding(
            "Without two-phase commit all operators on a path to a writer must be deterministic",
            Judgement.CONDITIONAL,
            section="9.1",
            remark=(
                "sufficient; with one writer, an operator that chooses is harmless if it makes "
                "one output of each input; two writers diverge"
            ),
            witnesses=(
                ByScope(
                    "abs:idempotent-any", "a coin before two writers", "a coin before two writers"
                ),
            ),
            mend="two phases",
        ),
        Finding(
            "A transactional writer with a log needs no idempotent writes",
            Judgement.CONDITIONAL,
            section="9.1",
            remark=(
                "right if its transaction is checked by the number of its last output and "
                "operators are deterministic"
            ),
            witnesses=(
                ByScope("abs:counted"),
                ByScope(
                    "abs:counted-any",
                    "a coin before two writers",
                    "operators that are not deterministic",
                ),
            ),
        ),
    ),
)

FINDINGS = (SNAPSHOTTING,)
