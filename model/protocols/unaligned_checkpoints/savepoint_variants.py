"""Designs of unaligned checkpoints with a savepoint of the user, each with its verdict.

Rule of this file: no design without its claim and the verdict expected of it, and none without a
savepoint (variants.py).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from model.core import Guarantee, Quantity
from model.evidence import PinnedScope
from model.protocol import Behaviour, Protocol
from model.protocols.unaligned_checkpoints import scopes
from model.protocols.unaligned_checkpoints.design import Overtaking, StateOwners, UnalignedDesign
from model.protocols.unaligned_checkpoints.family import BEHAVIOUR, SEEN, UNALIGNED_CHECKPOINTS
from model.protocols.unaligned_checkpoints.instances import SAVEPOINT
from model.protocols.unaligned_checkpoints.messages import (
    OVERTAKEN,
    RESCALED,
    RESUMED,
    SAVED_BY_USER,
)
from model.protocols.unaligned_checkpoints.savepoints import (
    AfterSavepoint,
    GoesBack,
    SavepointBarriers,
    SavepointDesign,
    StopCommits,
)

GAP, REPEATING = Guarantee.GAP, Guarantee.REPEATING
UP, DOWN = (1, 2), (2, 1)
STOPS = SavepointDesign()
ASKED = replace(
    BEHAVIOUR,
    timers={
        **BEHAVIOUR.timers,
        SAVEPOINT: "From the first event to the user's wish of a savepoint.",
    },
)
JOBS = (*SEEN, SAVED_BY_USER, RESUMED)


def saving(
    variant: str,
    savepoints: SavepointDesign,
    cases: tuple[PinnedScope, ...],
    finding: str,
    must_occur: tuple[Quantity, ...] = JOBS,
    behaviour: Behaviour = ASKED,
    **choices: Any,
) -> Protocol:
    """The variant with this savepoint, and with these other choices of UnalignedDesign."""
    return UNALIGNED_CHECKPOINTS.design(
        variant,
        UnalignedDesign(savepoints=savepoints, **choices),
        cases,
        finding,
        behaviour=behaviour,
        must_occur=must_occur,
    )


SAVING = (
    saving(
        "savepoint",
        STOPS,
        (
            scopes.A_RELAY.holds(8_406),
            scopes.A_RELAY_AND_TWO_CRASHES.holds(69_303),
            scopes.PAIRS.holds(55_092),
            scopes.TWO_RELAYS.holds(37_755),
            scopes.A_SILENT_SOURCE.holds(34_060),
            scopes.NO_CRASH.holds(2_643),
        ),
        "A savepoint that ends the job is aligned, also where other barriers overtake: it has no "
        "record on its way, sinks commit it, and the next job begins from it.",
        (*JOBS, OVERTAKEN),
    ),
    saving(
        "savepoint-aligned",
        STOPS,
        (
            scopes.A_RELAY.holds(3_974),
            scopes.A_RELAY_AND_TWO_CRASHES.holds(28_103),
            scopes.TWO_RECORDS.holds(42_659),
            scopes.PAIRS.holds(20_667),
            scopes.TWO_RELAYS.holds(27_211),
            scopes.A_SILENT_SOURCE.holds(27_798),
            scopes.NO_CRASH.holds(1_216),
        ),
        "The same where all barriers are aligned.",
        overtaking=Overtaking.NONE,
    ),
    saving(
        "savepoint-scale-up",
        STOPS,
        (
            scopes.A_KEY_MOVES.holds(129_559),
            scopes.TWO_KEYS.holds(573_124, quick=False),
            scopes.AN_IDLE_SLOT.holds(31_143),
            scopes.A_RELAY_BEFORE_A_KEY.holds(62_225),
            scopes.PAIRS.holds(55_092),
            scopes.NO_CRASH.holds(2_643),
        ),
        "The next job has two instances: the savepoint splits the state by key groups.",
        (*JOBS, RESCALED),
        layout=UP,
    ),
    saving(
        "savepoint-scale-down",
        STOPS,
        (
            scopes.THE_SECOND_FALLS.holds(209_883, quick=False),
            scopes.AN_INSTANCE_GOES.holds(557_266),
            scopes.AN_IDLE_SLOT.holds(34_193),
            scopes.PAIRS.holds(55_092),
            scopes.NO_CRASH.holds(2_643),
        ),
        "The next job has one instance, which has the key groups of both.",
        (*JOBS, RESCALED),
        layout=DOWN,
    ),
    saving(
        "savepoint-aligned-scale-down",
        STOPS,
        (
            scopes.THE_SECOND_FALLS.holds(55_390),
            scopes.A_RELAY_BEFORE_THE_SECOND.holds(16_078),
            scopes.AN_IDLE_SLOT.holds(13_091),
            scopes.PAIRS.holds(20_667),
            scopes.NO_CRASH.holds(1_216),
        ),
        "The same where all barriers are aligned.",
        (*JOBS, RESCALED),
        layout=DOWN,
        overtaking=Overtaking.NONE,
    ),
)
FLAWED_SAVING = (
    saving(
        "savepoint-overtakes",
        SavepointDesign(barriers=SavepointBarriers.OVERTAKING),
        (
            scopes.A_RELAY.fails(11_557, 13, GAP),
            scopes.TWO_RELAYS.fails(45_271, 15, GAP),
            scopes.NO_CRASH.fails(5_241, 15, GAP),
        ),
        "If the barriers of a savepoint overtake records, the next job has none of these: they are "
        "in no state, and no source sends them again.  No crash is needed.",
    ),
    saving(
        "savepoint-uncommitted",
        SavepointDesign(commits=StopCommits.NEVER),
        (
            scopes.A_RELAY.fails(8_286, 15, GAP),
            scopes.TWO_RELAYS.fails(37_661, 20, GAP),
            scopes.NO_CRASH.fails(2_495, 18, GAP),
        ),
        "If the job ends when the savepoint is complete, the outputs that the sinks have prepared "
        "for it are never committed.",
    ),
    saving(
        "savepoint-unused",
        SavepointDesign(goes_back=GoesBack.CHECKPOINT),
        (
            scopes.A_RELAY.fails(8_867, 26, REPEATING),
            scopes.TWO_RELAYS.fails(40_676, 36, REPEATING),
        ),
        "If a restart uses checkpoints alone, a crash after the commit of a savepoint brings the "
        "outputs of the savepoint again.  Flink either uses it, commits nothing with it, or lets "
        "the job fail for good.",
        # A restart that needs the last checkpoint needs the records behind it: sources keep these.
        behaviour=replace(ASKED, needed=None),
    ),
    saving(
        "savepoint-copied",
        SavepointDesign(after=AfterSavepoint.GOES_ON),
        (
            scopes.A_RELAY.holds(8_774),
            scopes.TWO_RECORDS_NO_CRASH.fails(27_428, 35, REPEATING),
            scopes.NO_CRASH.fails(9_790, 33, REPEATING),
        ),
        "A job that goes on after its savepoint commits more; the next job, which begins from the "
        "savepoint, brings these outputs again.  No crash is needed.",
    ),
    saving(
        "savepoint-by-number",
        STOPS,
        (
            scopes.AN_IDLE_SLOT.holds(31_261),
            scopes.A_KEY_MOVES.fails(101_308, 19, GAP),
        ),
        "If the state of an instance goes to the instance with its number, and not by key groups, "
        "the instance that owns a key now does not have its state.  One record shows nothing.",
        layout=UP,
        owners=StateOwners.BY_NUMBER,
    ),
)
SAVEPOINT_VARIANTS = (*SAVING, *FLAWED_SAVING)
