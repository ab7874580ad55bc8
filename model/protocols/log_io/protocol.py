"""LOG.io, with every mend, and its evidence.

Rule of this file: no design but the mended one, joined with its variants and mutants.
"""

from __future__ import annotations

from model.protocols.log_io.design import Design
from model.protocols.log_io.evidence import (
    causality,
    connections,
    global_state,
    groups,
    lineage,
    lineage_faults,
    reads,
    recovery,
    replaying,
    scale_up,
    scaling,
    writes,
)
from model.protocols.log_io.evidence.build import build
from model.protocols.log_io.evidence.scopes import hold

TOPICS = (
    recovery,
    global_state,
    connections,
    writes,
    groups,
    causality,
    reads,
    replaying,
    scaling,
    scale_up,
    lineage,
    lineage_faults,
)

PROTOCOL = build(
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
        counted_by_type=2_245,
        counted_by_two_functions=3_249,
        two_ports_counted_by_type=3_420,
        two_ports_counted_by_two_functions=1_643,
        two_ports_and_two_functions=709,
        two_ports_by_type=15_590,
        two_ports_in_order_of_time=966,
        a_reader_of_writes=1_489,
        a_reader_of_two_writes=1_365,
        a_reader_of_writes_no_crash=40,
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
    variants=tuple(variant for topic in TOPICS for variant in topic.VARIANTS),
    mutants=tuple(mutant for topic in TOPICS for mutant in topic.MUTANTS),
    lemmas=18,
)
