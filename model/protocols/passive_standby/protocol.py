"""Passive standby with precise recovery of deterministic networks, and its evidence.

Rule of this file: no design but the mended one, joined with its variants and mutants.
"""

from __future__ import annotations

from model import pair_scopes as cases
from model.protocols.passive_standby.design import PRECISE
from model.protocols.passive_standby.family import (
    ALL,
    LETS_GO,
    PASSIVE_STANDBY,
)
from model.protocols.passive_standby.mutants import MUTANTS
from model.protocols.passive_standby.variants import VARIANTS

PROTOCOL = PASSIVE_STANDBY.design(
    "",
    PRECISE,
    (
        cases.SLIDING_WINDOWS.holds(205_708, reduced=9_118),
        cases.EVERY_OTHER_TUPLE.holds(301_685, reduced=11_813),
        cases.WINDOWS_THAT_CLOSE_TOGETHER.holds(456_170),
        cases.TWO_PATHS.holds(17_981),
        cases.A_JOIN_BY_TIME.holds(None, reduced=43_339),
        cases.TWO_CONSUMERS.holds(None, quick=False, reduced=116_363),
        cases.TWO_STREAMS.holds(None, reduced=46_971),
        cases.NO_CRASH.holds(401),
        cases.NO_CRASH_A_FILTER.holds(607),
        cases.NO_CRASH_SLIDING_WINDOWS.holds(1_028),
        cases.A_RELAY_TWO_CRASHES.holds(104_966),
        cases.A_FILTER_TWO_CRASHES.holds(158_547),
        cases.PAIRS_TWO_CRASHES.holds(117_210, reduced=12_600),
        cases.TWO_OPERATORS_IN_A_NODE_TWO_CRASHES.holds(189_668),
        cases.TWO_NODES_TWO_CRASHES.holds(3_792_242, quick=False),
    ),
    "With a sweep line that nothing passes, closed connections of dead primaries, known tuples "
    "discarded and a complete first checkpoint: precise for deterministic networks, also after "
    "an earlier failure.",
    must_occur=ALL,
    behaviour=LETS_GO,
    mutants=MUTANTS,
    lemmas=4,
    variants=VARIANTS,
)
