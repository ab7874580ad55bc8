"""Upstream backup by acknowledgements, precise for convergent-capable networks; its evidence.

Rule of this file: no design but the mended one, joined with its variants and mutants.
"""

from __future__ import annotations

from model import pair_scopes as cases
from model.protocols.upstream_backup_acks import runs
from model.protocols.upstream_backup_acks.design import PRECISE
from model.protocols.upstream_backup_acks.family import (
    ALL,
    UPSTREAM_BACKUP_ACKS,
)
from model.protocols.upstream_backup_acks.mutants import MUTANTS
from model.protocols.upstream_backup_acks.variants import VARIANTS

PROTOCOL = UPSTREAM_BACKUP_ACKS.design(
    "",
    PRECISE,
    (
        cases.SLIDING_WINDOWS.holds(175_449, reduced=4_001),
        cases.WINDOWS_THAT_CLOSE_TOGETHER.holds(272_015, reduced=6_596),
        cases.TWO_PATHS.holds(5_923),
        cases.TWO_CONSUMERS.holds(None, reduced=19_630),
        cases.TWO_STREAMS.holds(427_559, reduced=9_895),
        cases.A_WINDOW_BESIDE_AN_APPLICATION.holds(None, quick=False, reduced=286_806),
        cases.A_RELAY_TWO_CRASHES.holds(49_424, reduced=4_313),
        cases.A_FILTER_TWO_CRASHES.holds(67_786, reduced=7_981),
        cases.TWO_NODES_THAT_RELAY_TWO_CRASHES.holds(958_513, reduced=79_139),
        cases.TWO_RELAYS.holds(1_121_734, reduced=6_524),
    ),
    "With level 1 from level 1, numbers by connection, and outputs of one input counted back "
    "from the last: precise for convergent-capable networks, also after an earlier failure.",
    must_occur=ALL,
    mutants=MUTANTS,
    lemmas=9,
    runs=(runs.OUT_OF_LINE,),
    variants=VARIANTS,
)
