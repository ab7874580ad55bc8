"""Upstream backup by acknowledgements, precise for convergent-capable networks; its evidence.

Rule of this file: no design but the mended one, joined with its variants and mutants.
"""

from __future__ import annotations

from dataclasses import replace

from model.protocols.upstream_backup_acks.design import PRECISE
from model.protocols.upstream_backup_acks.mutants import MUTANTS
from model.protocols.upstream_backup_acks.variants import ALL, VARIANTS, build

PROTOCOL = replace(
    build(
        "",
        PRECISE,
        "With level 1 from level 1, numbers by connection, and outputs of one input counted back "
        "from the last: precise for convergent-capable networks, also after an earlier failure.",
        must_occur=ALL,
    ),
    variants=VARIANTS,
    mutants=MUTANTS,
    lemmas=9,
)
