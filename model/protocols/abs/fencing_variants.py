"""Designs whose restarts run the tasks elsewhere, so that tasks of the run before may write on.

Rule of this file: no design without its claim and the verdict expected of it, and none whose
restarts wait for the old tasks, but the one that waits for a suspected task.
The paper has no word on these; Apache Flink restarts tasks in any free slot.
"""

from __future__ import annotations

from dataclasses import replace

from model.core import SUSPECTED, Guarantee
from model.properties import COMPLETE, NOTHING_LOST
from model.protocol import Assumptions, Failures
from model.protocols.abs import scopes
from model.protocols.abs.coordinator_variants import KEEPS_ALL
from model.protocols.abs.design import AbsDesign, Fences, Places, WriteMode
from model.protocols.abs.family import ABS, SEEN
from model.protocols.abs.messages import ORPHANED, RETURNED

GAP, REPEATING, DIVERGENT = Guarantee.GAP, Guarantee.REPEATING, Guarantee.DIVERGENT

SUSPICIONS = Assumptions(Failures.ANY, suspicions=True)
FENCED = AbsDesign(places=Places.OTHERS, fences=Fences.RUNS)
UNFENCED = replace(FENCED, fences=Fences.NONE)
ORPHANS = replace(KEEPS_ALL, places=Places.OTHERS, fences=Fences.RUNS)
ORPHANS_UNFENCED = replace(ORPHANS, fences=Fences.NONE)
WOKEN = (*SEEN, SUSPECTED, ORPHANED)
LEFT = (*SEEN, RETURNED, ORPHANED)

_SUSPECTED = (
    ABS.design(
        "suspected",
        AbsDesign(),
        (scopes.A_RELAY.fails(905, 4, GAP),),
        "A task that is suspected and up never reports that it is up again, so a coordinator that "
        "waits for it restarts nothing.",
        assumes=SUSPICIONS,
        must_occur=(*SEEN, SUSPECTED),
    ),
    ABS.design(
        "elsewhere",
        FENCED,
        (
            scopes.A_RELAY.holds(3_275),
            scopes.A_RELAY_AND_TWO_CRASHES.holds(99_980, reduced=43_740),
            scopes.PAIRS.holds(18_420),
            scopes.TWO_RELAYS.holds(2_716),
            scopes.PAIRS_BEHIND_A_RELAY.holds(33_951, reduced=12_794),
            scopes.TWO_WRITERS.holds(5_499),
            scopes.A_UNION.holds(87_431, reduced=30_165),
            scopes.NO_CRASH.holds(390),
        ),
        "If a restart runs the tasks elsewhere at once, a suspected task may wake and write.  The "
        "external system must refuse its changes, by the number of the run.",
        assumes=SUSPICIONS,
        must_occur=WOKEN,
    ),
    ABS.design(
        "elsewhere-unfenced",
        UNFENCED,
        (
            scopes.A_RELAY.fails(3_492, 13, REPEATING),
            scopes.A_RELAY_AND_TWO_CRASHES.fails(104_430, 13, GAP, reduced=45_997),
            scopes.TWO_RELAYS.fails(2_794, 17, REPEATING),
        ),
        "Without a fence the transaction of a woken task has the name of its successor's: both are "
        "committed.",
        assumes=SUSPICIONS,
        must_occur=WOKEN,
    ),
    ABS.design(
        "elsewhere-at-once",
        replace(UNFENCED, writes=WriteMode.AT_ONCE),
        (
            scopes.A_RELAY.holds(4_131, REPEATING),
            scopes.PAIRS.holds(18_354, REPEATING),
            scopes.A_UNION.holds(148_316, REPEATING, reduced=58_973),
            scopes.NO_CRASH.holds(362),
        ),
        "Outputs that a woken task appends are repetitions of outputs that its successor appends.",
        claims=REPEATING,
        properties=(NOTHING_LOST,),
        assumes=SUSPICIONS,
        must_occur=WOKEN,
    ),
    ABS.design(
        "elsewhere-table",
        replace(UNFENCED, writes=WriteMode.AT_ONCE),
        (scopes.A_TABLE.fails(4_131, 13, DIVERGENT),),
        "In a table by key the last write counts: a woken task overwrites a row of its successor "
        "with an older one, and the row stays.",
        properties=(COMPLETE,),
        assumes=SUSPICIONS,
        must_occur=WOKEN,
    ),
    ABS.design(
        "elsewhere-table-fenced",
        replace(FENCED, writes=WriteMode.AT_ONCE),
        (scopes.A_TABLE.holds(4_286), scopes.NO_CRASH.holds(362)),
        "With a fence, a table by key needs no two-phase commit, if operators are deterministic.",
        properties=(COMPLETE,),
        assumes=SUSPICIONS,
        must_occur=WOKEN,
    ),
)
_LEFT = (
    ABS.design(
        "orphans",
        ORPHANS,
        (
            scopes.COORDINATOR_OF_A_RELAY.holds(4_443),
            scopes.COORDINATOR_OF_A_RELAY_TWICE.holds(4_523),
            scopes.COORDINATOR_OF_PAIRS.holds(32_830, reduced=5_706),
            scopes.COORDINATOR_AND_A_RELAY.holds(399_577, reduced=40_170),
            scopes.NO_CRASH.holds(990),
        ),
        "A restarted coordinator runs the tasks elsewhere, and those of the run before go on "
        "without it.  An external system that refuses their changes stays precise.",
        must_occur=LEFT,
    ),
    ABS.design(
        "orphans-unfenced",
        ORPHANS_UNFENCED,
        (
            scopes.COORDINATOR_OF_A_RELAY.fails(5_391, 18, REPEATING),
            scopes.COORDINATOR_OF_A_RELAY_TWICE.fails(5_091, 18, GAP),
        ),
        "Without a fence the transaction of an orphan is committed with that of its successor.",
        must_occur=LEFT,
    ),
    ABS.design(
        "orphans-at-once",
        replace(ORPHANS_UNFENCED, writes=WriteMode.AT_ONCE),
        (
            scopes.COORDINATOR_OF_A_RELAY.holds(4_765, REPEATING),
            scopes.COORDINATOR_OF_A_RELAY_TWICE.holds(5_220, REPEATING),
            scopes.COORDINATOR_OF_PAIRS.holds(29_810, REPEATING),
            scopes.NO_CRASH.holds(940),
        ),
        "Orphans that append without a coordinator repeat outputs; the longer they live, the more.",
        claims=REPEATING,
        properties=(NOTHING_LOST,),
        must_occur=LEFT,
    ),
    ABS.design(
        "orphans-table",
        replace(ORPHANS_UNFENCED, writes=WriteMode.AT_ONCE),
        (scopes.COORDINATOR_OF_A_TABLE.fails(4_765, 17, DIVERGENT),),
        "An orphan overwrites a row of a table by key with an older one.  A restart of the tasks "
        "in their own places leaves no orphan.",
        properties=(COMPLETE,),
        must_occur=LEFT,
    ),
    ABS.design(
        "orphans-table-fenced",
        replace(ORPHANS, writes=WriteMode.AT_ONCE),
        (scopes.COORDINATOR_OF_A_TABLE.holds(5_313), scopes.NO_CRASH.holds(940)),
        "With a fence, a table by key survives orphans without two-phase commit.",
        properties=(COMPLETE,),
        must_occur=LEFT,
    ),
)
FENCING_VARIANTS = (*_SUSPECTED, *_LEFT)
