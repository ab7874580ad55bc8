"""The findings about unaligned checkpoints and about rescaling from them.

Rule of this file: findings as data.  The page docs/explanation/findings/unaligned-checkpoints.md
explains them.
"""

from __future__ import annotations

from model.finding import (
    ByScope,
    ByTest,
    Finding,
    FindingTable,
    Judgement,
)

TESTS = "tests/families/unaligned_checkpoints"
OVERTAKING = FindingTable(
    "Unaligned checkpoints with rescaling",
    (
        Finding(
            "Unaligned checkpoints keep exactly-once",
            Judgement.CONFIRMED,
            section="FLIP-76",
            remark="with outputs that are committed with the checkpoint; two crashes, too",
            witnesses=(ByScope("unaligned-checkpoints"),),
        ),
        Finding(
            "The time of a checkpoint does not depend on the back pressure",
            Judgement.CONDITIONAL,
            section="FLIP-76",
            remark=(
                "no record need be processed or sent for it, which aligned barriers need; but its "
                "size grows with the buffers, and a barrier waits for the records on the wire"
            ),
            witnesses=(
                ByTest(f"{TESTS}/test_unaligned.py::test_a_checkpoint_needs_no_record_processed"),
                ByTest(f"{TESTS}/test_costs.py", "90 records in a snapshot, and none if aligned"),
            ),
        ),
        Finding(
            "The snapshot has the records of the input buffers",
            Judgement.NEEDED,
            section="FLIP-76",
            witnesses=(ByScope("unaligned-checkpoints:no-inputs", "a relay"),),
        ),
        Finding(
            "The snapshot has the records of the output buffers",
            Judgement.NEEDED,
            section="FLIP-76",
            remark="also before an aligned operator",
            witnesses=(
                ByScope("unaligned-checkpoints:no-outputs", "a relay"),
                ByScope("unaligned-checkpoints:aligned-writers-no-outputs", "two relays"),
            ),
            mended=("unaligned-checkpoints", "unaligned-checkpoints:aligned-writers"),
        ),
        Finding(
            "The snapshot has the records that come before the barriers of the other inputs",
            Judgement.NEEDED,
            section="FLIP-76",
            remark="one input does not show it",
            witnesses=(ByScope("unaligned-checkpoints:first-barrier", "a silent source"),),
        ),
        Finding(
            "New records do not overtake the injected ones",
            Judgement.NEEDED,
            section="FLINK-16536",
            remark="else an operator takes them in another order",
            witnesses=(ByScope("unaligned-checkpoints:after-new", "pairs"),),
        ),
        Finding(
            "A checkpoint waits until the injected records are processed, or has them again",
            Judgement.NEEDED,
            section="FLIP-547",
            remark="only two records and two crashes show it",
            witnesses=(
                ByScope("unaligned-checkpoints:restored-forgotten", "two records and two crashes"),
            ),
            mend="the next snapshot has them again",
            mended=("unaligned-checkpoints",),
        ),
        Finding(
            "A rescaled restart takes records on their way to the owners of their keys",
            Judgement.NEEDED,
            section="FLINK-19801",
            remark="if buffers stay with their channel a record meets no state of its key",
            witnesses=(
                ByScope("unaligned-checkpoints:by-channel", "a key moves"),
                ByScope("unaligned-checkpoints:not-redistributed", "a key moves"),
            ),
            mended=("unaligned-checkpoints:scale-up", "unaligned-checkpoints:scale-down"),
        ),
        Finding(
            "An instance drops records of other keys from the buffers that it receives",
            Judgement.NEEDED,
            section="FLINK-19801",
            remark="if buffers go to every instance that may own one of their keys",
            witnesses=(ByScope("unaligned-checkpoints:unfiltered", "a key moves"),),
            mended=("unaligned-checkpoints:scale-up",),
        ),
        Finding(
            "Operators behind pointwise connections are not rescaled with unaligned checkpoints",
            Judgement.NEEDED,
            section="FLINK-21936",
            remark="no record is lost, but a key loses its order: an old upsert wins",
            witnesses=(ByScope("unaligned-checkpoints:pointwise", "a table"),),
            mend="records go by key",
            mended=("unaligned-checkpoints:scale-up",),
        ),
        Finding(
            "A sink commits when the checkpoint is complete",
            Judgement.CONDITIONAL,
            section="FLIP-76",
            remark=(
                "if the checkpoint is complete with the sink's part; else an output that is slower "
                "than the commit is never committed"
            ),
            witnesses=(ByScope("unaligned-checkpoints:without-sinks", "a relay"),),
            mend="a barrier at the sink completes the checkpoint",
            mended=("unaligned-checkpoints",),
        ),
    ),
)
SAVEPOINTS = FindingTable(
    "Savepoints",
    (
        Finding(
            "A job that is stopped with a savepoint goes on from it, each result once",
            Judgement.CONFIRMED,
            section="FLIP-34",
            remark="also with another number of instances, and with crashes before and after",
            witnesses=(
                ByScope("unaligned-checkpoints:savepoint"),
                ByScope("unaligned-checkpoints:savepoint-scale-up"),
                ByScope("unaligned-checkpoints:savepoint-scale-down"),
            ),
        ),
        Finding(
            "Savepoints are aligned, also where checkpoints are not",
            Judgement.NEEDED,
            section="FLIP-76",
            remark="a savepoint has no records on their way, and the next job would not have them",
            witnesses=(ByScope("unaligned-checkpoints:savepoint-overtakes", "a relay"),),
            mended=("unaligned-checkpoints:savepoint",),
        ),
        Finding(
            "Sinks commit the savepoint before the job ends",
            Judgement.NEEDED,
            section="FLIP-34",
            remark="else its outputs are prepared, and nobody commits them",
            witnesses=(ByScope("unaligned-checkpoints:savepoint-uncommitted", "a relay"),),
            mended=("unaligned-checkpoints:savepoint",),
        ),
        Finding(
            "A restart after a savepoint begins from a checkpoint",
            Judgement.CONDITIONAL,
            section="FLIP-203",
            remark=(
                "if the savepoint has committed nothing; else the outputs of the savepoint come "
                "again"
            ),
            witnesses=(ByScope("unaligned-checkpoints:savepoint-unused", "a relay"),),
            mend="a restart begins from the savepoint",
            mended=("unaligned-checkpoints:savepoint",),
        ),
        Finding(
            "A job can begin from any savepoint",
            Judgement.CONDITIONAL,
            section="FLIP-203",
            remark=(
                "each result once only if the savepoint has ended the job before: a job that goes "
                "on commits results, and the next job brings them again; no crash is needed"
            ),
            witnesses=(ByScope("unaligned-checkpoints:savepoint-copied", "two records, no crash"),),
            mend="the savepoint ends the job",
            mended=("unaligned-checkpoints:savepoint",),
        ),
        Finding(
            "The state goes to the instances by key groups",
            Judgement.NEEDED,
            section="FLINK-19801",
            remark="by the numbers of instances, a key loses its state",
            witnesses=(ByScope("unaligned-checkpoints:savepoint-by-number", "a key moves"),),
            mended=("unaligned-checkpoints:savepoint-scale-up",),
        ),
    ),
)
FINDINGS = (OVERTAKING, SAVEPOINTS)
