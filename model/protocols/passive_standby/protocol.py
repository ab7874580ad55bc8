"""Passive standby with precise recovery of deterministic networks, and its evidence.

Rule of this file: no design but the mended one, joined with its variants and mutants.
"""

from __future__ import annotations

from dataclasses import replace

from model.protocols.passive_standby.design import PRECISE
from model.protocols.passive_standby.mutants import MUTANTS
from model.protocols.passive_standby.variants import ALL, VARIANTS, build

PROTOCOL = replace(
    build(
        "",
        PRECISE,
        "With a sweep line that nothing passes, closed connections of dead primaries, known tuples "
        "discarded and a complete first checkpoint: precise for deterministic networks, also after "
        "an earlier failure.",
        must_occur=ALL,
    ),
    variants=VARIANTS,
    mutants=MUTANTS,
    lemmas=4,
)
