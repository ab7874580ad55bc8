"""The findings about Sebepou and Magoutis, "CEC: Continuous Eventual Checkpointing".

Rule of this file: findings as data; docs/explanation/findings/cec.md explains them.
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

PROTOCOL_CLAIMS = FindingTable(
    "The protocol",
    (
        Finding(
            "A window ignores t < t_i",
            Judgement.REFUTED,
            section="II.B",
            remark="its opening tuple counts twice",
            witnesses=(ByScope("cec:ignore-without", "windows of two tuples", "`a1 b2 |`"),),
            mend="it ignores t <= t_i",
            mended=("cec",),
        ),
        Finding(
            "A replay of t > T is enough; times grow",
            Judgement.REFUTED,
            section="I, II.B",
            remark="if two tuples have one time; so is every bound on times",
            witnesses=(
                ByScope(
                    "cec:stamped-by-time",
                    "equal times of one key",
                    "`a0 a0`, | before the second is stored",
                ),
            ),
            mend="places in the stream",
            mended=("cec",),
        ),
        Finding(
            "Only open windows must ignore what is replayed",
            Judgement.REFUTED,
            section="II.B",
            remark="a window that closed after T opens again",
            witnesses=(
                ByScope("cec:closed-forgotten", "windows of two tuples", "`a1 b2 b3 |`"),
                ByLemma("replay-floors-forgotten", "2 steps"),
            ),
            mend="each key keeps the stamp of its newest record",
            mended=("cec",),
        ),
        Finding(
            "N in a checkpoint says how many footprints to look for",
            Judgement.CONDITIONAL,
            section="II.B, III",
            remark=(
                "right on every record, as of after it; results without N: right, but the scan "
                "reads on to the log's beginning; refuted if a result counts as a footprint"
            ),
            witnesses=(
                ByScope("cec:count-on-checkpoints"),
                ByScope("cec:results-as-footprints", "five tuples", "`a1 b2 a3 a4 b5 |`"),
                ByLemma("scan-results-as-footprints", "7 steps"),
            ),
            mend="N on every record",
            mended=("cec",),
        ),
        Finding(
            "T is the oldest footprint; nothing is said for N = 0",
            Judgement.SILENT,
            section="II.B",
            remark=(
                "from the beginning: all results come again; nothing replayed: tuples are lost"
            ),
            witnesses=(
                ByScope("cec:empty-start", "windows of one tuple", "`a1 b2 |`"),
                ByScope("cec:empty-live", "windows of one tuple", "`a1 a2 |`"),
            ),
            mend="T is the stamp of the newest record",
            mended=("cec",),
        ),
        Finding(
            "A replay from T on would do as well",
            Judgement.REFUTED,
            section="III, IX",
            remark="where a G_check has the stamp of another key's tuple",
            witnesses=(
                ByScope("cec:replay-with", "gaps between windows", "`a1 b2 a3`, two G_checks, |"),
            ),
            mend="t > T",
            mended=("cec",),
        ),
        Finding(
            "A G_check has the stamp of the tuple that enters",
            Judgement.REFUTED,
            section="III",
            remark="this tuple is not in its state",
            witnesses=(ByScope("cec:entering-stamp", "background", "`a1 b2 a3`, G_check, |"),),
            mend="the stamp of the last tuple in the state",
            mended=("cec",),
        ),
        Finding(
            "The choice of CI and CP does not affect correctness",
            Judgement.REFUTED,
            section="III",
            remark="a G_check in the middle of a replay hides what closed since",
            witnesses=(
                ByScope(
                    "cec:background-always", "background, two crashes", "`a1 b2`, |, G_checks, |"
                ),
                ByLemma("scan-out-of-order", "5 steps"),
            ),
            mend="no G_check before the replay has passed the newest record",
            mended=("cec",),
        ),
        Finding(
            "A record is written whole, or discarded",
            Judgement.REFUTED,
            section="II.B",
            remark=(
                "not enough: two records of one tuple, and a crash between them, leave a state "
                "that never was"
            ),
            witnesses=(
                ByScope("cec:record-writes", "windows of one tuple", "`a1`, G_open, |"),
                ByLemma("log-prefix-of-records", "1 steps"),
            ),
            mend="one write a tuple",
            mended=("cec",),
        ),
        Finding(
            "A record is (S, type, N, t)",
            Judgement.REFUTED,
            section="II.B",
            remark="neither the number of tuples nor the start of a window follows from S",
            witnesses=(
                ByScope(
                    "cec:bare-checkpoint", "background, windows of three", "`a1 a2 a3`, G_check, |"
                ),
            ),
            mend="these are in the record, too",
            mended=("cec",),
        ),
        Finding(
            "A result excludes its window's older checkpoints",
            Judgement.CONDITIONAL,
            section="II.B",
            remark=(
                "right if windows are told apart; refuted for windows of a key that overlap, by key"
            ),
            witnesses=(
                ByScope("cec:identity-by-key", "sliding windows", "`a1 a2 a3 |`"),
                ByLemma("scan-by-key", "5 steps"),
            ),
            mend="the opening tuple is in the record",
            mended=("cec",),
        ),
        Finding(
            "Overlap is no additional challenge",
            Judgement.REFUTED,
            section="II",
            remark=(
                "see the row above; and windows that leave gaps have no footprint between two of "
                "them"
            ),
            witnesses=(
                ByScope("cec:phase-unrecorded", "gaps between windows", "`a1 a2 |`"),
                ByLemma("scan-by-key", "5 steps"),
            ),
            mend="a key between windows has a footprint and counts in N",
            mended=("cec",),
        ),
        Finding(
            "Nothing is said on what loading leaves in the log",
            Judgement.SILENT,
            section="III",
            remark="if it writes the windows again, a crash leaves a smaller N",
            witnesses=(ByScope("cec:load-writes", "two crashes", "`a1 b2 b3 |`, | while loading"),),
            mend="it writes nothing",
            mended=("cec",),
        ),
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
            Judgement.REFUTED,
            section="IX",
            remark="if live results are sent on meanwhile",
            witnesses=(ByScope("cec:catch-up-live", "catching up", "`a1 a2`, |"),),
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
            "Nothing is said on what an operator acknowledges",
            Judgement.SILENT,
            section="II",
            remark="if it is what was processed: refuted",
            witnesses=(
                ByScope(
                    "cec:acknowledge-processed",
                    "outstanding writes, queues let go",
                    "`a1 |` before the write",
                ),
                ByLemma("trim-input-processed"),
            ),
            mend="what the stored footprints no longer need",
            mended=("cec",),
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
        Finding(
            (
                "A join that knows the time of its results knows from where to ask replay from "
                "both input streams"
            ),
            Judgement.REFUTED,
            section="V",
            quotes=("from both input streams",),
            remark="see the table of joins",
            witnesses=(ByScope("cec:one-position", "a join", "`l1 |`, then `r1`"),),
            mend="a place in each input",
            mended=("cec",),
        ),
        Finding(
            "Nothing is said on the order in which a replay brings two inputs",
            Judgement.SILENT,
            section="V",
            remark="refuted for a join in the order of arrival: pairs come twice, or never",
            witnesses=(ByScope("cec:interleaved-anew", "a join", "`l1 r1 | l2` before `r1`"),),
            mend="first what the newest record covers",
            mended=("cec",),
        ),
        Finding(
            "The protocol as published is right",
            Judgement.REFUTED,
            remark=(
                "every kind of window that was explored loses results; each mend alone leaves it "
                "refuted"
            ),
            witnesses=(
                ByScope("cec:published", "windows of one tuple"),
                ByTest("tests/families/cec/test_readings.py"),
            ),
            mend="19 choices are mended",
            mended=("cec",),
        ),
    ),
)

JOINS = FindingTable(
    "Joins of two inputs",
    (
        Finding(
            "Tuples enter as they arrive, a record has one time",
            Judgement.REFUTED,
            section="V",
            remark="gap, with a replay as it comes and in the log's order",
            witnesses=(ByScope("cec:one-position", "a join", "`l1 |`, then `r1`"),),
            mend="a place in each input, and a replay in the log's order",
            mended=("cec",),
        ),
        Finding(
            (
                "Tuples enter as they arrive, a record has a place in each input, a replay comes "
                "as it comes"
            ),
            Judgement.REFUTED,
            section="V",
            remark="repeating; by count divergent",
            witnesses=(
                ByScope("cec:interleaved-anew", "a join", "`l1 r1 | l2` before `r1`"),
                ByScope("cec:interleaved-anew", "a join by count"),
            ),
            mend="a replay in the log's order",
            mended=("cec",),
        ),
        Finding(
            (
                "Tuples enter as they arrive, a record has a place in each input, a replay comes "
                "in the log's order"
            ),
            Judgement.CONFIRMED,
            section="V",
            remark="precise",
            witnesses=(ByScope("cec"),),
        ),
        Finding(
            "Tuples enter by their times, a record has one time",
            Judgement.CONDITIONAL,
            section="V",
            remark="precise if no two tuples have the same time, with either replay; else gap",
            witnesses=(
                ByScope("cec:one-position", "a join by time", "`l1 r1`, | after `l1`'s record"),
            ),
            mend="a place in each input",
            mended=("cec",),
        ),
        Finding(
            "Tuples enter by their times, a record has a place in each input",
            Judgement.CONFIRMED,
            section="V",
            remark="precise, with either replay",
            witnesses=(ByScope("cec"),),
        ),
        Finding(
            "Results of one tuple need not be one write",
            Judgement.REFUTED,
            section="V",
            remark="a crash between the two pairs of `r1`",
            witnesses=(ByScope("cec:record-writes", "a join", "`l1 l2 r1`"),),
            mend="one write a tuple",
            mended=("cec",),
        ),
        Finding(
            "A union has no state, and so needs no places",
            Judgement.REFUTED,
            section="V",
            remark="it needs the places as much as a join",
            witnesses=(ByScope("cec:one-position", "a union", "`l1 |`, then `r1`"),),
            mend="a place in each input",
            mended=("cec",),
        ),
    ),
)

FIGURES = FindingTable(
    "The figures",
    (
        Finding(
            "EC-load time is proportional to the extent",
            Judgement.REFUTED,
            section="II.B",
            remark=(
                "it is 28 to 54 µs a record (Fig. 6); and the same 120,000 records load in 3.5 s "
                "(Fig. 6) and in 2.5 s (Fig. 7)"
            ),
            witnesses=(
                ByExperiment("cec-fig6"),
                ByExperiment("cec-fig7"),
            ),
        ),
        Finding(
            "500,000 records are a maximum",
            Judgement.REFUTED,
            section="IV.B",
            remark="they are the expected age of the oldest of 90,000 windows, in records",
            witnesses=(ByExperiment("cec-extent"),),
        ),
        Finding(
            "G_open records alone make an extent of 1 x openwins",
            Judgement.REFUTED,
            section="IV.B",
            remark="of about 5.7 x openwins",
            witnesses=(ByExperiment("cec-extent"),),
        ),
        Finding(
            (
                "More than 200 MB are replayed for an extent of at most 360,000 records (Q = 4 x "
                "openwins)"
            ),
            Judgement.REFUTED,
            section="IV.C",
            remark="the G_opens and results of 200 MB of tuples alone are 400,000",
            witnesses=(ByExperiment("cec-fig9"),),
        ),
        Finding(
            "A checkpoint takes 18.5 ms and 21.5 ms",
            Judgement.REFUTED,
            section="IV.C",
            remark=(
                "these are seconds: with 16.5 s for no checkpoints, milliseconds would need 4.9 "
                "GB/s"
            ),
            witnesses=(ByExperiment("cec-fig8"),),
            mend="18.5 s and 21.5 s",
        ),
        Finding(
            "A G_check increases the extent by one",
            Judgement.REFUTED,
            section="III.A",
            quotes=("increases",),
            remark="the old footprint leaves the extent; a G_check never makes it longer",
            witnesses=(ByExperiment("cec-fig6"),),
        ),
        Finding(
            "(reading) differences between neighbours estimate q",
            Judgement.REFUTED,
            section="III.A",
            remark=(
                "they lose what a window that closes takes along: `a1 b2 b3` has q = 2 and an "
                "extent of 3; by Fig. 6 the extent would be 364,000 at a target of 180,000"
            ),
            witnesses=(ByExperiment("cec-fig6"),),
        ),
        Finding(
            "4 GB over 1 Gbit/s take at least 40 s",
            Judgement.REFUTED,
            section="I",
            remark="32 s",
            witnesses=(ByReading("4 GB and 1 Gbit/s of Section I"),),
            mend="32 s",
        ),
    ),
)

FINDINGS = (
    PROTOCOL_CLAIMS,
    JOINS,
    FIGURES,
)
