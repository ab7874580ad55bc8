"""The findings about LOG.io: the tables of the log and the library.

Rule of this file: findings as data; docs/explanation/findings/log-io.md explains them.
"""

from __future__ import annotations

from model.finding import (
    ByReading,
    ByTest,
    Finding,
    FindingTable,
    Judgement,
)

LOG_TABLES = FindingTable(
    "Tables of the log",
    (
        Finding(
            "UpdateContext stores the numbers, StoreState the global state",
            Judgement.REFUTED,
            section="Tables 7 and 8",
            remark=(
                "as two steps: a crash between them leaves numbers that the state has not seen, "
                "and inputs that the state lacks count as seen"
            ),
            witnesses=(
                ByTest("tests/families/log_io/library/test_kills.py", "killed at every statement"),
            ),
            mend="one call stores both in one transaction",
        ),
        Finding(
            (
                "A new action_ID comes from the last values obtained from the READ_ACTION; a "
                "complete read action whose event is done can be deleted"
            ),
            Judgement.REFUTED,
            section="6.3.1; 3.6",
            quotes=(
                "from the last values obtained from the READ_ACTION",
                "can be deleted",
            ),
            remark="together: after the deletion a restarted source gives the number again",
            witnesses=(ByTest("tests/families/log_io/library/test_reading.py"),),
            mend="the latest row of a connection stays",
        ),
        Finding(
            (
                "Data of done events can be removed from EVENT_DATA; a source that restarts "
                "discards the store of a done read action"
            ),
            Judgement.CONTRADICTORY,
            section="3.6; Algorithm 6, 3.a",
            remark=("the reference to the store is in EVENT_DATA, under the key of the done event"),
            witnesses=(ByReading("3.6, and Algorithm 6, step 3.a"),),
            mend="the data of a read action stay until its store is discarded (Algorithm 1, 2.d)",
        ),
        Finding(
            (
                "LogStateEvent logs an undone event in an Input Set; FetchAckEvents returns the "
                "undone events with an Input Set"
            ),
            Judgement.REFUTED,
            section="Tables 7 and 9; Algorithm 3, step 2",
            quotes=(
                "undone",
                "undone",
            ),
            remark=(
                "together if step 2 is not in the transaction of step 4: after a crash between "
                "them, a state is replayed as an input"
            ),
            witnesses=(ByReading("Tables 7 and 9, and Algorithm 3, step 2"),),
            mend="one transaction, and events without ports are not replayed",
        ),
        Finding(
            "Table 4 shows the second row of an event undone after its output",
            Judgement.REFUTED,
            section="Example 7",
            quotes=("undone",),
            remark='step 4 (4) of Algorithm 3 has set it to "done"',
            witnesses=(ByTest("tests/families/log_io/library/test_example.py"),),
            mend='"done"',
        ),
    ),
)
