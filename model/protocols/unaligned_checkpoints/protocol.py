"""Unaligned checkpoints, and their evidence.

Rule of this file: no design but the right one without rescaling, joined with variants and mutants.
"""

from __future__ import annotations

from model.protocols.unaligned_checkpoints import scopes
from model.protocols.unaligned_checkpoints.design import UnalignedDesign
from model.protocols.unaligned_checkpoints.family import UNALIGNED_CHECKPOINTS
from model.protocols.unaligned_checkpoints.mutants import MUTANTS
from model.protocols.unaligned_checkpoints.variants import VARIANTS

PROTOCOL = UNALIGNED_CHECKPOINTS.design(
    "",
    UnalignedDesign(),
    (
        scopes.A_RELAY.holds(1_722),
        scopes.A_RELAY_AND_TWO_CRASHES.holds(13_958),
        scopes.TWO_RECORDS.holds(52_990),
        scopes.TWO_RECORDS_AND_TWO_CRASHES.holds(553_954, quick=False),
        scopes.TWO_RELAYS.holds(14_780),
        scopes.PAIRS.holds(10_969),
        scopes.PAIRS_BEHIND_A_RELAY.holds(167_757, reduced=72_791),
        scopes.A_SILENT_SOURCE.holds(13_740),
        scopes.A_SILENT_SOURCE_AND_TWO_CRASHES.holds(263_066, reduced=110_950),
        scopes.A_UNION.holds(1_527_431, reduced=672_586),
        scopes.TWO_RELAYS.with_two_crashes_of("first").holds(150_106, reduced=70_194),
        scopes.NO_CRASH.holds(607),
    ),
    "Barriers overtake the records in input and output buffers, and the snapshot has these "
    "records; a restart injects them before all new ones: precise.",
    mutants=MUTANTS,
    compare_with="unaligned-checkpoints:aligned",
    variants=VARIANTS,
)
