"""The findings about figures and numbers: I, III.A and IV.

Rule of this file: findings as data; docs/explanation/findings/cec.md explains them.
"""

from __future__ import annotations

from model.finding import (
    ByExperiment,
    ByReading,
    Finding,
    FindingTable,
    Judgement,
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
