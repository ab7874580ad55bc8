"""Evidence about replicas that go away (7.2).

Rule of this file: designs that change one thing, with the verdicts expected of them, and one-line
faults.
"""

from __future__ import annotations

from model.core import Guarantee
from model.evidence import Mutant
from model.patches import Change, Reading
from model.protocols.log_io.design import Deletes, LogIoDesign, Scaling
from model.protocols.log_io.evidence import replicas
from model.protocols.log_io.evidence.build import CHECKED, DIVERGENT, GAP, SEEN, build
from model.protocols.log_io.quantities import MOVED, MOVED_STATE, THWARTED

LOG = "model.protocols.log_io.log"
REPLICAS = "model.protocols.log_io.scaling.log"
CHOSEN = Reading(
    'Algorithm 13, step 1.c: the transaction updates "all events of" the set that step 1.b has '
    "chosen",
    (
        Change(
            REPLICAS,
            "bodies = {row.number: row.body for row in message.rows if row[:3] in undone}",
            "bodies = {row.number: row.body for row in message.rows}",
        ),
    ),
)
GOES_ON = Reading(
    "Section 7.2: a generation whose inputs have moved goes on; its transaction does not fail",
    (
        Change(
            LOG,
            "if asks and not _has_inputs(tables, node, message):",
            "if False:",
        ),
    ),
)

VARIANTS = (
    build(
        "scale-down",
        LogIoDesign(scaling=Scaling()),
        (
            replicas.A_REPLICA_GOES_AWAY.holds(107_444),
            replicas.A_REPLICA_GOES_AWAY_ITS_NODE_FAILS.holds(152_530),
            replicas.A_REPLICA_GOES_AWAY_ITS_CONTROLLER_FAILS.holds(55_836),
            replicas.AN_EQUAL_PAIR_WITH_A_CRASH.holds(28_340, quick=False),
            replicas.in_any_order(replicas.A_LIST).holds(1_454),
            replicas.in_any_order(replicas.A_LIST_AND_ONE_FAILS).holds(11_450),
            replicas.in_any_order(replicas.A_LIST_AND_TWO_FAILS).holds(8_673),
            replicas.in_any_order(replicas.A_LIST_AND_MERGE_FAILS).holds(15_222),
            replicas.in_any_order(replicas.A_LIST_AND_DISPATCH_FAILS).holds(49_475),
        ),
        "A replica goes away while events come, and it, the controller, the dispatcher and the "
        "merger may crash: no event is lost, and none is processed twice (Algorithm 13).  The "
        "undone events of an open Input Set move, too, and so does the replica's state of the key.",
        (*CHECKED, THWARTED, MOVED, MOVED_STATE),
    ),
    build(
        "scale-down-in-order",
        LogIoDesign(scaling=Scaling()),
        (replicas.A_REPLICA_WITH_TWO_EVENTS_GOES_AWAY.fails(15_271, 13, DIVERGENT),),
        "An event that has moved overtakes one that the replica has processed: the order of events "
        "of one key is not kept, also without a crash.  Algorithm 13 does not claim it.",
        (THWARTED, MOVED),
    ),
    build(
        "scale-down-in-turn",
        LogIoDesign(scaling=Scaling(in_turn=True)),
        (
            replicas.A_KEY_WITH_A_CRASH.holds(87_911),
            replicas.A_PAIR_WITH_A_CRASH.holds(22_526),
            replicas.CONTROLLER_FAILS.holds(2_403),
            replicas.DISPATCH_FAILS.holds(9_615),
            replicas.MERGE_FAILS.holds(5_304),
            replicas.ONE_FAILS.holds(1_787),
            replicas.TWO_FAILS.holds(1_725),
            replicas.COUNTED.holds(2_835),
        ),
        "The dispatcher's transaction waits until the merger has taken the outputs of the replica, "
        "and the dispatcher takes no input meanwhile: events of one key keep their order.",
        (*SEEN, THWARTED, MOVED),
    ),
    build(
        "scale-down-in-turn-and-deletes",
        LogIoDesign(scaling=Scaling(in_turn=True, deletes=Deletes.MOVED)),
        (
            replicas.AN_EVENT_OF_A_KEY.holds(4_313),
            replicas.CONTROLLER_FAILS.holds(1_875),
            replicas.MERGE_FAILS.holds(4_391),
            replicas.TWO_FAILS.holds(1_501),
        ),
        "After such a transaction the replica has no outputs left, and Algorithm 13, step 3, may "
        "be executed as published.",
        (*SEEN, THWARTED, MOVED),
    ),
    build(
        "scale-down-published",
        LogIoDesign(scaling=Scaling(deletes=Deletes.MOVED)),
        (replicas.A_REPLICA_GOES_AWAY_NO_CRASH.fails(1_109, 12, GAP),),
        "Algorithm 13, step 3, deletes the connection to the merger with the outputs that the "
        "merger has not taken, also without a crash.",
        (THWARTED, MOVED),
    ),
    build(
        "scale-down-of-what-was-chosen",
        LogIoDesign(scaling=Scaling()),
        (
            replicas.A_REPLICA_GOES_AWAY_NO_CRASH.fails(1_604, 13, Guarantee.CONVERGENT),
            replicas.A_REPLICA_GOES_AWAY.fails(152_825, 13, Guarantee.CONVERGENT, quick=False),
        ),
        "What has become done since it was chosen is moved, too, and processed twice, also without "
        "a crash.",
        (THWARTED, MOVED),
        readings=(CHOSEN,),
    ),
    build(
        "scale-down-without-failing",
        LogIoDesign(scaling=Scaling()),
        (
            replicas.A_REPLICA_GOES_AWAY_NO_CRASH.fails(1_680, 13, Guarantee.CONVERGENT),
            replicas.A_REPLICA_GOES_AWAY.fails(152_494, 13, Guarantee.CONVERGENT, quick=False),
        ),
        "A generation whose inputs have moved goes on, and another replica has the same inputs, "
        "also without a crash.",
        (MOVED,),
        readings=(GOES_ON,),
    ),
)
RECOVERY = "model.protocols.log_io.operators.recovery"
CONTROLLER = "model.protocols.log_io.scaling.controller"
OPERATORS = "model.protocols.log_io.scaling.operators"
ROLES = "model.protocols.log_io.roles"
MUTANTS = (
    Mutant(
        "what the controller has begun is not durable",
        CONTROLLER,
        "return state, (Save(state), *_requests(site, state))",
        "return state, _requests(site, state)",
        "scale-down: a replica goes away its controller fails",
    ),
    Mutant(
        "a restarted dispatcher does not report back",
        OPERATORS,
        "if site.spec.place not in (Place.DISPATCHER, Place.MERGER) and not is_absent(site):",
        "if site.spec.place is not Place.MERGER:",
        "scale-up-merger-last: two fails",
    ),
    Mutant(
        "a restarted merger does not report back",
        OPERATORS,
        "if site.spec.place not in (Place.DISPATCHER, Place.MERGER) and not is_absent(site):",
        "if site.spec.place is not Place.DISPATCHER:",
        "scale-up-merger-last: two fails",
    ),
    Mutant(
        "a replica that has gone away gets events",
        ROLES,
        "second = body.type == replicas.key and not state.alone",
        "second = body.type == replicas.key",
        "scale-down-in-turn-and-deletes: two fails",
    ),
    Mutant(
        "the stored context does not say that a replica has gone away",
        RECOVERY,
        "alone=stored.alone,",
        "alone=False,",
        "scale-up: merge fails",
    ),
    Mutant(
        "events that have moved are not sent",
        OPERATORS,
        "state, sends = hand_on(site, state._replace(moving=False), [*rows])",
        "state, sends = hand_on(site, state._replace(moving=False), [])",
        "scale-down-in-turn-and-deletes: two fails",
    ),
    Mutant(
        "the log does not look at the outputs of the replica",
        REPLICAS,
        "if tables.watched and are_taken(tables, scaling.replicas, scaling.replicas.second):",
        "if tables.watched:",
        "scale-down: a replica goes away its controller fails",
    ),
)
