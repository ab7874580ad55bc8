"""Evidence about lineage (3.1, 3.5).

Rule of this file: designs that change one thing, with the verdicts expected of them, and one-line
faults.
"""

from __future__ import annotations

from model.core import Guarantee, Mutant
from model.properties import AS_IF, COMPLETE
from model.protocols.log_io.design import Design
from model.protocols.log_io.evidence.build import SEEN, build
from model.protocols.log_io.evidence.scopes import fail, hold
from model.protocols.log_io.lineage import LINEAGE
from model.protocols.log_io.measures import DONE

VARIANTS = (
    build(
        "lineage",
        Design(lineage=True),
        hold(
            a_relay=3_487,
            batches=9_659,
            batches_by_type=60_154,
            batches_in_turn=13_583,
            two_functions=21_470,
            two_types=6_686,
            crashes_of_the_operator_alone=8_075,
            a_relay_and_batches=34_975,
            two_ports_that_race=113_413,
            two_sinks=13_757,
        ),
        "Rows of EVENT_LINEAGE name the inputs that were used, and none is missing, with crashes.",
        properties=(AS_IF, COMPLETE, DONE, LINEAGE),
    ),
    build(
        "lineage-of-state",
        Design(lineage=True),
        fail(
            an_aggregate=(63_790, 7, Guarantee.PRECISE),
            a_CEP_operator=(58_020, 7, Guarantee.PRECISE),
        ),
        "What an operator took into its global state earlier is in an output too, and no row says "
        "so: lineage is that of the Input Set alone (Section 3.1).",
        SEEN,
        properties=(AS_IF, COMPLETE, DONE, LINEAGE),
    ),
)
MUTANTS: tuple[Mutant, ...] = ()
