"""The findings about LOG.io: the figures of its Section 9.

Rule of this file: findings as data; docs/explanation/findings/log-io.md explains them.
"""

from __future__ import annotations

from model.finding import (
    ByExperiment,
    ByReading,
    ByTest,
    Finding,
    FindingTable,
    Judgement,
)

_EXPERIMENTS = tuple(ByExperiment(f"logio-fig{at}") for at in (7, 8, 11, 12))
FIGURES = FindingTable(
    "The figures",
    (
        Finding(
            "All of these are within 10 %: Fig. 5, LOG.io, 1 and 2 failures",
            Judgement.REFUTED,
            section="9",
            remark="both together add at most twice 1 %; needed 3.2 %, left 2.2 %",
            witnesses=(
                ByTest(
                    "tests/families/log_io/test_experiments.py::test_each_exclusion_is_a_contradiction"
                ),
            ),
        ),
        Finding(
            "All of these are within 10 %: Fig. 7, ABS, normal, 1, 2; work done again",
            Judgement.REFUTED,
            section="9",
            remark=(
                "the second failure repeats an epoch, the first nearly nothing; needed 7.7 %, "
                "left 5.6 %"
            ),
            witnesses=(
                ByTest(
                    "tests/families/log_io/test_experiments.py::test_each_exclusion_is_a_contradiction"
                ),
            ),
        ),
        Finding(
            "All of these are within 10 %: Fig. 8, the same",
            Judgement.REFUTED,
            section="9",
            remark="the same; needed 17.9 %, left 8.4 %",
            witnesses=(
                ByTest(
                    "tests/families/log_io/test_experiments.py::test_each_exclusion_is_a_contradiction"
                ),
            ),
        ),
        Finding(
            "All of these are within 10 %: Fig. 9, the same",
            Judgement.REFUTED,
            section="9",
            remark="the same; needed 5.7 %, left 5.4 %",
            witnesses=(
                ByTest(
                    "tests/families/log_io/test_experiments.py::test_each_exclusion_is_a_contradiction"
                ),
            ),
        ),
        Finding(
            "All of these are within 10 %: Fig. 8, LOG.io, normal, 1, 3",
            Judgement.REFUTED,
            section="9",
            remark=(
                "OP3 is the slowest: three failures add three restarts; needed 72.3 %, left 55.0 %"
            ),
            witnesses=(
                ByTest(
                    "tests/families/log_io/test_experiments.py::test_each_exclusion_is_a_contradiction"
                ),
            ),
        ),
        Finding(
            "All of these are within 10 %: Fig. 12, LOG.io, normal, 1, 2, 3",
            Judgement.REFUTED,
            section="9",
            remark=(
                "the third failure, of the same replica, adds no more than the first; needed "
                "26.6 %, left 5.6 %"
            ),
            witnesses=(
                ByTest(
                    "tests/families/log_io/test_experiments.py::test_each_exclusion_is_a_contradiction"
                ),
            ),
        ),
        Finding(
            "All of these are within 10 %: Fig. 12 and 13, LOG.io, normal",
            Judgement.REFUTED,
            section="9",
            remark="a replica logs 500 and 2,500 inputs and outputs; needed 4.5 %, left 2.7 %",
            witnesses=(
                ByTest(
                    "tests/families/log_io/test_experiments.py::test_each_exclusion_is_a_contradiction"
                ),
            ),
        ),
        Finding(
            "All of these are within 10 %: Fig. 9 and 11, ABS, normal and 1",
            Judgement.REFUTED,
            section="9",
            remark=(
                "one restart; 2 s are repeated in Figure 9, 14 s in Figure 11; needed 18.1 %, "
                "left 10.8 %"
            ),
            witnesses=(
                ByTest(
                    "tests/families/log_io/test_experiments.py::test_each_exclusion_is_a_contradiction"
                ),
            ),
        ),
        Finding(
            (
                "All of these are within 10 %: Fig. 6, 10 MB; Fig. 9, 5 MB; LOG.io, normal in "
                "both series"
            ),
            Judgement.REFUTED,
            section="9",
            remark="1,000 MB and 25,000 MB are logged; needed 211 %, left 30.7 %",
            witnesses=(
                ByTest(
                    "tests/families/log_io/test_experiments.py::test_each_exclusion_is_a_contradiction"
                ),
            ),
        ),
        Finding(
            (
                "All of these are within 10 %: lineage, 1,000 and 5,000 events; LOG.io, normal "
                "in both"
            ),
            Judgement.REFUTED,
            section="9",
            remark="500 and 2,500 rows; needed 5.7 %, left 0.6 %",
            witnesses=(
                ByTest(
                    "tests/families/log_io/test_experiments.py::test_each_exclusion_is_a_contradiction"
                ),
            ),
        ),
        Finding(
            "ABS remains below 3 %",
            Judgement.REFUTED,
            section="9.4",
            quotes=("remains below 3 %",),
            remark="4 % in Figure 11, 3.2 % in Figure 13",
            witnesses=(ByReading("9.4, Figures 11 and 13"),),
        ),
        Finding(
            "LOG.io always has a lower overhead than ABS during recovery",
            Judgement.REFUTED,
            section="1",
            quotes=("LOG.io always has a lower overhead than ABS during recovery",),
            remark=(
                "refuted by Figures 9 and 13, if the overhead is that of the whole run; by "
                "Figures 8 and 13, if it is the share that a failure adds"
            ),
            witnesses=(
                ByReading("Section 1, Figures 8, 9 and 13"),
                ByExperiment("logio-crossing"),
            ),
        ),
        Finding(
            "An operator takes 100 ms (4 times higher than OP2)",
            Judgement.CONTRADICTORY,
            section="9",
            quotes=("100 ms (4 times higher than OP2)",),
            remark="OP2 takes 50 ms",
            witnesses=(ByReading("the text, and the setting of OP2"),),
        ),
        Finding(
            "The first use case is a linear data pipeline consisting of four operators",
            Judgement.CONTRADICTORY,
            section="9.2",
            quotes=("a linear data pipeline consisting of four operators",),
            remark="the same sentence lists OP1 to OP5, which are five",
            witnesses=(ByReading("a sentence of 9.2, and its list"),),
        ),
        Finding(
            "Data lineage costs less than 1.2 % in all scenarios",
            Judgement.CONTRADICTORY,
            section="1",
            quotes=("less than 1.2 %",),
            remark=(
                "less than 1.5 % in the abstract, in 9.4 and in the conclusion; 1.2 % and 0.4 % "
                "are measured, and 1.2 % is not less than 1.2 %"
            ),
            witnesses=(ByReading("the abstract, Section 1, 9.3.2 and 9.4"),),
        ),
        Finding(
            "The overhead of ABS in Figure 7 is stable around 2.9 %",
            Judgement.CONTRADICTORY,
            section="9.3.2",
            quotes=("stable around 2.9 %",),
            remark="2.8 % in the same paragraph, for the same figure",
            witnesses=(ByReading("two sentences of 9.3.2 on Figure 7"),),
        ),
        Finding(
            "With moderate, regular traffic LOG.io costs below 5 % more than ABS",
            Judgement.CONFIRMED,
            section="1",
            quotes=("below 5 %",),
            remark=(
                "by 9.3, at most 4.4 % (Figure 11), and 3.2, 3.4 and 1.0 % in Figures 7, 8 and "
                "12; ours 3.2, 3.2, 3.2 and 1.2 %"
            ),
            witnesses=(ByReading("Section 1, and Figures 7, 8, 11 and 12"), *_EXPERIMENTS),
        ),
        Finding(
            "In the extreme case LOG.io costs up to 40 % more than ABS",
            Judgement.CONFIRMED,
            section="1",
            quotes=("up to 40 %",),
            remark="by 9.3.2, 39.5 % (Figure 9); ours 33.5 %",
            witnesses=(ByReading("Section 1, and Figure 9"), ByExperiment("logio-fig9")),
        ),
        Finding(
            "Failures in Figure 7 come at the beginning, middle and end of an epoch",
            Judgement.CONTRADICTORY,
            section="9",
            remark=(
                '"middle" is 375, five times 75, for an interval of 15 s; it is the middle of an '
                "epoch of 30 s; in Figure 5, 45 is called a beginning, and in the arithmetic "
                "beside it a multiple of 15 is an end"
            ),
            witnesses=(ByReading("Figures 5 and 7"),),
        ),
        Finding(
            (
                "An epoch that is done again is counted by the events that OP1 generates if "
                "nothing holds it back"
            ),
            Judgement.REFUTED,
            section="9.3.2",
            remark=(
                "without bounds, restarts would take 60, 17 and 26 s in Figure 7, and 52, -19 "
                "and 15 s in Figure 8; with full connections 60, 50, 59 s and 52, 37, 35 s are "
                "left"
            ),
            witnesses=(
                ByExperiment("logio-fig7"),
                ByExperiment("logio-fig8"),
            ),
        ),
        Finding(
            "OP1 is as far ahead in all figures",
            Judgement.CONTRADICTORY,
            section="9",
            remark=(
                "at the second failure of Figure 8 it has produced all 1,000 events while OP3 "
                "has 295; in Figure 7 a restart of OP4 delays OP3, so a connection takes 53"
            ),
            witnesses=(ByReading("Figures 7 and 8"),),
        ),
        Finding(
            "A transaction of the log costs 12 ms (by Figure 7)",
            Judgement.CONDITIONAL,
            section="9",
            remark=(
                "40 % in Figure 9 (published: 42.5), 6.0 % in Figure 8 (6.4) and below 1 % in "
                "Figure 5; but 20 % in Figure 13 (25) and 4.0 % in Figure 12 (2.48)"
            ),
            witnesses=(
                ByExperiment("logio-fig7"),
                ByExperiment("logio-fig9"),
                ByExperiment("logio-fig13"),
            ),
        ),
    ),
)
