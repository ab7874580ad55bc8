"""Asynchronous barrier snapshotting, with every mend, and its evidence.

Rule of this file: no design but the mended one, joined with its variants and mutants.
"""

from __future__ import annotations

from model.protocols.abs import scopes
from model.protocols.abs.design import AbsDesign
from model.protocols.abs.family import ABS, SEEN
from model.protocols.abs.fencing_mutants import FENCING_MUTANTS
from model.protocols.abs.messages import ALIGNED
from model.protocols.abs.mutants import MUTANTS
from model.protocols.abs.variants import VARIANTS

PROTOCOL = ABS.design(
    "",
    AbsDesign(),
    (
        scopes.A_RELAY.holds(796),
        scopes.A_RELAY_AND_TWO_CRASHES.holds(2_561),
        scopes.PAIRS.holds(3_198),
        scopes.PAIRS_AND_TWO_CRASHES.holds(1_949),
        scopes.TWO_RELAYS.holds(745),
        scopes.PAIRS_BEHIND_A_RELAY.holds(7_037),
        scopes.A_RELAY_BEHIND_PAIRS.holds(4_339),
        scopes.TWO_RELAYS_AND_TWO_CRASHES.holds(8_042),
        scopes.A_COIN.holds(810),
        scopes.A_UNION.holds(21_669),
        scopes.A_COUNT_OF_A_UNION.holds(21_669),
        scopes.A_DIAMOND.holds(33_809),
        scopes.PAIRS_BEHIND_A_RELAY_AND_TWO_CRASHES.holds(86_832, reduced=32_397),
        scopes.A_RELAY_BEHIND_PAIRS_AND_TWO_CRASHES.holds(41_909),
        scopes.A_DIAMOND_AND_TWO_CRASHES_OF_A_SIDE.holds(383_387, reduced=125_590),
        scopes.A_DIAMOND_AND_TWO_CRASHES_OF_THE_OTHER_SIDE.holds(383_387, reduced=127_274),
        scopes.THREE_RELAYS.holds(3_358),
        scopes.FOUR_RELAYS.holds(12_527),
        scopes.THREE_RELAYS_AND_TWO_CRASHES.holds(86_502, reduced=30_402),
        scopes.TWO_TYPES_AND_TWO_CRASHES.holds(7_300),
        scopes.A_UNION_AND_TWO_CRASHES.holds(221_676),
        scopes.TWO_WRITERS.holds(1_210),
        scopes.TWO_WRITERS_AND_TWO_CRASHES.holds(13_419),
        scopes.A_COIN_BEFORE_TWO_WRITERS.holds(5_861),
        scopes.A_COIN_BEFORE_TWO_WRITERS.with_two_crashes_of("first").holds(53_491, reduced=11_899),
        scopes.FOUR_RELAYS.with_two_crashes_of("relay2").holds(100_117, reduced=24_969),
        scopes.FOUR_RELAYS.with_two_crashes_of("relay3").holds(91_980, reduced=24_774),
        scopes.NO_CRASH.holds(390),
        scopes.NO_CRASH_AND_TWO_INPUTS.holds(43_054),
    ),
    "Aligned markers, an epoch that is complete when all nodes have made their snapshots, a "
    "restart of all nodes, and a restart that settles what is pre-committed: precise.",
    must_occur=(*SEEN, ALIGNED),
    mutants=(*MUTANTS, *FENCING_MUTANTS),
    lemmas=14,
    variants=VARIANTS,
)
