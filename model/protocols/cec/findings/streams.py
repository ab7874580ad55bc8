"""The findings about the log as an output queue: II, II.A and IX.

Rule of this file: findings as data; docs/explanation/findings/cec.md explains them.
"""

from __future__ import annotations

from model.finding import (
    ByLemma,
    ByMutant,
    ByScope,
    Finding,
    FindingTable,
    Judgement,
)

STREAMS = FindingTable(
    "The log and the streams",
    (
        Finding(
            "A torn record is discarded",
            Judgement.REFUTED,
            section="II.B, IX",
            remark="for several outstanding writes: N counts a record that is not there",
            witnesses=(
                ByScope("cec:skip-torn", "outstanding writes of one key", "the second write torn"),
            ),
            mend="the log is cut at its first hole",
            mended=("cec",),
        ),
        Finding(
            "A discarded record is gone; nothing is said on when",
            Judgement.SILENT,
            section="II.B",
            remark=(
                "if it stays until another one has its place, another one fills the hole before "
                "it, and a second restart takes it for a record of the log"
            ),
            witnesses=(
                ByScope(
                    "cec:cut-overwritten",
                    "outstanding writes, background, two crashes",
                    "`a1 a2 a3`, writes 1 and 3, |, G_check in place 2, |",
                ),
            ),
            mend="the cut is stored before the next write",
            mended=("cec",),
        ),
        Finding(
            "A restart reconciles the stream index with the log",
            Judgement.NEEDED,
            section="IX",
            remark=(
                "a result that is stored and not in the index is never sent again; it may get its "
                "entry, or be cut off"
            ),
            witnesses=(
                ByScope("cec:index-stored", "an index", "`a1`, | between log and index"),
                ByScope("cec:index-cut"),
            ),
            mended=("cec",),
        ),
        Finding(
            "A stream event may hold the records of several tuples",
            Judgement.CONFIRMED,
            section="II.B, IX",
            remark="if it holds all records of each; else see the row on records written whole",
            witnesses=(
                ByScope("cec", "stream events of several tuples"),
                ByScope("cec", "a join, stream events of several tuples"),
            ),
        ),
        Finding(
            "What is written is forwarded",
            Judgement.REFUTED,
            section="IX",
            remark="for several outstanding writes: results out of order, or seen and then lost",
            witnesses=(
                ByScope(
                    "cec:forward-completed",
                    "outstanding writes of one key",
                    "`a1 a2`, | after the second write",
                ),
            ),
            mend="only what is before the first outstanding write",
            mended=("cec",),
        ),
        Finding(
            "A reader catches up with the live stream",
            Judgement.CONDITIONAL,
            section="IX",
            remark=(
                "right if live results wait for the reader; refuted if they are sent on meanwhile, "
                "on which the paper has no word"
            ),
            witnesses=(
                ByScope("cec:catch-up-live", "catching up", "`a1 a2`, |"),
                ByScope("cec", "catching up"),
            ),
            mend="live results wait for the reader",
            mended=("cec",),
        ),
        Finding(
            "Results are kept until they are acknowledged",
            Judgement.REFUTED,
            section="II",
            remark="not enough: the checkpoint is in the same queue",
            witnesses=(
                ByScope("cec:trim-acknowledged", "queues of one key let go", "`a1 a2 |`"),
                ByLemma("trim-log-acknowledged", "5 steps"),
            ),
            mend="what is in the extent is kept, too",
            mended=("cec",),
        ),
        Finding(
            "Results are kept until all downstream nodes have acknowledged them",
            Judgement.NEEDED,
            section="II",
            quotes=("all downstream nodes",),
            remark="with two outputs, the slower one decides",
            witnesses=(
                ByMutant("let go of results that one output has acknowledged"),
                ByScope("cec", "two outputs, queues let go"),
            ),
        ),
        Finding(
            "A stream that is not persisted is kept until it is sent",
            Judgement.CONTRADICTORY,
            section="II, IX",
            remark=(
                "II keeps it until it is acknowledged, which is right; a result that was only sent "
                "is lost with its receiver"
            ),
            witnesses=(
                ByScope("cec:unstored-sent", "a stream in memory", "`a1 a2`, | of the consumer"),
                ByScope("cec", "a stream in memory"),
            ),
            mend="until all downstream nodes have acknowledged it",
            mended=("cec",),
        ),
        Finding(
            "An operator acknowledges the tuples that it does not depend on any more",
            Judgement.NEEDED,
            section="II.A",
            remark="an acknowledgement of all processed tuples would lose some",
            witnesses=(
                ByScope(
                    "cec:acknowledge-processed",
                    "outstanding writes, queues let go",
                    "`a1 |` before the write",
                ),
                ByLemma("trim-input-processed"),
            ),
        ),
        Finding(
            "Downstream says from which time on it wants results",
            Judgement.REFUTED,
            section="III",
            remark="results may have one time",
            witnesses=(
                ByScope("cec:resume-by-time", "results alone", "`a0 a0`, | between their results"),
            ),
            mend="by number",
            mended=("cec",),
        ),
    ),
)
