"""The findings about LOG.io: Input Sets of one function that overlap.

Rule of this file: findings as data; docs/explanation/findings/log-io.md explains them.
"""

from __future__ import annotations

from model.finding import ByScope, Finding, FindingTable, Judgement

OVERLAPPING = FindingTable(
    "Input Sets that overlap",
    (
        Finding(
            "If more than one Input Set matches the triggering conditions, the block is repeated",
            Judgement.REFUTED,
            section="3.5.1; Listing 2; Examples 4 and 7",
            quotes=("If more than one Input Set matches the triggering conditions",),
            remark=(
                "with the mend that a seen input triggers nothing: one event has records of hours "
                "10, 11 and 12, and completes two windows; it is seen with the transaction of the "
                "first, and after a crash nobody asks for the second"
            ),
            witnesses=(ByScope("log-io:sets-alone", "windows of one event"),),
            mend=(
                "one transaction for all Input Sets of the function that an input completes, or of "
                "all functions"
            ),
            mended=("log-io", "log-io:one-transaction-of-an-input"),
        ),
        Finding(
            "Each undone row is processed by itself",
            Judgement.REFUTED,
            section="Algorithm 9, step 2",
            quotes=("processed",),
            remark=(
                "with the same mend: the first row of an input triggers, and for its other rows "
                "the input has been seen"
            ),
            witnesses=(ByScope("log-io:rows-alone", "windows of one event"),),
            mend="all undone rows of an input go into their Input Sets before the condition",
            mended=("log-io",),
        ),
        Finding(
            "As published: the block is repeated, and each row may trigger again",
            Judgement.CONDITIONAL,
            section="Listing 2; Algorithm 9, step 2.c",
            remark=(
                "right for windows of hours, whose condition depends on no global state; refuted "
                "for a condition that does (the table above)"
            ),
            witnesses=(
                ByScope("log-io:sets-alone-and-triggers"),
                ByScope("log-io:triggers-again", "batches in turn by type that crash once"),
            ),
        ),
        Finding(
            "Records of the event that belong to a done window are ignored",
            Judgement.NEEDED,
            section="Example 8; Algorithm 9, step 2.b",
            quotes=("are ignored",),
            witnesses=(ByScope("log-io:again-into-all-sets", "windows and a relay"),),
        ),
        Finding(
            "An InSet_ID can be defined as an hour of the day",
            Judgement.NEEDED,
            section="Examples 4 and 7",
            quotes=("can be defined as an hour of the day",),
            remark=(
                "the hour itself: a restarted operator has to know which window a number is, and "
                "the log has the number alone (with the day, if the stream is longer)"
            ),
            witnesses=(
                ByScope("log-io", "windows of hours"),
                ByScope("log-io:replay", "windows and a relay"),
                ByScope("log-io:lineage", "windows and a relay"),
            ),
        ),
    ),
)
