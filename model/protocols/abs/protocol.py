"""Asynchronous barrier snapshotting, with every mend, and its evidence.

Rule of this file: no design but the mended one, joined with its variants and mutants.
"""

from __future__ import annotations

from dataclasses import replace

from model.protocols.abs.design import Design
from model.protocols.abs.family import SEEN, build
from model.protocols.abs.messages import ALIGNED
from model.protocols.abs.mutants import MUTANTS
from model.protocols.abs.scopes import hold
from model.protocols.abs.variants import VARIANTS

PROTOCOL = replace(
    build(
        "",
        Design(),
        hold(
            a_relay=796,
            a_relay_and_two_crashes=2_561,
            pairs=3_198,
            pairs_and_two_crashes=1_949,
            two_relays=745,
            pairs_behind_a_relay=7_037,
            a_relay_behind_pairs=4_339,
            two_relays_and_two_crashes=8_042,
            a_coin=810,
            a_union=21_669,
            a_diamond=33_809,
            pairs_behind_a_relay_and_two_crashes=86_832,
            a_relay_behind_pairs_and_two_crashes=41_909,
            a_diamond_and_two_crashes_of_a_side=383_387,
            a_diamond_and_two_crashes_of_the_other_side=383_387,
            three_relays=3_358,
            four_relays=12_527,
            three_relays_and_two_crashes=86_502,
            two_types_and_two_crashes=7_300,
            a_union_and_two_crashes=221_676,
            two_writers=1_210,
            two_writers_and_two_crashes=13_419,
            a_coin_before_two_writers=5_861,
            no_crash=390,
            no_crash_and_two_inputs=43_054,
        ),
        "Aligned markers, an epoch that is complete when all nodes have made their snapshots, a "
        "restart of all nodes, and a restart that settles what is pre-committed: precise.",
        must_occur=(*SEEN, ALIGNED),
    ),
    variants=VARIANTS,
    mutants=MUTANTS,
    lemmas=14,
)
