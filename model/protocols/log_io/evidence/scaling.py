"""Evidence about replicas that go away (7.2).

Rule of this file: designs that change one thing, with the verdicts expected of them, and one-line
faults.
"""

from __future__ import annotations

from model.core import Guarantee
from model.evidence import Mutant
from model.patches import Change, Reading
from model.protocols.log_io.design import Deletes, Design, Scaling
from model.protocols.log_io.evidence.build import CHECKED, DIVERGENT, GAP, SEEN, build
from model.protocols.log_io.evidence.scopes import fail, fail_in_full, hold, hold_in_full
from model.protocols.log_io.quantities import MOVED, THWARTED

LOG = "model.protocols.log_io.log"
REPLICAS = "model.protocols.log_io.scaling.log"
CHOSEN = Reading(
    'Algorithm 13, step 1.c: the transaction updates "all events of" the set that step 1.b has '
    "chosen",
    (Change(REPLICAS, "if key in undone:", "if True:"),),
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
        Design(scaling=Scaling()),
        (
            *hold(
                a_replica_goes_away=107_444,
                a_replica_goes_away_its_node_fails=152_530,
                a_replica_goes_away_its_controller_fails=55_836,
            ),
            *hold_in_full(an_equal_pair_with_a_crash=28_340),
        ),
        "A replica goes away while events come, and it, the controller, the dispatcher and the "
        "merger may crash: no event is lost, and none is processed twice (Algorithm 13).  The "
        "undone events of an open Input Set move, too.",
        (*CHECKED, THWARTED, MOVED),
    ),
    build(
        "scale-down-in-order",
        Design(scaling=Scaling()),
        fail(a_replica_with_two_events_goes_away=(15_271, 13, DIVERGENT)),
        "An event that has moved overtakes one that the replica has processed: the order of events "
        "of one key is not kept, also without a crash.  Algorithm 13 does not claim it.",
        (THWARTED, MOVED),
    ),
    build(
        "scale-down-in-turn",
        Design(scaling=Scaling(in_turn=True)),
        hold(
            a_key_with_a_crash=87_911,
            a_pair_with_a_crash=22_526,
            controller_fails=2_403,
            dispatch_fails=9_615,
            merge_fails=5_304,
            one_fails=1_787,
            two_fails=1_725,
        ),
        "The dispatcher's transaction waits until the merger has taken the outputs of the replica, "
        "and the dispatcher takes no input meanwhile: events of one key keep their order.",
        (*SEEN, THWARTED, MOVED),
    ),
    build(
        "scale-down-in-turn-and-deletes",
        Design(scaling=Scaling(in_turn=True, deletes=Deletes.MOVED)),
        hold(an_event_of_a_key=4_313, controller_fails=1_875, merge_fails=4_391, two_fails=1_501),
        "After such a transaction the replica has no outputs left, and Algorithm 13, step 3, may "
        "be executed as published.",
        (*SEEN, THWARTED, MOVED),
    ),
    build(
        "scale-down-published",
        Design(scaling=Scaling(deletes=Deletes.MOVED)),
        fail(a_replica_goes_away_no_crash=(1_109, 12, GAP)),
        "Algorithm 13, step 3, deletes the connection to the merger with the outputs that the "
        "merger has not taken, also without a crash.",
        (THWARTED, MOVED),
    ),
    build(
        "scale-down-of-what-was-chosen",
        Design(scaling=Scaling()),
        (
            *fail(a_replica_goes_away_no_crash=(1_604, 13, Guarantee.CONVERGENT)),
            *fail_in_full(a_replica_goes_away=(152_825, 13, Guarantee.CONVERGENT)),
        ),
        "What has become done since it was chosen is moved, too, and processed twice, also without "
        "a crash.",
        (THWARTED, MOVED),
        readings=(CHOSEN,),
    ),
    build(
        "scale-down-without-failing",
        Design(scaling=Scaling()),
        (
            *fail(a_replica_goes_away_no_crash=(1_680, 13, Guarantee.CONVERGENT)),
            *fail_in_full(a_replica_goes_away=(152_494, 13, Guarantee.CONVERGENT)),
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
