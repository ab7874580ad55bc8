"""Upstream backup with savepoints, skip ranges and data-parallel windows, and its evidence.

Lima, Endler, Slo, Bhowmik, Rothermel: "Skipping Unused Events to Speed Up Rollback-Recovery in
Distributed Data-Parallel CEP", on the base method of Koldehofe et al. (DEBS 2013).

Rule of this file: no design but the corrected protocol, joined with its variants and mutants.
"""

from __future__ import annotations

from model.protocols.upstream_backup import scopes
from model.protocols.upstream_backup.design import UpstreamBackupDesign
from model.protocols.upstream_backup.family import UPSTREAM_BACKUP
from model.protocols.upstream_backup.mutants import MUTANTS
from model.protocols.upstream_backup.variants import VARIANTS

PROTOCOL = UPSTREAM_BACKUP.design(
    "",
    UpstreamBackupDesign(),
    (
        scopes.ONE_EVENT_ONE_MATCH.holds(53_346),
        scopes.TIME_WINDOWS_ON_A_GRID.holds(72_144),
        scopes.COUNT_WINDOWS.holds(65_694),
        scopes.COUNT_WINDOWS_EVENTS_SKIPPED_TWO_CRASHES.holds(59_175, reduced=12_480),
        scopes.EVERY_EVENT_MATCHES_TWO_CRASHES.holds(275_809, reduced=35_818),
        scopes.TIME_WINDOWS.holds(54_227),
        scopes.PATTERN_OPENED_WINDOWS.holds(37_776),
        scopes.MATCH_AT_THE_END_OF_THE_WINDOW.holds(19_107),
        scopes.ANY_MATCH_SEVERAL_IN_ONE_ITERATION.holds(20_340),
        scopes.TWO_RUNS_IN_ONE_ITERATION.holds(14_650),
        scopes.RUNS_THAT_SKIP.holds(303_032),
        scopes.RUNS_THAT_CONSUME.holds(10_896),
        scopes.RUNS_THAT_WAIT.holds(9_266),
        scopes.AN_ENGINE_THAT_IS_NOT_MONOTONE.holds(471_017),
        scopes.SERIAL_PROCESSING.holds(11_881),
        scopes.AN_EVENT_USED_BY_ONE_OF_TWO_WINDOWS.holds(121_743),
        scopes.WIDE_WINDOWS_USED_AND_SKIPPED_IN_TURN.holds(94_333),
        scopes.ADJACENT_OPERATORS_TIME_WINDOWS.holds(258_510, reduced=34_242),
        scopes.TWO_INPUT_EDGES.holds(1_032_090, reduced=138_289),
        scopes.ONE_EVENT_ON_EACH_EDGE.with_two_crashes_of("A").holds(23_151),
        scopes.TWO_OUTPUT_EDGES.holds(50_301, reduced=4_287),
        scopes.TWO_OUTPUT_EDGES_TWO_CRASHES.holds(2_311_206, reduced=103_257),
        scopes.ADJACENT_OPERATORS_TWO_CRASHES.holds(71_957, reduced=11_614),
        scopes.TWO_OUTPUT_EDGES_ONE_EVENT.holds(14_310),
        scopes.A_DIAMOND.holds(15_945),
        scopes.DIAMOND_ANY_TWO_CRASH.holds(44_989, reduced=5_697),
        scopes.DIAMOND_TWO_EVENTS_TWO_CRASHES.holds(655_823, reduced=65_438),
        scopes.NO_CRASH_EVERY_EVENT_MATCHES.holds(1_460),
        scopes.NO_CRASH_EVENTS_SKIPPED.holds(7_557),
        scopes.ADJACENT_OPERATORS_AND_THEIR_ALIGNMENT.holds(330_325, reduced=42_580),
    ),
    "Numbers derived from the triggering input event, skip ranges kept an input edge each, "
    "and the window layout in the savepoint make the method right for every engine, window "
    "and set of operator crashes explored.",
    mutants=MUTANTS,
    lemmas=38,
    compare_with="upstream-backup:no-skips",
    variants=VARIANTS,
)
