"""Upstream backup with savepoints, skip ranges and data-parallel windows, and its evidence.

Lima, Endler, Slo, Bhowmik, Rothermel: "Skipping Unused Events to Speed Up Rollback-Recovery in
Distributed Data-Parallel CEP", on the base method of Koldehofe et al. (DEBS 2013).

Rule of this file: no design but the corrected protocol, joined with its variants and mutants.
"""

from __future__ import annotations

from dataclasses import replace

from model.protocols.upstream_backup.mutants import MUTANTS
from model.protocols.upstream_backup.nodes import (
    Design,
)
from model.protocols.upstream_backup.scopes import SCOPES
from model.protocols.upstream_backup.variants import VARIANTS, build

PROTOCOL = replace(
    build(
        "",
        Design(),
        SCOPES,
        "Numbers derived from the triggering input event, skip ranges kept an input edge each, "
        "and the window layout in the savepoint make the method right for every engine, window "
        "and set of operator crashes explored.",
    ),
    variants=VARIANTS,
    mutants=MUTANTS,
    compare_with="upstream-backup:no-skips",
    lemmas=38,
)
