"""Designs of LOG.io that change one thing, each with the verdict expected of it.

Rule of this file: no design without its claim and the verdict expected of it.

The paper claims a recovery "identical to a failure-free execution" (Section 4.4) for operators of
every class, so the claim is precise recovery.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from model.core import (
    CRASHED,
    REPLAYED,
    RESENT,
    RESTORED,
    Assumptions,
    Failures,
    Guarantee,
    OperatorClass,
    PinnedScope,
    Property,
    Protocol,
    Quantity,
)
from model.properties import AS_IF, COMPLETE
from model.protocols.log_io.design import (
    PUBLISHED,
    Again,
    Deletes,
    Delivery,
    Design,
    Executes,
    Garbage,
    Inputs,
    Known,
    Moved,
    Moves,
    Obsolete,
    Order,
    Reads,
    Scaling,
    Triggers,
    Writes,
)
from model.protocols.log_io.lineage import LINEAGE
from model.protocols.log_io.messages import (
    CONFIRMED,
    MOVED,
    PENDING,
    QUANTITIES,
    READ_AGAIN,
    RESUMED,
    THWARTED,
    show,
    size,
)
from model.protocols.log_io.nodes import DONE, boot, deploy, gauges, memory, recover, step
from model.protocols.log_io.scopes import fail, hold

DIVERGENT, GAP, REPEATING = Guarantee.DIVERGENT, Guarantee.GAP, Guarantee.REPEATING
CLASSES = (OperatorClass.REPEATABLE, OperatorClass.DETERMINISTIC, OperatorClass.ARBITRARY)
SEEN = (CRASHED, RESTORED, REPLAYED, RESENT)
CHECKED = (*SEEN, PENDING, CONFIRMED)


def build(
    name: str,
    design: Design,
    scopes: tuple[PinnedScope, ...],
    finding: str,
    must_occur: tuple[Quantity, ...] = CHECKED,
    properties: tuple[Property, ...] = (AS_IF, COMPLETE, DONE),
) -> Protocol:
    """A variant; the classes of its scopes are those of its claims."""
    operators = {pinned.operators for pinned in scopes}
    return Protocol(
        name=f"log-io:{name}" if name else "log-io",
        title="LOG.io",
        source="LOG.io: log-based rollback recovery with lineage, Sections 2 to 4",
        deploy=partial(deploy, design),
        boot=boot,
        recover=recover,
        step=step,
        gauges=gauges,
        show=show,
        size=size,
        memory=memory,
        assumes=Assumptions(Failures.ANY),
        claims={one: Guarantee.PRECISE for one in OperatorClass if one in operators},
        properties=properties,
        scopes=scopes,
        finding=finding,
        must_occur=must_occur,
        quantities=QUANTITIES,
    )


LOSSY = Design(connection=Delivery.LOSSY)
VARIANTS = (
    build(
        "published",
        PUBLISHED,
        fail(a_relay=(5_777, 7, GAP), two_relays=(23_153, 8, GAP)),
        "Word by word.  An output that was acknowledged is sent again while its sender has not "
        "yet seen that, and the receiver takes it twice: its number is not smaller than the "
        "greatest one.",
        SEEN,
    ),
    build(
        "smaller-numbers",
        Design(obsolete=Obsolete.SMALLER),
        fail(a_relay=(5_251, 7, REPEATING)),
        "Algorithm 2, step 1, discards smaller numbers alone, and an event that comes twice in a "
        "row has an equal one.  Discard numbers up to the greatest.",
        SEEN,
    ),
    build(
        "published-without-garbage-collection",
        replace(PUBLISHED, obsolete=Obsolete.NOT_GREATER, garbage=Garbage.NEVER),
        hold(a_relay=3_465, batches_by_type=60_082, two_types=6_678, two_relays=9_526),
        "Numbers may be learnt from EVENT_LOG (Algorithm 9, step 1) as long as done events stay "
        "there.",
    ),
    build(
        "greatest-from-the-log",
        Design(greatest=Known.EVENT_LOG, triggers=Triggers.EACH),
        fail(two_types=(6_808, 15, REPEATING)),
        "Section 3.6 deletes done events, and with them the greatest number received: a restarted "
        "operator takes an event again.  The stored context has to have the number.",
    ),
    build(
        "sent-from-the-log",
        Design(sent=Known.EVENT_LOG),
        fail(two_relays=(10_364, 11, GAP)),
        "Section 3.6 deletes done events, and with them the latest number sent (Algorithm 9, step "
        "1): a restarted operator numbers from 1 again, and its outputs are taken for obsolete.",
    ),
    build(
        "lossy",
        LOSSY,
        fail(a_relay=(2_668, 5, GAP), two_relays=(6_934, 5, GAP)),
        "Nothing in Algorithms 6 to 9 sends again what was on its way to a node that crashed: "
        "connections have to keep events until they are acknowledged.",
        SEEN,
    ),
    build(
        "lossy-from-the-log",
        Design(connection=Delivery.LOSSY, inputs=Inputs.EVENT_LOG),
        hold(
            a_relay=2_576,
            batches_by_type=39_304,
            two_types=5_092,
            two_relays=6_550,
            two_ports_that_race=83_894,
        ),
        "With lossy connections, a restarted node has to read its unassigned inputs from the log; "
        "they are all there.",
    ),
    build(
        "plain-writes",
        Design(writes=Writes.PLAIN),
        fail(a_relay=(3_573, 6, REPEATING)),
        "A write that is neither checkable nor idempotent is executed twice, as Section 4.4 says.",
        (*SEEN, PENDING),
    ),
    build(
        "idempotent-writes",
        Design(writes=Writes.IDEMPOTENT),
        hold(a_relay=3_269, batches_by_type=58_974, two_types=6_610),
        "Idempotent writes are enough if one is pending at a time.",
        (*SEEN, PENDING),
    ),
    build(
        "idempotent-writes-together",
        Design(writes=Writes.IDEMPOTENT, executes=Executes.TOGETHER),
        fail(a_relay=(3_375, 9, REPEATING)),
        "By Section 2.3 a write is idempotent if twice in a row is as once.  Two pending writes "
        "are repeated as w1 w2 w1 w2, and the external system shows w1 again.",
        (*SEEN, PENDING),
    ),
    build(
        "checkable-writes-together",
        Design(executes=Executes.TOGETHER),
        fail(a_relay=(3_626, 8, GAP)),
        "While Algorithm 8 asks for the status of a pending write, Algorithm 9 goes on, and a new "
        "write overtakes it.",
    ),
    build(
        "late-log",
        Design(prompt=False),
        fail(a_relay=(102_118, 8, GAP)),
        "Outputs are sent before the log has confirmed the transaction of Algorithm 3, step 4; a "
        "restarted node asks a log that knows less than its neighbours.",
        SEEN,
    ),
    build(
        "again-into-all-sets",
        Design(again=Again.ALL, triggers=Triggers.EACH),
        fail(two_functions=(28_420, 6, GAP)),
        "A restarted operator that puts an undone input into all its Input Sets: one of them may "
        "be done, and the input is in the next one, too.  The row's own Input Set is meant.",
        SEEN,
    ),
    build(
        "triggers-again",
        Design(triggers=Triggers.EACH),
        fail(batches_in_turn_by_type=(64_554, 13, DIVERGENT)),
        "Algorithm 9 replays undone inputs over the latest global state.  A condition that depends "
        "on it was false when the input came, and is true now: the operator generates earlier than "
        "it would have.",
        SEEN,
    ),
    build(
        "scale-down",
        Design(scaling=Scaling()),
        hold(
            a_replica_goes_away=107_444,
            a_replica_goes_away_its_node_fails=152_530,
            a_replica_goes_away_its_controller_fails=55_836,
        ),
        "A replica goes away while events come, and it, the controller, the dispatcher and the "
        "merger may crash: no event is lost, and none is processed twice (Algorithm 13).",
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
        "scale-down-published",
        Design(scaling=Scaling(deletes=Deletes.MOVED)),
        fail(a_replica_goes_away=(94_645, 12, GAP)),
        "Algorithm 13, step 3, deletes the connection to the merger with the outputs that the "
        "merger has not taken.",
        SEEN,
    ),
    build(
        "scale-down-of-what-was-chosen",
        Design(scaling=Scaling(moves=Moves.CHOSEN)),
        fail(a_replica_goes_away=(152_825, 13, Guarantee.CONVERGENT)),
        "What has become done since it was chosen is moved, too, and processed twice.",
        SEEN,
    ),
    build(
        "scale-down-without-failing",
        Design(scaling=Scaling(moved=Moved.GOES_ON)),
        fail(a_replica_goes_away=(152_494, 13, Guarantee.CONVERGENT)),
        "A generation whose inputs have moved goes on, and another replica has the same inputs.",
        SEEN,
    ),
    build(
        "sets-by-number",
        Design(order=Order.NUMBERS, triggers=Triggers.EACH),
        fail(two_functions=(23_049, 9, DIVERGENT)),
        "Algorithm 9 has no order for the Input Sets of one input.  By their numbers, the function "
        "whose set began earlier generates first, and before the failure another one did.",
        SEEN,
    ),
    build(
        "stored-reads",
        Design(reads=Reads.STORED),
        hold(a_read=45_879, a_read_and_three_crashes=17_207, a_read_and_batches=25_643),
        "A read action of a source that is not replayable: its effect is stored before the first "
        "output, and a restart goes on with the stored effect, or reads again if nothing was put "
        "out (Algorithm 1, step 2, and Algorithm 6).",
        (*CHECKED, RESUMED, READ_AGAIN),
    ),
    build(
        "reads-again",
        Design(reads=Reads.REPEATED),
        fail(a_read=(59_559, 12, GAP)),
        "As if the read action were replayable (Algorithm 1, step 3): outputs before and after a "
        "restart are of two reads.",
        SEEN,
    ),
    build(
        "lineage",
        Design(lineage=True),
        hold(
            a_relay=3_487,
            batches=9_659,
            batches_by_type=60_154,
            batches_in_turn=13_583,
            two_functions=21_470,
            two_types=6_686,
            crashes_of_the_operator_alone=8_075,
            a_relay_and_batches=34_975,
            two_ports_that_race=113_413,
            two_sinks=13_757,
        ),
        "Rows of EVENT_LINEAGE name the inputs that were used, and none is missing, with crashes.",
        properties=(AS_IF, COMPLETE, DONE, LINEAGE),
    ),
    build(
        "lineage-of-state",
        Design(lineage=True),
        fail(
            an_aggregate=(63_790, 7, Guarantee.PRECISE),
            a_CEP_operator=(58_020, 7, Guarantee.PRECISE),
        ),
        "What an operator took into its global state earlier is in an output too, and no row says "
        "so: lineage is that of the Input Set alone (Section 3.1).",
        SEEN,
        properties=(AS_IF, COMPLETE, DONE, LINEAGE),
    ),
)
