"""The findings about windows, footprints and the scan: II.B and III.

Rule of this file: findings as data; docs/explanation/findings/cec.md explains them.
"""

from __future__ import annotations

from model.finding import (
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
                "right as II.B has it; if results have no N, the scan "
                "reads on to the log's beginning; refuted if a result counts as a footprint"
            ),
            witnesses=(
                ByScope("cec:count-on-checkpoints"),
                ByScope("cec:results-as-footprints", "five tuples", "`a1 b2 a3 a4 b5 |`"),
                ByLemma("scan-results-as-footprints", "7 steps"),
            ),
            mend="none is needed; N on every record, which is in III, makes the scan shorter",
            mended=("cec",),
        ),
        Finding(
            "T is the oldest footprint; nothing is said for N = 0",
            Judgement.SILENT,
            section="II.B",
            remark=(
                "from the beginning: all results come again; nothing replayed: tuples are lost, "
                "and the first one of all if the log is empty"
            ),
            witnesses=(
                ByScope("cec:empty-start", "windows of one tuple", "`a1 b2 |`"),
                ByScope("cec:empty-live", "windows of one tuple", "`a1 a2 |`"),
                ByScope("cec:empty-never", "windows of one tuple", "`a1 |` before the write"),
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
            "(reading) A G_check of a replay keeps the stamp of its footprint",
            Judgement.REFUTED,
            section="III",
            remark="it is the newest record; the scan ends at it, before the results",
            witnesses=(
                ByScope(
                    "cec:background-footprint",
                    "background, three tuples, two crashes",
                    "`a1 b2 b3`, |, G_check of a, |",
                ),
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
            remark="see the row above",
            witnesses=(
                ByScope("cec:identity-by-key", "sliding windows", "`a1 a2 a3 |`"),
                ByLemma("scan-by-key", "5 steps"),
            ),
            mend="the opening tuple is in the record",
            mended=("cec",),
        ),
        Finding(
            "(not the paper's) Windows that leave gaps need no record of a key between two of them",
            Judgement.REFUTED,
            section="II",
            remark="the paper has windows that overlap, and none that leave gaps",
            witnesses=(ByScope("cec:phase-unrecorded", "gaps between windows", "`a1 a2 |`"),),
            mend="a key between windows has a footprint and counts in N",
            mended=("cec",),
        ),
        Finding(
            "The results hold for windows by time as well",
            Judgement.CONFIRMED,
            section="IV",
            remark=(
                "whether a tuple of its own key closes a window or one of any key; with the mends, "
                "of which one write a tuple is needed here, too"
            ),
            witnesses=(
                ByScope("cec:record-writes", "windows that any key closes", "`a1 a2`, result, |"),
                ByScope("cec", "windows that any key closes"),
            ),
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
            "A large T means that a large amount must be replayed",
            Judgement.REFUTED,
            section="II.B",
            quotes=("large T",),
            remark="T is a time, and a small one lies far back",
            witnesses=(ByReading("T = min(t_i), and replay of t > T"),),
            mend="a small T",
        ),
        Finding(
            "The extent grows inversely proportional to the rate of progression of T",
            Judgement.REFUTED,
            section="II.B",
            quotes=("inversely proportional",),
            remark=(
                "it grows by the difference: the records that are written, less those that T passes"
            ),
            witnesses=(ByReading("the extent: from the newest record back to the one of T"),),
            mend="a difference",
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
            mend="16 choices are mended",
            mended=("cec",),
        ),
    ),
)
