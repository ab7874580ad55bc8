"""The findings about the recovery plan, Section 5 of Su and Zhou.

Rule of this file: findings as data; docs/explanation/findings/progressive.md explains them.
"""

from __future__ import annotations

from model.finding import ByExperiment, ByReading, ByTest, Finding, FindingTable, Judgement

PLAN = FindingTable(
    "The recovery plan",
    (
        Finding(
            "PD_i sums over O_k ∈ Q_j",
            Judgement.REFUTED,
            section="5",
            remark="j is bound to nothing",
            witnesses=(ByReading("the definition of PD_i"),),
            mend="Q_i",
        ),
        Finding(
            "f_k counts the other failed queries",
            Judgement.REFUTED,
            section="5",
            remark=(
                "divides by zero for an operator that is not shared, so on Figure 1; read as a "
                "density of 0, a query that shares nothing comes last, whatever its priority"
            ),
            witnesses=(
                ByTest("tests/plans/test_evidence.py", "1 query; density 0: 3 queries (2 of 3)"),
            ),
            mend="count the query itself",
        ),
        Finding(
            "A query is chosen if its cost is smaller than what is there",
            Judgement.REFUTED,
            section="5",
            remark="a query that fits exactly is never recovered",
            witnesses=(ByTest("tests/plans/test_evidence.py", "1 query, R = 1"),),
            mend="at most",
        ),
        Finding(
            "The greedy algorithm is effective",
            Judgement.REFUTED,
            section="5",
            remark="without any bound: 1 of R / 2 queries, of equal priorities",
            witnesses=(
                ByTest(
                    "tests/plans/test_evidence.py",
                    "2 queries (2 of 3); equal priorities: 3 queries (1 of 2)",
                ),
            ),
            mend="start from each pair of queries, too: at least min(1/2, 1 - e^(-1/d))",
        ),
        Finding(
            "Time O(M² log M)",
            Judgement.CONDITIONAL,
            section="5",
            remark="holds for a bounded number of operators a query",
            witnesses=(ByReading("the greedy algorithm, step by step"),),
            mend="O(M² (K + log M))",
        ),
        Finding(
            "Plan whenever nodes come, with what is there",
            Judgement.REFUTED,
            section="5",
            remark="not the best over time, even if every plan is the best one",
            witnesses=(ByTest("tests/plans/test_schedules.py", "2 queries, R = 1, then 2"),),
            mend="the best schedule knows what comes",
        ),
        Finding(
            "R is one number",
            Judgement.REFUTED,
            section="5",
            remark="partitions may not fit on single hosts",
            witnesses=(
                ByTest("tests/plans/test_planners.py", "1 partition of cost 2, 2 hosts of 1"),
            ),
            mend="a placement",
        ),
        Finding(
            "Query-centric planning beats operator-centric recovery",
            Judgement.REFUTED,
            section="6",
            remark=(
                "the rival of the evaluation is also blocking; progressive topological order has "
                "96 % of the optimum on its topology"
            ),
            witnesses=(ByExperiment("su-plan"),),
            mend="both apart",
        ),
        Finding(
            "15 queries Q_i with sinks O_i; O_1 to O_4 count, O_4 to O_14 subscribe to counts",
            Judgement.CONTRADICTORY,
            section="VI",
            remark="only 14 sinks are named, and O_4 is of both kinds",
            witnesses=(ByReading("the list of sinks and the list of queries"),),
            mend="read here as Q_0 with Parser as its sink, and O_5 to O_14",
        ),
        Finding(
            "The problem is NP-hard",
            Judgement.CONFIRMED,
            section="5",
            remark="set-union knapsack is the case of one partition an operator",
            witnesses=(ByReading("the definition of the problem"),),
        ),
    ),
)
