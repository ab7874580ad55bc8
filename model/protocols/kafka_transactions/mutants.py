"""One-line faults of Kafka's transactions, which the checkers must find.

Rule of this file: no code but the lines of mutants; model.evidence.Mutant explains the fields.
"""

from __future__ import annotations

from model.evidence import Mutant

MUTANTS: tuple[Mutant, ...] = ()
