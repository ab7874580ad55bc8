"""Designs of unaligned checkpoints that change one thing, each with its verdict.

Rule of this file: no design without its claim and the verdict expected of it.
"""

from __future__ import annotations

from model.core import Guarantee
from model.protocols.unaligned_checkpoints import scopes
from model.protocols.unaligned_checkpoints.design import (
    Captures,
    Finishes,
    Injection,
    Overtaking,
    Redistribution,
    UnalignedDesign,
)
from model.protocols.unaligned_checkpoints.family import ON_THE_WAY, SEEN, UNALIGNED_CHECKPOINTS
from model.protocols.unaligned_checkpoints.messages import OVERTAKEN, RELOCATED, RESCALED
from model.protocols.unaligned_checkpoints.savepoint_variants import SAVEPOINT_VARIANTS
from model.uploads import SNAPSHOTS, Snapshots

GAP, REPEATING, DIVERGENT = Guarantee.GAP, Guarantee.REPEATING, Guarantee.DIVERGENT
UP, DOWN = (1, 2), (2, 1)
SCALED = (*ON_THE_WAY, RELOCATED, RESCALED)

RIGHT = (
    UNALIGNED_CHECKPOINTS.design(
        "scale-up",
        UnalignedDesign(UP),
        (
            scopes.A_KEY_MOVES.holds(42_891),
            scopes.A_KEY_MOVES_AND_TWO_CRASHES.holds(1_058_880, reduced=383_591),
            scopes.A_KEY_MOVES_THERE_AND_BACK.holds(152_745, reduced=56_373),
            scopes.TWO_KEYS.holds(93_655),
            scopes.AN_IDLE_SLOT.holds(12_159),
            scopes.A_BAG.holds(259_071, reduced=117_396),
            scopes.A_TABLE.holds(259_071, quick=False, reduced=117_396),
            scopes.A_RELAY_BEFORE_A_KEY.holds(26_939),
            scopes.NO_CRASH.holds(607),
            scopes.PAIRS.holds(10_969),
            scopes.TWO_MOVE.holds(70_529, reduced=25_169),
        ),
        "From one instance to two: key groups move, and each record on its way goes to the "
        "instance that owns its key now.  The next restart goes back to one instance.",
        must_occur=SCALED,
    ),
    UNALIGNED_CHECKPOINTS.design(
        "scale-down",
        UnalignedDesign(DOWN),
        (
            scopes.THE_SECOND_FALLS.holds(72_339, reduced=14_910),
            scopes.A_RELAY_BEFORE_THE_SECOND.holds(52_299, reduced=10_631),
            scopes.NO_CRASH.holds(607),
            scopes.PAIRS.holds(10_969),
            scopes.AN_IDLE_SLOT.holds(20_839),
        ),
        "From two instances to one: the channels of both become one channel.",
        must_occur=SCALED,
    ),
    UNALIGNED_CHECKPOINTS.design(
        "aligned",
        UnalignedDesign(overtaking=Overtaking.NONE),
        (
            scopes.A_RELAY.holds(758),
            scopes.TWO_RECORDS.holds(8_304),
            scopes.PAIRS.holds(3_725),
            scopes.TWO_RELAYS.holds(5_310),
            scopes.A_SILENT_SOURCE.holds(4_803),
            scopes.NO_CRASH.holds(198),
            scopes.A_UNION.holds(253_161),
        ),
        "The same pipeline with aligned barriers: no record is in a snapshot, and a barrier waits "
        "for all records before it.",
        must_occur=SEEN,
    ),
    UNALIGNED_CHECKPOINTS.design(
        "asynchronous",
        UnalignedDesign(snapshots=Snapshots.ASYNCHRONOUS),
        (
            scopes.A_RELAY.holds(1_989),
            scopes.A_RELAY_AND_TWO_CRASHES.holds(15_948),
            scopes.TWO_RECORDS.holds(65_590),
            scopes.PAIRS.holds(13_047),
            scopes.TWO_RELAYS.holds(32_603),
            scopes.A_SILENT_SOURCE.holds(14_007),
            scopes.NO_CRASH.holds(865),
        ),
        "An operator goes on while the storage writes its state and the records that the barrier "
        "has overtaken, and reports them when the storage has them.",
        must_occur=(*ON_THE_WAY, SNAPSHOTS),
    ),
    UNALIGNED_CHECKPOINTS.design(
        "aligned-asynchronous",
        UnalignedDesign(overtaking=Overtaking.NONE, snapshots=Snapshots.ASYNCHRONOUS),
        (
            scopes.A_RELAY.holds(812),
            scopes.A_RELAY_AND_TWO_CRASHES.holds(5_620),
            scopes.TWO_RECORDS.holds(9_144),
            scopes.PAIRS.holds(4_019),
            scopes.TWO_RELAYS.holds(8_760),
            scopes.A_SILENT_SOURCE.holds(4_857),
            scopes.NO_CRASH.holds(248),
        ),
        "The same with aligned barriers.",
        must_occur=(*SEEN, SNAPSHOTS),
    ),
    UNALIGNED_CHECKPOINTS.design(
        "aligned-scale-up",
        UnalignedDesign(UP, Overtaking.NONE),
        (
            scopes.A_KEY_MOVES.holds(14_851),
            scopes.TWO_KEYS.holds(37_116),
            scopes.NO_CRASH.holds(198),
            scopes.PAIRS.holds(3_725),
        ),
        "With aligned barriers a rescaled restart moves key groups alone.",
        must_occur=(*SEEN, RESCALED),
    ),
    UNALIGNED_CHECKPOINTS.design(
        "aligned-writers",
        UnalignedDesign(overtaking=Overtaking.NOT_AT_WRITERS),
        (
            scopes.TWO_RELAYS.holds(12_729),
            scopes.PAIRS_BEHIND_A_RELAY.holds(134_233, reduced=54_459),
            scopes.PAIRS.holds(3_725),
            scopes.NO_CRASH.holds(198),
        ),
        "An aligned operator behind an unaligned one is right, since the upstream operator stores "
        "the outputs that the barrier has overtaken.",
    ),
)
FLAWED = (
    UNALIGNED_CHECKPOINTS.design(
        "no-outputs",
        UnalignedDesign(captures=Captures.NO_OUTPUTS),
        (scopes.A_RELAY.fails(1_684, 14, GAP), scopes.TWO_RELAYS.fails(13_817, 16, GAP)),
        "Outputs in an output buffer are made from records that are in the snapshot, and the "
        "barrier has overtaken the outputs: nobody has them after a crash.",
    ),
    UNALIGNED_CHECKPOINTS.design(
        "no-inputs",
        UnalignedDesign(captures=Captures.NO_INPUTS),
        (scopes.A_RELAY.fails(1_555, 13, GAP), scopes.PAIRS.fails(8_616, 15, GAP)),
        "Records in an input buffer are before the barrier, so no source sends them again.",
    ),
    UNALIGNED_CHECKPOINTS.design(
        "first-barrier",
        UnalignedDesign(captures=Captures.AT_FIRST_BARRIER),
        (scopes.A_RELAY.holds(1_722), scopes.A_SILENT_SOURCE.fails(15_059, 16, GAP)),
        "With several inputs the records that come after the first barrier, and before that of "
        "their own input, are lost.",
    ),
    UNALIGNED_CHECKPOINTS.design(
        "restored-forgotten",
        UnalignedDesign(captures=Captures.ALL_BUT_RESTORED),
        (scopes.A_RELAY.holds(1_722), scopes.TWO_RECORDS_AND_TWO_CRASHES.fails(553_006, 27, GAP)),
        "A checkpoint that begins before the injected records are processed must have them again; "
        "a second crash shows it.  Engines either wait with the checkpoint, or do so (FLIP-547).",
    ),
    UNALIGNED_CHECKPOINTS.design(
        "after-new",
        UnalignedDesign(injection=Injection.AFTER_NEW),
        (scopes.A_RELAY.holds(1_722), scopes.PAIRS.fails(12_463, 24, DIVERGENT)),
        "If new records overtake the injected ones, an operator takes them in another order.",
    ),
    UNALIGNED_CHECKPOINTS.design(
        "by-channel",
        UnalignedDesign(UP, redistribution=Redistribution.BY_CHANNEL),
        (scopes.A_KEY_MOVES.fails(37_764, 18, GAP), scopes.TWO_KEYS.fails(88_124, 18, GAP)),
        "State moves by key and buffers stay with their channel: a record comes to an instance "
        "that does not have the state of its key.",
    ),
    UNALIGNED_CHECKPOINTS.design(
        "pointwise",
        UnalignedDesign(UP, redistribution=Redistribution.BY_CHANNEL),
        (
            scopes.AN_IDLE_SLOT.holds(11_887),
            scopes.A_BAG.holds(245_204, reduced=134_453),
            scopes.A_TABLE.fails(245_204, 31, DIVERGENT, reduced=134_453),
        ),
        "An operator without state may take records of any key, as behind a pointwise connection. "
        "Nothing is lost, and the order of a key is: an upsert of an old value wins.",
    ),
    UNALIGNED_CHECKPOINTS.design(
        "unfiltered",
        UnalignedDesign(UP, redistribution=Redistribution.TO_ALL),
        (
            scopes.A_KEY_MOVES.fails(58_175, 31, REPEATING, reduced=28_322),
            scopes.AN_IDLE_SLOT.fails(13_464, 27, REPEATING),
        ),
        "A buffer is handed to each instance that may own one of its keys; an instance that does "
        "not drop the records of other keys takes them twice.",
    ),
    UNALIGNED_CHECKPOINTS.design(
        "not-redistributed",
        UnalignedDesign(UP, redistribution=Redistribution.NONE),
        (scopes.A_KEY_MOVES.fails(32_553, 16, GAP), scopes.AN_IDLE_SLOT.fails(11_125, 14, GAP)),
        "A restart that moves state alone loses all records on their way.",
        must_occur=(*SEEN, OVERTAKEN),
    ),
    UNALIGNED_CHECKPOINTS.design(
        "aligned-writers-no-outputs",
        UnalignedDesign(overtaking=Overtaking.NOT_AT_WRITERS, captures=Captures.NO_OUTPUTS),
        (scopes.TWO_RELAYS.fails(11_980, 16, GAP),),
        "An unaligned operator that relies on its receiver to store its outputs loses them before "
        "an aligned one.",
    ),
    UNALIGNED_CHECKPOINTS.design(
        "without-sinks",
        UnalignedDesign(finishes=Finishes.WITHOUT_SINKS),
        (scopes.A_RELAY.fails(2_325, 12, GAP),),
        "A sink that commits when it hears of the checkpoint, and has not all outputs of it yet, "
        "never commits the rest; no crash is needed.",
    ),
)
VARIANTS = (*RIGHT, *FLAWED, *SAVEPOINT_VARIANTS)
