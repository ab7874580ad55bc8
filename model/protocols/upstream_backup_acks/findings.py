"""The findings about Hwang et al.: upstream backup by acknowledgements.

Rule of this file: findings as data;
docs/explanation/findings/upstream-backup-acks.md explains them.
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

CLAIMS = FindingTable(
    "Upstream backup by acknowledgements",
    (
        Finding(
            "Upstream backup diverges for deterministic networks",
            Judgement.CONDITIONAL,
            section="Table 2",
            remark=(
                "right for windows that begin with the first tuple; windows by count repeat, "
                "since the cause of an output is the first tuple of a window; after a failure of "
                "the node before they are out of line"
            ),
            witnesses=(
                ByScope("upstream-backup-acks:published-aligned"),
                ByTest("tests/families/standbys/test_long_runs.py"),
            ),
        ),
        Finding(
            "The system is then able to tolerate a new failure without further delay",
            Judgement.REFUTED,
            section="5.2",
            quotes=("The system is then able to tolerate a new failure without further delay",),
            remark=(
                "the restarted node makes again what downstream had not received, and downstream "
                "needs earlier outputs for its windows"
            ),
            witnesses=(
                ByScope("upstream-backup-acks:maps-received", "two nodes, two crashes"),
                ByScope(
                    "upstream-backup-acks:published-behind-again",
                    "two nodes, windows by time, two crashes",
                    "as published",
                ),
                ByLemma("next-at-level-0"),
                ByTest("tests/families/standbys/test_standbys.py", "37 steps, to the letter"),
            ),
            mend="level 1 follows level 1 from downstream, not level 0",
            mended=("upstream-backup-acks",),
        ),
        Finding(
            "cause((O, v), I) is the earliest input tuple that contributed",
            Judgement.REFUTED,
            section="5.2.1",
            quotes=("the earliest input tuple that contributed",),
            remark="an older tuple can be in an open window",
            witnesses=(
                ByScope("upstream-backup-acks:made-of", "a window beside a map"),
                ByLemma("input-affecting"),
            ),
            mend="the oldest tuple in the state, as the same section says later",
        ),
        Finding(
            "Nothing is said on nodes that put out nothing",
            Judgement.SILENT,
            section="5.2",
            remark="they never let go: acknowledgements of level 1 come from outputs alone",
            witnesses=(
                ByScope("upstream-backup-acks:idle-state"),
                ByScope(
                    "upstream-backup-acks:idle-state-gaps",
                    "every other tuple",
                    "windows by count with gaps",
                ),
            ),
            mend=(
                "a node all of whose outputs are received acknowledges its state; windows by "
                "count with gaps must not"
            ),
        ),
        Finding(
            "u identifies a tuple on that stream",
            Judgement.REFUTED,
            section="5.2",
            quotes=("u identifies a tuple on that stream",),
            remark=(
                "for the outputs of a node that has restarted: it counts anew, and two nodes "
                "further on new outputs look like old ones and are discarded"
            ),
            witnesses=(
                ByScope("upstream-backup-acks:names-place", "two relays"),
                ByTest(
                    "tests/families/standbys/test_long_runs.py",
                    "five tuples in a chain of three nodes",
                ),
            ),
            mend=(
                "high watermarks name a tuple by its own watermarks, so at last by numbers of "
                "sources"
            ),
        ),
        Finding(
            "High watermarks are the most recent tuple that contributed",
            Judgement.REFUTED,
            section="5.3",
            quotes=("the most recent tuple that contributed",),
            remark=(
                "as identifiers: an old window that closes late has an older watermark than the "
                "output before it, and is discarded without any failure"
            ),
            witnesses=(ByScope("upstream-backup-acks:newest-made-of", "windows by key"),),
            mend="the most recent tuple processed",
        ),
        Finding(
            "Input-tuple indicators therefore uniquely identify tuples",
            Judgement.REFUTED,
            section="6",
            quotes=("Input-tuple indicators therefore uniquely identify tuples",),
            remark=(
                "for two paths through a node, and for joins; and for the outputs of a node that "
                "has restarted twice, which numbers them anew"
            ),
            witnesses=(
                ByScope("upstream-backup-acks:published-repeatable", "two paths"),
                ByScope(
                    "upstream-backup-acks:published-repeatable",
                    "a join in the order of time",
                    "a join",
                ),
                ByTest("tests/contract/test_runs.py", "two relays, three tuples"),
                ByLemma("indicators-paths"),
                ByLemma("indicators-join"),
            ),
            mended=("upstream-backup-acks",),
        ),
        Finding(
            "Convergent-capable networks are precise by using the additional high watermarks",
            Judgement.CONDITIONAL,
            section="6",
            quotes=("by using the additional high watermarks",),
            remark=(
                "right for one input; where an operator merges two inputs in the order of time, "
                "the most recent tuple that was processed depends on the order of arrival, and an "
                "output comes twice; the most recent one that contributed is right there, and "
                "wrong for windows that one tuple closes"
            ),
            witnesses=(
                ByScope("upstream-backup-acks:joins", "a join in the order of time"),
                ByScope("upstream-backup-acks:published-convergent", "windows that close together"),
            ),
            mend="a node with several inputs logs their order, whatever its class",
            mended=("upstream-backup-acks:arbitrary",),
        ),
        Finding(
            "A node performs these mappings for each output stream",
            Judgement.CONDITIONAL,
            section="5.2.1",
            quotes=("performs these mappings for each output stream",),
            remark=(
                "a stream of which nothing is acknowledged has no mapping, and counts all the "
                "same; if it does not, the other stream releases what it needs"
            ),
            witnesses=(ByScope("upstream-backup-acks:streams-acknowledged", "two output streams"),),
            mend="nothing is released that the next output of any stream needs",
            mended=("upstream-backup-acks:permanent",),
        ),
        Finding(
            (
                "Upstream backup is precise for arbitrary networks by logging determinants from "
                "primary to secondary"
            ),
            Judgement.REFUTED,
            section="6",
            quotes=("by logging determinants from primary to secondary",),
            remark=(
                "if the log says nothing of where to begin: upstream nodes let go at different "
                "times, and windows by count begin between; also for determinants that are only "
                "sent, and for a new secondary without the old ones"
            ),
            witnesses=(
                ByScope("upstream-backup-acks:determinants-sent", "a union"),
                ByTest("tests/families/standbys/test_long_runs.py"),
            ),
            mend=(
                "the log begins at a cut, which the secondary has before upstream lets go; a new "
                "secondary gets the log"
            ),
            mended=("upstream-backup-acks:arbitrary",),
        ),
        Finding(
            "cause((O, v), I) depends on the indicators of the tuples preceding O",
            Judgement.REFUTED,
            section="5.2.1",
            quotes=("depends on the indicators of the tuples preceding O",),
            remark=(
                "for an input of which nothing is in the state, the last tuple processed is one "
                "too many: windows of a union are out of line"
            ),
            witnesses=(ByTest("tests/families/standbys/test_long_runs.py", "six tuples"),),
            mend="the tuple after it",
        ),
    ),
)

NUMBERS = FindingTable(
    "The numbers of the evaluation",
    (
        Finding(
            "Upstream backup's time of reprocessing grows roughly linearly with the state",
            Judgement.REFUTED,
            section="7.3.1",
            quotes=("roughly linearly",),
            remark=(
                "beyond 45 ms Table 7 has 24.9, 53.9, 93.7, 143.5 and 203.3 ms: the steps are 29, "
                "40, 50 and 60 ms, so it is quadratic; a tuple meets as many open windows as the "
                "window is long, and there are as many tuples"
            ),
            witnesses=(
                ByReading("7.3.1 and Table 7"),
                ByTest(
                    "tests/families/standbys/test_numbers.py::test_the_times_of_table_7_are_quadratic"
                ),
                ByExperiment("hwang-table7"),
            ),
            mend="quadratic, as Q p of Table 3 is if p grows with the window",
        ),
        Finding(
            "A tuple that is processed again has the price of Table 5",
            Judgement.REFUTED,
            section="7, Table 5",
            remark=(
                "right for a filter; at a union or an aggregate it takes 35 us more, in passive "
                "standby and upstream backup alike: as much as a filter's work and one more "
                "receipt; Table 5 has no price of a union, and Figure 5 a filter before one"
            ),
            witnesses=(ByExperiment("hwang-table6"), ByExperiment("hwang-table8")),
        ),
        Finding(
            "One identifier for 25 tuples yields an overhead of 0.64 %",
            Judgement.CONTRADICTORY,
            section="7.1",
            quotes=("an overhead of 0.64 %",),
            remark=(
                "Table 6 has 0.64 % for 50 ms: the text counts one identifier an interval, the "
                "table those of level 0 and level 1"
            ),
            witnesses=(ByReading("7.1 and Table 6"), ByExperiment("hwang-fig6")),
        ),
    ),
)

FINDINGS = (CLAIMS, NUMBERS)
