"""Designs whose coordinator may crash, each with its verdict.

Rule of this file: no design without its claim and the verdict expected of it, and none whose
coordinator never fails (variants.py).
LOG.io, Sections 1 and 8.1.1, which have no word on a crash of the coordinator.
"""

from __future__ import annotations

from dataclasses import replace

from model.core import Guarantee, OperatorClass
from model.properties import NOTHING_LOST
from model.protocols.abs import scopes
from model.protocols.abs.design import (
    AbsDesign,
    CoordinatorRestart,
    CoordinatorStorage,
    Decides,
    WriteMode,
)
from model.protocols.abs.family import ABS, SEEN
from model.protocols.abs.messages import RETURNED

GAP, REPEATING, PRECISE = Guarantee.GAP, Guarantee.REPEATING, Guarantee.PRECISE
DIVERGENT, CONVERGENT = Guarantee.DIVERGENT, Guarantee.CONVERGENT

REPEATS = {
    OperatorClass.REPEATABLE: REPEATING,
    OperatorClass.DETERMINISTIC: REPEATING,
    OperatorClass.ARBITRARY: CONVERGENT,
}
KEEPS_ALL = AbsDesign(coordinator=CoordinatorStorage.EPOCHS_AND_RUNS)
COORDINATOR_VARIANTS = (
    ABS.design(
        "coordinator",
        KEEPS_ALL,
        (
            scopes.COORDINATOR_OF_A_RELAY.holds(2_382),
            scopes.COORDINATOR_OF_A_RELAY_TWICE.holds(2_038),
            scopes.COORDINATOR_OF_A_RELAY_THRICE.holds(14_920),
            scopes.COORDINATOR_OF_PAIRS.holds(13_425),
            scopes.COORDINATOR_OF_PAIRS_TWICE.holds(21_368),
            scopes.COORDINATOR_OF_TWO_RELAYS_TWICE.holds(25_194),
            scopes.COORDINATOR_OF_TWO_WRITERS_TWICE.holds(46_494, reduced=3_376),
            scopes.COORDINATOR_OF_A_COIN.holds(2_403),
            scopes.COORDINATOR_OF_A_UNION.holds(95_449, reduced=22_597),
            scopes.COORDINATOR_AND_A_RELAY.holds(5_398),
            scopes.COORDINATOR_AND_A_RELAY_THRICE.holds(40_470, reduced=13_238),
            scopes.COORDINATOR_AND_PAIRS.holds(53_441),
            scopes.COORDINATOR_AND_TWO_RELAYS.holds(88_685, reduced=23_141),
            scopes.NO_CRASH.holds(990),
        ),
        "The paper has no word on a crash of the coordinator.  The last complete epoch must be "
        "durable before any node knows of it, and the number of the run before any node goes on in "
        "it; a restarted coordinator restarts all nodes.  It may forget which nodes are down.",
        must_occur=(*SEEN, RETURNED),
    ),
    ABS.design(
        "coordinator-at-once",
        replace(KEEPS_ALL, writes=WriteMode.AT_ONCE),
        (
            scopes.COORDINATOR_OF_A_RELAY.holds(2_702, REPEATING),
            scopes.COORDINATOR_OF_PAIRS.holds(13_567, REPEATING),
            scopes.COORDINATOR_AND_A_RELAY.holds(6_718, REPEATING),
            scopes.COORDINATOR_OF_A_COIN.holds(2_723, CONVERGENT),
            scopes.NO_CRASH.holds(940),
        ),
        "Operators go on and write while the coordinator is down, and nobody ends an epoch.  All "
        "outputs since the last complete epoch come twice, also those of this time.",
        claims=REPEATS,
        properties=(NOTHING_LOST,),
        must_occur=(*SEEN, RETURNED),
    ),
    ABS.design(
        "coordinator-keeps-nothing",
        replace(KEEPS_ALL, coordinator=CoordinatorStorage.NOTHING),
        (scopes.COORDINATOR_OF_A_RELAY.fails(2_745, 12, GAP),),
        "A coordinator that does not know the last complete epoch begins with the first one, "
        "and the sources have let go of its records.",
    ),
    ABS.design(
        "coordinator-keeps-no-run",
        replace(KEEPS_ALL, coordinator=CoordinatorStorage.EPOCHS),
        (
            scopes.COORDINATOR_OF_A_RELAY.holds(2_382),
            scopes.COORDINATOR_OF_A_RELAY_TWICE.fails(3_643, 16, GAP),
            scopes.COORDINATOR_AND_A_RELAY.fails(8_647, 16, GAP),
        ),
        "The snapshot storage has the last complete epoch (8.1.1) and no number of the run.  "
        "A coordinator that crashes again gives the same number to another run: records of both "
        "runs are taken.",
    ),
    ABS.design(
        "coordinator-announces-first",
        replace(KEEPS_ALL, decides=Decides.ANNOUNCED_FIRST),
        (scopes.COORDINATOR_OF_A_RELAY.fails(2_745, 12, GAP),),
        "If nodes know of a complete epoch before it is durable, a crash of the coordinator "
        "between the two restarts from the epoch before it, and the sources have let go of its "
        "records.  Two-phase commit has the same rule for its coordinator.",
    ),
    ABS.design(
        "coordinator-goes-on",
        replace(KEEPS_ALL, returns=CoordinatorRestart.GOES_ON),
        (
            scopes.COORDINATOR_OF_A_RELAY.fails(2_640, 18, GAP),
            scopes.COORDINATOR_AND_A_RELAY.fails(8_788, 8, GAP),
        ),
        'Only "a failure of one operator" restarts the pipeline (1).  A coordinator that goes on '
        "gives the number of the epoch under way to another one, so snapshots of both are taken "
        "for one epoch; and it never learns of nodes that came up while it was down.",
    ),
    ABS.design(
        "coordinator-asks",
        replace(KEEPS_ALL, coordinator=CoordinatorStorage.EPOCHS, returns=CoordinatorRestart.ASKS),
        (
            scopes.COORDINATOR_OF_A_RELAY_TWICE.holds(4_967),
            scopes.COORDINATOR_AND_A_RELAY.holds(10_540),
            scopes.COORDINATOR_OF_A_RELAY_THRICE.fails(50_094, 27, GAP, reduced=13_774),
        ),
        "A coordinator that asks all nodes for the numbers of their runs needs no durable number, "
        "up to two crashes.  With three, an answer to an earlier question is taken for one to the "
        "last; a number of the question would have to be durable.",
    ),
)
