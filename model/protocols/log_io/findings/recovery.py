"""The findings about LOG.io: logging and recovery.

Rule of this file: findings as data; docs/explanation/findings/log-io.md explains them.
"""

from __future__ import annotations

from model.finding import (
    ByLemma,
    ByScope,
    Finding,
    FindingTable,
    Judgement,
)

RECOVERY = FindingTable(
    "Logging and recovery",
    (
        Finding(
            "An event is obsolete if its number is smaller than the greatest",
            Judgement.REFUTED,
            section="Algorithm 2, step 1",
            quotes=("is smaller than the greatest",),
            remark=(
                "the sender of an output that was just acknowledged crashes, sends it again, and "
                "its number equals the greatest"
            ),
            witnesses=(
                ByScope("log-io:smaller-numbers", "a relay"),
                ByLemma("obsolete-smaller"),
            ),
            mend="discard equal numbers, too",
            mended=("log-io",),
        ),
        Finding(
            (
                "The greatest number received is that of EVENT_LOG, from which done events may "
                "be removed at once"
            ),
            Judgement.REFUTED,
            section="Algorithm 2, step 1; 3.6",
            remark=(
                "together: the number goes with the event, and an event is taken twice after two "
                "crashes; each alone is right"
            ),
            witnesses=(
                ByScope("log-io:greatest-from-the-log", "two types"),
                ByLemma("greatest-from-log"),
                ByScope("log-io:published-without-garbage-collection"),
            ),
            mend="the number is in the context that is stored with each Output Set",
            mended=("log-io",),
        ),
        Finding(
            "The latest event_ID sent on each output port comes from EVENT_LOG",
            Judgement.REFUTED,
            section="Algorithm 9, step 1; 3.6",
            quotes=("The latest event_ID sent on each output port",),
            remark=(
                "with garbage collection: the node numbers from 1 again, and its outputs are "
                "lost as obsolete"
            ),
            witnesses=(ByScope("log-io:sent-from-the-log", "two relays"),),
            mend="the number is in the context that is stored with each Output Set",
            mended=("log-io",),
        ),
        Finding(
            "Connections are reliable",
            Judgement.NEEDED,
            section="2.1",
            remark=(
                "and more: a connection has to keep what its receiver has not acknowledged when "
                "the receiver crashes; with lossy connections an event is lost"
            ),
            witnesses=(
                ByScope("log-io:lossy", "a relay"),
                ByLemma("lossy-connection"),
            ),
            mend="a restarted node reads unassigned inputs from the log, too",
            mended=("log-io:lossy-from-the-log",),
        ),
        Finding(
            "Writes have to be idempotent or checkable",
            Judgement.CONFIRMED,
            section="4.4",
            remark=(
                "a plain write is executed twice; so it is on Spark (`asif spark log-io`, killed "
                "after the write)"
            ),
            witnesses=(ByScope("log-io:plain-writes", "a relay"),),
        ),
        Finding(
            "An idempotent write may be executed again",
            Judgement.REFUTED,
            section="2.3, 4.4",
            remark=(
                'for two pending writes: "two consecutive executions" are as one, and w1 w2 w1 '
                "w2 are not consecutive"
            ),
            witnesses=(ByScope("log-io:idempotent-writes-together", "a relay"),),
            mend="the next write waits for the success of the one before",
            mended=("log-io:idempotent-writes",),
        ),
        Finding(
            "Algorithm 8 replays each pending write that has not succeeded, Algorithm 9 goes on",
            Judgement.REFUTED,
            section="Algorithms 8, 9",
            quotes=("each",),
            remark="a new write overtakes one whose status is asked for",
            witnesses=(ByScope("log-io:checkable-writes-together", "a relay"),),
            mend="one write at a time, in recovery, too",
            mended=("log-io",),
        ),
        Finding(
            "Writes executed as a group need a successful acknowledgment for the group",
            Judgement.CONFIRMED,
            section="3.5.3; 9.2",
            quotes=(
                "as a group",
                "a successful acknowledgment for the group",
            ),
            remark=(
                "for a group that is executed as a whole, and again as it was, checkable or "
                "idempotent; plain groups are executed twice"
            ),
            witnesses=(
                ByScope("log-io:groups"),
                ByScope("log-io:idempotent-groups"),
                ByScope("log-io:plain-groups", "two writes an input"),
            ),
        ),
        Finding(
            "Algorithm 8 takes all undone writes, so a group may have grown",
            Judgement.REFUTED,
            section="Algorithm 8; 3.5.3",
            remark=(
                "if the status is that of the group, or if groups are idempotent: the grown "
                "group is another action"
            ),
            witnesses=(
                ByScope("log-io:groups-anew-checked-as-a-whole", "two writes an input"),
                ByScope("log-io:idempotent-groups-anew", "two writes an input"),
            ),
            mend="ask for the status of each write, or log the Input Set of a write",
            mended=("log-io:groups-anew",),
        ),
        Finding(
            "One acknowledgement is enough for a group that is sent write by write",
            Judgement.REFUTED,
            section="3.5.3",
            remark=(
                "if a part may be executed: for the status of the group, and for writes that are "
                "idempotent one by one"
            ),
            witnesses=(
                ByScope("log-io:groups-in-parts-checked-as-a-whole", "two writes an input"),
                ByScope("log-io:idempotent-groups-in-parts", "two writes an input"),
            ),
            mend="the status of each write",
            mended=("log-io:groups-in-parts",),
        ),
        Finding(
            "Steps 5 and 6 can be reordered for a successor that reads what was written",
            Judgement.NEEDED,
            section="3.5.1",
            quotes=("Steps 5 and 6 can be reordered",),
            remark=(
                "and not enough: a write waits for its status after a restart, or for the write "
                "before it, also without a failure"
            ),
            witnesses=(
                ByScope("log-io:outputs-before-writes", "a reader of writes"),
                ByScope("log-io:writes-before-outputs", "a reader of writes", "with a crash"),
                ByScope("log-io:writes-before-outputs", "a reader of writes no crash", "without"),
            ),
            mend=(
                "an output waits for the success of the writes logged before it, in recovery, "
                'too (by 2.2 a success is "eventually executed"; it is taken as visible here)'
            ),
            mended=(
                "log-io",
                "log-io:outputs-after-idempotent-writes",
            ),
        ),
        Finding(
            "The global state is updated if not already done, by an array of numbers",
            Judgement.NEEDED,
            section="3.4; Algorithms 2 and 9",
            quotes=("if not already done",),
            remark="else a replayed input is counted twice",
            witnesses=(ByScope("log-io:no-array", "counted by type"),),
        ),
        Finding(
            "The global state is stored if f uses a global state",
            Judgement.REFUTED,
            section="Algorithm 3, step 2; 2.3",
            quotes=("if f uses a global state",),
            remark=(
                "of f alone: a state that only the triggering condition uses (Example 2) is at its "
                "begin again after a crash, and an Input Set is complete too early"
            ),
            witnesses=(
                ByScope("log-io:state-of-the-function", "batches in turn"),
                ByScope(
                    "log-io:state-of-the-function",
                    "batches in turn by type that crash once",
                    "too late",
                ),
            ),
            mend="it is stored with each Output Set",
            mended=("log-io",),
        ),
        Finding(
            "The array does the same as the filter of step 1",
            Judgement.CONDITIONAL,
            section="Algorithm 2, steps 1 and 2",
            remark=(
                "not the same if the filter comes from EVENT_LOG: inputs assigned after the "
                "state was stored are not counted again; the same if both are the number in the "
                "stored context"
            ),
            witnesses=(ByScope("log-io:array-of-the-filter", "counted by type"),),
            mend="an array stored with the global state, or both from the context",
            mended=(
                "log-io:array-of-its-own",
                "log-io",
            ),
        ),
        Finding(
            "With the array, step 2.c evaluates the condition",
            Judgement.REFUTED,
            section="Algorithm 9, 2.b and 2.c",
            remark="the stored count is full, and an earlier input of another set triggers",
            witnesses=(ByScope("log-io:array-and-triggers", "counted by type"),),
            mend=(
                "an input that has updated the state triggers nothing; enough if all Input Sets "
                "that an input completes have one transaction (next table)"
            ),
            mended=("log-io",),
        ),
        Finding(
            (
                "Replay in a round-robin fashion between port IDs; this processing order could "
                "occur in a failure-free execution"
            ),
            Judgement.REFUTED,
            section="Algorithm 9, step 2; 4.4, case 1",
            quotes=(
                "in a round-robin fashion between port IDs",
                "this processing order could occur in a failure-free execution",
            ),
            remark=(
                "if several Input Sets may be under way (two functions, or groups): outputs of "
                "before the failure show another order, port by port too; right with one "
                "function and one set at a time, and for an operator with an order of its own"
            ),
            witnesses=(
                ByScope("log-io:ports-in-turn", "two ports and two functions", "two functions"),
                ByScope("log-io:ports-in-turn", "two ports by type", "groups"),
                ByScope("log-io:port-by-port", "two ports and two functions"),
                ByScope("log-io:ports-in-turn-with-an-order"),
            ),
            mend="the log has the order of assignment",
            mended=(
                "log-io:in-order-of-assignment",
                "log-io",
            ),
        ),
        Finding(
            "An event is assigned more than one InSet_ID, with a row for each",
            Judgement.CONFIRMED,
            section="3.4; Algorithm 9, step 2",
            quotes=("assigned more than one InSet_ID",),
            remark=(
                "for two functions over the same inputs, if the number of an Input Set says "
                "which function it is for, and for windows of hours; needed: a replayed input "
                "updates its own Input Set alone (2.b)"
            ),
            witnesses=(
                ByScope("log-io:again-into-all-sets", "two inputs of two functions"),
                ByScope("log-io:again-into-all-sets", "windows and a relay", "windows of hours"),
            ),
        ),
        Finding(
            "A replayed input triggers a generation if a triggering condition evaluates to true",
            Judgement.REFUTED,
            section="Algorithm 9, step 2.c; 4.4",
            quotes=("if a triggering condition evaluates to true",),
            remark=(
                "for a condition that depends on the global state: it was false when the input "
                "came, and it is true in the stored, later global state; the operator generates "
                "earlier than without the failure, against case 1 of the proof"
            ),
            witnesses=(
                ByScope("log-io:triggers-again", "batches in turn by type that crash once"),
            ),
            mend=(
                "an input that the condition had seen before the global state was stored is put "
                "into its Input Set, and triggers nothing; all Input Sets of one function that an "
                "input completes have one transaction (next table)"
            ),
            mended=("log-io",),
        ),
        Finding(
            (
                "Undone inputs are replayed in the order of their numbers; nothing is said of "
                "the Input Sets of one input"
            ),
            Judgement.REFUTED,
            section="Algorithm 9, step 2",
            remark=(
                "by the numbers of the sets: a set that began earlier is completed first, and "
                "before the failure the other function had generated first"
            ),
            witnesses=(ByScope("log-io:sets-by-number", "two functions"),),
            mend="in the order of the functions",
            mended=("log-io",),
        ),
        Finding(
            ("A source whose read action is not replayable stores its effect, and goes on with it"),
            Judgement.CONFIRMED,
            section="Algorithm 1, step 2; 6",
            remark=(
                "with three crashes; the store is needed: if the source reads again instead, "
                "outputs before and after a restart are of two reads"
            ),
            witnesses=(
                ByScope("log-io:reads-again", "a read and a crash"),
                ByScope("log-io:stored-reads"),
            ),
        ),
        Finding(
            "The effect of a side-effect read is stored, and discarded if the read fails",
            Judgement.NOT_NEEDED,
            section="Algorithm 4, step 2",
            remark=(
                "for recovery: the read may be executed again until its outputs are logged, and "
                "shows another value then; two sinks see one choice"
            ),
            witnesses=(ByScope("log-io", "a side effect read and two sinks"),),
        ),
        Finding(
            "Outputs are sent after the transaction",
            Judgement.NEEDED,
            section="Algorithm 3, steps 4 and 5",
            remark="if they are sent before the log has confirmed it, an event is lost",
            witnesses=(ByScope("log-io:late-log", "a relay"),),
        ),
        Finding(
            "The recovered execution is identical to one without failures",
            Judgement.CONFIRMED,
            section="4.4, properties 1 and 2",
            remark="with these mends, by exploration",
            witnesses=(
                ByScope("log-io", "three operators"),
                ByScope("log-io", "windows of hours"),
                ByScope("log-io", "two ports that race"),
                ByScope("log-io", "two ways to one operator"),
                ByScope("log-io", "two sinks"),
                ByScope("log-io", "three crashes"),
            ),
        ),
    ),
)
