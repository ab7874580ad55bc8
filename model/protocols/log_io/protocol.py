"""LOG.io, with every mend, and its evidence.

Rule of this file: no design but the mended one, joined with its variants and mutants.
"""

from __future__ import annotations

from model.protocols.log_io.design import LogIoDesign
from model.protocols.log_io.evidence import (
    causality,
    connections,
    global_state,
    groups,
    lineage,
    lineage_faults,
    moved_states,
    overlapping,
    reads,
    recovery,
    replaying,
    scale_up,
    scaling,
    scopes,
    slow_writes,
    two_processes,
    writes,
)
from model.protocols.log_io.evidence.build import build

TOPICS = (
    recovery,
    overlapping,
    global_state,
    connections,
    writes,
    slow_writes,
    two_processes,
    groups,
    causality,
    reads,
    replaying,
    scaling,
    scale_up,
    moved_states,
    lineage,
    lineage_faults,
)

PROTOCOL = build(
    "",
    LogIoDesign(),
    (
        scopes.A_RELAY.holds(3_487),
        scopes.A_FILTER.holds(9_664),
        scopes.BATCHES.holds(9_659),
        scopes.BATCHES_BY_TYPE.holds(60_154),
        scopes.BATCHES_IN_TURN.holds(13_583),
        scopes.BATCHES_IN_TURN_BY_TYPE.holds(64_250),
        scopes.TWO_FUNCTIONS.holds(21_470),
        scopes.TWO_FUNCTIONS_BY_TYPE.holds(12_846),
        scopes.WINDOWS_OF_HOURS.holds(29_950),
        scopes.WINDOWS_OF_THREE_EVENTS.holds(18_975),
        scopes.WINDOWS_AND_A_RELAY.holds(6_700),
        scopes.AN_AGGREGATE.holds(63_790),
        scopes.A_CEP_OPERATOR.holds(58_020),
        scopes.TWO_TYPES.holds(6_686),
        scopes.THREE_CRASHES.holds(10_764),
        scopes.CRASHES_OF_THE_OPERATOR_ALONE.holds(8_075),
        scopes.COUNTED_BY_TYPE.holds(2_245),
        scopes.COUNTED_BY_TWO_FUNCTIONS.holds(3_249),
        scopes.COUNTED_BY_THE_SECOND_FUNCTION.holds(6_495),
        scopes.TWO_PORTS_COUNTED_BY_TYPE.holds(3_420),
        scopes.TWO_PORTS_COUNTED_BY_TWO_FUNCTIONS.holds(1_643),
        scopes.TWO_PORTS_AND_TWO_FUNCTIONS.holds(709),
        scopes.TWO_PORTS_BY_TYPE.holds(15_590),
        scopes.TWO_PORTS_IN_ORDER_OF_TIME.holds(966),
        scopes.A_READER_OF_WRITES.holds(1_489),
        scopes.A_READER_OF_TWO_WRITES.holds(1_365),
        scopes.WINDOWS_AND_A_RELAY.with_two_crashes_of("first").holds(19_329),
        scopes.TWO_WRITERS_OF_ONE_SYSTEM.with_two_crashes_of("first").holds(2_171),
        scopes.TWO_WRITERS_OF_ONE_SYSTEM.with_two_crashes_of("source-reader").holds(
            202_335, reduced=71_981
        ),
        scopes.A_READER_OF_TWO_WRITES.with_two_crashes_of("op").holds(1_750),
        scopes.A_READER_OF_TWO_WRITES.with_two_crashes_of("reader").holds(542),
        scopes.A_READER_OF_WRITES_NO_CRASH.holds(40),
        scopes.TWO_RELAYS.holds(9_600),
        scopes.A_RELAY_AND_BATCHES.holds(34_975),
        scopes.THREE_OPERATORS.holds(50_212),
        scopes.TWO_PORTS_THAT_RACE.holds(109_818, reduced=62_698),
        scopes.TWO_WAYS_TO_ONE_OPERATOR.holds(7_948),
        scopes.TWO_SINKS.holds(13_757),
        scopes.TWO_WRITERS_OF_ONE_SYSTEM.holds(9_866),
        scopes.A_SIDE_EFFECT_READ.holds(34_274, reduced=21_265),
        scopes.A_SIDE_EFFECT_READ_AND_TWO_SINKS.holds(4_243),
        scopes.NO_CRASH.holds(449),
    ),
    "Equal numbers discarded, and numbers in the stored context: precise, for operators of "
    "every class, with checkable writes that are executed one by one.",
    variants=tuple(variant for topic in TOPICS for variant in topic.VARIANTS),
    mutants=tuple(mutant for topic in TOPICS for mutant in topic.MUTANTS),
    lemmas=18,
)
