"""Progressive recovery, mended, and its evidence.

Li Su and Yongluan Zhou: "Progressive Recovery of Correlated Failures in Distributed Stream
Processing Engines", EDBT 2017.

Rule of this file: no design but the mended one, joined with its variants and mutants.
"""

from __future__ import annotations

from model.core import DISCARDED
from model.protocols.progressive import scopes
from model.protocols.progressive.design import ProgressiveDesign
from model.protocols.progressive.family import PROGRESSIVE_RECOVERY, SEEN
from model.protocols.progressive.messages import (
    BLOCKING,
    PROGRESSIVE,
    REJOINED,
    ROLLED_BACK,
)
from model.protocols.progressive.mutants import MUTANTS
from model.protocols.progressive.variants import VARIANTS

PINS = (
    scopes.ONE_PARTITION.holds(1_596),
    scopes.ONE_PARTITION_TWICE.holds(13_241),
    scopes.ONE_PARTITION_THREE_TIMES.holds(7_796),
    scopes.ONE_PARTITION_THE_COORDINATOR.holds(2_097),
    scopes.A_CHAIN.holds(42_115),
    scopes.A_CHAIN_THREE_TUPLES.holds(20_414),
    scopes.A_CHAIN_THE_FIRST_TWICE.holds(5_780),
    scopes.A_CHAIN_THE_SECOND_TWICE.holds(5_834),
    scopes.A_CHAIN_THE_SECOND_TWICE_TWO_TUPLES.holds(66_915, reduced=23_647),
    scopes.A_CHAIN_BOTH.holds(433_550),
    scopes.A_CHAIN_BOTH_AND_ONE.holds(2_195_397, reduced=759_029),
    scopes.A_CHAIN_BOTH_AND_ONE_TWO_TUPLES.holds(reduced=6_226_093),
    scopes.A_CHAIN_AND_THE_COORDINATOR.holds(10_571),
    scopes.A_CHAIN_ALL_THREE.holds(2_446_097, reduced=853_517),
    scopes.TWO_QUERIES.holds(11_432),
    scopes.TWO_QUERIES_BOTH_SINKS.holds(1_300_754, reduced=214_280),
    scopes.TWO_QUERIES_O1_AND_O2.holds(798_478),
    scopes.TWO_QUERIES_O1_AND_O3.holds(862_369),
    scopes.TWO_QUERIES_ALL_THREE_NO_TUPLE.holds(281_041),
    scopes.TWO_QUERIES_SINKS_TWICE_NO_TUPLE.holds(936_602),
    scopes.TWO_SHARES_ONE.holds(20_968),
    scopes.TWO_SHARES_BOTH.holds(1_559_621, reduced=376_179),
    scopes.A_TRIANGLE_THE_SIDE.holds(1_572),
    scopes.A_TRIANGLE_THE_UNION.holds(1_964),
    scopes.A_TRIANGLE_THE_SIDE_TWICE.holds(18_654),
    scopes.A_TRIANGLE_THE_UNION_TWICE.holds(28_509),
    scopes.A_TRIANGLE_THE_UNION_AND_THE_COORDINATOR.holds(42_871, reduced=12_214),
    scopes.A_TRIANGLE_THE_UNION_TWO_TUPLES.holds(18_038),
    scopes.A_TRIANGLE_BOTH.holds(597_649),
    scopes.A_TRIANGLE_BOTH_THREE_TIMES_NO_TUPLE.holds(reduced=2_203_335),
    scopes.A_DIAMOND.holds(8_975),
    scopes.A_DIAMOND_TWO_TUPLES.holds(102_059, reduced=21_443),
    scopes.A_DIAMOND_A_SIDE_AND_THE_UNION.holds(1_952_355, reduced=352_808),
    scopes.A_DIAMOND_SIDES_TWICE_NO_TUPLE.holds(505_507),
    scopes.A_DIAMOND_BOTH_SIDES.holds(558_828, reduced=84_471),
    scopes.TWO_SOURCES.holds(26_992),
    scopes.TWO_SOURCES_THREE_TUPLES.holds(147_589, reduced=59_058),
    scopes.NO_CRASH.holds(541),
    scopes.NO_CRASH_TWO_QUERIES.holds(1_913),
    scopes.NO_CRASH_A_DIAMOND.holds(1_153),
    scopes.NO_CRASH_TWO_SHARES.holds(4_031),
)

PROTOCOL = PROGRESSIVE_RECOVERY.design(
    "",
    ProgressiveDesign(),
    PINS,
    "With epochs, one order always, results that are known by number, of the numbers of a "
    "connection only the next one taken, an application that takes part in checkpoints, a "
    "coordinator with stable storage, and acknowledgements that a failure cancels, "
    "progressive recovery is precise for every group of failures explored.",
    must_occur=(*SEEN, DISCARDED, ROLLED_BACK, BLOCKING, PROGRESSIVE, REJOINED),
    mutants=MUTANTS,
    lemmas=10,
    variants=VARIANTS,
)
