"""Uncoordinated checkpoints with logs of messages, and their evidence.

Rule of this file: no design but the right one, joined with its variants and mutants.
"""

from __future__ import annotations

from model.protocols.uncoordinated import scopes
from model.protocols.uncoordinated.design import LineDesign
from model.protocols.uncoordinated.family import UNCOORDINATED
from model.protocols.uncoordinated.induced_variants import INDUCED_VARIANTS
from model.protocols.uncoordinated.mutants import MUTANTS
from model.protocols.uncoordinated.variants import VARIANTS

PROTOCOL = UNCOORDINATED.design(
    "",
    LineDesign(),
    (
        scopes.A_RELAY.holds(209),
        scopes.A_RELAY_AND_TWO_CRASHES.holds(593),
        scopes.PAIRS.holds(446),
        scopes.TWO_RELAYS.holds(475),
        scopes.TWO_RELAYS_AND_TWO_CRASHES.holds(2_936),
        scopes.TWO_RELAYS_AND_TWO_EVENTS.holds(6_674),
        scopes.PAIRS_BEHIND_A_RELAY.holds(5_031),
        scopes.A_RELAY_BEHIND_PAIRS.holds(1_187),
        scopes.A_COIN.holds(217),
        scopes.A_RELAY_BEHIND_A_COIN.holds(494),
        scopes.A_UNION.holds(28_388),
        scopes.A_UNION_AND_TWO_CRASHES.holds(360_776),
        scopes.A_DIAMOND.holds(14_894),
        scopes.A_DIAMOND_THE_OTHER_SIDE.holds(14_894),
        scopes.PAIRS.with_two_crashes_of("first").holds(1_337),
        scopes.A_RELAY_BEHIND_PAIRS.with_two_crashes_of("first").holds(3_290),
        scopes.PAIRS_BEHIND_A_RELAY.with_two_crashes_of("first").holds(17_630),
        scopes.PAIRS_BEHIND_A_RELAY.with_two_crashes_of("second").holds(12_736),
        scopes.A_DIAMOND.with_two_crashes_of("left").holds(240_974),
        scopes.NO_CRASH.holds(422),
    ),
    "Checkpoints that no operator coordinates, a recovery line without orphans, logs of outputs, "
    "and outputs that wait for the line: precise for every operator.  Where messages go one way, "
    "no restart undoes all checkpoints.",
    mutants=MUTANTS,
    variants=(*VARIANTS, *INDUCED_VARIANTS),
)
