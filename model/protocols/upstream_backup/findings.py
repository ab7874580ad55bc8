"""The findings about Lima et al., "Skipping Unused Events to Speed Up Rollback-Recovery".

Rule of this file: findings as data; docs/explanation/findings/upstream-backup.md explains them.
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

SKIPPING = FindingTable(
    "Skipping unused events",
    (
        Finding(
            "Scalar numbers are wrong in parallel processing",
            Judgement.CONFIRMED,
            section="III-B3",
            remark="in serial processing they hold",
            witnesses=(
                ByScope("upstream-backup:scalar", "Fig. 8a in small: every event matches"),
                ByLemma("scalar-parallel"),
            ),
        ),
        Finding(
            "x:y pairs fix it",
            Judgement.CONDITIONAL,
            section="III-B4",
            remark=(
                "right for Fig. 8b; refuted for other engines, in three ways; each depends on the "
                "engine's runs and on its rule after a match"
            ),
            witnesses=(
                ByScope("upstream-backup:pairs", "two matches in one window and iteration"),
                ByScope("upstream-backup:pairs", "independent runs: two matches in one iteration"),
                ByLemma("pairs-shared", "3 events"),
                ByScope("upstream-backup:pairs", "first match not in the first window kept"),
                ByLemma("pairs-first-window", "4 events"),
                ByScope(
                    "upstream-backup:pairs-first-window",
                    "iterations that only dropped windows produced in",
                ),
                ByScope(
                    "upstream-backup:pairs-first-window", "independent runs: skip past last event"
                ),
                ByLemma("pairs-iterations", "6 events"),
                ByTest(
                    "tests/families/upstream_backup/lemmas/test_errata_engines.py",
                    "the smallest stream of each engine",
                ),
                ByLemma("pairs-figure-8b"),
            ),
            mend=(
                "numbers name the input event that triggered the iteration, the window, and the "
                "match within the two"
            ),
            mended=("upstream-backup",),
        ),
        Finding(
            "(variant) x counts all input events",
            Judgement.CONDITIONAL,
            remark=(
                "right without skip ranges if no event completes two matches of a window, refuted "
                "with them"
            ),
            witnesses=(
                ByScope(
                    "upstream-backup:pairs-of-inputs",
                    "skipped events are not counted in the replay",
                ),
                ByScope("upstream-backup:pairs-of-inputs-no-skips", "no event is skipped"),
                ByScope(
                    "upstream-backup:pairs-of-inputs-no-skips",
                    "independent runs: two matches in one iteration",
                ),
            ),
        ),
        Finding(
            "Skipped events can be deleted upstream, by one array of ranges",
            Judgement.CONDITIONAL,
            section="III-A",
            remark="right for one input edge, refuted for two",
            witnesses=(
                ByScope("upstream-backup:coalesced-skips", "two input edges, a type on each"),
                ByLemma("ranges-coalesced", "3 events"),
            ),
            mend="ranges are kept an input edge each",
            mended=("upstream-backup",),
        ),
        Finding(
            "One SN_trim, sent to all predecessors, trims what is no longer needed",
            Judgement.REFUTED,
            section="II-B, III-B2",
            remark="for two input edges",
            witnesses=(ByLemma("trim-coalesced", "2 events"),),
            mend="a trim an input edge",
            mended=("upstream-backup",),
        ),
        Finding(
            "Keeping opening and closing events keeps the windows",
            Judgement.CONDITIONAL,
            section="III-A",
            remark="right for windows that count no events, refuted for those that do",
            witnesses=(
                ByLemma("layout-time"),
                ByLemma("layout-counted", "3 events"),
            ),
            mend="the savepoint holds the window layout",
            mended=("upstream-backup",),
        ),
        Finding(
            "Which events opened windows is enough to restore count-based windows",
            Judgement.REFUTED,
            section="III-B5",
            remark="with skip ranges; so is a count of the replayed events",
            witnesses=(
                ByScope("upstream-backup:opener-windows", "skipped events do not count"),
                ByScope("upstream-backup:counted-windows", "skipped events do not count"),
                ByLemma("layout-openers", "3 events"),
            ),
            mend="closers and counts travel too (lemma `layout-count`)",
            mended=("upstream-backup",),
        ),
        Finding(
            "SN_seed in immediate predecessors is not enough",
            Judgement.CONFIRMED,
            section="II-C",
            remark="divergent",
            witnesses=(
                ByScope("upstream-backup:neighbours-only", "adjacent operators, two crashes"),
                ByLemma("predecessors-alone"),
            ),
            mend="all ancestors keep the savepoint, as published",
            mended=("upstream-backup",),
        ),
        Finding(
            (
                "(not considered) an answer to a restarted node holds all savepoints that a "
                "predecessor has"
            ),
            Judgement.REFUTED,
            section="II-C",
            remark="events are lost in a graph of seven nodes",
            witnesses=(ByLemma("relayed-savepoints"),),
            mend="an answer holds the savepoints of the node and of the nodes below it",
            mended=("upstream-backup",),
        ),
        Finding(
            "Skip notices ahead of savepoints are safe",
            Judgement.CONDITIONAL,
            section="IV, end",
            remark="they hold if the window layout travels with them",
            witnesses=(ByScope("upstream-backup:notices"),),
        ),
        Finding(
            (
                "A count window closes when the next event arrives (Fig. 6), or with its last "
                "event (Fig. 8)"
            ),
            Judgement.CONTRADICTORY,
            section="III-B1, III-B2",
            remark=(
                "SN_trim = SN(b) of Fig. 8 is right only if a window closes with its last event; "
                "the outcome of Fig. 6 is the same either way"
            ),
            witnesses=(ByReading("Fig. 6 and Fig. 8"),),
        ),
        Finding(
            (
                "save(A, θ) is called where θ is the first of these, and the absolute gain of "
                "skipping is almost the same for all S_i"
            ),
            Judgement.CONTRADICTORY,
            section="IV",
            quotes=("θ is the first of these",),
            remark=(
                "with the first the gain grows sixfold from S_i = 8 to 128 (slide 800); with the "
                "last it is nearly the same"
            ),
            witnesses=(ByExperiment("lima-fig9"),),
            mend="the last of the acknowledgements",
        ),
        Finding(
            "The published numbers serve the evaluation's own pattern, windows and streams",
            Judgement.REFUTED,
            section="IV",
            remark=(
                "25 of 500 failure-recovery cycles do not have the output of a run without failures"
            ),
            witnesses=(
                ByExperiment("lima-fig9"),
                ByTest("tests/families/upstream_backup/test_kernel.py"),
            ),
            mend="with corrected numbers all have it",
            mended=("upstream-backup",),
        ),
    ),
)

FINDINGS = (SKIPPING,)
