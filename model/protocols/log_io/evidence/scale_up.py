"""Evidence about replicas that come, and that come and go away (7.2).

Rule of this file: designs that change one thing, with the verdicts expected of them, and one-line
faults.
"""

from __future__ import annotations

from model.core import Guarantee
from model.evidence import Mutant
from model.patches import Change, Reading
from model.protocols.log_io.design import DOWN, UP, LogIoDesign, Scaling, ScalingTask
from model.protocols.log_io.evidence import replicas
from model.protocols.log_io.evidence.build import DIVERGENT, GAP, SEEN, build
from model.protocols.log_io.quantities import ADDED, MOVED, MOVED_STATE, THWARTED

LOG = "model.protocols.log_io.scaling.log"
OPERATORS = "model.protocols.log_io.scaling.operators"
DISPATCHER_FIRST = (ScalingTask.ADD_TO_DISPATCHER, ScalingTask.DEPLOY, ScalingTask.ADD_TO_MERGER)
MERGER_LAST = (ScalingTask.DEPLOY, ScalingTask.ADD_TO_DISPATCHER, ScalingTask.ADD_TO_MERGER)
PRECISE = Guarantee.PRECISE
_BEFORE = 'case Remove() if state.alone:  # Algorithm 13: "Step 1.a is done" (7.2)'


def _stays(when: str, effects: str) -> Reading:
    """Algorithm 12, step 3, word by word: the undone events of a key stay where they are.

    when: the new state is stored.
    """
    lines = f"""
    case Add():
        state = state._replace(alone=False)
        done = Send(CONTROLLER, Added())
        return state, (Note(ADDED), {effects})
    {_BEFORE}
    """
    words = 'Algorithm 12, step 3: "request DP to update its state", and no event moves; '
    return Reading(words + when, (Change(OPERATORS, _BEFORE, lines),))


STAY = _stays("it is stored, and then acknowledged (7.2)", "_store(site, state), done")
STORED_LATER = _stays("it is acknowledged, and then stored", "done, _store(site, state)")
NOT_STORED = _stays("it is stored with the next output", "done")
WHEN_DONE = Reading(
    "Section 7.2, of what the dispatcher waits for: the events of the key are done",
    (
        Change(
            LOG,
            "return not in_turn or are_taken(tables, replicas, move.replica)",
            """
            undone = {row[:3] for row in tables.events if not row.done}
            return undone.isdisjoint(row[:3] for row in move.rows)
            """,
        ),
    ),
)

VARIANTS = (
    build(
        "scale-up",
        LogIoDesign(scaling=Scaling(UP, in_turn=True)),
        (
            replicas.A_KEY_WITH_A_CRASH.holds(65_409),
            replicas.TWO_KEYS.holds(2_253),
            replicas.TWO_KEYS_AND_ONE_FAILS.holds(18_594),
            replicas.A_PAIR_WITH_A_CRASH.holds(16_395),
            replicas.CONTROLLER_AND_TWO_FAIL.holds(7_078),
            replicas.DISPATCH_FAILS.holds(7_289),
            replicas.MERGE_FAILS.holds(3_963),
            replicas.ONE_FAILS.holds(1_567),
            replicas.A_LIST.holds(1_132),
            replicas.A_LIST_AND_ONE_FAILS.holds(6_795),
            replicas.A_LIST_AND_TWO_FAILS.holds(10_572),
            replicas.A_LIST_AND_MERGE_FAILS.holds(9_513),
            replicas.A_LIST_AND_DISPATCH_FAILS.holds(44_304, quick=False),
            replicas.COUNTED.holds(2_215),
            replicas.COUNTED_BY_KEY.holds(42_561),
            replicas.COUNTED_APART_FROM_EACH_OTHER.holds(368),
        ),
        "A replica comes while events come, and it, the controller, the dispatcher, the merger and "
        "the other replica may crash (Algorithm 12).  The undone events of a key go with the key, "
        "and its state, when the outputs of the other replica have been taken.",
        (*SEEN, ADDED, MOVED, MOVED_STATE, THWARTED),
    ),
    build(
        "scale-up-published",
        LogIoDesign(scaling=Scaling(UP)),
        (
            replicas.EQUAL_EVENTS_WITH_A_CRASH.holds(20_682),
            replicas.A_KEY.fails(300, 15, DIVERGENT),
            replicas.A_PAIR.fails(110, 15, GAP),
        ),
        "Algorithm 12 word by word is right for operators without state whose inputs have no "
        "order.  An event of a key overtakes one that the other replica still has, and an open "
        "Input Set of the key is never completed.",
        (*SEEN, ADDED),
        readings=(STAY,),
    ),
    build(
        "scale-up-at-once",
        LogIoDesign(scaling=Scaling(UP)),
        (replicas.A_KEY.fails(1_153, 18, DIVERGENT),),
        "The undone events of the key move, as in Algorithm 13; they overtake an output that the "
        "merger has not taken.",
        (ADDED, MOVED),
    ),
    build(
        "scale-up-when-done",
        LogIoDesign(scaling=Scaling(UP, in_turn=True)),
        (
            replicas.A_KEY.fails(524, 18, DIVERGENT),
            replicas.A_PAIR.fails(144, 11, GAP),
        ),
        "The dispatcher waits until the other replica has done the events of the key: an event "
        "overtakes an output that the merger has not taken, and an open Input Set is never done.",
        (ADDED,),
        readings=(WHEN_DONE,),
    ),
    build(
        "scale-up-dispatcher-first",
        LogIoDesign(scaling=Scaling(DISPATCHER_FIRST)),
        (replicas.EQUAL_EVENTS.fails(359, 17, GAP),),
        "The dispatcher sends to a replica before its connection is created (Algorithm 12, step "
        "1), and the event is lost.",
        (ADDED,),
        readings=(STAY,),
    ),
    build(
        "scale-up-merger-last",
        LogIoDesign(scaling=Scaling(MERGER_LAST, in_turn=True)),
        (
            replicas.DISPATCH_FAILS.holds(8_363),
            replicas.MERGE_FAILS.holds(4_342),
            replicas.TWO_FAILS.holds(3_860),
        ),
        "Steps 2 and 3 of Algorithm 12 may change places: the connection keeps what the merger "
        "does not read yet.",
        (*SEEN, ADDED, MOVED, THWARTED),
    ),
    build(
        "scale-up-acknowledged-first",
        LogIoDesign(scaling=Scaling(UP)),
        (replicas.AN_EVENT_OF_A_KEY.fails(1_992, 17, PRECISE),),
        "The dispatcher acknowledges its new state before it has stored it (7.2), and crashes "
        "between: the controller is done, and the replica gets nothing.",
        (*SEEN, ADDED),
        readings=(STORED_LATER,),
    ),
    build(
        "scale-up-not-stored",
        LogIoDesign(scaling=Scaling(UP)),
        (replicas.AN_EVENT_OF_A_KEY.fails(1_902, 18, PRECISE),),
        "The dispatcher stores its new state with its next output alone, and crashes before: the "
        "controller is done, and the replica gets nothing.",
        (*SEEN, ADDED),
        readings=(NOT_STORED,),
    ),
    build(
        "scale-up-and-down",
        LogIoDesign(scaling=Scaling(UP + DOWN, in_turn=True)),
        (
            replicas.A_PAIR.holds(2_295),
            replicas.CONTROLLER_FAILS.holds(16_714),
            replicas.DISPATCH_FAILS.holds(32_445, reduced=17_051),
            replicas.MERGE_FAILS.holds(18_725),
            replicas.ONE_FAILS.holds(5_850),
            replicas.TWO_FAILS.holds(15_492),
            replicas.TWO_KEYS.holds(12_049, quick=False),
            replicas.TWO_KEYS_AND_ONE_FAILS.holds(95_352, quick=False),
            replicas.A_PAIR_AND_ONE_MORE.holds(29_864, quick=False),
            replicas.A_PAIR_AND_ITS_REPLICAS_FAIL.holds(32_809),
            replicas.A_LIST.holds(476_909, quick=False),
        ),
        "A replica comes and goes away again in one run (Algorithms 12 and 13).",
        (*SEEN, ADDED, MOVED, THWARTED),
    ),
)
CONTROLLER = "model.protocols.log_io.scaling.controller"
ROLES = "model.protocols.log_io.roles"
MUTANTS = (
    Mutant(
        "the connections of a new replica are not created",
        CONTROLLER,
        "opens = connections(_replicas(site)) if state.left[0] is ScalingTask.DEPLOY else ()",
        "opens = ()",
        "scale-up: two keys",
    ),
    Mutant(
        "it is not durable that a replica is there",
        OPERATORS,
        "return begin(site), (Save(Image.DEPLOYED), *peeks, Send(CONTROLLER, Deployed()))",
        "return begin(site), (*peeks, Send(CONTROLLER, Deployed()))",
        "scale-up: controller and two fail",
    ),
    Mutant(
        "a new replica does not read its connection",
        OPERATORS,
        "return begin(site), (Save(Image.DEPLOYED), *peeks, Send(CONTROLLER, Deployed()))",
        "return begin(site), (Save(Image.DEPLOYED), Send(CONTROLLER, Deployed()))",
        "scale-up: one fails",
    ),
    Mutant(
        "a new replica that restarts does not report back",
        OPERATORS,
        "if site.spec.place not in (Place.DISPATCHER, Place.MERGER) and not is_absent(site):",
        "if site.spec.place not in (Place.DISPATCHER, Place.MERGER):",
        "scale-up: controller and two fail",
    ),
    Mutant(
        "a merger that gets a replica does not store its state",
        OPERATORS,
        "return state, (_store(site, state), peek, Send(CONTROLLER, Added()))",
        "return state, (peek, Send(CONTROLLER, Added()))",
        "scale-up: merge fails",
    ),
    Mutant(
        "a merger that gets a replica does not read its connection",
        OPERATORS,
        "return state, (_store(site, state), peek, Send(CONTROLLER, Added()))",
        "return state, (_store(site, state), Send(CONTROLLER, Added()))",
        "scale-up: two keys",
    ),
    Mutant(
        "the events of all keys move",
        OPERATORS,
        "rows = tuple(row for row in chosen.rows if receives(site, state, to, row.data))",
        "rows = chosen.rows",
        "scale-up: two keys",
    ),
    Mutant(
        "a second request of the controller is obeyed while events are being moved",
        OPERATORS,
        "if isinstance(message, Add | Remove) and state.moving and once:",
        "if False:",
        "scale-down-in-turn-and-deletes: controller fails",
    ),
    Mutant(
        "an Input Set of which events have moved is used",
        "model.protocols.log_io.log",
        "return sum(not row.done for row in inputs) >= commit.asks",
        "return any(not row.done for row in inputs)",
        "scale-up-and-down: a pair",
    ),
    Mutant(
        "a replica keeps an Input Set of which events have moved",
        OPERATORS,
        "if state.box != ():  # an event state without the events that have moved is in the log "
        "alone",
        "if False:",
        "scale-up-and-down: a pair",
    ),
    Mutant(
        "a replica that stays does not ask whether its inputs have moved",
        ROLES,
        "return place is Place.SECOND or (place is Place.FIRST and scaling.adds)",
        "return place is Place.SECOND",
        "scale-up: one fails",
    ),
)
