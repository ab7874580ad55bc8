"""A two-phase-commit sink, and its evidence.

Rule of this file: no design but the default one, joined with its variants and mutants.
"""

from __future__ import annotations

from model.protocols.two_phase_sink import scopes
from model.protocols.two_phase_sink.design import TwoPhaseDesign
from model.protocols.two_phase_sink.family import SEEN, TWO_PHASE_SINK
from model.protocols.two_phase_sink.messages import SINK_ABORTED, SINK_EXPIRED
from model.protocols.two_phase_sink.mutants import MUTANTS
from model.protocols.two_phase_sink.variants import VARIANTS

PROTOCOL = TWO_PHASE_SINK.design(
    "",
    TwoPhaseDesign(),
    (
        scopes.TWO_EVENTS.holds(208),
        scopes.A_FILTER.holds(645),
        scopes.WINDOWS.holds(660),
        scopes.TWO_CRASHES.holds(939),
        scopes.TIME_OUT.holds(185),
        scopes.TWO_TIME_OUTS.holds(6_728),
        scopes.TWO_CRASHES_AND_TIME_OUT.holds(14_074),
        scopes.WINDOWS_AND_TIME_OUT.holds(3_424),
        scopes.TWO_JOBS.holds(612),
        scopes.TWO_JOBS_AND_TWO_CRASHES.holds(4_353),
        scopes.NO_CRASH.holds(77),
        scopes.NO_CRASH_AND_TIME_OUT.holds(164),
    ),
    "A checkpoint that waits for its transaction, a commit after it, a restart that settles all "
    "transactions, and a time-out for transactions that are not prepared alone: precise.",
    must_occur=(*SEEN, SINK_ABORTED, SINK_EXPIRED),
    mutants=MUTANTS,
    variants=VARIANTS,
)
