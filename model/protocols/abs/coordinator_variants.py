"""Designs whose coordinator may crash, each with its verdict.

Rule of this file: no design without its claim and the verdict expected of it, and none whose
coordinator never fails (variants.py).
LOG.io, Sections 1 and 8.1.1, which have no word on a crash of the coordinator.
"""

from __future__ import annotations

from dataclasses import replace

from model.core import Guarantee
from model.protocols.abs.design import Coordinator, Decides, Design, Returns
from model.protocols.abs.family import SEEN, build
from model.protocols.abs.messages import RETURNED
from model.protocols.abs.scopes import fail, hold

GAP = Guarantee.GAP
KEEPS_ALL = Design(coordinator=Coordinator.EPOCHS_AND_RUNS)
COORDINATOR_VARIANTS = (
    build(
        "coordinator",
        KEEPS_ALL,
        hold(
            coordinator_of_a_relay=2_382,
            coordinator_of_a_relay_twice=2_038,
            coordinator_of_a_relay_thrice=14_920,
            coordinator_of_pairs=13_425,
            coordinator_of_pairs_twice=21_368,
            coordinator_of_two_relays_twice=25_194,
            coordinator_of_two_writers_twice=46_494,
            coordinator_of_a_coin=2_403,
            coordinator_of_a_union=95_449,
            coordinator_and_a_relay=5_398,
            coordinator_and_a_relay_thrice=40_470,
            coordinator_and_pairs=53_441,
            coordinator_and_two_relays=88_685,
            no_crash=990,
        ),
        "The paper has no word on a crash of the coordinator.  The last complete epoch must be "
        "durable before any node knows of it, and the number of the run before any node goes on in "
        "it; a restarted coordinator restarts all nodes.  It may forget which nodes are down.",
        must_occur=(*SEEN, RETURNED),
    ),
    build(
        "coordinator-keeps-nothing",
        replace(KEEPS_ALL, coordinator=Coordinator.NOTHING),
        fail(coordinator_of_a_relay=(2_745, 12, GAP)),
        "A coordinator that does not know the last complete epoch begins with the first one, "
        "and the sources have let go of its records.",
    ),
    build(
        "coordinator-keeps-no-run",
        replace(KEEPS_ALL, coordinator=Coordinator.EPOCHS),
        (
            *hold(coordinator_of_a_relay=2_382),
            *fail(
                coordinator_of_a_relay_twice=(3_643, 16, GAP),
                coordinator_and_a_relay=(8_647, 16, GAP),
            ),
        ),
        "The snapshot storage has the last complete epoch (8.1.1) and no number of the run.  "
        "A coordinator that crashes again gives the same number to another run: records of both "
        "runs are taken.",
    ),
    build(
        "coordinator-announces-first",
        replace(KEEPS_ALL, decides=Decides.ANNOUNCED_FIRST),
        fail(coordinator_of_a_relay=(2_745, 12, GAP)),
        "If nodes know of a complete epoch before it is durable, a crash of the coordinator "
        "between the two restarts from the epoch before it, and the sources have let go of its "
        "records.  Two-phase commit has the same rule for its coordinator.",
    ),
    build(
        "coordinator-goes-on",
        replace(KEEPS_ALL, returns=Returns.GOES_ON),
        fail(
            coordinator_of_a_relay=(2_640, 18, GAP),
            coordinator_and_a_relay=(8_788, 8, GAP),
        ),
        'Only "a failure of one operator" restarts the pipeline (1).  A coordinator that goes on '
        "gives the number of the epoch under way to another one, so snapshots of both are taken "
        "for one epoch; and it never learns of nodes that came up while it was down.",
    ),
    build(
        "coordinator-asks",
        replace(KEEPS_ALL, coordinator=Coordinator.EPOCHS, returns=Returns.ASKS),
        (
            *hold(coordinator_of_a_relay_twice=4_967, coordinator_and_a_relay=10_540),
            *fail(coordinator_of_a_relay_thrice=(50_094, 27, GAP)),
        ),
        "A coordinator that asks all nodes for the numbers of their runs needs no durable number, "
        "up to two crashes.  With three, an answer to an earlier question is taken for one to the "
        "last; a number of the question would have to be durable.",
    ),
)
