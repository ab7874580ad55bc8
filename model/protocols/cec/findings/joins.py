"""The findings about joins and unions: V.

Rule of this file: findings as data; docs/explanation/findings/cec.md explains them.
"""

from __future__ import annotations

from model.finding import (
    ByScope,
    ByTest,
    Finding,
    FindingTable,
    Judgement,
)

JOINS = FindingTable(
    "Joins of two inputs",
    (
        Finding(
            (
                "A join that knows the time of its results knows from where to ask replay from "
                "both input streams"
            ),
            Judgement.REFUTED,
            section="V",
            quotes=("from both input streams",),
            remark="see the rows below",
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
        Finding(
            "A join matches tuples with t.time - s.time <= w, within the same window",
            Judgement.CONTRADICTORY,
            section="V",
            quotes=("t.time - s.time <= w", "within the same window"),
            remark=(
                "as written, a tuple t has every later s as a partner, and must be held for ever: "
                "the checkpoint of such a join only grows"
            ),
            witnesses=(
                ByTest(
                    "tests/boxes/test_denotations.py::"
                    "test_a_one_sided_join_never_lets_go_of_a_left_item"
                ),
                ByScope("cec", "a one-sided join"),
            ),
            mend="the distance of both times is at most w",
            mended=("cec",),
        ),
    ),
)
