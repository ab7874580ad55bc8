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
            windows_of_one_tuple=11_796,
            windows_of_two_tuples=24_756,
            four_tuples=206_896,
            equal_times=28_538,
            two_crashes=36_216,
            three_crashes=101_800,
            windows_by_time=21_606,
            windows_from_the_first_tuple=14_674,
            sliding_windows=17_363,
            gaps_between_windows=9_376,
            a_filter=5_738,
            a_CEP_operator=21_257,
            an_aggregate_of_an_aggregate=35_210,
            a_filter_upstream=42_044,
            adjacent_crashes=58_944,
            adjacent_crashes_and_two_tuples=794_652,
            no_crash=1_165,
            no_crash_and_two_operators=8_220,
        ),
        "Tuples and outputs by number, the parts of a checkpoint of one moment, the previous one "
        "kept until the new one is whole, acknowledgements after that: precise, with copy-on-write "
        "as well.",
    ),
    variants=VARIANTS,
    mutants=MUTANTS,
    lemmas=8,
)
