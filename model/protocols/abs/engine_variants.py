"""Designs with which engines run: snapshots beside the work, a minimum pause, sources that seek.

Rule of this file: no design without its claim and the verdict expected of it.  The paper has no
word on these; the documentation of Apache Flink has.
"""

from __future__ import annotations

from dataclasses import replace

from model.core import Guarantee
from model.properties import NOTHING_LOST
from model.protocols.abs import scopes
from model.protocols.abs.design import (
    AbsDesign,
    Alignment,
    CoordinatorStorage,
    Pauses,
    Sources,
    WriteMode,
)
from model.protocols.abs.family import ABS, SEEN
from model.protocols.abs.messages import IN_FLIGHT, RETURNED
from model.uploads import SNAPSHOTS, Snapshots

GAP, REPEATING = Guarantee.GAP, Guarantee.REPEATING

ENGINE = AbsDesign(snapshots=Snapshots.ASYNCHRONOUS, pauses=Pauses.MINIMUM, sources=Sources.SEEKING)
RESTARTED = replace(ENGINE, coordinator=CoordinatorStorage.EPOCHS_AND_RUNS)
ENGINE_VARIANTS = (
    ABS.design(
        "asynchronous",
        AbsDesign(snapshots=Snapshots.ASYNCHRONOUS),
        (
            scopes.A_RELAY.holds(802),
            scopes.A_RELAY_AND_TWO_CRASHES.holds(2_557),
            scopes.PAIRS.holds(3_140),
            scopes.PAIRS_AND_TWO_CRASHES.holds(1_959),
            scopes.TWO_RELAYS.holds(976),
            scopes.PAIRS_BEHIND_A_RELAY.holds(9_665),
            scopes.A_RELAY_BEHIND_PAIRS.holds(6_159),
            scopes.A_UNION.holds(21_637),
            scopes.NO_CRASH.holds(407),
        ),
        "An operator that goes on while the storage writes its snapshot reports the snapshot when "
        "the storage has it.  If it crashes before, the epoch stays incomplete.",
        must_occur=(*SEEN, SNAPSHOTS),
    ),
    ABS.design(
        "reported-early",
        AbsDesign(snapshots=Snapshots.REPORTED_EARLY),
        (
            scopes.PAIRS.fails(4_574, 18, GAP),
            scopes.PAIRS_AND_TWO_CRASHES.fails(2_513, 18, GAP),
        ),
        "If an operator reports a snapshot that the storage has not yet, a crash leaves a complete "
        "epoch without the state of this operator.",
        must_occur=(*SEEN, SNAPSHOTS),
    ),
    ABS.design(
        "minimum-pause",
        AbsDesign(pauses=Pauses.MINIMUM),
        (
            scopes.A_RELAY.holds(768),
            scopes.A_RELAY_AND_TWO_CRASHES.holds(2_466),
            scopes.PAIRS.holds(2_602),
            scopes.PAIRS_AND_TWO_CRASHES.holds(1_856),
            scopes.TWO_RELAYS.holds(764),
            scopes.PAIRS_BEHIND_A_RELAY.holds(6_516),
            scopes.A_RELAY_BEHIND_PAIRS.holds(4_073),
            scopes.A_UNION.holds(19_723),
            scopes.NO_CRASH.holds(306),
        ),
        "Sources ask for no epoch before the pause after the last one has ended.  Each record "
        "still comes into a complete epoch.",
    ),
    ABS.design(
        "seeking",
        AbsDesign(sources=Sources.SEEKING),
        (
            scopes.A_RELAY.holds(796),
            scopes.PAIRS.holds(3_198),
            scopes.TWO_RELAYS.holds(745),
            scopes.NO_CRASH.holds(390),
        ),
        "A source that reads a log again keeps no record, and sends the same records again.",
    ),
    ABS.design(
        "engine",
        ENGINE,
        (
            scopes.A_RELAY.holds(773),
            scopes.A_RELAY_AND_TWO_CRASHES.holds(2_464),
            scopes.PAIRS.holds(2_604),
            scopes.PAIRS_AND_TWO_CRASHES.holds(1_874),
            scopes.TWO_RELAYS.holds(995),
            scopes.PAIRS_BEHIND_A_RELAY.holds(8_868),
            scopes.A_RELAY_BEHIND_PAIRS.holds(5_707),
            scopes.A_UNION.holds(19_677),
            scopes.NO_CRASH.holds(314),
        ),
        "Asynchronous snapshots, a minimum pause and sources that seek, together: as engines run.",
        must_occur=(*SEEN, SNAPSHOTS),
    ),
    ABS.design(
        "engine-unaligned",
        replace(ENGINE, alignment=Alignment.UNALIGNED),
        (
            scopes.A_RELAY.holds(773),
            scopes.PAIRS_BEHIND_A_RELAY.holds(8_868),
            scopes.A_UNION.holds(57_815),
            scopes.A_DIAMOND.holds(57_854),
            scopes.NO_CRASH.holds(314),
        ),
        "The same with unaligned snapshots.  A source whose pause another source has ended must "
        "forget the pause: else the pause ends in the next epoch, and the records in snapshots "
        "never come into a complete epoch.",
        must_occur=(*SEEN, SNAPSHOTS, IN_FLIGHT),
    ),
    ABS.design(
        "engine-coordinator",
        RESTARTED,
        (
            scopes.COORDINATOR_OF_A_RELAY.holds(2_974),
            scopes.COORDINATOR_OF_A_RELAY_TWICE.holds(3_362),
            scopes.COORDINATOR_AND_A_RELAY.holds(7_541),
            scopes.COORDINATOR_OF_PAIRS.holds(13_541),
            scopes.A_RELAY.holds(5_734),
            scopes.PAIRS.holds(25_669),
            scopes.TWO_RELAYS.holds(6_516),
            scopes.NO_CRASH.holds(738),
        ),
        "As engines run, with a coordinator that restarts from a coordination service's records: "
        "the last complete epoch and the number of the run.",
        must_occur=(*SEEN, SNAPSHOTS, RETURNED),
    ),
    ABS.design(
        "engine-at-once",
        replace(RESTARTED, writes=WriteMode.AT_ONCE),
        (
            scopes.COORDINATOR_OF_A_RELAY.holds(3_337, REPEATING),
            scopes.COORDINATOR_OF_A_RELAY_TWICE.holds(4_018, REPEATING),
            scopes.COORDINATOR_AND_A_RELAY.holds(8_909, REPEATING),
            scopes.COORDINATOR_OF_PAIRS.holds(14_425, REPEATING),
            scopes.A_RELAY.holds(6_642, REPEATING),
            scopes.PAIRS.holds(28_283, REPEATING),
            scopes.TWO_RELAYS.holds(7_616, REPEATING),
            scopes.NO_CRASH.holds(736),
        ),
        "The same with a sink that writes each output at once: after a crash of whichever node, "
        "outputs since the last complete epoch come twice.",
        claims=REPEATING,
        properties=(NOTHING_LOST,),
        must_occur=(*SEEN, SNAPSHOTS, RETURNED),
    ),
)
