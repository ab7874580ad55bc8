"""Active standby with precise recovery of deterministic networks, and its evidence.

Rule of this file: no design but the mended one, joined with its variants and mutants.
"""

from __future__ import annotations

from model import pair_scopes as cases
from model.protocols.active_standby.design import PRECISE
from model.protocols.active_standby.family import (
    ACTIVE_STANDBY,
    ALL,
    LETS_GO,
)
from model.protocols.active_standby.mutants import MUTANTS
from model.protocols.active_standby.variants import VARIANTS

PROTOCOL = ACTIVE_STANDBY.design(
    "",
    PRECISE,
    (
        cases.WINDOWS_THAT_CLOSE_TOGETHER.holds(1_812_778, quick=False, reduced=83_918),
        cases.TWO_PATHS.holds(36_041, reduced=4_284),
        cases.A_JOIN_BY_TIME_THREE_TUPLES.holds(None, quick=False, reduced=214_559),
        cases.TWO_CONSUMERS.holds(None, quick=False, reduced=576_558),
        cases.TWO_STREAMS.holds(None, quick=False, reduced=317_350),
        cases.NO_CRASH.holds(1_543),
        cases.NO_CRASH_A_FILTER.holds(2_670),
        cases.NO_CRASH_SLIDING_WINDOWS.holds(7_700),
        cases.A_RELAY_TWO_CRASHES.holds(367_131, reduced=62_027),
        cases.PAIRS_TWO_CRASHES.holds(417_482, reduced=92_240),
        cases.SLIDING_WINDOWS_TWO_CRASHES.holds(1_512_008, quick=False, reduced=169_768),
    ),
    "With a copy of the state for a new secondary, asked for once upstream keeps tuples for "
    "it, and closed connections of dead primaries: precise for deterministic networks, also "
    "after an earlier failure.",
    must_occur=ALL,
    behaviour=LETS_GO,
    mutants=MUTANTS,
    lemmas=10,
    variants=VARIANTS,
)
