"""Continuous eventual checkpointing, mended, and its evidence.

Sebepou and Magoutis: "CEC: Continuous Eventual Checkpointing for Data Stream Processing
Operators", DSN 2011.

Rule of this file: no design but the mended one, joined with its variants and mutants.
"""

from __future__ import annotations

from model.core import CHECKPOINTED, REPLAYED, SPANNED
from model.protocols.cec import scopes
from model.protocols.cec.design import MENDED
from model.protocols.cec.family import CEC, SEEN
from model.protocols.cec.messages import CUT, EARLY, IGNORED, LOG_TRIMMED, NO_WINDOWS
from model.protocols.cec.mutants import MUTANTS
from model.protocols.cec.variants import VARIANTS
from model.queues import TRIMMED

PINS = (
    scopes.WINDOWS_OF_ONE_TUPLE.holds(3_832),
    scopes.WINDOWS_OF_TWO_TUPLES.holds(10_380),
    scopes.FIVE_TUPLES.holds(36_726),
    scopes.EQUAL_TIMES.holds(18_730),
    scopes.BACKGROUND.holds(7_228),
    scopes.BACKGROUND_WINDOWS_OF_THREE.holds(1_764),
    scopes.BACKGROUND_TWO_CRASHES.holds(22_650),
    scopes.TWO_CRASHES.holds(34_288),
    scopes.QUEUES_LET_GO.holds(34_722),
    scopes.QUEUES_LET_GO_TWO_CRASHES.holds(73_262, reduced=16_733),
    scopes.WINDOWS_OF_THREE_QUEUES_LET_GO.holds(19_604),
    scopes.RESULTS_ALONE.holds(2_978),
    scopes.OUTSTANDING_WRITES.holds(4_524),
    scopes.OUTSTANDING_WRITES_QUEUES_LET_GO.holds(5_672),
    scopes.CATCHING_UP.holds(947),
    scopes.CATCHING_UP_QUEUES_LET_GO.holds(8_619),
    scopes.ALL_AT_ONCE.holds(113_658),
    scopes.WINDOWS_BY_TIME.holds(14_528),
    scopes.WINDOWS_BY_TIME_BACKGROUND.holds(43_872),
    scopes.WINDOWS_FROM_THE_FIRST_TUPLE.holds(9_198),
    scopes.SLIDING_WINDOWS.holds(6_572),
    scopes.WINDOWS_THAT_OVERLAP_IN_PART.holds(8_666),
    scopes.SLIDING_WINDOWS_BY_TIME.holds(32_460),
    scopes.GAPS_BETWEEN_WINDOWS.holds(13_998),
    scopes.GAPS_BETWEEN_WINDOWS_QUEUES_LET_GO.holds(12_850),
    scopes.A_FILTER_UPSTREAM.holds(4_606),
    scopes.AN_AGGREGATE_OF_AN_AGGREGATE.holds(1_775),
    scopes.ADJACENT_CRASHES.holds(12_251),
    scopes.A_JOIN.holds(3_095),
    scopes.A_JOIN_OF_NEAR_TUPLES.holds(9_777),
    scopes.A_JOIN_BY_COUNT.holds(8_060),
    scopes.A_JOIN_BACKGROUND.holds(9_194),
    scopes.A_JOIN_QUEUES_LET_GO.holds(90_970),
    scopes.A_JOIN_TWO_CRASHES.holds(107_816, reduced=7_035),
    scopes.A_JOIN_OUTSTANDING_WRITES.holds(4_242),
    scopes.A_JOIN_BEHIND_AN_OPERATOR_ADJACENT_CRASHES.holds(54_418, reduced=6_172),
    scopes.A_JOIN_BY_TIME.holds(2_874),
    scopes.A_JOIN_BY_TIME_DISTINCT_TIMES.holds(6_452),
    scopes.A_UNION.holds(3_979),
    scopes.BACKGROUND_THREE_TUPLES_TWO_CRASHES.holds(168_544),
    scopes.OUTSTANDING_WRITES_BACKGROUND_TWO_CRASHES.holds(25_703),
    scopes.WINDOWS_THAT_ANY_KEY_CLOSES.holds(5_562),
    scopes.WINDOWS_THAT_ANY_KEY_CLOSES_EQUAL_TIMES.holds(50_966),
    scopes.WINDOWS_FROM_THE_FIRST_TUPLE_THAT_ANY_KEY_CLOSES.holds(9_080),
    scopes.WINDOWS_THAT_TICKS_CLOSE.holds(22_484),
    scopes.STREAM_EVENTS_OF_SEVERAL_TUPLES.holds(27_856),
    scopes.STREAM_EVENTS_OF_SEVERAL_TUPLES_OUTSTANDING_WRITES.holds(1_342),
    scopes.STREAM_EVENTS_OF_SEVERAL_TUPLES_QUEUES_LET_GO.holds(136_946),
    scopes.A_JOIN_STREAM_EVENTS_OF_SEVERAL_TUPLES.holds(21_754),
    scopes.AN_INDEX.holds(1_032),
    scopes.AN_INDEX_OUTSTANDING_WRITES.holds(1_444),
    scopes.AN_INDEX_QUEUES_LET_GO.holds(3_278),
    scopes.AN_INDEX_TWO_CRASHES.holds(36_786),
    scopes.A_STREAM_IN_MEMORY.holds(4_470),
    scopes.A_STREAM_IN_MEMORY_TWO_CRASHES.holds(26_518),
    scopes.TWO_OUTPUTS.holds(6_738),
    scopes.TWO_OUTPUTS_QUEUES_LET_GO.holds(20_223),
    scopes.TWO_OUTPUTS_OUTSTANDING_WRITES.holds(2_331),
    scopes.A_ONE_SIDED_JOIN.holds(9_777),
    scopes.WINDOWS_OF_ONE_TUPLE_TWO_CRASHES.holds(9_081),
    scopes.CATCHING_UP_TWO_CRASHES.holds(17_554),
    scopes.AN_INDEX_QUEUES_LET_GO_TWO_CRASHES.holds(73_569, reduced=10_103),
    scopes.THREE_TUPLES_ADJACENT_CRASHES.holds(40_397, reduced=7_676),
    scopes.TWO_OUTPUTS_QUEUES_LET_GO_TWO_CRASHES.holds(83_142, reduced=5_330),
    scopes.A_JOIN_OUTSTANDING_WRITES_TWO_CRASHES.holds(42_554),
    scopes.SLIDING_WINDOWS_QUEUES_LET_GO_TWO_CRASHES.holds(231_145, reduced=20_891),
    scopes.ALL_AT_ONCE_TWO_CRASHES.holds(173_604),
    scopes.STREAM_EVENTS_OF_SEVERAL_TUPLES_QUEUES_LET_GO_TWO_CRASHES.holds(214_720, reduced=20_301),
    scopes.TWO_OUTPUTS_OUTSTANDING_WRITES_TWO_CRASHES.holds(122_973, reduced=6_996),
    scopes.A_UNION_TWO_CRASHES.holds(146_016, reduced=10_182),
    scopes.A_JOIN_BY_TIME_DISTINCT_TIMES_TWO_CRASHES.holds(380_287, reduced=17_209),
    scopes.A_JOIN_QUEUES_LET_GO_TWO_CRASHES.holds(5_723_449, reduced=179_657),
    scopes.NO_CRASH.holds(695),
    scopes.NO_CRASH_GAPS_BETWEEN_WINDOWS.holds(1_577),
)

PROTOCOL = CEC.design(
    "",
    MENDED,
    PINS,
    "With places for times, N in every record, floors for closed keys and between windows, "
    "one write a tuple, a log that is cut at its first hole, queues that keep the extent, and "
    "a place in each of several inputs, the eventual checkpoint is precise for every window, "
    "join and set of crashes explored.",
    must_occur=(
        *SEEN,
        SPANNED,
        REPLAYED,
        CHECKPOINTED,
        IGNORED,
        EARLY,
        NO_WINDOWS,
        CUT,
        LOG_TRIMMED,
        TRIMMED,
    ),
    mutants=MUTANTS,
    lemmas=27,
    variants=VARIANTS,
)
