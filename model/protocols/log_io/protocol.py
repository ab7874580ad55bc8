"""LOG.io, with every mend, and its evidence.

Rule of this file: no design but the mended one, joined with its variants and mutants.
"""

from __future__ import annotations

from dataclasses import replace

from model.protocols.log_io.design import Design
from model.protocols.log_io.evidence import (
    connections,
    lineage,
    reads,
    recovery,
    scale_up,
    scaling,
    writes,
)
from model.protocols.log_io.evidence.build import build
from model.protocols.log_io.evidence.scopes import hold

TOPICS = (recovery, connections, writes, reads, scaling, scale_up, lineage)

PROTOCOL = replace(
    build(
        "",
        Design(),
        hold(
            a_relay=3_487,
            a_filter=9_664,
            batches=9_659,
            batches_by_type=60_154,
            batches_in_turn=13_583,
            batches_in_turn_by_type=64_250,
            two_functions=21_470,
            two_functions_by_type=12_846,
            an_aggregate=63_790,
            a_CEP_operator=58_020,
            two_types=6_686,
            three_crashes=10_764,
            crashes_of_the_operator_alone=8_075,
            two_relays=9_600,
            a_relay_and_batches=34_975,
            three_operators=50_212,
            two_ports_that_race=109_818,
            two_ways_to_one_operator=7_948,
            two_sinks=13_757,
            a_side_effect_read=34_274,
            a_side_effect_read_and_two_sinks=4_243,
            no_crash=449,
        ),
        "Equal numbers discarded, and numbers in the stored context: precise, for operators of "
        "every class, with checkable writes that are executed one by one.",
    ),
    variants=tuple(variant for topic in TOPICS for variant in topic.VARIANTS),
    mutants=tuple(mutant for topic in TOPICS for mutant in topic.MUTANTS),
    lemmas=17,
)
