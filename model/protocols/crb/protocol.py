"""Checkpoint roll-backward, with every mend, and its evidence.

Rule of this file: no design but the mended one, joined with its variants and mutants.
"""

from __future__ import annotations

from dataclasses import replace

from model.protocols.crb.design import Design
from model.protocols.crb.mutants import MUTANTS
from model.protocols.crb.scopes import hold
from model.protocols.crb.variants import VARIANTS, build

PROTOCOL = replace(
    build(
        "",
        Design(),
        hold(
            windows_of_one_tuple=42_403,
            windows_of_two_tuples=21_795,
            four_tuples=187_343,
            equal_times=25_139,
            two_crashes=27_191,
            three_crashes=70_673,
            windows_by_time=18_801,
            windows_from_the_first_tuple=12_463,
            sliding_windows=15_895,
            gaps_between_windows=8_581,
            a_filter=5_144,
            a_CEP_operator=18_753,
            an_aggregate_of_an_aggregate=30_319,
            a_filter_upstream=35_875,
            adjacent_crashes=594_611,
            no_crash=1_165,
            no_crash_and_two_operators=8_220,
        ),
        "Tuples and outputs by number, the parts of a checkpoint of one moment, the previous one "
        "kept until the new one is whole, acknowledgements after that: precise, with copy-on-write "
        "as well.",
    ),
    variants=VARIANTS,
    mutants=MUTANTS,
)
