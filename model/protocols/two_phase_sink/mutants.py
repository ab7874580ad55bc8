"""One-line faults of a two-phase-commit sink, which the checkers must find.

Rule of this file: no code but the lines of mutants; model.evidence.Mutant explains the fields.
"""

from __future__ import annotations

from model.evidence import Mutant

MUTANTS: tuple[Mutant, ...] = ()
