"""The findings about LOG.io: lineage.

Rule of this file: findings as data; docs/explanation/findings/log-io.md explains them.
"""

from __future__ import annotations

from model.finding import (
    ByLemma,
    ByMutant,
    ByReading,
    ByScope,
    ByTest,
    Finding,
    FindingTable,
    Judgement,
)

LINEAGE = FindingTable(
    "Lineage",
    (
        Finding(
            "An output's lineage is the Input Set",
            Judgement.CONDITIONAL,
            section="3.1; Algorithm 3, step 4.5",
            remark=(
                "right for Input Sets that have one output, with crashes, two functions, racing "
                "ports and side-effect reads; refuted for an operator that keeps inputs in its "
                "global state"
            ),
            witnesses=(
                ByScope("log-io:lineage-of-state", "an aggregate"),
                ByScope("log-io:lineage"),
                ByScope(
                    "log-io:lineage-of-state-exactly",
                    "an aggregate that crashes once",
                    "too many are named",
                ),
            ),
            mend=(
                "a row also says which Input Set and which state a state was made of: no input "
                "is missing, but too many are named; exact if the function names its inputs"
            ),
            mended=(
                "log-io:lineage-of-state-by-sets",
                "log-io:lineage-by-function",
            ),
        ),
        Finding(
            "There is no data lineage relationship if the event gives no contribution",
            Judgement.REFUTED,
            section="7.3",
            quotes=("There is no data lineage relationship if",),
            remark="for an Output Set of several events: each has the whole Input Set",
            witnesses=(ByScope("log-io:lineage-of-an-output-set", "batches apart"),),
            mend="exact if the function names its inputs",
            mended=("log-io:lineage-by-function",),
        ),
        Finding(
            (
                "Done rows of EVENT_LOG can be removed as soon as they are done; lineage joins "
                "EVENT_LINEAGE with EVENT_LOG"
            ),
            Judgement.REFUTED,
            section="3.6; 7.3",
            quotes=("can be removed as soon as they are done",),
            remark=(
                'together: the join finds nothing; the entry of a read action (4.5.a) is "done" '
                "when it is made, so it may go at once"
            ),
            witnesses=(
                ByScope("log-io:lineage-collected", "a relay"),
                ByLemma("assignments-collected"),
            ),
            mend=(
                "assignments of inputs on ports in IN stay, or rows name events: outputs times "
                "inputs rows instead of outputs plus inputs"
            ),
            mended=(
                "log-io:lineage",
                "log-io:lineage-by-events",
            ),
        ),
        Finding(
            "Bodies stay if their sender operator has its data lineage capture enabled",
            Judgement.REFUTED,
            section="3.6",
            quotes=("sender operator has its data lineage capture enabled",),
            remark=(
                "the first port of a path belongs to an operator without capture on it, so the "
                "events at which a full backward query ends have no body"
            ),
            witnesses=(ByScope("log-io:lineage-bodies-of-senders", "a relay"),),
            mend="bodies of events on ports in IN stay, too",
            mended=("log-io:lineage",),
        ),
        Finding(
            (
                "A relationship is recorded if and only if the input came in on a port in IN; a "
                "row for each output event on a port in OUT"
            ),
            Judgement.CONTRADICTORY,
            section="3.1, Example 5; Algorithm 3, step 4.5.b",
            quotes=(
                "if and only if",
                "each output event on a port in OUT",
            ),
            remark="on rows, not on answers: 4.5.b leaves rows without a relationship",
            witnesses=(ByScope("log-io:lineage-of-each-output", "two ports"),),
            mend=(
                "a row only for an output with such an input or a read action (with Example 5's "
                "graph)"
            ),
            mended=("log-io:lineage-scope",),
        ),
        Finding(
            "Capture is enabled for sets IN and OUT, for one scope at a time",
            Judgement.REFUTED,
            section="3.1",
            remark=(
                "two scopes through one operator also enable pairs of ports that are on no path"
            ),
            witnesses=(ByTest("tests/families/log_io/test_lineage_queries.py"),),
            mend="none here; a query may name its scope",
        ),
        Finding(
            (
                "Lineage is kept for the output events produced at port [end] within a sliding "
                "window"
            ),
            Judgement.REFUTED,
            section="3.6",
            quotes=("for the output events produced at port [end] within a sliding window",),
            remark=(
                "by each row's own age, and if only what is behind the outputs in the window is "
                "kept"
            ),
            witnesses=(
                ByScope("log-io:lineage-retained-by-row", "batches and a relay", "a path is cut"),
                ByScope("log-io:lineage-retained-by-row", "a relay and a batch"),
                ByScope(
                    "log-io:lineage-retained-by-output", "two relays", "rows on their way are lost"
                ),
                ByScope("log-io:lineage-retained-by-output", "batches and a relay"),
            ),
            mend=(
                "keep also what is behind undone events and the latest state (lineage through "
                "states goes back to the first input, so retention deletes none of it)"
            ),
            mended=("log-io:lineage-retained",),
        ),
        Finding(
            "Nothing is said on the lineage of a source's read action",
            Judgement.SILENT,
            section="Algorithm 1; 3.6",
            remark="nothing links an output of a source with its read action",
            witnesses=(ByReading("Algorithm 1 and 3.6"),),
            mend="a row for each output (three crashes)",
            mended=("log-io:lineage-of-reads",),
        ),
        Finding(
            "Side-effect reads store their effect for lineage",
            Judgement.CONFIRMED,
            section="Algorithm 4; 4.5.a",
            remark=(
                "if the effect is stored before the outputs, and a read that is executed again "
                "replaces it"
            ),
            witnesses=(
                ByMutant("the effect of a read that is executed again is not stored", 9),
                ByMutant("the effect of a read is stored after the outputs", 9),
            ),
        ),
        Finding(
            "Dependencies refine lineage to records",
            Judgement.CONDITIONAL,
            section="7.3, Example 11",
            remark=(
                "right if they hold (Hypothesis, against the records really used); the record of "
                "11:05 stays, as the paper says; a dependency that does not hold drops a used "
                "record"
            ),
            witnesses=(ByTest("tests/families/log_io/test_lineage_refinement.py", "two records"),),
            mend="a dependency from date to hour makes Example 11 exact",
        ),
    ),
)
