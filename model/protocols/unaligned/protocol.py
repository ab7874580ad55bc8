"""Unaligned checkpoints, and their evidence.

Rule of this file: no design but the right one without rescaling, joined with variants and mutants.
"""

from __future__ import annotations

from model.protocols.unaligned import scopes
from model.protocols.unaligned.design import UnalignedDesign
from model.protocols.unaligned.family import UNALIGNED_CHECKPOINTS
from model.protocols.unaligned.mutants import MUTANTS
from model.protocols.unaligned.variants import VARIANTS

PROTOCOL = UNALIGNED_CHECKPOINTS.design(
    "",
    UnalignedDesign(),
    (
        scopes.A_RELAY.holds(1_302),
        scopes.A_RELAY_AND_TWO_CRASHES.holds(9_964),
        scopes.TWO_RECORDS.holds(36_968),
        scopes.TWO_RECORDS_AND_TWO_CRASHES.holds(363_510, quick=False),
        scopes.TWO_RELAYS.holds(12_465),
        scopes.PAIRS.holds(8_649),
        scopes.PAIRS_BEHIND_A_RELAY.holds(147_594),
        scopes.A_SILENT_SOURCE.holds(10_406),
        scopes.A_SILENT_SOURCE_AND_TWO_CRASHES.holds(186_426),
        scopes.A_UNION.holds(1_056_521),
        scopes.NO_CRASH.holds(520),
    ),
    "Barriers overtake the records in input and output buffers, and the snapshot has these "
    "records; a restart injects them before all new ones: precise.",
    mutants=MUTANTS,
    compare_with="unaligned:aligned",
    variants=VARIANTS,
)
