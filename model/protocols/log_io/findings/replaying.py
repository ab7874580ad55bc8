"""The findings about LOG.io: replay operators.

Rule of this file: findings as data; docs/explanation/findings/log-io.md explains them.
"""

from __future__ import annotations

from model.finding import (
    ByScope,
    Finding,
    FindingTable,
    Judgement,
)

REPLAYING = FindingTable(
    "Replay operators and optimistic logging",
    (
        Finding(
            (
                "An operator in state running discards replay input events; in Example 10 such "
                "an event will be filtered as obsolete if it has been processed"
            ),
            Judgement.CONTRADICTORY,
            section="5.2",
            quotes=(
                "An operator in state running discards replay input events",
                "will be filtered as obsolete",
            ),
            remark="to discard loses an output that was never sent",
            witnesses=(ByScope("log-io:replay-not-filtered", "two relays"),),
            mend="filter, as in Example 10",
            mended=("log-io:replay",),
        ),
        Finding(
            (
                "The engine restarts the replay operators that precede a failed one; that one "
                "marks what it needs as replay"
            ),
            Judgement.REFUTED,
            section="5.2; Algorithm 11, step 3",
            quotes=("replay",),
            remark=(
                "there is no order between the two, and a replay operator that looks first finds "
                "no mark"
            ),
            witnesses=(ByScope("log-io:replay-asked-at-failure", "two relays"),),
            mend="it is asked once the marks are logged",
            mended=("log-io:replay",),
        ),
        Finding(
            (
                "In state restarted an operator replays unassigned outputs, in state replay "
                "marked ones"
            ),
            Judgement.REFUTED,
            section="Algorithm 10, step 2",
            quotes=(
                "restarted",
                "replay",
            ),
            remark=(
                "a replay operator fails while another one waits for it, and forgets the marked "
                "ones"
            ),
            witnesses=(ByScope("log-io:replay-by-state", "two relays"),),
            mend="both, in both states",
            mended=("log-io:replay",),
        ),
        Finding(
            "Set all output events to recover to status replay, and then to undone",
            Judgement.REFUTED,
            section="Algorithm 10, step 4.2; Algorithm 3 as adapted; Example 10",
            quotes=(
                "Set all output events to recover to status replay",
                "undone",
            ),
            remark=(
                "of two receivers of one Input Set, the one that has used its event takes it "
                "again after a restart"
            ),
            witnesses=(ByScope("log-io:replay-of-whole-sets", "two receivers"),),
            mend="what was done stays done",
            mended=("log-io:replay",),
        ),
        Finding(
            "The replay operator sets the status back before it sends",
            Judgement.REFUTED,
            section="Algorithm 3, steps 4 and 5, as adapted",
            remark="it fails in between, and nobody knows that the event is still wanted",
            witnesses=(ByScope("log-io:replay-reset-by-sender", "two relays"),),
            mend="the receiver sets it back when it has the data",
            mended=("log-io:replay",),
        ),
        Finding(
            "The global state is restored from STATE",
            Judgement.REFUTED,
            section="Algorithm 11, step 2",
            quotes=("from STATE",),
            remark=(
                "for a condition that depends on it: the latest state is not that of the Input Set"
            ),
            witnesses=(ByScope("log-io:replay-in-latest-state", "batches in turn and a relay"),),
            mend="the state that was logged for the Input Set (Algorithm 3, step 2)",
            mended=("log-io:replay",),
        ),
        Finding(
            "Events that are not replayed ones are discarded, and sent again after these",
            Judgement.CONDITIONAL,
            section="Algorithm 11, step 4.a",
            quotes=("are discarded",),
            remark=(
                "right with one replay operator before the one that failed; refuted with two "
                "that meet: the events of the first one are lost while the second one is awaited"
            ),
            witnesses=(ByScope("log-io:replay-discards", "two relays that meet"),),
            mend="they wait",
            mended=("log-io:replay",),
        ),
        Finding(
            "Replayed events are taken without applying the filtering condition",
            Judgement.REFUTED,
            section="5.2",
            quotes=("without applying the filtering condition",),
            remark="while one event is awaited, another one is taken twice",
            witnesses=(ByScope("log-io:replay-accepts-any", "two relays"),),
            mend="for awaited events alone",
            mended=("log-io:replay",),
        ),
        Finding(
            "Replayed events are processed through the State Update phase",
            Judgement.REFUTED,
            section="Algorithm 11, step 4.a",
            quotes=("are processed through the State Update phase",),
            remark="that phase assigns an event to all its Input Sets, also to one that is done",
            witnesses=(
                ByScope("log-io:replay-assigns-again", "a relay and two functions and a crash"),
            ),
            mend="they keep their Input Sets, as in Algorithm 9, step 2.b",
            mended=("log-io:replay",),
        ),
        Finding(
            "Done events may be deleted, with an exception for replay operators",
            Judgement.NEEDED,
            section="3.6",
            quotes=("an exception",),
            remark="the exception is needed, and not stated",
            witnesses=(ByScope("log-io:replay-without-inputs", "two relays"),),
            mend="the inputs of an Input Set are kept while an output of it is logged",
            mended=("log-io:replay",),
        ),
        Finding(
            "The inputs of an Input Set are kept while an output of it is logged",
            Judgement.REFUTED,
            section="3.6",
            remark=(
                "not enough for two replay operators in a row: the output is taken while its "
                "operator waits for an input, which is deleted"
            ),
            witnesses=(
                ByScope("log-io:replay-keeps-while-logged", "three relays and a crash"),
                ByScope("log-io:replay-gone-unnoticed", "three relays and a crash"),
            ),
            mend=(
                "awaited inputs are kept, too, and the transaction that marks an input reports "
                "that it is gone"
            ),
            mended=("log-io:replay",),
        ),
        Finding(
            "Nothing is said on the marks of an operator that fails again",
            Judgement.SILENT,
            section="Algorithm 11",
            remark="they stay for ever, and their events",
            witnesses=(ByScope("log-io:replay-old-marks", "three relays and an event"),),
            mend="a restart clears them",
            mended=("log-io:replay",),
        ),
        Finding(
            "A replay operator has to be deterministic, in the order of its inputs, too",
            Judgement.NEEDED,
            section="5.1",
            remark="two receivers see two orders",
            witnesses=(ByScope("log-io:replay-arbitrary", "a race and two receivers"),),
        ),
        Finding(
            "Output events are sent before logging their data",
            Judgement.CONDITIONAL,
            section="5.2, at the end",
            quotes=("Output events are sent before logging their data",),
            remark=(
                "right if their rows in EVENT_LOG are logged before; if the rows come later too, "
                "a receiver acknowledges an event that is not logged"
            ),
            witnesses=(
                ByScope("log-io:optimistic-rows", "a relay and a batch"),
                ByScope("log-io:optimistic"),
            ),
        ),
        Finding(
            "A replay operator is stopped and restarted",
            Judgement.NOT_NEEDED,
            section="5.2",
            quotes=("stopped and restarted",),
            remark=(
                "it may replay beside its work, and does so here; a crash of it at any moment is "
                "explored"
            ),
            witnesses=(ByScope("log-io:replay"),),
        ),
        Finding(
            "Replay operators as published",
            Judgement.REFUTED,
            section="5.2",
            remark=(
                "events are lost; with all mends it holds, for chains of such operators and for "
                "two that meet"
            ),
            witnesses=(ByScope("log-io:replay-published", "two relays"),),
            mend="the mends of this table",
            mended=(
                "log-io:replay",
                "log-io:replay-chains",
                "log-io:replay-lineage",
                "log-io:optimistic",
            ),
        ),
    ),
)
