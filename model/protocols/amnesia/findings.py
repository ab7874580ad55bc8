"""The findings about Hwang et al., "High-Availability Algorithms": operators, and the study.

Rule of this file: findings as data; docs/explanation/findings/amnesia.md explains them.
"""

from __future__ import annotations

from model.finding import (
    ByReading,
    ByScope,
    ByTest,
    Finding,
    FindingTable,
    Judgement,
)

OPERATORS = FindingTable(
    "Operators and types of recovery",
    (
        Finding(
            "There are five types of recovery",
            Judgement.CONFIRMED,
            section="3.1, Fig. 2",
            remark=(
                "every row; divergent and gap differ only if it is known what an output was made of"
            ),
            witnesses=(ByTest("tests/boxes/test_classes.py"),),
        ),
        Finding(
            "Union and operators with timeout are arbitrary",
            Judgement.CONFIRMED,
            section="Fig. 3",
            witnesses=(ByTest("tests/boxes/test_classes.py"),),
        ),
        Finding(
            "Filter and Map are repeatable",
            Judgement.CONFIRMED,
            section="Fig. 3",
            witnesses=(ByTest("tests/boxes/test_classes.py"),),
        ),
        Finding(
            "Join without timeout is repeatable",
            Judgement.CONDITIONAL,
            section="Fig. 3",
            remark=(
                "refuted for a join in the order of arrival, which is not deterministic "
                "(`join`); right in the order of time (`join-ordered`, `join-count-ordered`); with "
                "rollback recovery its pairs only come again, in either order"
            ),
            witnesses=(
                ByTest("tests/boxes/test_classes.py", "`join`"),
                ByScope("passive-standby:published", "a join"),
                ByScope("upstream-backup-acks:published", "a join"),
                ByScope("active-standby:published", "a join"),
            ),
        ),
        Finding(
            "BSort is convergent-capable",
            Judgement.CONFIRMED,
            section="Fig. 3",
            remark="with slack 1 it is repeatable",
            witnesses=(ByTest("tests/boxes/test_classes.py", "`bsort-1`"),),
        ),
        Finding(
            "Resample is convergent-capable",
            Judgement.CONFIRMED,
            section="Fig. 3",
            witnesses=(ByTest("tests/boxes/test_classes.py"),),
        ),
        Finding(
            "Aggregate without timeout is convergent-capable",
            Judgement.CONDITIONAL,
            section="Fig. 3",
            remark=(
                "right for windows at fixed times; refuted for windows that count, or that begin "
                "with the first item, if they do not begin with every item; windows that count "
                "and begin with every item are repeatable (`aggregate-count-2-1`, "
                "`aggregate-key-2-1`)"
            ),
            witnesses=(
                ByTest(
                    "tests/boxes/test_classes.py",
                    (
                        "`aggregate-count-2-2`, `aggregate-count-3-2`, `aggregate-key-2-2`, "
                        "`aggregate-first-2-2`"
                    ),
                ),
            ),
        ),
        Finding(
            "A repeatable operator uses at most one tuple of each stream for an output",
            Judgement.REFUTED,
            section="3.2",
            remark=(
                "two tuples; a window that begins with every item is whole or is not there at "
                "all in a restarted copy"
            ),
            witnesses=(ByTest("tests/boxes/test_classes.py", "`aggregate-count-2-1`"),),
        ),
        Finding(
            "Only window alignment makes a deterministic operator not convergent-capable",
            Judgement.REFUTED,
            section="3.2",
            remark="an operator that hands on every second item has no window",
            witnesses=(ByTest("tests/commands/test_docs.py", "`docs/examples/every_second.py`"),),
        ),
    ),
)

STUDY = FindingTable(
    "The study of costs",
    (
        Finding(
            (
                "An aggregate costs filter times windows times advance, 10 ms a tuple (Table 5); "
                "or window over advance, 100 us (7.1, Tables 7 and 8)"
            ),
            Judgement.CONTRADICTORY,
            section="7.1",
            remark="the 10 % of a node need window over advance",
            witnesses=(ByReading("Table 5, and 7.1 with Tables 7 and 8"),),
        ),
        Finding(
            "Upstream backup sends one identifier an interval (7.1), or two (Table 6)",
            Judgement.CONTRADICTORY,
            section="7.1",
            remark="0.64 % at 25 ms, or at 50 ms",
            witnesses=(ByReading("7.1 and Table 6"),),
        ),
        Finding(
            (
                "Active standby sends half an interval of duplicates and the delays, 35 tuples "
                "(5.3), or 72 (Table 6)"
            ),
            Judgement.CONTRADICTORY,
            section="5.3, 7",
            remark=(
                "Table 6 has 1.80 ms, the time of 72; its 0.07 ms for an aggregate is the time "
                "of 2.8 tuples, and a tenth of 72 is 7.2"
            ),
            witnesses=(ByReading("Table 3 and 5.3, and Table 6"),),
        ),
        Finding(
            (
                "Every replayed tuple is charged for all open windows (Q of upstream backup in "
                "Table 3)"
            ),
            Judgement.CONTRADICTORY,
            section="7",
            remark=(
                "this makes 325 ms of the 248 ms in Table 7: a state that is rebuilt from "
                "nothing has few windows open at first"
            ),
            witnesses=(ByReading("Table 3 and Table 7"),),
        ),
    ),
)

FINDINGS = (
    OPERATORS,
    STUDY,
)
