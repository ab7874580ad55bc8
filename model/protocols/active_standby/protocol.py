"""Active standby with precise recovery of deterministic networks, and its evidence.

Rule of this file: no design but the mended one, joined with its variants and mutants.
"""

from __future__ import annotations

from dataclasses import replace

from model.protocols.active_standby.design import PRECISE
from model.protocols.active_standby.mutants import MUTANTS
from model.protocols.active_standby.variants import ALL, VARIANTS, build

PROTOCOL = replace(
    build(
        "",
        PRECISE,
        "With a copy of the state for a new secondary, asked for once upstream keeps tuples for "
        "it, and closed connections of dead primaries: precise for deterministic networks, also "
        "after an earlier failure.",
        must_occur=ALL,
    ),
    variants=VARIANTS,
    mutants=MUTANTS,
    lemmas=10,
)
