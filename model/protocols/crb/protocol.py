"""Checkpoint roll-backward, with every mend of its output, and its evidence.

Rule of this file: no design but the mended one, joined with its variants and mutants.
"""

from __future__ import annotations

from model.protocols.crb import scopes
from model.protocols.crb.design import CrbDesign
from model.protocols.crb.family import CRB
from model.protocols.crb.mutants import MUTANTS
from model.protocols.crb.variants import VARIANTS

PROTOCOL = CRB.design(
    "",
    CrbDesign(),
    (
        scopes.WINDOWS_OF_ONE_TUPLE.holds(11_796),
        scopes.WINDOWS_OF_TWO_TUPLES.holds(24_756),
        scopes.FOUR_TUPLES.holds(206_896),
        scopes.EQUAL_TIMES.holds(28_538),
        scopes.TWO_CRASHES.holds(36_216),
        scopes.THREE_CRASHES.holds(101_800, reduced=21_618),
        scopes.WINDOWS_BY_TIME.holds(21_606),
        scopes.WINDOWS_FROM_THE_FIRST_TUPLE.holds(14_674),
        scopes.WINDOWS_THAT_TICKS_CLOSE.holds(47_230),
        scopes.SLIDING_WINDOWS.holds(17_363),
        scopes.GAPS_BETWEEN_WINDOWS.holds(9_376),
        scopes.A_FILTER.holds(5_738),
        scopes.A_CEP_OPERATOR.holds(21_257),
        scopes.AN_AGGREGATE_OF_AN_AGGREGATE.holds(35_210),
        scopes.A_FILTER_UPSTREAM.holds(42_044),
        scopes.ADJACENT_CRASHES.holds(58_944, reduced=10_500),
        scopes.ADJACENT_CRASHES_AND_TWO_TUPLES.holds(794_652, reduced=111_137),
        scopes.A_FILTER.with_two_crashes_of("agg").holds(76_784),
        scopes.A_JOIN.holds(23_532),
        scopes.PAIRS_OF_TWO_SOURCES.holds(23_532),
        scopes.NO_CRASH.holds(1_165),
        scopes.NO_CRASH_AND_TWO_OPERATORS.holds(8_220),
    ),
    "Tuples and outputs by number, the parts of a checkpoint of one moment, the previous one "
    "kept until the new one is whole, acknowledgements after that: precise, with copy-on-write "
    "as well.",
    mutants=MUTANTS,
    lemmas=8,
    variants=VARIANTS,
)
