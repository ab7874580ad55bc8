"""The findings about LOG.io: scaling.

Rule of this file: findings as data; docs/explanation/findings/log-io.md explains them.
"""

from __future__ import annotations

from model.finding import (
    ByLemma,
    ByMutant,
    ByScope,
    ByTest,
    Finding,
    FindingTable,
    Judgement,
)

SCALING = FindingTable(
    "Scaling",
    (
        Finding(
            (
                "A replica goes away: its undone events are chosen, then moved in a transaction "
                "that excludes OP's transaction"
            ),
            Judgement.CONFIRMED,
            section="Algorithm 13, 1.b and 1.c; 7.2",
            quotes=("OP's transaction",),
            remark=(
                "for any events and restarts; refuted: the move takes a chosen event that is "
                "done since, a generation uses rows that have moved, an assignment makes the row "
                "again that the move took away (the paper names the generation alone)"
            ),
            witnesses=(
                ByLemma("scaling-once"),
                ByScope(
                    "log-io:scale-down-of-what-was-chosen",
                    "a replica goes away no crash",
                    "without a crash",
                ),
                ByLemma("chosen-before"),
                ByScope(
                    "log-io:scale-down-without-failing",
                    "a replica goes away no crash",
                    "without a crash",
                ),
                ByLemma("generation-moved"),
                ByLemma("moved-assigned"),
            ),
            mend="an assignment (Algorithm 2, step 2) changes a row and makes none",
            mended=("log-io:scale-down",),
        ),
        Finding(
            (
                "A replica must be physically deleted only when all the events that it received "
                "have been processed or safely recovered; step 3 deletes its connection to the "
                "merger"
            ),
            Judgement.REFUTED,
            section="Algorithm 13, steps 2 and 3; 7.2",
            quotes=(
                (
                    "must be physically deleted only when all the events that it received have "
                    "been processed or safely recovered"
                ),
            ),
            remark=(
                "an event is processed, its output is logged and not yet taken by the merger, "
                "and the replica that would send it again is gone"
            ),
            witnesses=(
                ByScope(
                    "log-io:scale-down-published", "a replica goes away no crash", "without a crash"
                ),
                ByLemma("deleted-with-outputs"),
            ),
            mend=(
                "also when the merger has taken all its outputs (lemma `scaling-once`; with "
                "crashes of the controller, the dispatcher, the replica and the merger)"
            ),
            mended=("log-io:scale-down",),
        ),
        Finding(
            "Events of one key keep their order under scale-down",
            Judgement.REFUTED,
            section="7.2; Algorithm 13",
            remark=(
                "as published: an event that has moved overtakes one that the replica has "
                "processed, also without a crash"
            ),
            witnesses=(
                ByScope("log-io:scale-down-in-order", "a replica with two events goes away"),
            ),
            mend=(
                "1.c waits until the merger has taken the replica's outputs (lemma "
                "`scaling-in-order`); step 3 may then be executed as published"
            ),
            mended=(
                "log-io:scale-down-in-turn",
                "log-io:scale-down-in-turn-and-deletes",
            ),
        ),
        Finding(
            (
                "Scale-up: topology, merger, dispatcher, each acknowledged after it is stored; "
                "the Controller restarts at that step and there is no impact"
            ),
            Judgement.CONFIRMED,
            section="Algorithm 12; 7.2",
            quotes=("the Controller restarts at that step and there is no impact",),
            remark=(
                "for stateless operators whose inputs have no order, with one crash of any part, "
                "the new replica included"
            ),
            witnesses=(ByScope("log-io:scale-up-published", "equal events with a crash"),),
        ),
        Finding(
            (
                "A key-based Dispatcher will start sending data with a key value to the new "
                "replica; all events with the same key value must be sent to the same replica"
            ),
            Judgement.REFUTED,
            section="7.1, 7.2; Algorithm 12",
            quotes=(
                (
                    "A key-based Dispatcher will start sending data with a key value to the new "
                    "replica"
                ),
                "all events with the same key value must be sent to the same replica",
            ),
            remark=(
                "Algorithm 12 does not say what becomes of the key's undone events; a later "
                "event overtakes one of the old replica, and an open Input Set is never completed"
            ),
            witnesses=(
                ByScope("log-io:scale-up-published", "a key", "an event overtakes another one"),
                ByScope("log-io:scale-up-published", "a pair", "an Input Set stays open"),
                ByLemma("events-stay"),
            ),
            mend=(
                "the undone events move in the transaction that stores the dispatcher's state "
                "(Algorithm 13, 1.b to 1.d), when the merger has taken the old replica's outputs "
                "(lemma `scaling-in-order`)"
            ),
            mended=("log-io:scale-up",),
        ),
        Finding(
            "(reading) the dispatcher waits until the old replica has done the key's events",
            Judgement.REFUTED,
            section="7.2",
            remark=(
                "their outputs may not be taken yet (order), and an open Input Set is never done "
                "(the dispatcher waits for ever)"
            ),
            witnesses=(
                ByScope("log-io:scale-up-when-done", "a key"),
                ByScope("log-io:scale-up-when-done", "a pair"),
            ),
            mend=(
                "the undone events move in the transaction that stores the dispatcher's state "
                "(Algorithm 13, 1.b to 1.d), when the merger has taken the old replica's outputs "
                "(lemma `scaling-in-order`)"
            ),
            mended=("log-io:scale-up",),
        ),
        Finding(
            "(reading) undone events move at once",
            Judgement.REFUTED,
            section="Algorithm 13, 1.c, for Algorithm 12",
            remark="they overtake an output that is not taken",
            witnesses=(
                ByScope("log-io:scale-up-at-once", "a key"),
                ByLemma("key-goes-at-once"),
            ),
            mend=(
                "the undone events move in the transaction that stores the dispatcher's state "
                "(Algorithm 13, 1.b to 1.d), when the merger has taken the old replica's outputs "
                "(lemma `scaling-in-order`)"
            ),
            mended=("log-io:scale-up",),
        ),
        Finding(
            "Step 1 comes before step 3: the connections are there before the dispatcher sends",
            Judgement.NEEDED,
            section="Algorithm 12",
            remark="an event sent to a connection that does not exist is lost",
            witnesses=(ByScope("log-io:scale-up-dispatcher-first", "equal events"),),
        ),
        Finding(
            ("Step 2 comes before step 3: the merger knows the replica before the dispatcher does"),
            Judgement.NOT_NEEDED,
            section="Algorithm 12",
            remark="with lasting connections",
            witnesses=(ByScope("log-io:scale-up-merger-last"),),
        ),
        Finding(
            "A dispatcher acknowledges only after successfully storing its new state",
            Judgement.NEEDED,
            section="7.2",
            quotes=("only after successfully storing its new state",),
            remark=(
                "a dispatcher that crashes in between does not know the replica, and the "
                "controller is done; no output is lost"
            ),
            witnesses=(
                ByScope("log-io:scale-up-acknowledged-first", "an event of a key"),
                ByScope("log-io:scale-up-not-stored", "an event of a key"),
            ),
        ),
        Finding(
            "A transaction fails because the events of the Input Set do not exist anymore",
            Judgement.CONFIRMED,
            section="7.2",
            quotes=("the events of the Input Set do not exist anymore",),
            remark=(
                "if it fails when any event of the set is missing; a replica that stays has to "
                "rebuild its event state from the log then"
            ),
            witnesses=(
                ByMutant("an Input Set of which events have moved is used", 19),
                ByMutant("a replica keeps an Input Set of which events have moved", 27),
            ),
        ),
        Finding(
            "A replica comes and goes away in one run",
            Judgement.CONFIRMED,
            section="7.2",
            remark=(
                "with these mends, with two crashes of each part, also where events wait in an "
                "open Input Set"
            ),
            witnesses=(ByScope("log-io:scale-up-and-down"),),
        ),
        Finding(
            (
                "The removal of a replica and the reallocation of its events to other replicas "
                "without losing any event"
            ),
            Judgement.REFUTED,
            section="7.2; Algorithms 12 and 13",
            quotes=("the reallocation of its events to other replicas without losing any event",),
            remark=(
                "for a replica with a global state (2.3): the state that it has made of done "
                "events does not go with the undone ones, and an output is lost"
            ),
            witnesses=(
                ByScope("log-io:scale-down-without-state", "a list", "without a crash"),
                ByScope("log-io:scale-up-without-state", "a list", "without a crash"),
            ),
            mend=(
                "the state of a key moves in the transaction that moves its undone events, as an "
                "event before them; it names those that have updated it, and these neither update "
                "it again nor trigger.  The operator is key-based (7.1)"
            ),
            mended=("log-io:scale-down", "log-io:scale-down-in-turn", "log-io:scale-up"),
        ),
        Finding(
            "An event of a replica may be in several Input Sets",
            Judgement.SILENT,
            section="3.4; Algorithm 13, 1.c",
            remark=(
                "the move makes one event of its rows, which would be assigned to all its sets "
                "again, also to one that is done; the model refuses such a replica"
            ),
            witnesses=(
                ByTest(
                    "tests/families/log_io/test_scaling.py"
                    "::test_a_replica_whose_events_may_be_in_several_sets_is_refused"
                ),
            ),
        ),
    ),
)
